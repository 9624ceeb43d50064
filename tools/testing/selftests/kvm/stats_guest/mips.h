/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trap and emulate: the guest's kernel runs in user mode, where its memory starts at
 * 0x40000000, and stores to what is KSEG1 on hardware are MMIO.
 */

#define GUEST_STAT		"addrerr_st_exits"
#define GUEST_OTHER_STAT	"cop_unusable_exits"
#define GUEST_EXITS		"int_exits"
#define EXITS_PER_OTHER		1
#define COPY_GRAIN		1

#define GUEST_SIGNAL_ENDS_POLL	1

#define GUEST_MEMORY		0
#define GUEST_KSEG0		0x40000000
#define GUEST_MMIO		0xb4000000

static const uint32_t guest_code[] = {
	0x00000000,	/*    nop */
	0xac800000,	/* 1: sw $zero, 0($a0) */
	0x1000fffe,	/*    b 1b */
	0x00000000,	/*     nop */

	0x00000000,	/*    nop */
	0x42000008,	/* 1: tlbp */
	0xac800000,	/*    sw $zero, 0($a0) */
	0x1000fffd,	/*    b 1b */
	0x00000000,	/*     nop */

	0x1000ffff,	/* 1: b 1b */
	0x00000000,	/*     nop */

	0x42000020,	/* 1: wait */
	0x1000fffe,	/*    b 1b */
	0x00000000,	/*     nop */
};

static const uint32_t guest_start[GUEST_JOBS] = {
	[GUEST_EXIT] = GUEST_KSEG0,
	[GUEST_OTHER] = GUEST_KSEG0 + 4 * sizeof(*guest_code),
	[GUEST_SPIN] = GUEST_KSEG0 + 9 * sizeof(*guest_code),
	[GUEST_HALT] = GUEST_KSEG0 + 11 * sizeof(*guest_code),
};

static bool guest_enter(int vm, int vcpu, enum guest_job job)
{
	struct kvm_regs regs = { .pc = guest_start[job] };

	regs.gpr[4] = (int32_t)GUEST_MMIO;
	return !ioctl(vcpu, KVM_SET_REGS, &regs);
}

static bool guest_did(const struct kvm_run *run, enum guest_job job)
{
	return run->exit_reason == KVM_EXIT_MMIO && run->mmio.is_write;
}
