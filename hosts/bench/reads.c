// SPDX-License-Identifier: GPL-2.0-only
/* Every way to a vCPU's data, what they are measured by, and how they grow. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"

#define ALL_VMS "/sys/kernel/debug/kvm"
#define DESCRIPTORS 72	/* where they begin in every stats file */
#define PEER_SIZE 1104	/* bytes of a vCPU's data in Linux 6.12 */

static char buffer[PAGE] __attribute__((__aligned__(PAGE)));
static char other[PAGE] __attribute__((__aligned__(PAGE)));

struct read_job {
	struct bench_vm *vm;
	size_t size;
	off_t data;
	const void *from;
};

static void empty_syscall(void *arg)
{
	syscall(SYS_getppid);
}

static void copy(void *arg)
{
	struct read_job *job = arg;

	memcpy(buffer, job->from, job->size);
	__asm__ volatile("" : : : "memory");
}

static void by_pread(void *arg)
{
	struct read_job *job = arg;

	pread(job->vm->stats[0], buffer, job->size, job->data);
}

/* The VM's own data too: with one vCPU, that is all that its folder in debugfs has. */
static void copy_whole(void *arg)
{
	struct bench_vm *vm = arg;

	memcpy(other, vm->vm_map, vm->vm_size);
	memcpy(buffer, vm->map[0], vm->size);
	__asm__ volatile("" : : : "memory");
}

static void pread_whole(void *arg)
{
	struct bench_vm *vm = arg;

	pread(vm->vm_stats, other, vm->vm_size, vm->vm_data);
	pread(vm->stats[0], buffer, vm->size, vm->data);
}

static void open_close(void *arg)
{
	struct read_job *job = arg;

	close(ioctl(job->vm->vcpu[0], KVM_GET_STATS_FD, NULL));
}

/* One VM's folder in debugfs, read as cat would. */
struct folder {
	char path[64];
	int files;
	bool locked;	/* by the lockdown of a machine's own kernel */
};

static void file_read(struct folder *folder, int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY);

	if (fd < 0 && errno == EPERM) {
		folder->locked = true;
		return;
	}
	if (fd < 0)
		give_up(name);
	/* On an idle VM, Linux 6.12 has a file that can be opened but not read. */
	while (read(fd, buffer, sizeof(buffer)) > 0)
		;
	close(fd);
}

static void folder_read(void *arg)
{
	struct folder *folder = arg;
	DIR *dir = opendir(folder->path);
	struct dirent *entry;

	if (!dir)
		give_up(folder->path);
	folder->files = 0;
	while ((entry = readdir(dir))) {
		if (entry->d_type != DT_REG)
			continue;
		file_read(folder, dirfd(dir), entry->d_name);
		folder->files++;
	}
	closedir(dir);
}

/* Nothing is said where there is no debugfs for us. */
static void bench_folder(struct bench_vm *vm, const char *name)
{
	struct folder folder = { .locked = access(ALL_VMS, R_OK | X_OK) };

	snprintf(folder.path, sizeof(folder.path), ALL_VMS "/%d-%d", getpid(), vm->fd);
	if (!folder.locked)
		folder_read(&folder);
	if (folder.locked)
		return;
	result_cost(cost(folder_read, &folder), "%s", name);
	result("files", folder.files, "files/%s", name);
}

/* In a file with less data than that, descriptors are as many bytes in one piece. */
static off_t offset_of(struct bench_vm *vm, size_t size)
{
	return size > vm->size ? DESCRIPTORS : vm->data;
}

static void bench_size(struct bench_vm *vm, const char *what, size_t size)
{
	struct read_job job = { vm, size, offset_of(vm, size), other };

	result("bytes", size, "bytes/%s", what);
	result_cost(cost(copy, &job), "memcpy/%s", what);
	if (pread(vm->stats[0], buffer, job.size, job.data) != (ssize_t)job.size)
		give_up("pread");
	result_cost(cost(by_pread, &job), "pread/%s", what);
	job.from = vm->map[0];
	if (job.from)
		result_cost(cost(copy, &job), "mapping/%s", what);
}

