/* SPDX-License-Identifier: GPL-2.0-only */
/* Real mode, whose instructions need nothing set up. */

#define GUEST_STAT		"io_exits"
#define GUEST_OTHER_STAT	"halt_exits"
#define GUEST_EXITS		"exits"
#define GUEST_HOST_EXITS	"irq_exits", "pf_fixed"
#define EXITS_PER_OTHER		0
#define COPY_GRAIN		1

#define GUEST_LOG_FLUSHES	1
#define GUEST_SIGNAL_ENDS_POLL	1

#define GUEST_MEMORY		0x1000

static const uint8_t guest_code[] = {
	0xe6, 0x10, 0xeb, 0xfc,		/* 1: out %al, $0x10; jmp 1b */
	0xf4, 0xeb, 0xfd,		/* 1: hlt; jmp 1b */
	0xeb, 0xfe,			/* 1: jmp 1b */
	0x0f, 0xa2,			/* 1: cpuid */
	0xe6, 0x10, 0xeb, 0xfa,		/* out %al, $0x10; jmp 1b */
	0x0f, 0x30,			/* 1: wrmsr */
	0x4e, 0x75, 0xfb,		/* dec %si; jnz 1b */
	0xe6, 0x10, 0xeb, 0xfc,		/* 1: out %al, $0x10; jmp 1b */
	0x88, 0x07,			/* 1: mov %al, (%bx) */
	0x81, 0xc3, 0x00, 0x10,		/* add $0x1000, %bx */
	0xe2, 0xf8,			/* loop 1b */
	0xe6, 0x10, 0xeb, 0xfc,		/* 1: out %al, $0x10; jmp 1b */
	0xb8, 0x0b, 0x00,		/* 1: mov $11, %ax, KVM_HC_SCHED_YIELD */
	0x0f, 0x01, 0xc1,		/* vmcall, which KVM makes vmmcall on AMD */
	0xe6, 0x10, 0xeb, 0xf6,		/* out %al, $0x10; jmp 1b */
};

static const uint64_t guest_start[GUEST_JOBS] = {
	[GUEST_EXIT] = GUEST_MEMORY,
	[GUEST_OTHER] = GUEST_MEMORY + 4,
	[GUEST_SPIN] = GUEST_MEMORY + 7,
	[GUEST_HALT] = GUEST_MEMORY + 4,
	[GUEST_CPUID] = GUEST_MEMORY + 9,
	[GUEST_DEADLINE] = GUEST_MEMORY + 15,
	[GUEST_IPI] = GUEST_MEMORY + 15,
	[GUEST_ILLEGAL] = GUEST_MEMORY,
	[GUEST_TOUCH] = GUEST_MEMORY + 24,
	[GUEST_MMIO_WRITE] = GUEST_MEMORY + 24,
	[GUEST_YIELD] = GUEST_MEMORY + 36,
};

#define GUEST_MSR_DEADLINE	0x6e0
#define GUEST_MSR_IPI		0x830

/* The registers of a job.  The IPI, vector 0x40, is for a CPU that is not there. */
static const struct kvm_regs guest_regs[GUEST_JOBS] = {
	[GUEST_DEADLINE] = { .rcx = GUEST_MSR_DEADLINE, .rsi = GUEST_MSRS },
	[GUEST_IPI] = { .rcx = GUEST_MSR_IPI, .rsi = GUEST_MSRS, .rax = 0x40, .rdx = 7 },
	[GUEST_TOUCH] = { .rbx = 0x2000, .rcx = GUEST_PAGES },
	[GUEST_MMIO_WRITE] = { .rbx = 0, .rcx = GUEST_PAGES },
};

/* The data segment of GUEST_MMIO_WRITE is behind the memory. */
#define GUEST_MMIO_SEGMENT	0x2000

/* The second bit of EFER is reserved. */
#define GUEST_EFER_ILLEGAL	2
#define GUEST_X2APIC		0xc00

/* The one feature of the CPU that a job needs: bit 21 of CPUID.1:ECX, with an APIC */
static bool guest_has_x2apic(int vcpu)
{
	struct {
		struct kvm_cpuid2 head;
		struct kvm_cpuid_entry2 leaf;
	} cpuid = {
		.head.nent = 1,
		.leaf = { .function = 1, .ecx = 1 << 21, .edx = 1 << 9 },
	};

	return !ioctl(vcpu, KVM_SET_CPUID2, &cpuid);
}

static bool guest_enter(int vm, int vcpu, enum guest_job job)
{
	/* With interrupts off, Bochs does not leave the guest for those of the host. */
	struct kvm_regs regs = guest_regs[job];
	struct kvm_sregs sregs;

	if (ioctl(vcpu, KVM_GET_SREGS, &sregs))
		return false;
	regs.rip = guest_start[job];
	regs.rflags = 0x202;
	sregs.ds.selector = job == GUEST_MMIO_WRITE ? GUEST_MMIO_SEGMENT : 0;
	sregs.ds.base = sregs.ds.selector << 4;
	if (job == GUEST_ILLEGAL)
		sregs.efer |= GUEST_EFER_ILLEGAL;
	if (job == GUEST_IPI) {
		if (!guest_has_x2apic(vcpu))
			return false;
		sregs.apic_base |= GUEST_X2APIC;
	}
	sregs.cs.base = 0;
	sregs.cs.selector = 0;
	return !ioctl(vcpu, KVM_SET_SREGS, &sregs) && !ioctl(vcpu, KVM_SET_REGS, &regs);
}

static bool guest_did(const struct kvm_run *run, enum guest_job job)
{
	if (job == GUEST_OTHER)
		return run->exit_reason == KVM_EXIT_HLT;
	if (job == GUEST_ILLEGAL)
		return run->exit_reason == KVM_EXIT_FAIL_ENTRY;
	if (job == GUEST_MMIO_WRITE)
		return run->exit_reason == KVM_EXIT_MMIO && run->mmio.is_write;
	return run->exit_reason == KVM_EXIT_IO;
}

#define HAVE_GUEST_IRQCHIP
static inline bool guest_halts_in_kernel(int vm)
{
	return !ioctl(vm, KVM_CREATE_IRQCHIP, 0);
}
