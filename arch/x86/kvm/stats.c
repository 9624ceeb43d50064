// SPDX-License-Identifier: GPL-2.0-only
/*
 * The statistics of x86.
 */
#include <linux/kvm_host.h>

static const struct kvm_stat_entry vm_entries[] = {
	KVM_VM_STAT_GENERIC,
	KVM_VM_STAT(mmu_shadow_zapped, CUMULATIVE),
	KVM_VM_STAT(mmu_pte_write, CUMULATIVE),
	KVM_VM_STAT(mmu_pde_zapped, CUMULATIVE),
	KVM_VM_STAT(mmu_flooded, CUMULATIVE),
	KVM_VM_STAT(mmu_recycled, CUMULATIVE),
	KVM_VM_STAT(mmu_cache_miss, CUMULATIVE),
	KVM_VM_STAT(mmu_unsync, INSTANT),
	KVM_VM_STAT(mmu_shadow_pages, INSTANT),
	KVM_VM_STAT(lpages, INSTANT),
	KVM_VM_STAT_NAMED(pages[PG_LEVEL_4K - 1], "pages_4k", INSTANT),
	KVM_VM_STAT_NAMED(pages[PG_LEVEL_2M - 1], "pages_2m", INSTANT),
	KVM_VM_STAT_NAMED(pages[PG_LEVEL_1G - 1], "pages_1g", INSTANT),
	KVM_VM_STAT(nx_lpage_splits, INSTANT),
	KVM_VM_STAT(max_mmu_rmap_size, PEAK),
	KVM_VM_STAT(max_mmu_page_hash_collisions, PEAK),
};

static const struct kvm_stat_entry vcpu_entries[] = {
	KVM_VCPU_STAT_GENERIC,
	KVM_VCPU_STAT(pf_taken, CUMULATIVE),
	KVM_VCPU_STAT(pf_fixed, CUMULATIVE),
	KVM_VCPU_STAT(pf_emulate, CUMULATIVE),
	KVM_VCPU_STAT(pf_spurious, CUMULATIVE),
	KVM_VCPU_STAT(pf_fast, CUMULATIVE),
	KVM_VCPU_STAT(pf_mmio_spte_created, CUMULATIVE),
	KVM_VCPU_STAT(pf_guest, CUMULATIVE),
	KVM_VCPU_STAT(tlb_flush, CUMULATIVE),
	KVM_VCPU_STAT(invlpg, CUMULATIVE),
	KVM_VCPU_STAT(exits, CUMULATIVE),
	KVM_VCPU_STAT(io_exits, CUMULATIVE),
	KVM_VCPU_STAT(mmio_exits, CUMULATIVE),
	KVM_VCPU_STAT(signal_exits, CUMULATIVE),
	KVM_VCPU_STAT(irq_window_exits, CUMULATIVE),
	KVM_VCPU_STAT(nmi_window_exits, CUMULATIVE),
	KVM_VCPU_STAT(l1d_flush, CUMULATIVE),
	KVM_VCPU_STAT(halt_exits, CUMULATIVE),
	KVM_VCPU_STAT(request_irq_exits, CUMULATIVE),
	KVM_VCPU_STAT(irq_exits, CUMULATIVE),
	KVM_VCPU_STAT(host_state_reload, CUMULATIVE),
	KVM_VCPU_STAT(fpu_reload, CUMULATIVE),
	KVM_VCPU_STAT(insn_emulation, CUMULATIVE),
	KVM_VCPU_STAT(insn_emulation_fail, CUMULATIVE),
	KVM_VCPU_STAT(hypercalls, CUMULATIVE),
	KVM_VCPU_STAT(irq_injections, CUMULATIVE),
	KVM_VCPU_STAT(nmi_injections, CUMULATIVE),
	KVM_VCPU_STAT(req_event, CUMULATIVE),
	KVM_VCPU_STAT(nested_run, CUMULATIVE),
	KVM_VCPU_STAT(directed_yield_attempted, CUMULATIVE),
	KVM_VCPU_STAT(directed_yield_successful, CUMULATIVE),
	KVM_VCPU_STAT(preemption_reported, CUMULATIVE),
	KVM_VCPU_STAT(preemption_other, CUMULATIVE),
	KVM_VCPU_STAT_BOOL(guest_mode),
	KVM_VCPU_STAT_NUMBERS(exit_reasons),
	KVM_VCPU_STAT_NS(exit_host_ns_hist, LOG_HIST),
};

const struct kvm_stats_table kvm_vm_stats_table =
	KVM_STATS_TABLE(struct kvm_vm_stat, vm_entries, 0);

const struct kvm_stats_table kvm_vcpu_stats_table =
	KVM_STATS_TABLE(struct kvm_vcpu_stat, vcpu_entries,
			KVM_VCPU_STAT_GENERIC_MORE +
			KVM_EXIT_REASONS_X86 - 1 + KVM_STATS_LOG_MORE);

const struct kvm_stat_debugfs kvm_stats_debugfs_names[] = {
	{ "irq_window_exits",	"irq_window",			0644 },
	{ "nmi_window_exits",	"nmi_window",			0644 },
	{ "request_irq_exits",	"request_irq",			0644 },
	{ "mmu_unsync",		"mmu_unsync",			0644 },
	{ "lpages",		"largepages",			0444 },
	{ "nx_lpage_splits",	"nx_largepages_splitted",	0444 },
	{}
};
