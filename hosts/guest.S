/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The guest that the real VMM runs: a firmware of its own, 64 KiB below 1 MiB
 * and below 4 GiB. Two or more vCPUs, each woken a hundred times a second by
 * the timer of its local APIC; in between a port write, an MMIO write, a CPUID
 * and a page of memory not touched before, then HLT.
 *
 * The first vCPU comes in at the reset vector and wakes the others by
 * INIT-SIPI-SIPI. SIPI vector 0xf0 sends them to f000:0000, so everybody
 * passes through `start`.
 */

#define APIC		0xfee00000
#define APIC_ID		0x20
#define APIC_EOI	0xb0
#define APIC_SVR	0xf0
#define APIC_ICR	0x300
#define APIC_LVTT	0x320
#define APIC_TMICT	0x380
#define APIC_TDCR	0x3e0
#define ALL_BUT_SELF	0xc0000
#define INIT		0x4500
#define SIPI		0x4600

#define MSR_APICBASE	0x1b
#define BSP		0x100

#define TIMER_VECTOR	0x20
#define TICK_NS		10000000	/* KVM's APIC bus ticks once a ns */
#define IDT		0x1000
#define STACKS		0x8000
#define POST_PORT	0x80
#define NO_DEVICE	0xd0000000	/* nothing there: an exit to the VMM */
#define REGION		0x1000000	/* 16 MiB each, from 16 MiB up */

	.code16
	.globl	start
start:
	cli
	lgdtl	%cs:(gdtr - start)
	movl	%cr0, %eax
	orb	$1, %al
	movl	%eax, %cr0
	ljmpl	$8, $flat

	.code32
flat:
	movl	$16, %eax
	movl	%eax, %ds
	movl	%eax, %es
	movl	%eax, %ss
	movl	$APIC, %ebp
	movl	APIC_ID(%ebp), %ebx
	shrl	$24, %ebx
	movl	%ebx, %eax
	shll	$12, %eax
	leal	STACKS(%eax), %esp
	movl	$0x100 | 0xff, APIC_SVR(%ebp)

	/* Every vCPU writes the same gate to the same place. */
	movl	$timer, %eax
	andl	$0xffff, %eax
	orl	$8 << 16, %eax
	movl	%eax, IDT + 8 * TIMER_VECTOR
	movl	$timer, %eax
	andl	$0xffff0000, %eax
	orl	$0x8e00, %eax
	movl	%eax, IDT + 8 * TIMER_VECTOR + 4
	lidt	idtr

	movl	$MSR_APICBASE, %ecx
	rdmsr
	testl	$BSP, %eax
	jz	work
	movl	$ALL_BUT_SELF | INIT, APIC_ICR(%ebp)
	movl	$ALL_BUT_SELF | SIPI | 0xf0, APIC_ICR(%ebp)
	movl	$ALL_BUT_SELF | SIPI | 0xf0, APIC_ICR(%ebp)

work:
	movl	$0xb, APIC_TDCR(%ebp)		/* divide by one */
	movl	$0x20000 | TIMER_VECTOR, APIC_LVTT(%ebp)	/* periodic */
	movl	$TICK_NS, APIC_TMICT(%ebp)
	leal	1(%ebx), %edi
	imull	$REGION, %edi
	xorl	%esi, %esi
again:
	movb	%bl, %al
	outb	%al, $POST_PORT
	movl	%ebx, NO_DEVICE
	pushl	%ebx
	xorl	%eax, %eax
	cpuid
	popl	%ebx
	incl	(%edi, %esi)
	addl	$0x1000, %esi
	andl	$REGION - 1, %esi
	sti
	hlt
	ud2

/* Comes from the HLT above and nowhere else: what it interrupted is dropped. */
timer:
	movl	$0, APIC_EOI(%ebp)
	addl	$12, %esp
	jmp	again

	.balign	8
gdt:
	.quad	0
	.quad	0x00cf9b000000ffff	/* 8: code, flat */
	.quad	0x00cf93000000ffff	/* 16: data, flat */
gdtr:
	.word	gdtr - gdt - 1
	.long	gdt
idtr:
	.word	8 * (TIMER_VECTOR + 1) - 1
	.long	IDT

	/* The reset vector: f000:fff0, with the base of cs near 4 GiB. */
	.org	0xfff0
	.code16
	jmp	start
	.org	0x10000
