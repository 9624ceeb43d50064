// SPDX-License-Identifier: GPL-2.0-only
/* A small VM for the programs that run inside the hosts, and TAP for them. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../tools/testing/selftests/kvm/stats_guest.h"
#include "vm.h"

const char *vm_stat(int job)
{
	return job ? GUEST_OTHER_STAT : GUEST_STAT;
}

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
	int size = must(ioctl(vm->kvm, KVM_GET_VCPU_MMAP_SIZE, 0), "size of kvm_run");
	int fd = must(ioctl(vm->fd, KVM_CREATE_VCPU, id), "KVM_CREATE_VCPU");

	vm->run[id] = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (vm->run[id] == MAP_FAILED)
		give_up("mapping kvm_run");
	vm->run_size = size;
	vm->vcpu[id] = fd;
	vm->vcpu_stats[id] = ioctl(fd, KVM_GET_STATS_FD, NULL);
}

static void memory_create(struct vm *vm)
{
	vm->memory = mmap(NULL, GUEST_RAM, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (vm->memory == MAP_FAILED)
		give_up("memory for the VM");
	if (!guest_load(vm->fd, vm->memory))
		give_up("loading the guest");
}

void vm_create(struct vm *vm)
{
	int i;

	memset(vm, 0, sizeof(*vm));
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

static void work(struct vm *vm, int vcpu, enum guest_job job, int times)
{
	if (!guest_enter(vm->fd, vm->vcpu[vcpu], job))
		give_up("entering the guest");
	while (times--) {
		must(guest_run(vm->vcpu[vcpu], job), "KVM_RUN");
		if (!guest_did(vm->run[vcpu], job)) {
			printf("# exit reason %u\n", vm->run[vcpu]->exit_reason);
			give_up("the guest did something else");
		}
	}
}

void vm_work(struct vm *vm, int vcpu, int times)
{
	work(vm, vcpu, GUEST_EXIT, times);
	work(vm, vcpu, GUEST_OTHER, times);
	vm->did[vcpu][0] += times * (1 + EXITS_PER_OTHER);
	vm->did[vcpu][1] += times;
}

void vm_close(struct vm *vm)
{
	int i;

	for (i = 0; i < VCPUS; i++) {
		munmap(vm->run[i], vm->run_size);
		close(vm->vcpu[i]);
		close(vm->vcpu_stats[i]);
	}
	close(vm->vm_stats);
	close(vm->fd);
	close(vm->kvm);
	munmap(vm->memory, GUEST_RAM);
}
