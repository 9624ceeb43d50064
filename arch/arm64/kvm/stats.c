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
	KVM_VCPU_STAT(exits, CUMULATIVE),
};

const struct kvm_stats_table kvm_vm_stats_table =
	KVM_STATS_TABLE(struct kvm_vm_stat, vm_entries);

const struct kvm_stats_table kvm_vcpu_stats_table =
	KVM_STATS_TABLE(struct kvm_vcpu_stat, vcpu_entries);

const struct kvm_stat_debugfs kvm_stats_debugfs_names[] = {
	{}
};
