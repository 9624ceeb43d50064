// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints the stats files of a VM after work, byte by byte, and its debugfs files,
 * for read-stats to compare outside of the host. Nothing is interpreted here.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vm.h"

#define LINE 64
#define FILE_MAX 0x40000

static uint8_t bytes[FILE_MAX];

/* Lines of zeros only are left out. */
static void dump_line(const char *name, size_t at, size_t len)
{
	static const uint8_t zeros[LINE];
	size_t i;

	if (!memcmp(bytes + at, zeros, len))
		return;
	printf("bytes %s %zu ", name, at);
	for (i = 0; i < len; i++)
		printf("%02x", bytes[at + i]);
	printf("\n");
}

static void dump_file(const char *name, int fd)
{
	ssize_t got = pread(fd, bytes, sizeof(bytes), 0);
	size_t at, size = got;

	if (got < 0)
		give_up(name);
	printf("file %s %zu\n", name, size);
	for (at = 0; at < size; at += LINE)
		dump_line(name, at, size - at < LINE ? size - at : LINE);
}

static void dump_debugfs_file(int dir, const char *file)
{
	int fd = openat(dir, file, O_RDONLY);
	char text[8192] = "";

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		give_up(file);
	printf("debugfs %s\t%s", file, text);
	close(fd);
}

static void dump_debugfs(int vm)
{
	struct dirent *entry;
	struct stat st;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/sys/kernel/debug/kvm/%d-%d", getpid(), vm);
	dir = opendir(path);
	if (!dir)
		give_up(path);
	while ((entry = readdir(dir)))
		if (!fstatat(dirfd(dir), entry->d_name, &st, 0) && S_ISREG(st.st_mode))
			dump_debugfs_file(dirfd(dir), entry->d_name);
	closedir(dir);
}

int main(void)
{
	char name[16];
	struct vm vm;
	int i, job;

	vm_create(&vm);
	if (vm.vm_stats < 0)
		skip_all("no KVM_GET_STATS_FD in this kernel");
	for (i = 0; i < VCPUS; i++)
		vm_work(&vm, i, 11 + i);
	printf("page %ld\n", sysconf(_SC_PAGESIZE));
	printf("id vm kvm-%d\n", getpid());
	dump_file("vm", vm.vm_stats);
	for (i = 0; i < VCPUS; i++) {
		snprintf(name, sizeof(name), "vcpu%d", i);
		printf("id %s kvm-%d/vcpu-%d\n", name, getpid(), i);
		dump_file(name, vm.vcpu_stats[i]);
		for (job = 0; job < VM_JOBS; job++)
			printf("did %d %s %d\n", i, vm_stat(job), vm.did[i][job]);
	}
	dump_debugfs(vm.fd);
	vm_close(&vm);
	return 0;
}
