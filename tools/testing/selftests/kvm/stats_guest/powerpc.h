/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Real mode, for HV and PR.  HV does not count MMIO exits, but that it loads the
 * instruction of one.  Both count the interrupts that userspace asks for.
 */

#include <fcntl.h>
#include <unistd.h>

#define GUEST_STAT		guest_stat()
#define GUEST_OTHER_STAT	"queue_intr"
#define GUEST_EXITS		"sum_exits"
#define EXITS_PER_OTHER		1
#define COPY_GRAIN		1

#define GUEST_MEMORY		0
#define GUEST_CODE		0x2000	/* behind the interrupt vectors */
#define GUEST_MMIO		0x10000000

static const uint32_t guest_code[] = {
	0x60000000,	/*    nop */
	0x90030000,	/* 1: stw r0, 0(r3) */
	0x4bfffffc,	/*    b 1b */

	0x48000000,	/* 1: b 1b */

	0x386000e0,	/* 1: li r3, H_CEDE */
	0x44000022,	/*    sc 1 */
	0x4bfffff8,	/*    b 1b */
};

static const uint64_t guest_start[GUEST_JOBS] = {
	[GUEST_EXIT] = GUEST_CODE,
	[GUEST_OTHER] = GUEST_CODE,
	[GUEST_SPIN] = GUEST_CODE + 3 * sizeof(*guest_code),
	[GUEST_HALT] = GUEST_CODE + 4 * sizeof(*guest_code),
};

/*
 * The facilities that the host's user space has, too.  On the first POWER9, HV of
 * 5.10 may be scheduled out with those of the guest, which are then the thread's; and
 * without SCV the C library dies.
 */
static const uint64_t guest_fscr = 1 << 12 | 1 << 8 | 1 << 7;	/* SCV, TAR, EBB */

static inline const char *guest_stat(void)
{
	int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	int pr = ioctl(kvm, KVM_CHECK_EXTENSION, KVM_CAP_PPC_GET_PVINFO);

	close(kvm);
	return pr > 0 ? "mmio_exits" : "ld";
}

/*
 * H_CEDE switches interrupts on: that of the decrementer is put off as far as 32 bits
 * reach.  PR has none as long as the guest does not set it.
 */
static inline void guest_stop_decrementer(int vcpu)
{
	uint64_t expires = __builtin_ppc_get_timebase() + 0x7f000000;
	struct kvm_one_reg reg = {
		.id = KVM_REG_PPC_DEC_EXPIRY,
		.addr = (uintptr_t)&expires,
	};

	ioctl(vcpu, KVM_SET_ONE_REG, &reg);
}

static bool guest_enter(int vm, int vcpu, enum guest_job job)
{
	struct kvm_regs regs = {
		.pc = guest_start[job],
		.msr = 1ULL << 63,	/* 64 bits; no translation, no interrupts */
		.gpr[3] = GUEST_MMIO,
	};
	struct kvm_enable_cap papr = { .cap = KVM_CAP_PPC_PAPR };
	struct kvm_one_reg fscr = {
		.id = KVM_REG_PPC_FSCR,
		.addr = (uintptr_t)&guest_fscr,
	};

#ifdef __LITTLE_ENDIAN__
	regs.msr |= 1;
#endif
	guest_stop_decrementer(vcpu);
	/* HV runs no other guests. */
	return !ioctl(vcpu, KVM_ENABLE_CAP, &papr) && !ioctl(vcpu, KVM_SET_ONE_REG, &fscr) &&
	       !ioctl(vcpu, KVM_SET_REGS, &regs);
}

/* An interrupt is counted when it is queued; the guest does not take it. */
#define HAVE_GUEST_RUN
static int guest_run(int vcpu, enum guest_job job)
{
	struct kvm_interrupt interrupt = { .irq = KVM_INTERRUPT_SET };

	if (job == GUEST_OTHER && ioctl(vcpu, KVM_INTERRUPT, &interrupt))
		return -1;
	return ioctl(vcpu, KVM_RUN, 0);
}

static bool guest_did(const struct kvm_run *run, enum guest_job job)
{
	return run->exit_reason == KVM_EXIT_MMIO && run->mmio.is_write;
}
