// SPDX-License-Identifier: GPL-2.0-only
/*
 * The numbers of the interface, written down a second time: lint compiles this
 * as C and C++, for 64 and 32 bits, against the headers that the tree installs.
 * Other people's programs were built with these numbers; none may ever change.
 */
#include <linux/kvm_stats.h>
#ifdef WITH_KVM_H
#include <linux/kvm.h>
#endif

#ifdef __cplusplus
#define ASSERT(what, value) static_assert((what) == (value), #what)
#else
#define ASSERT(what, value) _Static_assert((what) == (value), #what)
#endif
#define MEMBER(type, member, offset, size)				\
	ASSERT(__builtin_offsetof(struct type, member), offset);	\
	ASSERT(sizeof(((struct type *)0)->member), size)

ASSERT(sizeof(struct kvm_stats_header), 24);
MEMBER(kvm_stats_header, flags, 0, 4);
MEMBER(kvm_stats_header, name_size, 4, 4);
MEMBER(kvm_stats_header, num_desc, 8, 4);
MEMBER(kvm_stats_header, id_offset, 12, 4);
MEMBER(kvm_stats_header, desc_offset, 16, 4);
MEMBER(kvm_stats_header, data_offset, 20, 4);

ASSERT(sizeof(struct kvm_stats_desc), 16);
MEMBER(kvm_stats_desc, flags, 0, 4);
MEMBER(kvm_stats_desc, exponent, 4, 2);
ASSERT((__typeof__(((struct kvm_stats_desc *)0)->exponent))-1 < 0, 1);
MEMBER(kvm_stats_desc, size, 6, 2);
MEMBER(kvm_stats_desc, offset, 8, 4);
MEMBER(kvm_stats_desc, bucket_size, 12, 4);
ASSERT(__builtin_offsetof(struct kvm_stats_desc, name), 16);

ASSERT(KVM_STATS_TYPE_SHIFT, 0);
ASSERT(KVM_STATS_TYPE_MASK, 0xf);
ASSERT(KVM_STATS_TYPE_CUMULATIVE, 0);
ASSERT(KVM_STATS_TYPE_INSTANT, 1);
ASSERT(KVM_STATS_TYPE_PEAK, 2);
ASSERT(KVM_STATS_TYPE_LINEAR_HIST, 3);
ASSERT(KVM_STATS_TYPE_LOG_HIST, 4);
ASSERT(KVM_STATS_TYPE_MAX, KVM_STATS_TYPE_LOG_HIST);

ASSERT(KVM_STATS_UNIT_SHIFT, 4);
ASSERT(KVM_STATS_UNIT_MASK, 0xf0);
ASSERT(KVM_STATS_UNIT_NONE, 0x00);
ASSERT(KVM_STATS_UNIT_BYTES, 0x10);
ASSERT(KVM_STATS_UNIT_SECONDS, 0x20);
ASSERT(KVM_STATS_UNIT_CYCLES, 0x30);
ASSERT(KVM_STATS_UNIT_BOOLEAN, 0x40);
ASSERT(KVM_STATS_UNIT_MAX, KVM_STATS_UNIT_BOOLEAN);

ASSERT(KVM_STATS_BASE_SHIFT, 8);
ASSERT(KVM_STATS_BASE_MASK, 0xf00);
ASSERT(KVM_STATS_BASE_POW10, 0x000);
ASSERT(KVM_STATS_BASE_POW2, 0x100);
ASSERT(KVM_STATS_BASE_MAX, KVM_STATS_BASE_POW2);

#ifdef WITH_KVM_H
ASSERT(KVM_CAP_BINARY_STATS_FD, 203);
ASSERT(KVM_GET_STATS_FD, 0xaece);
#endif