/* Last of all: workers of io_uring make every other system call dearer. */
static void bench_uring(struct bench_vm *vm, const char *what, size_t size)
{
	struct uring_job job = { NULL, vm->stats, 1, BATCH, size, offset_of(vm, size) };
	int i;

	for (i = 0; i < URING_WAYS; i++) {
		job.way = &uring_ways[i];
		result_cost(cost(uring_read, &job) / BATCH, "uring-%s/%s", job.way->name, what);
		result("reads", uring_inline(&job), "inline-%s/%s", job.way->name, what);
	}
}

void bench_reads(int unused)
{
	struct bench_vm vm;
	struct read_job job = { &vm, 0, 0, NULL };

	result_cost(cost(empty_syscall, NULL), "syscall");
	bench_vm_create(&vm, 1);
	bench_folder(&vm, "debugfs");
	if (vm.stats[0] >= 0) {
		bench_size(&vm, "data", vm.size);
		bench_size(&vm, "1104", PEER_SIZE);
		result("bytes", vm.vm_size + vm.size, "bytes/whole");
		result_cost(cost(pread_whole, &vm), "pread/whole");
		if (vm.map[0] && vm.vm_map)
			result_cost(cost(copy_whole, &vm), "mapping/whole");
		result_cost(cost(open_close, &job), "open-close");
		uring_start(vm.stats[0]);
		bench_uring(&vm, "data", vm.size);
		bench_uring(&vm, "1104", PEER_SIZE);
	}
	bench_vm_close(&vm);
}

/* All vCPUs of a VM. */
static void all_mapped(void *arg)
{
	struct bench_vm *vm = arg;
	int i;

	for (i = 0; i < vm->vcpus; i++) {
		memcpy(buffer, vm->map[i], vm->size);
		__asm__ volatile("" : : : "memory");
	}
}

static void all_pread(void *arg)
{
	struct bench_vm *vm = arg;
	int i;

	for (i = 0; i < vm->vcpus; i++)
		pread(vm->stats[i], buffer, vm->size, vm->data);
}

void bench_growth(int vcpus)
{
	struct bench_vm vm;
	struct uring_job job = { &uring_ways[0], vm.stats, vcpus, vcpus, 0, 0 };
	char debugfs[32];

	bench_vm_create(&vm, vcpus);
	job.size = vm.size;
	job.data = vm.data;
	snprintf(debugfs, sizeof(debugfs), "all-debugfs/%d", vcpus);
	bench_folder(&vm, debugfs);
	if (vm.stats[0] >= 0) {
		result_cost(cost(all_pread, &vm), "all-pread/%d", vcpus);
		if (vm.map[0])
			result_cost(cost(all_mapped, &vm), "all-mapping/%d", vcpus);
		uring_start(vm.stats[0]);
		result_cost(cost(uring_read, &job), "all-uring/%d", vcpus);
	}
	bench_vm_close(&vm);
}

_Noreturn void spin_read(const char *way)
{
	struct bench_vm vm;
	struct read_job job = { &vm, PEER_SIZE, 0, NULL };
	struct uring_job uring = { &uring_ways[0], vm.stats, 1, BATCH, 0, 0 };
	void (*op)(void *arg) = by_pread;
	void *arg = &job;

	bench_vm_create(&vm, 1);
	job.data = offset_of(&vm, PEER_SIZE);
	if (!strcmp(way, "pread-data")) {
		job.size = vm.size;
		job.data = vm.data;
	} else if (!strcmp(way, "syscall")) {
		op = empty_syscall;
	} else if (!strcmp(way, "uring")) {
		op = uring_read;
		arg = &uring;
	}
	uring.size = vm.size;
	uring.data = vm.data;
	uring_start(vm.stats[0]);
	printf("spinning\n");
	fflush(stdout);
	for (;;)
		op(arg);
}
