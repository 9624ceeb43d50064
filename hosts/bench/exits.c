// SPDX-License-Identifier: GPL-2.0-only
/*
 * The exit path: a guest that does nothing but CPUID, which the kernel serves, and
 * one that writes to a port, which userspace serves.
 */
#include <linux/kvm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "bench.h"

#define MEMORY 0x1000
#define PORTS 0x100	/* where the second guest begins */
#define ROUNDS 100

/* Real mode. */
static const uint8_t cpuids[] = {
	0x31, 0xc0,		/* 1: xor %ax, %ax */
	0x31, 0xc9,		/* xor %cx, %cx */
	0x0f, 0xa2,		/* cpuid */
	0x4e,			/* dec %si */
	0x75, 0xf7,		/* jnz 1b */
	0xf4,			/* hlt */
};

static const uint8_t ports[] = {
	0xe6, 0x10, 0xeb, 0xfc,	/* 1: out %al, $0x10; jmp 1b */
};

struct guest {
	int vcpu;
	struct kvm_run *run;
	int rounds;
};

static void guest_create(struct guest *guest)
{
	int kvm = open_kvm();
	int vm = must(ioctl(kvm, KVM_CREATE_VM, 0), "KVM_CREATE_VM");
	int size = must(ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0), "size of kvm_run");
	uint8_t *memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct kvm_userspace_memory_region region = {
		.guest_phys_addr = MEMORY,
		.memory_size = PAGE,
		.userspace_addr = (uintptr_t)memory,
	};
	struct kvm_sregs sregs;

	if (memory == MAP_FAILED)
		give_up("memory for the VM");
	memcpy(memory, cpuids, sizeof(cpuids));
	memcpy(memory + PORTS, ports, sizeof(ports));
	must(ioctl(vm, KVM_SET_USER_MEMORY_REGION, &region), "memory of the VM");
	guest->vcpu = must(ioctl(vm, KVM_CREATE_VCPU, 0), "KVM_CREATE_VCPU");
	guest->run = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, guest->vcpu, 0);
	if (guest->run == MAP_FAILED)
		give_up("mapping kvm_run");
	must(ioctl(guest->vcpu, KVM_GET_SREGS, &sregs), "KVM_GET_SREGS");
	sregs.cs.base = 0;
	sregs.cs.selector = 0;
	must(ioctl(guest->vcpu, KVM_SET_SREGS, &sregs), "KVM_SET_SREGS");
}

static void start_at(struct guest *guest, uint64_t rip)
{
	struct kvm_regs regs = { .rip = rip, .rsi = guest->rounds, .rflags = 2 };

	must(ioctl(guest->vcpu, KVM_SET_REGS, &regs), "KVM_SET_REGS");
}

static void run_to(struct guest *guest, uint32_t reason)
{
	must(ioctl(guest->vcpu, KVM_RUN, NULL), "KVM_RUN");
	if (guest->run->exit_reason != reason)
		give_up("the guest did something else");
}

static void run_cpuids(void *arg)
{
	start_at(arg, MEMORY);
	run_to(arg, KVM_EXIT_HLT);
}

static void run_port(void *arg)
{
	run_to(arg, KVM_EXIT_IO);
}

/* The loop's own instructions count, as they do wherever CPUID is used. */
static double cpuid_cost(struct guest *guest)
{
	double few, many;

	guest->rounds = 1;
	few = cost(run_cpuids, guest);
	guest->rounds = 1 + ROUNDS;
	many = cost(run_cpuids, guest);
	return (many - few) / ROUNDS;
}

static void bench_guest(struct guest *guest, const char *what, const char *modules)
{
	result_cost(cpuid_cost(guest), "cpuid%s/%s", what, modules);
	start_at(guest, MEMORY + PORTS);
	result_cost(cost(run_port, guest), "port%s/%s", what, modules);
}

void bench_exits(const char *modules)
{
	FILE *switch_on;
	struct guest guest;

	guest_create(&guest);
	bench_guest(&guest, "", modules);
	switch_on = fopen("/sys/module/kvm/parameters/exit_timing", "w");
	if (!switch_on)
		return;
	if (fputs("Y", switch_on) < 0 || fclose(switch_on))
		give_up("switching on exit_timing");
	bench_guest(&guest, "-timed", modules);
}

_Noreturn void spin_exits(void)
{
	struct guest guest = { .rounds = 50000 };

	guest_create(&guest);
	printf("spinning\n");
	fflush(stdout);
	for (;;)
		run_cpuids(&guest);
}
