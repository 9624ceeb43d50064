/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __KVM_STATS_INTERNAL_H
#define __KVM_STATS_INTERNAL_H

#include <linux/kref.h>
#include <linux/kvm_stats.h>
#include <linux/wait.h>

struct kvm;

/**
 * struct kvm_stats - the statistics of one VM or vCPU
 * @ref: held by the VM or vCPU and by every open statistics file
 * @table: what @data consists of
 * @data: the stat struct, in zeroed pages of the linear map that hold nothing
 *	else.  The VM or vCPU counts in it, readers and mappings look at it.
 * @id: "kvm-<pid>" or "kvm-<pid>/vcpu-<id>"
 * @ended: the VM or vCPU is gone, @data will not change any more
 * @wait: who polls for @ended
 */
struct kvm_stats {
	struct kref ref;
	const struct kvm_stats_table *table;
	void *data;
	char id[KVM_STATS_NAME_SIZE];
	bool ended;
	wait_queue_head_t wait;
};

/* stats.c */
__printf(2, 3)
struct kvm_stats *kvm_stats_create(const struct kvm_stats_table *table,
				   const char *id_fmt, ...);
void kvm_stats_end(struct kvm_stats *stats);
void kvm_stats_get(struct kvm_stats *stats);
void kvm_stats_put(struct kvm_stats *stats);

/* stats_fd.c */
int kvm_stats_fd(struct kvm_stats *stats, const char *name);

/* stats_debugfs.c */
void kvm_stats_debugfs_init(void);
void kvm_stats_debugfs_exit(void);
int kvm_stats_debugfs_add_vm(struct kvm *kvm, int fd);
void kvm_stats_debugfs_remove_vm(struct kvm *kvm);

#endif /* __KVM_STATS_INTERNAL_H */
