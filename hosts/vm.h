/* SPDX-License-Identifier: GPL-2.0-only */
/* A small VM for the programs that run inside the hosts, and TAP for them. */
#ifndef HOSTS_VM_H
#define HOSTS_VM_H

#include <stdbool.h>
#include <stddef.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define VCPUS 2
#define VM_JOBS 2

struct vm {
	int kvm;
	int fd;
	void *memory;
	int vcpu[VCPUS];
	struct kvm_run *run[VCPUS];
	int run_size;
	int vm_stats;		/* -1 where the kernel has no stats fds */
	int vcpu_stats[VCPUS];
	int did[VCPUS][VM_JOBS];	/* what vm_work() did */
};

/* The name of what counts a job of vm_work(). */
const char *vm_stat(int job);

/* Exits as a skipped run where there is no KVM, as a failed one on an error. */
void vm_create(struct vm *vm);
/*
 * Lets a vCPU do so many exits of either kind that stats_guest.h has; on x86 they
 * are port writes and HLTs.
 */
void vm_work(struct vm *vm, int vcpu, int times);
void vm_close(struct vm *vm);

/* A test; why is said of a failed one only. Returns what it is given. */
bool ok(bool passed, const char *name, const char *why, ...)
	__attribute__((__format__(__printf__, 3, 4)));
/* Ends the program: passed, or failed if one test has. */
_Noreturn void tests_done(void);
_Noreturn void skip_all(const char *why);
_Noreturn void give_up(const char *what);

#endif
