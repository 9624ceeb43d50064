/* SPDX-License-Identifier: GPL-2.0-only */
/* Real mode, whose instructions need nothing set up. */

#define GUEST_STAT		"io_exits"
#define GUEST_OTHER_STAT	"halt_exits"
#define GUEST_EXITS		"exits"
#define GUEST_HOST_EXITS	"irq_exits", "pf_fixed"
#define EXITS_PER_OTHER		0
#define COPY_GRAIN		1

#define GUEST_MEMORY		0x1000

static const uint8_t guest_code[] = {
	0xe6, 0x10, 0xeb, 0xfc,		/* 1: out %al, $0x10; jmp 1b */
	0xf4, 0xeb, 0xfd,		/* 1: hlt; jmp 1b */
	0xeb, 0xfe,			/* 1: jmp 1b */
};

static const uint64_t guest_start[] = {
	[GUEST_EXIT] = GUEST_MEMORY,
	[GUEST_OTHER] = GUEST_MEMORY + 4,
	[GUEST_SPIN] = GUEST_MEMORY + 7,
};

static bool guest_enter(int vm, int vcpu, enum guest_job job)
{
	/* With interrupts off, Bochs does not leave the guest for those of the host. */
	struct kvm_regs regs = { .rip = guest_start[job], .rflags = 0x202 };
	struct kvm_sregs sregs;

	if (ioctl(vcpu, KVM_GET_SREGS, &sregs))
		return false;
	sregs.cs.base = 0;
	sregs.cs.selector = 0;
	return !ioctl(vcpu, KVM_SET_SREGS, &sregs) && !ioctl(vcpu, KVM_SET_REGS, &regs);
}

static bool guest_did(const struct kvm_run *run, enum guest_job job)
{
	return run->exit_reason == (job == GUEST_EXIT ? KVM_EXIT_IO : KVM_EXIT_HLT);
}
