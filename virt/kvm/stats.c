// SPDX-License-Identifier: GPL-2.0-only
/*
 * The statistics object of a VM or vCPU.
 *
 * Statistics live apart from struct kvm and struct kvm_vcpu so that whoever
 * looks at them holds nothing but them: a collector that keeps a file open or a
 * page mapped keeps no guest memory and no vendor module, and still finds the
 * last values after the VM is gone.
 */
#include <linux/gfp.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "stats.h"

/**
 * kvm_stats_create - allocate statistics, all of them zero
 * @table: the stat struct and its descriptors
 * @id_fmt: format of the id string
 *
 * The pages are charged to the memory cgroup of the caller.  On 5.10 that rules
 * out mapping them into userspace as pages: the mark of a charged page shares a
 * word with the map count.  stats_fd.c maps their frames instead.
 *
 * Return: the object with one reference, for kvm_stats_end() to drop, or NULL
 * if there is no memory.
 */
struct kvm_stats *kvm_stats_create(const struct kvm_stats_table *table,
				   const char *id_fmt, ...)
{
	struct kvm_stats *stats;
	va_list args;

	stats = kzalloc(sizeof(*stats), GFP_KERNEL_ACCOUNT);
	if (!stats)
		return NULL;

	stats->data = (void *)__get_free_pages(GFP_KERNEL_ACCOUNT | __GFP_ZERO |
					       __GFP_COMP,
					       get_order(table->data_size));
	if (!stats->data) {
		kfree(stats);
		return NULL;
	}

	kref_init(&stats->ref);
	stats->table = table;
	init_waitqueue_head(&stats->wait);

	va_start(args, id_fmt);
	vscnprintf(stats->id, sizeof(stats->id), id_fmt, args);
	va_end(args);

	return stats;
}

/**
 * kvm_stats_end - the VM or vCPU is gone
 * @stats: its statistics; the caller counts in them no more
 *
 * Tells the pollers and drops the reference of kvm_stats_create().
 */
void kvm_stats_end(struct kvm_stats *stats)
{
	/*
	 * Nobody is missed: a poller is on the queue before it reads @ended,
	 * and the lock of the queue orders the two sides.  All of them are
	 * told, exclusive ones too, as this is the last that will be heard.
	 */
	WRITE_ONCE(stats->ended, true);
	wake_up_interruptible_all(&stats->wait);
	kvm_stats_put(stats);
}

void kvm_stats_get(struct kvm_stats *stats)
{
	kref_get(&stats->ref);
}

static void kvm_stats_free(struct kref *ref)
{
	struct kvm_stats *stats = container_of(ref, struct kvm_stats, ref);

	free_pages((unsigned long)stats->data,
		   get_order(stats->table->data_size));
	kfree(stats);
}

void kvm_stats_put(struct kvm_stats *stats)
{
	kref_put(&stats->ref, kvm_stats_free);
}
