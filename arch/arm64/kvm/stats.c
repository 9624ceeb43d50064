// SPDX-License-Identifier: GPL-2.0-only
/*
 * The statistics of arm64.
 */
#include <linux/kvm_host.h>

static const struct kvm_stat_entry vm_entries[] = {
	KVM_VM_STAT_GENERIC,
};

static const struct kvm_stat_entry vcpu_entries[] = {
	KVM_VCPU_STAT_GENERIC,
	KVM_VCPU_STAT(hvc_exit_stat, CUMULATIVE),
	KVM_VCPU_STAT(wfe_exit_stat, CUMULATIVE),
	KVM_VCPU_STAT(wfi_exit_stat, CUMULATIVE),
	KVM_VCPU_STAT(mmio_exit_user, CUMULATIVE),
	KVM_VCPU_STAT(mmio_exit_kernel, CUMULATIVE),
	KVM_VCPU_STAT(signal_exits, CUMULATIVE),
	KVM_VCPU_STAT(exits, CUMULATIVE),
	KVM_VCPU_STAT_NUMBERS(exit_reasons),
	KVM_VCPU_STAT_NS(exit_host_ns_hist, LOG_HIST),
};

const struct kvm_stats_table kvm_vm_stats_table =
	KVM_STATS_TABLE(struct kvm_vm_stat, vm_entries, 0);

const struct kvm_stats_table kvm_vcpu_stats_table =
	KVM_STATS_TABLE(struct kvm_vcpu_stat, vcpu_entries,
			KVM_VCPU_STAT_GENERIC_MORE +
			KVM_EXIT_REASONS_ARM64 - 1 + KVM_STATS_LOG_MORE);

const struct kvm_stat_debugfs kvm_stats_debugfs_names[] = {
	{}
};
