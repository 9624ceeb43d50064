// SPDX-License-Identifier: GPL-2.0-only
/* A small VM for the programs that run inside the hosts, and TAP for them. */
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "vm.h"

#define MEMORY 0x10000
#define CODE 0x1000

static unsigned int failed;

bool ok(bool passed, const char *name, const char *why, ...)
{
	va_list args;

	if (passed) {
		printf("ok - %s\n", name);
	} else {
		printf("not ok - %s: ", name);
		va_start(args, why);
		vprintf(why, args);
		va_end(args);
		printf("\n");
		failed++;
	}
	fflush(stdout);
	return passed;
}

void tests_done(void)
{
	exit(failed ? 1 : 0);
}

void skip_all(const char *why)
{
	printf("1..0 # SKIP %s\n", why);
	exit(4);
}

void give_up(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

static int must(int result, const char *what)
{
	if (result < 0)
		give_up(what);
	return result;
}

static void vcpu_create(struct vm *vm, int id)
{
	struct kvm_sregs sregs;
	struct kvm_regs regs = { .rip = CODE, .rflags = 2 };
	int fd = must(ioctl(vm->fd, KVM_CREATE_VCPU, id), "KVM_CREATE_VCPU");

	must(ioctl(fd, KVM_GET_SREGS, &sregs), "KVM_GET_SREGS");
	sregs.cs.base = 0;
	sregs.cs.selector = 0;
	must(ioctl(fd, KVM_SET_SREGS, &sregs), "KVM_SET_SREGS");
	must(ioctl(fd, KVM_SET_REGS, &regs), "KVM_SET_REGS");
	vm->vcpu[id] = fd;
	vm->vcpu_stats[id] = ioctl(fd, KVM_GET_STATS_FD, NULL);
}

static void memory_create(struct vm *vm)
{
	static const uint8_t code[] = {
		0xe6, 0x80,		/* out %al, $0x80 */
		0xf4,			/* hlt */
		0xeb, 0xfb,		/* jmp to the start */
	};
	struct kvm_userspace_memory_region region = { .memory_size = MEMORY };
	uint8_t *memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		give_up("memory for the VM");
	memcpy(memory + CODE, code, sizeof(code));
	region.userspace_addr = (uintptr_t)memory;
	must(ioctl(vm->fd, KVM_SET_USER_MEMORY_REGION, &region), "memory region");
}

void vm_create(struct vm *vm)
{
	int i;

	vm->kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (vm->kvm < 0 && errno == ENOENT)
		skip_all("no /dev/kvm");
	must(vm->kvm, "/dev/kvm");
	vm->fd = must(ioctl(vm->kvm, KVM_CREATE_VM, 0), "KVM_CREATE_VM");
	vm->vm_stats = ioctl(vm->fd, KVM_GET_STATS_FD, NULL);
	memory_create(vm);
	for (i = 0; i < VCPUS; i++)
		vcpu_create(vm, i);
}

void vm_work(struct vm *vm, int vcpu, int times)
{
	int exits = 2 * times;	/* the port write and the HLT */

	while (exits--)
		must(ioctl(vm->vcpu[vcpu], KVM_RUN, NULL), "KVM_RUN");
}

void vm_close(struct vm *vm)
{
	int i;

	for (i = 0; i < VCPUS; i++) {
		close(vm->vcpu[i]);
		close(vm->vcpu_stats[i]);
	}
	close(vm->vm_stats);
	close(vm->fd);
	close(vm->kvm);
}
