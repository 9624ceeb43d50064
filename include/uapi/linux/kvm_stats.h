/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
#ifndef _UAPI__LINUX_KVM_STATS_H
#define _UAPI__LINUX_KVM_STATS_H

#include <linux/types.h>

/*
 * KVM binary statistics: the layout of the file that KVM_GET_STATS_FD returns.
 *
 * The file consists of blocks.  A reader finds them by the header, which is at
 * offset 0, and must not assume where they are or in which order:
 *
 *	header		struct kvm_stats_header
 *	id string	header.name_size bytes, NUL terminated
 *	descriptors	header.num_desc times struct kvm_stats_desc, each with
 *			header.name_size bytes of name
 *	data		the __u64 values that the descriptors describe
 *
 * All numbers are in native byte order and all offsets are multiples of 8.
 * Only the data changes during the life of the file; everything else can be
 * read once and kept.
 */

/**
 * struct kvm_stats_header - start of a statistics file, 24 bytes
 * @flags: 0; a bit that is set asks for something that the reader does not know
 * @name_size: size in bytes of the id string and of every name, NUL included
 * @num_desc: number of descriptors
 * @id_offset: file offset of the id string, in bytes
 * @desc_offset: file offset of the first descriptor, in bytes
 * @data_offset: file offset of the data, in bytes.  Where the file can be
 *	mapped, this is a multiple of the page size and the offset to map at.
 */
struct kvm_stats_header {
	__u32 flags;
	__u32 name_size;
	__u32 num_desc;
	__u32 id_offset;
	__u32 desc_offset;
	__u32 data_offset;
};

/*
 * How the values of a stat develop over time: bits 0-3 of kvm_stats_desc.flags.
 *
 * CUMULATIVE	only grows
 * INSTANT	goes up and down
 * PEAK		the highest value seen so far
 * LINEAR_HIST	histogram; bucket i counts the values from i * bucket_size up to,
 *		but not including, (i + 1) * bucket_size
 * LOG_HIST	histogram; bucket 0 counts the value 0, bucket i the values from
 *		2^(i - 1) up to, but not including, 2^i
 *
 * The last bucket of a histogram also takes every larger value.
 */
#define KVM_STATS_TYPE_SHIFT		0
#define KVM_STATS_TYPE_MASK		(0xF << KVM_STATS_TYPE_SHIFT)
#define KVM_STATS_TYPE_CUMULATIVE	(0x0 << KVM_STATS_TYPE_SHIFT)
#define KVM_STATS_TYPE_INSTANT		(0x1 << KVM_STATS_TYPE_SHIFT)
#define KVM_STATS_TYPE_PEAK		(0x2 << KVM_STATS_TYPE_SHIFT)
#define KVM_STATS_TYPE_LINEAR_HIST	(0x3 << KVM_STATS_TYPE_SHIFT)
#define KVM_STATS_TYPE_LOG_HIST		(0x4 << KVM_STATS_TYPE_SHIFT)
#define KVM_STATS_TYPE_MAX		KVM_STATS_TYPE_LOG_HIST

/*
 * What is measured: bits 4-7 of kvm_stats_desc.flags.  The value of a BOOLEAN
 * is 0 or 1.  For a histogram this is the unit of what the buckets tell apart;
 * the buckets themselves hold counts.
 */
#define KVM_STATS_UNIT_SHIFT		4
#define KVM_STATS_UNIT_MASK		(0xF << KVM_STATS_UNIT_SHIFT)
#define KVM_STATS_UNIT_NONE		(0x0 << KVM_STATS_UNIT_SHIFT)
#define KVM_STATS_UNIT_BYTES		(0x1 << KVM_STATS_UNIT_SHIFT)
#define KVM_STATS_UNIT_SECONDS		(0x2 << KVM_STATS_UNIT_SHIFT)
#define KVM_STATS_UNIT_CYCLES		(0x3 << KVM_STATS_UNIT_SHIFT)
#define KVM_STATS_UNIT_BOOLEAN		(0x4 << KVM_STATS_UNIT_SHIFT)
#define KVM_STATS_UNIT_MAX		KVM_STATS_UNIT_BOOLEAN

/*
 * The base of kvm_stats_desc.exponent: bits 8-11 of kvm_stats_desc.flags.
 */
#define KVM_STATS_BASE_SHIFT		8
#define KVM_STATS_BASE_MASK		(0xF << KVM_STATS_BASE_SHIFT)
#define KVM_STATS_BASE_POW10		(0x0 << KVM_STATS_BASE_SHIFT)
#define KVM_STATS_BASE_POW2		(0x1 << KVM_STATS_BASE_SHIFT)
#define KVM_STATS_BASE_MAX		KVM_STATS_BASE_POW2

/**
 * struct kvm_stats_desc - describes one stat, 16 bytes and the name
 * @flags: one KVM_STATS_TYPE_*, one KVM_STATS_UNIT_* and one KVM_STATS_BASE_*;
 *	the other bits are 0
 * @exponent: a value times base^exponent is in the unit: nanoseconds are
 *	SECONDS, POW10, -9
 * @size: number of __u64 that the stat has: 1, or the buckets of a histogram
 * @offset: where the first of them is, in bytes from the start of the data
 * @bucket_size: width of a bucket of a LINEAR_HIST, in units of the values;
 *	0 for every other type
 * @name: header.name_size bytes, NUL terminated; unique in the file.  The next
 *	descriptor follows the name, so sizeof() is not the step of an array.
 */
struct kvm_stats_desc {
	__u32 flags;
	__s16 exponent;
	__u16 size;
	__u32 offset;
	__u32 bucket_size;
	char name[];
};

#endif /* _UAPI__LINUX_KVM_STATS_H */
