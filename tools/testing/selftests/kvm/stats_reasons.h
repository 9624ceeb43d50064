/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which buckets of exit_reasons, of REASON_BUCKETS, count the exits of the jobs of
 * stats_guest.h.  0: exits are not counted by their reason on this architecture.
 */
#ifndef SELFTEST_KVM_STATS_REASONS_H
#define SELFTEST_KVM_STATS_REASONS_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/kvm_exit_reasons.h>

#include "stats_guest.h"

/* The bucket of the exit that @job is about. */
static inline int guest_reason(enum guest_job job);

/* The bucket of the exit with which a KVM_RUN of @job ends. */
static inline int guest_left_for(enum guest_job job);

/* Does the host make exits of its own that this bucket counts? */
static inline bool guest_host_reason(int reason);

#if defined(__x86_64__) || defined(__i386__)
#include <asm/svm.h>
#include <asm/vmx.h>

#define REASON_BUCKETS		173
#define HAVE_GUEST_MODE		true

static inline bool guest_is_svm(void)
{
	uint32_t a = 0x80000001, b, c = 0, d;

	asm volatile("cpuid" : "+a" (a), "=b" (b), "+c" (c), "=d" (d));
	return c >> 2 & 1;
}

/* Buckets of exit_reasons: VMX, SVM */
enum { VMX, SVM };

static const int guest_reasons[GUEST_JOBS][2] = {
	[GUEST_EXIT] = { EXIT_REASON_IO_INSTRUCTION, SVM_EXIT_IOIO },
	[GUEST_OTHER] = { EXIT_REASON_HLT, SVM_EXIT_HLT },
	[GUEST_HALT] = { EXIT_REASON_HLT, SVM_EXIT_HLT },
	[GUEST_CPUID] = { EXIT_REASON_CPUID, SVM_EXIT_CPUID },
	[GUEST_DEADLINE] = { EXIT_REASON_MSR_WRITE, SVM_EXIT_MSR },
	[GUEST_IPI] = { EXIT_REASON_MSR_WRITE, SVM_EXIT_MSR },
	/* SVM_EXIT_ERR, -1, is a code without a bucket of its own. */
	[GUEST_ILLEGAL] = { EXIT_REASON_INVALID_STATE, KVM_EXIT_REASONS_X86 - 1 },
};

static inline int guest_reason(enum guest_job job)
{
	return guest_reasons[job][guest_is_svm() ? SVM : VMX];
}

static inline int guest_left_for(enum guest_job job)
{
	return guest_reason(job == GUEST_OTHER || job == GUEST_ILLEGAL ? job : GUEST_EXIT);
}

static inline bool guest_host_reason(int reason)
{
	if (guest_is_svm())
		return reason == SVM_EXIT_INTR || reason == KVM_EXIT_REASONS_SVM_HIGH;
	return reason == EXIT_REASON_EXTERNAL_INTERRUPT || reason == EXIT_REASON_EPT_VIOLATION;
}

#elif defined(__aarch64__)
#define REASON_BUCKETS		67
/* Exception classes */
#define GUEST_EC_WFX		0x01
#define GUEST_EC_FP		0x07
#define GUEST_EC_HVC		0x16
#define GUEST_EC_INSN_ABORT	0x20
#define GUEST_EC_DATA_ABORT	0x24

static const int guest_reasons[GUEST_JOBS] = {
	[GUEST_EXIT] = GUEST_EC_DATA_ABORT,
	[GUEST_OTHER] = GUEST_EC_HVC,
	[GUEST_HALT] = GUEST_EC_WFX,
	[GUEST_FP] = GUEST_EC_FP,
};

static inline int guest_reason(enum guest_job job)
{
	return guest_reasons[job];
}

static inline int guest_left_for(enum guest_job job)
{
	return GUEST_EC_DATA_ABORT;
}

static inline bool guest_host_reason(int reason)
{
	return reason == KVM_EXIT_REASONS_ARM64_IRQ || reason == GUEST_EC_INSN_ABORT;
}

#else
#define REASON_BUCKETS		0

static inline int guest_reason(enum guest_job job)
{
	return 0;
}

static inline int guest_left_for(enum guest_job job)
{
	return 0;
}

static inline bool guest_host_reason(int reason)
{
	return false;
}
#endif

#ifndef HAVE_GUEST_MODE
#define HAVE_GUEST_MODE		false
#endif

#endif /* SELFTEST_KVM_STATS_REASONS_H */
