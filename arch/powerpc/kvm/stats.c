// SPDX-License-Identifier: GPL-2.0-only
/*
 * The statistics of powerpc.
 */
#include <linux/kvm_host.h>

static const struct kvm_stat_entry vm_entries[] = {
	KVM_VM_STAT_GENERIC,
	KVM_VM_STAT(num_2M_pages, INSTANT),
	KVM_VM_STAT(num_1G_pages, INSTANT),
};

static const struct kvm_stat_entry vcpu_entries[] = {
	KVM_VCPU_STAT_GENERIC,
	KVM_VCPU_STAT(sum_exits, CUMULATIVE),
	KVM_VCPU_STAT(mmio_exits, CUMULATIVE),
	KVM_VCPU_STAT(signal_exits, CUMULATIVE),
	KVM_VCPU_STAT(light_exits, CUMULATIVE),
	KVM_VCPU_STAT(itlb_real_miss_exits, CUMULATIVE),
	KVM_VCPU_STAT(itlb_virt_miss_exits, CUMULATIVE),
	KVM_VCPU_STAT(dtlb_real_miss_exits, CUMULATIVE),
	KVM_VCPU_STAT(dtlb_virt_miss_exits, CUMULATIVE),
	KVM_VCPU_STAT(syscall_exits, CUMULATIVE),
	KVM_VCPU_STAT(isi_exits, CUMULATIVE),
	KVM_VCPU_STAT(dsi_exits, CUMULATIVE),
	KVM_VCPU_STAT(emulated_inst_exits, CUMULATIVE),
	KVM_VCPU_STAT(dec_exits, CUMULATIVE),
	KVM_VCPU_STAT(ext_intr_exits, CUMULATIVE),
	KVM_VCPU_STAT(halt_successful_wait, CUMULATIVE),
	KVM_VCPU_STAT(dbell_exits, CUMULATIVE),
	KVM_VCPU_STAT(gdbell_exits, CUMULATIVE),
	KVM_VCPU_STAT(ld, CUMULATIVE),
	KVM_VCPU_STAT(st, CUMULATIVE),
#ifdef CONFIG_PPC_BOOK3S
	KVM_VCPU_STAT(pf_storage, CUMULATIVE),
	KVM_VCPU_STAT(pf_instruc, CUMULATIVE),
	KVM_VCPU_STAT(sp_storage, CUMULATIVE),
	KVM_VCPU_STAT(sp_instruc, CUMULATIVE),
	KVM_VCPU_STAT(queue_intr, CUMULATIVE),
	KVM_VCPU_STAT(ld_slow, CUMULATIVE),
	KVM_VCPU_STAT(st_slow, CUMULATIVE),
#endif
	KVM_VCPU_STAT(pthru_all, CUMULATIVE),
	KVM_VCPU_STAT(pthru_host, CUMULATIVE),
	KVM_VCPU_STAT(pthru_bad_aff, CUMULATIVE),
};

const struct kvm_stats_table kvm_vm_stats_table =
	KVM_STATS_TABLE(struct kvm_vm_stat, vm_entries, 0);

const struct kvm_stats_table kvm_vcpu_stats_table =
	KVM_STATS_TABLE(struct kvm_vcpu_stat, vcpu_entries,
			KVM_VCPU_STAT_GENERIC_MORE);

const struct kvm_stat_debugfs kvm_stats_debugfs_names[] = {
#ifdef CONFIG_PPC_BOOK3S
	{ "sum_exits",			"exits",			0644 },
	{ "mmio_exits",			"mmio",				0644 },
	{ "signal_exits",		"sig",				0644 },
	{ "syscall_exits",		"sysc",				0644 },
	{ "emulated_inst_exits",	"inst_emu",			0644 },
	{ "dec_exits",			"dec",				0644 },
	{ "ext_intr_exits",		"ext_intr",			0644 },
	{ "num_2M_pages",		"largepages_2M",		0444 },
	{ "num_1G_pages",		"largepages_1G",		0444 },
#else
	{ "mmio_exits",			"mmio",				0644 },
	{ "signal_exits",		"sig",				0644 },
	{ "itlb_real_miss_exits",	"itlb_r",			0644 },
	{ "itlb_virt_miss_exits",	"itlb_v",			0644 },
	{ "dtlb_real_miss_exits",	"dtlb_r",			0644 },
	{ "dtlb_virt_miss_exits",	"dtlb_v",			0644 },
	{ "syscall_exits",		"sysc",				0644 },
	{ "isi_exits",			"isi",				0644 },
	{ "dsi_exits",			"dsi",				0644 },
	{ "emulated_inst_exits",	"inst_emu",			0644 },
	{ "dec_exits",			"dec",				0644 },
	{ "ext_intr_exits",		"ext_intr",			0644 },
	{ "dbell_exits",		"doorbell",			0644 },
	{ "gdbell_exits",		"guest doorbell",		0644 },
	{ "num_2M_pages",		"num_2M_pages",			0444 },
	{ "num_1G_pages",		"num_1G_pages",			0444 },
#endif
	{}
};
