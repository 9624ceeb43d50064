/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __LINUX_KVM_STATS_H
#define __LINUX_KVM_STATS_H

/*
 * How KVM statistics are declared.
 *
 * An architecture has two structs of u64, struct kvm_vm_stat and struct
 * kvm_vcpu_stat, and for each of them one table with an entry per field.  The
 * structs are the data block and the tables the descriptors of what userspace
 * reads through KVM_GET_STATS_FD, byte by byte, see uapi/linux/kvm_stats.h.
 * debugfs is made from the same tables.
 *
 * To add a stat, add a field and its entry, in the same order.
 */

#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/kernel.h>
#include <linux/stddef.h>
#include <linux/types.h>
#include <uapi/linux/kvm_stats.h>

/* Size of names and of the id string on the wire, NUL included */
#define KVM_STATS_NAME_SIZE	48

/*
 * A descriptor as it is on the wire: struct kvm_stats_desc, see there, with a
 * name of fixed size.  C has no array of structs that end in a flexible one.
 */
struct kvm_stat_entry {
	u32 flags;
	s16 exponent;
	u16 size;
	u32 offset;
	u32 bucket_size;
	char name[KVM_STATS_NAME_SIZE];
};

#define KVM_STAT_ENTRY_IS_DESC(_field)					\
	static_assert(offsetof(struct kvm_stat_entry, _field) ==	\
		      offsetof(struct kvm_stats_desc, _field))

KVM_STAT_ENTRY_IS_DESC(flags);
KVM_STAT_ENTRY_IS_DESC(exponent);
KVM_STAT_ENTRY_IS_DESC(size);
KVM_STAT_ENTRY_IS_DESC(offset);
KVM_STAT_ENTRY_IS_DESC(bucket_size);
KVM_STAT_ENTRY_IS_DESC(name);
static_assert(sizeof(struct kvm_stat_entry) % sizeof(u64) == 0);

/**
 * struct kvm_stats_table - everything about a stat struct that never changes
 * @header: the start of the file, ready to be read
 * @entries: header.num_desc descriptors
 * @data_size: size of the stat struct in bytes
 */
struct kvm_stats_table {
	struct kvm_stats_header header;
	const struct kvm_stat_entry *entries;
	u32 data_size;
};

/**
 * struct kvm_stat_debugfs - a debugfs file that differs from the rule
 * @name: name of the stat on the wire
 * @file: name of its debugfs file; the rule is the name on the wire
 * @mode: permissions of the file; the rule is 0644, where writing 0 resets
 */
struct kvm_stat_debugfs {
	const char *name;
	const char *file;
	umode_t mode;
};

/* Defined by the architecture; @name of the last kvm_stat_debugfs is NULL. */
extern const struct kvm_stats_table kvm_vm_stats_table;
extern const struct kvm_stats_table kvm_vcpu_stats_table;
extern const struct kvm_stat_debugfs kvm_stats_debugfs_names[];

/*
 * The entry of a field.  @_type and @_unit are the last words of the constants
 * KVM_STATS_TYPE_* and KVM_STATS_UNIT_*.  An array is a histogram, and only a
 * linear one has a bucket size.
 */
#define KVM_STAT_ENTRY(_struct, _field, _name, _type, _unit, _exponent,	\
		       _bucket_size)					\
	{								\
		.flags = KVM_STATS_TYPE_##_type |			\
			 KVM_STATS_UNIT_##_unit |			\
			 KVM_STATS_BASE_POW10,				\
		.exponent = (_exponent),				\
		.size = KVM_STAT_NR_U64(_struct, _field),		\
		.offset = offsetof(_struct, _field) +			\
			  KVM_STAT_CHECK_NAME(_name),			\
		.bucket_size = (_bucket_size),				\
		.name = _name,						\
	}

#define KVM_STAT_NR_U64(_struct, _field)				\
	(sizeof_field(_struct, _field) / sizeof(u64) +			\
	 BUILD_BUG_ON_ZERO(sizeof_field(_struct, _field) % sizeof(u64)))

/* The compiler itself accepts a name that leaves no room for the NUL. */
#define KVM_STAT_CHECK_NAME(_name)					\
	BUILD_BUG_ON_ZERO(sizeof(_name) > KVM_STATS_NAME_SIZE)

