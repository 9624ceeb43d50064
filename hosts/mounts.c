// SPDX-License-Identifier: GPL-2.0-only
/* The file systems that the runs find around them. */
#include <errno.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "init.h"

static void mount_at(const char *source, const char *target, const char *type,
		     unsigned long flags, const char *data)
{
	mkdir(target, 0755);
	if (mount(source, target, type, flags, data))
		complain("mounting %s on %s: %s", source, target, strerror(errno));
}

/*
 * By hand: the kernel mounts devtmpfs itself only over a root device, never
 * in an initramfs. It comes first and in silence, the channel is a device.
 */
void mount_dev(void)
{
	mkdir("/dev", 0755);
	mount("devtmpfs", "/dev", "devtmpfs", 0, "");
	symlink("/proc/self/fd", "/dev/fd");
}

void mount_kernel_filesystems(void)
{
	mount_at("proc", "/proc", "proc", 0, "");
	mount_at("sysfs", "/sys", "sysfs", 0, "");
	mount_at("debugfs", "/sys/kernel/debug", "debugfs", 0, "");
	mount_at("securityfs", "/sys/kernel/security", "securityfs", 0, "");
	mount_at("tmpfs", "/tmp", "tmpfs", 0, "mode=1777");
}
