/* SPDX-License-Identifier: GPL-2.0-only */
/* EL1 with the MMU off, no GIC and no timer. */
#include <errno.h>
#include <stddef.h>

#define GUEST_STAT		"mmio_exit_user"
#define GUEST_OTHER_STAT	"hvc_exit_stat"
#define GUEST_EXITS		"exits"
#define EXITS_PER_OTHER		1
#define COPY_GRAIN		16

#define GUEST_LOG_FLUSHES	1
#define GUEST_SIGNAL_ENDS_POLL	1

#define GUEST_MEMORY		0x80000

/* Nothing is at the address 0, which the registers have after a reset. */
static const uint32_t guest_code[] = {
	0xd503201f,	/*    nop: an exit that was left open steps over it */
	0xb900003f,	/* 1: str wzr, [x1] */
	0x17ffffff,	/*    b 1b */

	0xd503201f,	/*    nop */
	0x52b08000,	/* 1: mov w0, #0x84000000, PSCI_VERSION */
	0xd4000002,	/*    hvc #0 */
	0xb900003f,	/*    str wzr, [x1] */
	0x17fffffd,	/*    b 1b */

	0xd503201f,	/*    nop */
	0x14000000,	/* 1: b 1b */

	0xd503201f,	/*    nop */
	0xd503207f,	/* 1: wfi */
	0x17ffffff,	/*    b 1b */

	0xd503201f,	/*    nop */
	0xd2a00600,	/* 1: mov x0, #0x300000 */
	0xd5181040,	/*    msr cpacr_el1, x0 */
	0xd5033fdf,	/*    isb */
	0x9e6703e0,	/*    fmov d0, xzr */
	0xb900003f,	/*    str wzr, [x1] */
	0x17fffffb,	/*    b 1b */
};

static const uint64_t guest_start[GUEST_JOBS] = {
	[GUEST_EXIT] = GUEST_MEMORY,
	[GUEST_OTHER] = GUEST_MEMORY + 3 * sizeof(*guest_code),
	[GUEST_SPIN] = GUEST_MEMORY + 8 * sizeof(*guest_code),
	[GUEST_HALT] = GUEST_MEMORY + 10 * sizeof(*guest_code),
	[GUEST_FP] = GUEST_MEMORY + 13 * sizeof(*guest_code),
};

static bool guest_reset(int vm, int vcpu)
{
	struct kvm_vcpu_init init;

	return !ioctl(vm, KVM_ARM_PREFERRED_TARGET, &init) &&
	       !ioctl(vcpu, KVM_ARM_VCPU_INIT, &init);
}

static bool guest_enter(int vm, int vcpu, enum guest_job job)
{
	struct kvm_one_reg pc = {
		.id = KVM_REG_ARM64 | KVM_REG_SIZE_U64 | KVM_REG_ARM_CORE |
		      KVM_REG_ARM_CORE_REG(regs.pc),
		.addr = (uintptr_t)&guest_start[job],
	};

	if (!ioctl(vcpu, KVM_SET_ONE_REG, &pc))
		return true;
	/* The first time, it has no registers yet. */
	return errno == ENOEXEC && guest_reset(vm, vcpu) && !ioctl(vcpu, KVM_SET_ONE_REG, &pc);
}

static bool guest_did(const struct kvm_run *run, enum guest_job job)
{
	return run->exit_reason == KVM_EXIT_MMIO && run->mmio.is_write;
}
