// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of the statistics.
 */
#include <kunit/test.h>
#include <linux/kvm_stats.h>
#include <linux/module.h>

/* Like those of the stats, and with room before and after that must stay 0 */
struct histogram {
	u64 before;
	u64 buckets[KVM_STATS_LOG_BUCKETS];
	u64 after;
};

/* Was nothing but bucket @i counted in since @h was all 0, and that once? */
static bool only_bucket(const struct histogram *h, unsigned int i)
{
	struct histogram want = {};

	want.buckets[i] = 1;
	return !memcmp(h, &want, sizeof(want));
}

static bool log_bucket_is(u64 value, unsigned int i)
{
	struct histogram h = {};

	kvm_stats_log_count(h.buckets, ARRAY_SIZE(h.buckets), value);
	return only_bucket(&h, i);
}

static bool number_bucket_is(u64 number, unsigned int i)
{
	struct histogram h = {};

	kvm_stats_number_count(h.buckets, ARRAY_SIZE(h.buckets), number);
	return only_bucket(&h, i);
}

static void log_zero(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, log_bucket_is(0, 0));
}

/* The first and the last value of every bucket but the last: 2^(i - 1), 2^i - 1 */
static void log_boundaries(struct kunit *test)
{
	u64 first = 1;
	unsigned int i;

	for (i = 1; i < KVM_STATS_LOG_BUCKETS - 1; i++) {
		KUNIT_EXPECT_TRUE_MSG(test, log_bucket_is(first, i),
				      "%llu is not in bucket %u", first, i);
		first += first;
		KUNIT_EXPECT_TRUE_MSG(test, log_bucket_is(first - 1, i),
				      "%llu is not in bucket %u", first - 1, i);
	}
	KUNIT_EXPECT_EQ(test, first, (u64)1073741824);
}

/* All of the rest, from 2^30 on */
static void log_last(struct kunit *test)
{
	unsigned int k;

	for (k = 30; k < 64; k++) {
		KUNIT_EXPECT_TRUE_MSG(test, log_bucket_is(1ULL << k, 31),
				      "2^%u is not in the last bucket", k);
		if (k > 30)
			KUNIT_EXPECT_TRUE_MSG(test, log_bucket_is((1ULL << k) - 1, 31),
					      "2^%u - 1 is not in the last bucket", k);
	}
	KUNIT_EXPECT_TRUE(test, log_bucket_is(0xffffffffffffffffULL, 31));
}

static void numbers(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < KVM_STATS_LOG_BUCKETS; i++)
		KUNIT_EXPECT_TRUE_MSG(test, number_bucket_is(i, i), "%u", i);
}

/* Not even when the lower half alone is the number of a bucket */
static void numbers_last(struct kunit *test)
{
	static const u64 large[] = {
		32, 33, 63, 64, 0x7fffffff, 0x80000000, 0xffffffff,
		0x100000000ULL, 0x100000005ULL, 0x8000000000000000ULL,
		0xffffffffffffffffULL,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(large); i++)
		KUNIT_EXPECT_TRUE_MSG(test, number_bucket_is(large[i], 31),
				      "%llu is not in the last bucket", large[i]);
}

/* What is counted adds up. */
static void counts_add_up(struct kunit *test)
{
	struct histogram h = {};
	unsigned int i;

	for (i = 0; i < 1000; i++)
		kvm_stats_log_count(h.buckets, ARRAY_SIZE(h.buckets), 700);
	KUNIT_EXPECT_EQ(test, h.buckets[10], (u64)1000);
}

/* A histogram of one bucket has it all. */
static void one_bucket(struct kunit *test)
{
	u64 bucket = 0;

	kvm_stats_log_count(&bucket, 1, 0);
	kvm_stats_log_count(&bucket, 1, 5);
	kvm_stats_number_count(&bucket, 1, 0);
	kvm_stats_number_count(&bucket, 1, 5);
	KUNIT_EXPECT_EQ(test, bucket, (u64)4);
}

static struct kunit_case histogram_cases[] = {
	KUNIT_CASE(log_zero),
	KUNIT_CASE(log_boundaries),
	KUNIT_CASE(log_last),
	KUNIT_CASE(numbers),
	KUNIT_CASE(numbers_last),
	KUNIT_CASE(counts_add_up),
	KUNIT_CASE(one_bucket),
	{}
};

static struct kunit_suite histogram_suite = {
	.name = "kvm_stats_histogram",
	.test_cases = histogram_cases,
};

kunit_test_suites(&histogram_suite);

MODULE_DESCRIPTION("KUnit tests of the statistics of KVM");
MODULE_LICENSE("GPL");
