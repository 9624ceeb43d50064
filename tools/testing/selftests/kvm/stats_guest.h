/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A guest of a few instructions, for tests that need exits they can count and
 * nothing else of a machine: no firmware, no stack, one page of memory.
 *
 * stats_guest/<architecture>.h has it for one architecture and defines
 *
 *   GUEST_STAT, GUEST_OTHER_STAT	what counts the jobs; the first need not
 *				be a constant
 *   GUEST_EXITS		counts what the host's timer makes of GUEST_SPIN
 *   COPY_GRAIN			copy_to_user() may give up COPY_GRAIN - 1
 *				bytes before the one that faults
 *   EXITS_PER_OTHER		how often GUEST_STAT counts in GUEST_OTHER
 *   GUEST_MEMORY		the physical address of its memory
 *   guest_code			its code
 *   guest_enter(), guest_did()
 *				see below
 *
 * and perhaps
 *
 *   GUEST_CODE			where in its memory the code is, if not at the start
 *   guest_run()		see below; with HAVE_GUEST_RUN
 *
 *   GUEST_LOG_FLUSHES		1 where to log dirty pages takes a flush of TLBs,
 *				and KVM counts that
 *   GUEST_SIGNAL_ENDS_POLL	1 where a signal ends the poll of GUEST_HALT
 *   guest_halts_in_kernel()	see below; with HAVE_GUEST_IRQCHIP
 *
 * and, where GUEST_EXITS counts all exits and each has a reason that is counted,
 *
 *   GUEST_HOST_EXITS		what counts those of GUEST_EXITS that are not of
 *				the jobs
 */
#ifndef SELFTEST_KVM_STATS_GUEST_H
#define SELFTEST_KVM_STATS_GUEST_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>

#include <linux/kvm.h>

/* A multiple of every page size */
#define GUEST_RAM	0x10000

enum guest_job {
	GUEST_EXIT,		/* one exit to userspace per KVM_RUN */
	GUEST_OTHER,		/* one exit of another kind per KVM_RUN */
	GUEST_SPIN,		/* leaves KVM_RUN on a signal only */
	GUEST_HALT,		/* halts until a signal or, if user space does that, exits */

	/* Not everywhere, see guest_can(); the first ones make two exits per KVM_RUN. */
	GUEST_CPUID,
	GUEST_FP,		/* floating point, for the first time since KVM_RUN */
	GUEST_DEADLINE,		/* GUEST_MSRS writes of an MSR, then one more exit */
	GUEST_IPI,		/* the same with another MSR */
	GUEST_ILLEGAL,		/* no entry to the guest: its state is not legal */
	GUEST_TOUCH,		/* writes to GUEST_PAGES pages of its memory */
	GUEST_MMIO_WRITE,	/* one write per KVM_RUN, GUEST_PAGES pages in turn */
	GUEST_YIELD,		/* yields to a vCPU that does not wait, then one more exit */

	GUEST_JOBS
};

#define GUEST_MSRS	100
#define GUEST_PAGES	14

/* Gives @vm the code, in @ram, which is GUEST_RAM bytes at a page boundary. */
static bool guest_load(int vm, void *ram);

/* The next KVM_RUN of @vcpu starts with @job. */
static bool guest_enter(int vm, int vcpu, enum guest_job job);

/* KVM_RUN, and what @job needs before it; below 0 on an error. */
static int guest_run(int vcpu, enum guest_job job);

/* Is this how a KVM_RUN of @job ends? */
static bool guest_did(const struct kvm_run *run, enum guest_job job);

/* Before @vm has vCPUs: their halts are to be handled by KVM, not by user space. */
static inline bool guest_halts_in_kernel(int vm);

#if defined(__x86_64__) || defined(__i386__)
#include "stats_guest/x86.h"
#elif defined(__aarch64__)
#include "stats_guest/arm64.h"
#elif defined(__powerpc64__)
#include "stats_guest/powerpc.h"
#elif defined(__mips__)
#include "stats_guest/mips.h"
#else
#include "stats_guest/none.h"
#endif

#ifndef HAVE_GUEST
#define HAVE_GUEST	1
#endif

#ifndef GUEST_CODE
#define GUEST_CODE	0
#endif

#ifndef GUEST_LOG_FLUSHES
#define GUEST_LOG_FLUSHES	0
#endif

#ifndef GUEST_SIGNAL_ENDS_POLL
#define GUEST_SIGNAL_ENDS_POLL	0
#endif

#ifndef HAVE_GUEST_IRQCHIP
static inline bool guest_halts_in_kernel(int vm)
{
	return true;
}
#endif

static inline bool guest_can(enum guest_job job)
{
	return HAVE_GUEST && guest_start[job];
}

static bool guest_load(int vm, void *ram)
{
	struct kvm_userspace_memory_region region = {
		.guest_phys_addr = GUEST_MEMORY,
		.memory_size = GUEST_RAM,
		.userspace_addr = (uintptr_t)ram,
	};

	memcpy((char *)ram + GUEST_CODE, guest_code, sizeof(guest_code));
	return !HAVE_GUEST || !ioctl(vm, KVM_SET_USER_MEMORY_REGION, &region);
}

#ifndef HAVE_GUEST_RUN
static int guest_run(int vcpu, enum guest_job job)
{
	return ioctl(vcpu, KVM_RUN, 0);
}
#endif

#endif /* SELFTEST_KVM_STATS_GUEST_H */