/* A count, named like its field */
#define KVM_VM_STAT(_field, _type)					\
	KVM_VM_STAT_NAMED(_field, #_field, _type)
#define KVM_VCPU_STAT(_field, _type)					\
	KVM_VCPU_STAT_NAMED(_field, #_field, _type)

/* A count with another name than its field */
#define KVM_VM_STAT_NAMED(_field, _name, _type)				\
	KVM_STAT_ENTRY(struct kvm_vm_stat, _field, _name, _type, NONE, 0, 0)
#define KVM_VCPU_STAT_NAMED(_field, _name, _type)			\
	KVM_STAT_ENTRY(struct kvm_vcpu_stat, _field, _name, _type, NONE, 0, 0)

/* Is it so now?  0 or 1, named like its field */
#define KVM_VCPU_STAT_BOOL(_field)					\
	KVM_STAT_ENTRY(struct kvm_vcpu_stat, _field, #_field, INSTANT,	\
		       BOOLEAN, 0, 0)

/* A time in nanoseconds, or a histogram of such times, named like its field */
#define KVM_VCPU_STAT_NS(_field, _type)					\
	KVM_STAT_ENTRY(struct kvm_vcpu_stat, _field, #_field, _type,	\
		       SECONDS, -9, 0)

/* How often which number, named like its field */
#define KVM_VCPU_STAT_NUMBERS(_field)					\
	KVM_STAT_ENTRY(struct kvm_vcpu_stat, _field, #_field,		\
		       LINEAR_HIST, NONE, 0, 1)

/* Buckets of a logarithmic histogram: the last one starts at 2^30. */
#define KVM_STATS_LOG_BUCKETS	32

/**
 * kvm_stats_log_count - count a value in a logarithmic histogram
 * @hist: the buckets
 * @nr: how many there are, at least 1
 * @value: counted by the first bucket if 0, by the last if 2^(nr - 2) or more,
 *	else by bucket i if from 2^(i - 1) up to, but not including, 2^i
 *
 * Like all counting, without protection from others that count in @hist.
 */
static inline void kvm_stats_log_count(u64 *hist, unsigned int nr, u64 value)
{
	hist[min_t(unsigned int, fls64(value), nr - 1)]++;
}

/**
 * kvm_stats_number_count - count a number in a histogram of bucket size 1
 * @hist: the buckets
 * @nr: how many there are, at least 1
 * @number: counted by the bucket of that index, by the last if there is none
 */
static inline void kvm_stats_number_count(u64 *hist, unsigned int nr,
					  u64 number)
{
	hist[min_t(u64, number, nr - 1)]++;
}

/*
 * What the generic code counts, for the structs and for the tables of every
 * architecture.
 */
#define KVM_VM_STAT_GENERIC_FIELDS					\
	u64 remote_tlb_flush;						\
	u64 remote_tlb_flush_requests

#define KVM_VM_STAT_GENERIC						\
	KVM_VM_STAT(remote_tlb_flush, CUMULATIVE),			\
	KVM_VM_STAT(remote_tlb_flush_requests, CUMULATIVE)

#define KVM_VCPU_STAT_GENERIC_FIELDS					\
	u64 halt_successful_poll;					\
	u64 halt_attempted_poll;					\
	u64 halt_poll_invalid;						\
	u64 halt_wakeup;						\
	u64 halt_poll_success_ns;					\
	u64 halt_poll_fail_ns;						\
	u64 halt_wait_ns;						\
	u64 halt_poll_success_hist[KVM_STATS_LOG_BUCKETS];		\
	u64 halt_poll_fail_hist[KVM_STATS_LOG_BUCKETS];			\
	u64 halt_wait_hist[KVM_STATS_LOG_BUCKETS];			\
	u64 blocking

#define KVM_VCPU_STAT_GENERIC						\
	KVM_VCPU_STAT(halt_successful_poll, CUMULATIVE),		\
	KVM_VCPU_STAT(halt_attempted_poll, CUMULATIVE),			\
	KVM_VCPU_STAT(halt_poll_invalid, CUMULATIVE),			\
	KVM_VCPU_STAT(halt_wakeup, CUMULATIVE),				\
	KVM_VCPU_STAT_NS(halt_poll_success_ns, CUMULATIVE),		\
	KVM_VCPU_STAT_NS(halt_poll_fail_ns, CUMULATIVE),		\
	KVM_VCPU_STAT_NS(halt_wait_ns, CUMULATIVE),			\
	KVM_VCPU_STAT_NS(halt_poll_success_hist, LOG_HIST),		\
	KVM_VCPU_STAT_NS(halt_poll_fail_hist, LOG_HIST),		\
	KVM_VCPU_STAT_NS(halt_wait_hist, LOG_HIST),			\
	KVM_VCPU_STAT_BOOL(blocking)

/*
 * The table of @_struct with the descriptors @_entries.  If they are not as many u64 as
 * the struct it does not compile: a field or an entry has been forgotten.  @_more is by
 * how many u64 the histograms exceed one each.
 */
#define KVM_STATS_TABLE(_struct, _entries, _more)			\
	{								\
		.header = {						\
			.name_size = KVM_STATS_NAME_SIZE,		\
			.num_desc = ARRAY_SIZE(_entries),		\
			.id_offset = KVM_STATS_ID_OFFSET,		\
			.desc_offset = KVM_STATS_DESC_OFFSET,		\
			.data_offset = ALIGN(KVM_STATS_DESC_OFFSET +	\
					     sizeof(_entries), PAGE_SIZE), \
		},							\
		.entries = (_entries),					\
		.data_size = sizeof(_struct) +				\
			     BUILD_BUG_ON_ZERO(sizeof(_struct) !=	\
				(ARRAY_SIZE(_entries) + (_more)) * sizeof(u64)), \
	}

/* @_more of KVM_VCPU_STAT_GENERIC, and of one logarithmic histogram */
#define KVM_VCPU_STAT_GENERIC_MORE	(3 * KVM_STATS_LOG_MORE)
#define KVM_STATS_LOG_MORE		(KVM_STATS_LOG_BUCKETS - 1)

#define KVM_STATS_ID_OFFSET	sizeof(struct kvm_stats_header)
#define KVM_STATS_DESC_OFFSET	(KVM_STATS_ID_OFFSET + KVM_STATS_NAME_SIZE)

#endif /* __LINUX_KVM_STATS_H */
