// SPDX-License-Identifier: GPL-2.0-only
/*
 * What an open stats file and a mapping hold: not the vendor module, once the
 * VM is gone, but the core module. Modules are really unloaded, and loaded again
 * from where PID 1 has them.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "vm.h"

static const struct vendor {
	const char *name;
	const char *file;
	bool starts_kvm;	/* debugfs, for one, comes and goes with it */
} vendors[] = {
	{ "kvm_amd", "/modules/kvm-amd.ko", true },
	{ "kvm_intel", "/modules/kvm-intel.ko", true },
	{ "kvm_hv", "/modules/kvm-hv.ko", false },
	{ "kvm_pr", "/modules/kvm-pr.ko", false },
};

static const struct vendor *loaded_vendor(void)
{
	char path[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(vendors); i++) {
		snprintf(path, sizeof(path), "/sys/module/%s", vendors[i].name);
		if (!access(path, F_OK))
			return &vendors[i];
	}
	skip_all("KVM is no module here");
}

/* The error, 0 for success. */
static int unload(const char *name)
{
	return syscall(SYS_delete_module, name, O_NONBLOCK) ? errno : 0;
}

static int load(const char *file)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	int error = 0;

	if (fd < 0 || syscall(SYS_finit_module, fd, "", 0))
		error = errno;
	close(fd);
	return error;
}

static void test_unload(const char *name, int expected, const char *when)
{
	char test[96];
	int came = unload(name);

	snprintf(test, sizeof(test), "%s %s %s", name,
		 expected ? "stays" : "unloads", when);
	ok(came == expected, test, "%s", came ? strerror(came) : "it unloads");
}

static void test_load(const char *file)
{
	char test[96];
	int came = load(file);

	snprintf(test, sizeof(test), "%s loads again", file);
	ok(!came, test, "%s", strerror(came));
}

int main(void)
{
	const struct vendor *vendor = loaded_vendor();
	long page = sysconf(_SC_PAGESIZE);
	struct kvm_stats_header header;
	uint64_t before[8], after[8];
	const uint64_t *map;
	struct vm vm;
	int fd, debugfs;

	vm_create(&vm);
	if (vm.vm_stats < 0)
		skip_all("no KVM_GET_STATS_FD in this kernel");
	vm_work(&vm, 0, 5);
	fd = dup(vm.vcpu_stats[0]);
	if (pread(fd, &header, sizeof(header), 0) != sizeof(header))
		give_up("reading the header");
	map = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, header.data_offset);
	if (map == MAP_FAILED)
		give_up("mapping the data");
	test_unload(vendor->name, EAGAIN, "while the VM is there");

	debugfs = open("/sys/kernel/debug/kvm/halt_wakeup", O_RDONLY);
	memcpy(before, map, sizeof(before));
	vm_close(&vm);
	test_unload(vendor->name, 0, "with file and mapping of a gone VM");
	/* Its release comes after the file went with the vendor module. */
	if (vendor->starts_kvm)
		ok(read(debugfs, after, 1) < 0 && errno == EIO,
		   "an open debugfs file of all VMs has ended", "%s",
		   strerror(errno));
	close(debugfs);
	ok(pread(fd, after, sizeof(after), header.data_offset) == sizeof(after) &&
	   !memcmp(before, after, sizeof(after)),
	   "the last values can be read without the vendor module", "they differ");
	test_unload("kvm", EAGAIN, "while a stats file is open");
	close(fd);
	test_unload("kvm", EAGAIN, "while the data is mapped");
	ok(!memcmp(map, before, sizeof(before)),
	   "the mapping stands without the vendor module", "the data differs");
	munmap((void *)map, page);
	test_unload("kvm", 0, "after file and mapping are closed");

	test_load("/modules/kvm.ko");
	test_load(vendor->file);
	vm_create(&vm);
	ok(vm.vm_stats >= 0, "a VM of the modules loaded again has statistics",
	   "it has not");
	vm_close(&vm);
	tests_done();
}
