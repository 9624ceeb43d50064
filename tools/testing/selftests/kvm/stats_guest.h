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
};

/* Gives @vm the code, in @ram, which is GUEST_RAM bytes at a page boundary. */
static bool guest_load(int vm, void *ram);

/* The next KVM_RUN of @vcpu starts with @job. */
static bool guest_enter(int vm, int vcpu, enum guest_job job);

/* KVM_RUN, and what @job needs before it; below 0 on an error. */
static int guest_run(int vcpu, enum guest_job job);

/* Was this what GUEST_EXIT or GUEST_OTHER looks like? */
static bool guest_did(const struct kvm_run *run, enum guest_job job);

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
