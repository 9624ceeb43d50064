// SPDX-License-Identifier: GPL-2.0-only
/* A VM that need not run, with its stats files as far as the kernel has them. */
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench.h"

_Noreturn void give_up(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

int must(int result, const char *what)
{
	if (result < 0)
		give_up(what);
	return result;
}

int open_kvm(void)
{
	return must(open("/dev/kvm", O_RDWR | O_CLOEXEC), "/dev/kvm");
}

static off_t stats_layout(int fd, size_t *size)
{
	struct kvm_stats_header header;
	struct kvm_stats_desc *desc;
	size_t one, len;
	char *descs;
	uint32_t i;

	if (pread(fd, &header, sizeof(header), 0) != sizeof(header))
		give_up("the header of a stats file");
	one = sizeof(*desc) + header.name_size;
	len = one * header.num_desc;
	descs = malloc(len);
	if (!descs || pread(fd, descs, len, header.desc_offset) != (ssize_t)len)
		give_up("the descriptors of a stats file");
	*size = 0;
	for (i = 0; i < header.num_desc; i++) {
		desc = (void *)(descs + i * one);
		*size += desc->size * sizeof(uint64_t);
	}
	free(descs);
	return header.data_offset;
}

/* The rest of the last page is there too, as zeros. */
static void *map_stats(int fd, off_t data, size_t size)
{
	void *map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, data);

	return map == MAP_FAILED ? NULL : map;
}

void bench_vm_create(struct bench_vm *vm, int vcpus)
{
	int kvm = open_kvm();
	int i;

	memset(vm, 0, sizeof(*vm));
	vm->vcpus = vcpus;
	vm->fd = must(ioctl(kvm, KVM_CREATE_VM, 0), "KVM_CREATE_VM");
	vm->vm_stats = ioctl(vm->fd, KVM_GET_STATS_FD, NULL);
	if (vm->vm_stats >= 0) {
		vm->vm_data = stats_layout(vm->vm_stats, &vm->vm_size);
		vm->vm_map = map_stats(vm->vm_stats, vm->vm_data, vm->vm_size);
	}
	for (i = 0; i < vcpus; i++) {
		vm->vcpu[i] = must(ioctl(vm->fd, KVM_CREATE_VCPU, i), "KVM_CREATE_VCPU");
		vm->stats[i] = ioctl(vm->vcpu[i], KVM_GET_STATS_FD, NULL);
		if (vm->stats[i] < 0)
			continue;
		vm->data = stats_layout(vm->stats[i], &vm->size);
		vm->map[i] = map_stats(vm->stats[i], vm->data, vm->size);
	}
	close(kvm);
}

void bench_vm_close(struct bench_vm *vm)
{
	int i;

	for (i = 0; i < vm->vcpus; i++) {
		if (vm->map[i])
			munmap(vm->map[i], vm->size);
		close(vm->stats[i]);
		close(vm->vcpu[i]);
	}
	if (vm->vm_map)
		munmap(vm->vm_map, vm->vm_size);
	close(vm->vm_stats);
	close(vm->fd);
}
