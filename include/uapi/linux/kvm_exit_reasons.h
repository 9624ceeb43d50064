/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
#ifndef _UAPI__LINUX_KVM_EXIT_REASONS_H
#define _UAPI__LINUX_KVM_EXIT_REASONS_H

/*
 * What the buckets of the statistic "exit_reasons" count, by the backend of KVM.
 * A bucket that is not named here counts a reason that this kernel does not know;
 * the last bucket counts all reasons that have none of their own.
 *
 * A list is used with a macro that makes of number and name what is wanted:
 *
 *	#define NAME(_number, _name)	[_number] = #_name,
 *	static const char *const vmx[] = { KVM_EXIT_REASONS_VMX(NAME) };
 */

/* Number of buckets of x86, the same for VMX and SVM */
#define KVM_EXIT_REASONS_X86		173

/*
 * VMX: the basic exit reason, Intel SDM volume 3, appendix "VMX basic exit reasons".
 *
 * An entry to the guest that KVM does not even try, because only its emulator can
 * run the guest in that state, counts as an exit for 33, invalid_state.
 */
#define KVM_EXIT_REASONS_VMX(_)	\
	_(0, exception_nmi)		\
	_(1, external_interrupt)	\
	_(2, triple_fault)		\
	_(3, init_signal)		\
	_(4, sipi)			\
	_(5, io_smi)			\
	_(6, other_smi)			\
	_(7, interrupt_window)		\
	_(8, nmi_window)		\
	_(9, task_switch)		\
	_(10, cpuid)			\
	_(11, getsec)			\
	_(12, hlt)			\
	_(13, invd)			\
	_(14, invlpg)			\
	_(15, rdpmc)			\
	_(16, rdtsc)			\
	_(17, rsm)			\
	_(18, vmcall)			\
	_(19, vmclear)			\
	_(20, vmlaunch)			\
	_(21, vmptrld)			\
	_(22, vmptrst)			\
	_(23, vmread)			\
	_(24, vmresume)			\
	_(25, vmwrite)			\
	_(26, vmoff)			\
	_(27, vmon)			\
	_(28, cr_access)		\
	_(29, dr_access)		\
	_(30, io_instruction)		\
	_(31, msr_read)			\
	_(32, msr_write)		\
	_(33, invalid_state)		\
	_(34, msr_load_fail)		\
	_(36, mwait_instruction)	\
	_(37, monitor_trap_flag)	\
	_(39, monitor_instruction)	\
	_(40, pause_instruction)	\
	_(41, mce_during_vmentry)	\
	_(43, tpr_below_threshold)	\
	_(44, apic_access)		\
	_(45, eoi_induced)		\
	_(46, gdtr_idtr)		\
	_(47, ldtr_tr)			\
	_(48, ept_violation)		\
	_(49, ept_misconfig)		\
	_(50, invept)			\
	_(51, rdtscp)			\
	_(52, preemption_timer)		\
	_(53, invvpid)			\
	_(54, wbinvd)			\
	_(55, xsetbv)			\
	_(56, apic_write)		\
	_(57, rdrand)			\
	_(58, invpcid)			\
	_(59, vmfunc)			\
	_(60, encls)			\
	_(61, rdseed)			\
	_(62, pml_full)			\
	_(63, xsaves)			\
	_(64, xrstors)			\
	_(66, spp_event)		\
	_(67, umwait)			\
	_(68, tpause)

/*
 * SVM: the exit code, AMD APM volume 2, appendix "SVM intercept exit codes".  Codes
 * from 0x400 on are counted from bucket KVM_EXIT_REASONS_SVM_HIGH on.
 */
#define KVM_EXIT_REASONS_SVM_HIGH	168

#define KVM_EXIT_REASONS_SVM(_)	\
	_(0x00, read_cr0)			\
	_(0x02, read_cr2)			\
	_(0x03, read_cr3)			\
	_(0x04, read_cr4)			\
	_(0x08, read_cr8)			\
	_(0x10, write_cr0)			\
	_(0x12, write_cr2)			\
	_(0x13, write_cr3)			\
	_(0x14, write_cr4)			\
	_(0x18, write_cr8)			\
	_(0x20, read_dr0)			\
	_(0x21, read_dr1)			\
	_(0x22, read_dr2)			\
	_(0x23, read_dr3)			\
	_(0x24, read_dr4)			\
	_(0x25, read_dr5)			\
	_(0x26, read_dr6)			\
	_(0x27, read_dr7)			\
	_(0x30, write_dr0)			\
	_(0x31, write_dr1)			\
	_(0x32, write_dr2)			\
	_(0x33, write_dr3)			\
	_(0x34, write_dr4)			\
	_(0x35, write_dr5)			\
	_(0x36, write_dr6)			\
	_(0x37, write_dr7)			\
	_(0x40, excp_de)			\
	_(0x41, excp_db)			\
	_(0x42, excp_nmi)			\
	_(0x43, excp_bp)			\
	_(0x44, excp_of)			\
	_(0x45, excp_br)			\
	_(0x46, excp_ud)			\
	_(0x47, excp_nm)			\
	_(0x48, excp_df)			\
	_(0x4a, excp_ts)			\
	_(0x4b, excp_np)			\
	_(0x4c, excp_ss)			\
	_(0x4d, excp_gp)			\
	_(0x4e, excp_pf)			\
	_(0x50, excp_mf)			\
	_(0x51, excp_ac)			\
	_(0x52, excp_mc)			\
	_(0x53, excp_xm)			\
	_(0x55, excp_cp)			\
	_(0x5c, excp_hv)			\
	_(0x5d, excp_vc)			\
	_(0x5e, excp_sx)			\
	_(0x60, intr)				\
	_(0x61, nmi)				\
	_(0x62, smi)				\
	_(0x63, init)				\
	_(0x64, vintr)				\
	_(0x65, cr0_sel_write)			\
	_(0x66, idtr_read)			\
	_(0x67, gdtr_read)			\
	_(0x68, ldtr_read)			\
	_(0x69, tr_read)			\
	_(0x6a, idtr_write)			\
	_(0x6b, gdtr_write)			\
	_(0x6c, ldtr_write)			\
	_(0x6d, tr_write)			\
	_(0x6e, rdtsc)				\
	_(0x6f, rdpmc)				\
	_(0x70, pushf)				\
	_(0x71, popf)				\
	_(0x72, cpuid)				\
	_(0x73, rsm)				\
	_(0x74, iret)				\
	_(0x75, swint)				\
	_(0x76, invd)				\
	_(0x77, pause)				\
	_(0x78, hlt)				\
	_(0x79, invlpg)				\
	_(0x7a, invlpga)			\
	_(0x7b, ioio)				\
	_(0x7c, msr)				\
	_(0x7d, task_switch)			\
	_(0x7e, ferr_freeze)			\
	_(0x7f, shutdown)			\
	_(0x80, vmrun)				\
	_(0x81, vmmcall)			\
	_(0x82, vmload)				\
	_(0x83, vmsave)				\
	_(0x84, stgi)				\
	_(0x85, clgi)				\
	_(0x86, skinit)				\
	_(0x87, rdtscp)				\
	_(0x88, icebp)				\
	_(0x89, wbinvd)				\
	_(0x8a, monitor)			\
	_(0x8b, mwait)				\
	_(0x8c, mwait_cond)			\
	_(0x8d, xsetbv)				\
	_(0x8e, rdpru)				\
	_(0x8f, efer_write_trap)		\
	_(0xa0, invlpgb)			\
	_(0xa1, invlpgb_illegal)		\
	_(0xa2, invpcid)			\
	_(0xa3, mcommit)			\
	_(0xa4, tlbsync)			\
	_(168, npf)				\
	_(169, avic_incomplete_ipi)		\
	_(170, avic_unaccelerated_access)	\
	_(171, vmgexit)

/* Number of buckets of arm64 */
#define KVM_EXIT_REASONS_ARM64		67

/*
 * arm64: the exception class of a trap, Arm ARM, ESR_EL2.EC; and for what is no
 * trap and has no class, numbers after the last class.
 */
#define KVM_EXIT_REASONS_ARM64_IRQ	64
#define KVM_EXIT_REASONS_ARM64_SERROR	65

#define KVM_EXIT_REASONS_ESR(_)	\
	_(0x00, unknown)	\
	_(0x01, wfx)		\
	_(0x03, cp15_32)	\
	_(0x04, cp15_64)	\
	_(0x05, cp14_mr)	\
	_(0x06, cp14_ls)	\
	_(0x07, fp_asimd)	\
	_(0x08, cp10_id)	\
	_(0x09, pac)		\
	_(0x0c, cp14_64)	\
	_(0x0d, bti)		\
	_(0x0e, ill)		\
	_(0x11, svc32)		\
	_(0x12, hvc32)		\
	_(0x13, smc32)		\
	_(0x15, svc64)		\
	_(0x16, hvc64)		\
	_(0x17, smc64)		\
	_(0x18, sys64)		\
	_(0x19, sve)		\
	_(0x1a, eret)		\
	_(0x1c, fpac)		\
	_(0x1f, imp_def)	\
	_(0x20, iabt_low)	\
	_(0x21, iabt_cur)	\
	_(0x22, pc_align)	\
	_(0x24, dabt_low)	\
	_(0x25, dabt_cur)	\
	_(0x26, sp_align)	\
	_(0x28, fp_exc32)	\
	_(0x2c, fp_exc64)	\
	_(0x2f, serror)	\
	_(0x30, breakpt_low)	\
	_(0x31, breakpt_cur)	\
	_(0x32, softstp_low)	\
	_(0x33, softstp_cur)	\
	_(0x34, watchpt_low)	\
	_(0x35, watchpt_cur)	\
	_(0x38, bkpt32)		\
	_(0x3a, vector32)	\
	_(0x3c, brk64)		\
	_(64, irq)		\
	_(65, el1_serror)

#endif /* _UAPI__LINUX_KVM_EXIT_REASONS_H */
