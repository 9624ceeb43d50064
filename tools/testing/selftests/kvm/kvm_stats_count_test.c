// SPDX-License-Identifier: GPL-2.0-only
/*
 * KVM binary statistics: that what is counted is right.
 *
 * A guest does what is known, and the statistics must say that, no more and no less,
 * beside what the host is known to add.  kvm_stats_fd_test.c is about the file.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64

#include <sys/time.h>
#include <time.h>

#include <linux/kvm_exit_reasons.h>

#include "../kselftest_harness.h"
#include "stats_vm.h"
#include "stats_file.h"
#include "stats_reasons.h"

#define LOG_BUCKETS	32
#define TIMES		5

/* Emulated hosts are slow, and those with one thread stop at a CPU that polls. */
#define LONG_TEST	120

#define NO_JOB		"%s: this guest cannot"
#define NO_SUCH_STAT	"%s: not counted on this architecture"

static u64 now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static u64 sum(const u64 *values, unsigned int nr)
{
	u64 all = 0;

	while (nr--)
		all += values[nr];
	return all;
}

static u64 stats_sum(const struct stats *s, const char *name)
{
	u64 values[MAX_VALUES];

	return sum(values, stats_values(s, name, values, MAX_VALUES));
}

/* Bucket 0 of a logarithmic histogram is for 0, bucket i for 2^(i - 1) up to 2^i. */
static unsigned int log_bucket(u64 value)
{
	unsigned int i = 0;

	for (; value && i < LOG_BUCKETS - 1; value >>= 1)
		i++;
	return i;
}

static u64 log_bucket_start(unsigned int i)
{
	return i ? 1ULL << (i - 1) : 0;
}

/* ---- parameters of KVM and the host -------------------------------------- */

enum { EXIT_TIMING, HALT_POLL_NS, HUGE_PAGES, PARAMETERS };

static struct {
	const char *path;
	char saved[32];		/* empty: there is no such parameter */
} parameters[PARAMETERS] = {
	{ "/sys/module/kvm/parameters/exit_timing" },
	{ "/sys/module/kvm/parameters/halt_poll_ns" },
	{ "/proc/sys/vm/nr_hugepages" },
};

static void parameters_save(void)
{
	int i;

	for (i = 0; i < PARAMETERS; i++)
		read_text(parameters[i].path, parameters[i].saved, sizeof(parameters[i].saved));
}

static bool parameter_set(int i, const char *value)
{
	return write_text(parameters[i].path, value);
}

static void parameters_restore(void)
{
	int i;

	for (i = 0; i < PARAMETERS; i++)
		if (parameters[i].saved[0])
			parameter_set(i, parameters[i].saved);
}

/* A module that has no such parameter, or is not there, has it off. */
static bool module_has_on(const char *module, const char *parameter)
{
	char path[128], text[8];

	snprintf(path, sizeof(path), "/sys/module/%s/parameters/%s", module, parameter);
	return read_text(path, text, sizeof(text)) > 0 && (text[0] == 'Y' || text[0] == '1');
}

/* ---- a vCPU and its statistics ------------------------------------------- */

struct vcpu {
	struct machine m;
	struct stats s;
	struct stats vm;
};

/* After a failure, errno says why. */
static bool vcpu_create(struct vcpu *v, bool halts_in_kernel)
{
	return machine_create_vm(&v->m) &&
	       (!halts_in_kernel || guest_halts_in_kernel(v->m.vm)) &&
	       machine_add_vcpus(&v->m, 1, 0) &&
	       stats_take(&v->s, v->m.vcpu[0]) && stats_take(&v->vm, v->m.vm);
}

static void vcpu_destroy(struct vcpu *v)
{
	stats_close(&v->s);
	stats_close(&v->vm);
	machine_destroy(&v->m);
}

static bool vcpu_do(struct vcpu *v, enum guest_job job, int times)
{
	return guest_do(&v->m, 0, job, times) == times;
}

/* ---- what the histograms are --------------------------------------------- */

FIXTURE(described)
{
	struct vcpu v;
};

FIXTURE_SETUP(described)
{
	ASSERT_TRUE(vcpu_create(&self->v, false)) TH_LOG("VM: %m");
}

FIXTURE_TEARDOWN(described)
{
	vcpu_destroy(&self->v);
}

#define FLAGS(_type, _unit)						\
	(KVM_STATS_TYPE_##_type | KVM_STATS_UNIT_##_unit | KVM_STATS_BASE_POW10)

static const struct {
	const char *name;
	unsigned int flags;
	int exponent;
	unsigned int size, bucket_size;
	bool here;		/* on this architecture */
} descriptions[] = {
	{ "halt_poll_success_hist", FLAGS(LOG_HIST, SECONDS), -9, LOG_BUCKETS, 0, true },
	{ "halt_poll_fail_hist", FLAGS(LOG_HIST, SECONDS), -9, LOG_BUCKETS, 0, true },
	{ "halt_wait_hist", FLAGS(LOG_HIST, SECONDS), -9, LOG_BUCKETS, 0, true },
	{ "blocking", FLAGS(INSTANT, BOOLEAN), 0, 1, 0, true },
	{ "exit_reasons", FLAGS(LINEAR_HIST, NONE), 0, REASON_BUCKETS, 1, !!REASON_BUCKETS },
	{ "exit_host_ns_hist", FLAGS(LOG_HIST, SECONDS), -9, LOG_BUCKETS, 0, !!REASON_BUCKETS },
	{ "guest_mode", FLAGS(INSTANT, BOOLEAN), 0, 1, 0, HAVE_GUEST_MODE },
};

TEST_F(described, histograms_and_booleans)
{
	const struct kvm_stats_desc *d;
	const char *name;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(descriptions); i++) {
		name = descriptions[i].name;
		d = stats_find(&self->v.s, name);
		EXPECT_EQ(descriptions[i].here, !!d) TH_LOG("%s", name);
		if (!d)
			continue;
		EXPECT_EQ(descriptions[i].flags, d->flags) TH_LOG("%s", name);
		EXPECT_EQ(descriptions[i].exponent, d->exponent) TH_LOG("%s", name);
		EXPECT_EQ(descriptions[i].size, d->size) TH_LOG("%s", name);
		EXPECT_EQ(descriptions[i].bucket_size, d->bucket_size) TH_LOG("%s", name);
	}
}

TEST_F(described, max_mmu_rmap_size_is_a_peak)
{
	const struct kvm_stats_desc *d = stats_find(&self->v.vm, "max_mmu_rmap_size");

	if (!d)
		SKIP(return, NO_SUCH_STAT, _metadata->name);
	EXPECT_EQ(KVM_STATS_TYPE_PEAK, d->flags & KVM_STATS_TYPE_MASK);
}

/* ---- halts --------------------------------------------------------------- */

#define SLEEP_MS	50
#define HALTS		30
#define MAX_HALTS	100
#define POLL_NS		1000000000ULL
#define PERIOD_US	10000

FIXTURE(halts)
{
	struct vcpu v;
	char *map;
	struct spinner spinner;
};

FIXTURE_SETUP(halts)
{
	ASSERT_TRUE(vcpu_create(&self->v, true)) TH_LOG("VM: %m");
	self->map = stats_map(&self->v.s, MAP_SHARED);
}

FIXTURE_TEARDOWN(halts)
{
	if (self->map)
		munmap(self->map, self->v.s.data_bytes);
	vcpu_destroy(&self->v);
}

/* HV of powerpc goes by the parameter, all others by what the VM is told. */
static bool set_halt_polling(const struct machine *m, u64 ns)
{
	struct kvm_enable_cap cap = { .cap = KVM_CAP_HALT_POLL, .args = { ns } };
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)ns);
	return parameter_set(HALT_POLL_NS, text) && !ioctl(m->vm, KVM_ENABLE_CAP, &cap);
}

#define NO_POLLING	"%s: halt polling cannot be set: %s"

static u64 blocking(const struct vcpu *v)
{
	return stats_value(&v->s, "blocking");
}

/* A halt until a signal, of @ms once the vCPU is seen to sleep; what that took at least */
static u64 halt_once(struct vcpu *v, struct spinner *spinner, int ms)
{
	u64 start;

	if (!spinner_start(spinner, &v->m, GUEST_HALT) || !WAIT_FOR(blocking(v) == 1))
		return 0;
	start = now_ns();
	poll(NULL, 0, ms);
	start = now_ns() - start;
	return spinner_stop(spinner) == EINTR ? start : 0;
}

TEST_F(halts, blocking_is_1_while_it_sleeps)
{
	if (!guest_can(GUEST_HALT))
		SKIP(return, NO_JOB, _metadata->name);
	EXPECT_EQ(0, blocking(&self->v));
	ASSERT_TRUE(spinner_start(&self->spinner, &self->v.m, GUEST_HALT));
	EXPECT_TRUE(WAIT_FOR(blocking(&self->v) == 1));
	if (self->map) {
		EXPECT_EQ(1, mapped_value(&self->v.s, self->map, "blocking"))
			TH_LOG("mapped");
	}
	EXPECT_EQ(EINTR, spinner_stop(&self->spinner));
	EXPECT_EQ(0, blocking(&self->v));
	if (self->map) {
		EXPECT_EQ(0, mapped_value(&self->v.s, self->map, "blocking"))
			TH_LOG("mapped");
	}
}

TEST_F(halts, blocking_is_0_in_the_guest)
{
	if (!guest_can(GUEST_HALT))
		SKIP(return, NO_JOB, _metadata->name);
	ASSERT_TRUE(spinner_start(&self->spinner, &self->v.m, GUEST_SPIN));
	poll(NULL, 0, SLEEP_MS);
	EXPECT_EQ(0, blocking(&self->v));
	EXPECT_EQ(EINTR, spinner_stop(&self->spinner));
}

TEST_F(halts, time_of_one)
{
	u64 hist[LOG_BUCKETS], start, least, ns;

	if (!guest_can(GUEST_HALT))
		SKIP(return, NO_JOB, _metadata->name);
	if (!set_halt_polling(&self->v.m, 0))
		SKIP(return, NO_POLLING, _metadata->name, strerror(errno));
	start = now_ns();
	least = halt_once(&self->v, &self->spinner, SLEEP_MS);
	ASSERT_LT(0, least) TH_LOG("it did not halt");
	ns = stats_value(&self->v.s, "halt_wait_ns");
	EXPECT_LE(least, ns);
	EXPECT_GE(now_ns() - start, ns);
	ASSERT_EQ(LOG_BUCKETS, stats_values(&self->v.s, "halt_wait_hist", hist, LOG_BUCKETS));
	EXPECT_EQ(1, sum(hist, LOG_BUCKETS));
	EXPECT_EQ(1, hist[log_bucket(ns)]) TH_LOG("of %llu ns", (unsigned long long)ns);
}

TEST_F(halts, is_an_exit_for_its_reason)
{
	u64 reasons[MAX_VALUES];
	unsigned int nr = stats_values(&self->v.s, "exit_reasons", reasons, MAX_VALUES);

	if (!nr)
		SKIP(return, NO_SUCH_STAT, _metadata->name);
	ASSERT_LT(0, halt_once(&self->v, &self->spinner, 1));
	stats_values(&self->v.s, "exit_reasons", reasons, nr);
	EXPECT_EQ(1, reasons[guest_reason(GUEST_HALT)]);
	EXPECT_EQ(sum(reasons, nr), stats_value(&self->v.s, "exits"));
}

TEST_F(halts, nothing_is_a_poll_without_polling)
{
	static const char * const names[] = {
		"halt_attempted_poll", "halt_successful_poll", "halt_poll_success_ns",
		"halt_poll_fail_ns", "halt_poll_success_hist", "halt_poll_fail_hist",
	};
	unsigned int i;

	if (!guest_can(GUEST_HALT))
		SKIP(return, NO_JOB, _metadata->name);
	if (!set_halt_polling(&self->v.m, 0))
		SKIP(return, NO_POLLING, _metadata->name, strerror(errno));
	for (i = 0; i < TIMES; i++)
		ASSERT_LT(0, halt_once(&self->v, &self->spinner, 1));
	for (i = 0; i < ARRAY_SIZE(names); i++)
		EXPECT_EQ(0, stats_sum(&self->v.s, names[i])) TH_LOG("number %u", i);
	EXPECT_LE(TIMES, stats_sum(&self->v.s, "halt_wait_hist"));
}

/* The values that a histogram counted, and what they sum up to, must go together. */
static void check_time(struct __test_metadata *_metadata, const struct stats *s, const char *ns,
		       const char *name)
{
	u64 hist[LOG_BUCKETS], least = 0, limit = 0, time = stats_value(s, ns);
	int i;

	ASSERT_EQ(LOG_BUCKETS, stats_values(s, name, hist, LOG_BUCKETS));
	for (i = 0; i < LOG_BUCKETS; i++) {
		least += hist[i] * log_bucket_start(i);
		limit += hist[i] * log_bucket_start(i + 1);
	}
	/* The last bucket has no end; with nothing but zeros counted there is no time. */
	if (hist[LOG_BUCKETS - 1])
		limit = UINT64_MAX;
	EXPECT_LE(least, time) TH_LOG("%s", ns);
	EXPECT_LE(time, limit) TH_LOG("%s", ns);
	EXPECT_EQ(!least, !time) TH_LOG("%s", ns);
}

static void check_polls(struct __test_metadata *_metadata, const struct stats *s)
{
	u64 good = stats_sum(s, "halt_poll_success_hist");
	u64 bad = stats_sum(s, "halt_poll_fail_hist");

	EXPECT_EQ(good, stats_value(s, "halt_successful_poll"));
	EXPECT_EQ(good + bad, stats_value(s, "halt_attempted_poll"));
	check_time(_metadata, s, "halt_poll_success_ns", "halt_poll_success_hist");
	check_time(_metadata, s, "halt_poll_fail_ns", "halt_poll_fail_hist");
	check_time(_metadata, s, "halt_wait_ns", "halt_wait_hist");
}

/*
 * Halts until a timer of this thread itself, which no other CPU has a part in.  Polls get
 * longer from halt to halt, until one is as long as the halts are.
 */
TEST_F_TIMEOUT(halts, polls_add_up, LONG_TEST)
{
	struct itimerval every = { { 0, PERIOD_US }, { 0, PERIOD_US } }, never = {};
	struct sigaction act = { .sa_handler = on_kick };
	struct machine *m = &self->v.m;
	u64 good = 0;
	int i;

	if (!guest_can(GUEST_HALT))
		SKIP(return, NO_JOB, _metadata->name);
	if (!set_halt_polling(m, POLL_NS))
		SKIP(return, NO_POLLING, _metadata->name, strerror(errno));
	ASSERT_EQ(0, sigaction(SIGALRM, &act, NULL));
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &every, NULL));
	for (i = 0; i < MAX_HALTS && (i < HALTS || !good); i++) {
		ASSERT_TRUE(guest_enter(m->vm, m->vcpu[0], GUEST_HALT));
		ASSERT_EQ(EINTR, ERROR_OF(ioctl(m->vcpu[0], KVM_RUN, 0)));
		good = stats_value(&self->v.s, "halt_successful_poll");
	}
	setitimer(ITIMER_REAL, &never, NULL);
	EXPECT_LT(0, stats_value(&self->v.s, "halt_attempted_poll"));
	if (GUEST_SIGNAL_ENDS_POLL) {
		EXPECT_LT(0, good)
			TH_LOG("after %d halts", i);
	}
	check_polls(_metadata, &self->v.s);
}

/* ---- exits by their reason ----------------------------------------------- */

FIXTURE(exits)
{
	struct vcpu v;
	unsigned int nr;	/* of buckets; 0: not counted */
};

FIXTURE_VARIANT(exits)
{
	enum guest_job job;
	int times;		/* that its exit is made by one KVM_RUN */
	bool halts_in_kernel;
	bool at_least;		/* as the host may be the cause of one more */
};

FIXTURE_VARIANT_ADD(exits, to_userspace)
{
	.job = GUEST_EXIT,
	.times = 1,
};

FIXTURE_VARIANT_ADD(exits, other)
{
	.job = GUEST_OTHER,
	.times = 1,
};

FIXTURE_VARIANT_ADD(exits, cpuid)
{
	.job = GUEST_CPUID,
	.times = 1,
};

/* The thread may be scheduled out between the use and the end of KVM_RUN. */
FIXTURE_VARIANT_ADD(exits, floating_point)
{
	.job = GUEST_FP,
	.times = 1,
	.at_least = true,
};

FIXTURE_VARIANT_ADD(exits, msr_deadline)
{
	.job = GUEST_DEADLINE,
	.times = GUEST_MSRS,
	.halts_in_kernel = true,
};

FIXTURE_VARIANT_ADD(exits, msr_ipi)
{
	.job = GUEST_IPI,
	.times = GUEST_MSRS,
	.halts_in_kernel = true,
};

FIXTURE_VARIANT_ADD(exits, failed_entry)
{
	.job = GUEST_ILLEGAL,
	.times = 1,
};

FIXTURE_SETUP(exits)
{
	u64 reasons[MAX_VALUES];

	ASSERT_TRUE(vcpu_create(&self->v, variant->halts_in_kernel)) TH_LOG("VM: %m");
	self->nr = stats_values(&self->v.s, "exit_reasons", reasons, MAX_VALUES);
}

FIXTURE_TEARDOWN(exits)
{
	vcpu_destroy(&self->v);
}

TEST_F(exits, each_in_its_bucket)
{
	u64 before[MAX_VALUES] = {}, after[MAX_VALUES], want, grown;
	int own, left, i;

	if (!self->nr)
		SKIP(return, NO_SUCH_STAT, _metadata->name);
	if (!guest_can(variant->job))
		SKIP(return, NO_JOB, _metadata->name);
	/* The first run also brings in the guest's page. */
	i = guest_do(&self->v.m, 0, variant->job, 1);
	if (i < 0)
		SKIP(return, "%s: KVM refuses: %s", _metadata->name, strerror(errno));
	ASSERT_EQ(1, i) TH_LOG("KVM_RUN ended with %u", self->v.m.run[0]->exit_reason);
	stats_values(&self->v.s, "exit_reasons", before, self->nr);
	for (i = 0; i < TIMES; i++)
		ASSERT_TRUE(vcpu_do(&self->v, variant->job, 1));
	stats_values(&self->v.s, "exit_reasons", after, self->nr);

	own = guest_reason(variant->job);
	left = guest_left_for(variant->job);
	for (i = 0; i < (int)self->nr; i++) {
		grown = after[i] - before[i];
		want = i == own ? TIMES * variant->times : i == left ? TIMES : 0;
		if (guest_host_reason(i) ||
		    (i == own && variant->at_least && grown > want))
			continue;
		EXPECT_EQ(want, grown) TH_LOG("bucket %#x", i);
	}
	EXPECT_EQ(sum(after, self->nr), stats_value(&self->v.s, "exits"));
}

FIXTURE(vcpu)
{
	struct vcpu v;
	struct spinner spinner;
};

FIXTURE_SETUP(vcpu)
{
	ASSERT_TRUE(vcpu_create(&self->v, false)) TH_LOG("VM: %m");
}

FIXTURE_TEARDOWN(vcpu)
{
	vcpu_destroy(&self->v);
}

TEST_F(vcpu, host_exits_add_up)
{
	u64 exits;

	if (!stats_find(&self->v.s, "exit_reasons"))
		SKIP(return, NO_SUCH_STAT, _metadata->name);
	exits = stats_value(&self->v.s, "exits");
	ASSERT_TRUE(spinner_start(&self->spinner, &self->v.m, GUEST_SPIN));
	EXPECT_TRUE(WAIT_FOR(stats_value(&self->v.s, "exits") > exits + TIMES));
	EXPECT_EQ(EINTR, spinner_stop(&self->spinner));
	EXPECT_EQ(stats_value(&self->v.s, "exits"), stats_sum(&self->v.s, "exit_reasons"));
}

/* Once it has exited, it is in KVM_RUN, and the signal is the first it sees. */
TEST_F(vcpu, signal_is_one_signal_exit)
{
	u64 signals = stats_value(&self->v.s, "signal_exits");
	u64 exits = stats_value(&self->v.s, GUEST_EXITS);
	int i;

	if (!HAVE_GUEST)
		SKIP(return, NO_GUEST, _metadata->name);
	if (signals == NO_STAT)
		SKIP(return, NO_SUCH_STAT, _metadata->name);
	for (i = 1; i <= TIMES; i++) {
		ASSERT_TRUE(spinner_start(&self->spinner, &self->v.m, GUEST_SPIN));
		EXPECT_TRUE(WAIT_FOR(stats_value(&self->v.s, GUEST_EXITS) > exits + 1));
		EXPECT_EQ(EINTR, spinner_stop(&self->spinner));
		EXPECT_EQ(signals + i, stats_value(&self->v.s, "signal_exits"));
		exits = stats_value(&self->v.s, GUEST_EXITS);
	}
}

/* ---- the time between exit and entry ------------------------------------- */

#define PAUSE_MS	2
#define PAUSE_AT_LEAST	1048576		/* ns: 2^20, where a bucket starts */
#define REST_MS		200
#define REST_AT_LEAST	134217728	/* 2^27 */
#define SWITCHES	50

/* The samples of at least @ns, the start of a bucket */
static u64 samples_from(const struct vcpu *v, u64 ns)
{
	u64 hist[LOG_BUCKETS] = {};
	int first = log_bucket(ns);

	stats_values(&v->s, "exit_host_ns_hist", hist, LOG_BUCKETS);
	return sum(hist + first, LOG_BUCKETS - first);
}

/* Exits to user space, which then takes a while; samples that are as long */
static u64 pause_between_exits(struct vcpu *v, int times)
{
	while (times-- && vcpu_do(v, GUEST_EXIT, 1))
		poll(NULL, 0, PAUSE_MS);
	return samples_from(v, PAUSE_AT_LEAST);
}

/* NULL: it is as asked for; else why not */
static const char *switch_timing(const struct vcpu *v, const char *on)
{
	if (!stats_find(&v->s, "exit_host_ns_hist"))
		return "not counted on this architecture";
	return parameter_set(EXIT_TIMING, on) ? NULL : strerror(errno);
}

/* The other vCPU is not there: nobody can be yielded to. */
TEST_F(vcpu, directed_yields_are_attempted)
{
	u64 hypercalls = stats_value(&self->v.s, "hypercalls");

	if (!guest_can(GUEST_YIELD))
		SKIP(return, NO_SUCH_STAT, _metadata->name);
	ASSERT_TRUE(vcpu_do(&self->v, GUEST_YIELD, TIMES));
	EXPECT_EQ(hypercalls + TIMES, stats_value(&self->v.s, "hypercalls"));
	EXPECT_EQ(TIMES, stats_value(&self->v.s, "directed_yield_attempted"));
	EXPECT_EQ(0, stats_value(&self->v.s, "directed_yield_successful"));
}

TEST_F(vcpu, exit_time_is_not_taken_when_off)
{
	const char *why;

	why = switch_timing(&self->v, "N");
	if (why)
		SKIP(return, "%s: exit_timing: %s", _metadata->name, why);
	EXPECT_EQ(0, pause_between_exits(&self->v, TIMES));
	EXPECT_EQ(0, stats_sum(&self->v.s, "exit_host_ns_hist"));
}

TEST_F(vcpu, exit_time_is_until_entry)
{
	const char *why;
	u64 exits, long_ones, all;

	why = switch_timing(&self->v, "Y");
	if (why)
		SKIP(return, "%s: exit_timing: %s", _metadata->name, why);
	/* The first entry has no exit before it, and the last exit no entry yet. */
	long_ones = pause_between_exits(&self->v, TIMES + 1);
	all = stats_sum(&self->v.s, "exit_host_ns_hist");
	exits = stats_value(&self->v.s, "exits");
	EXPECT_LE(TIMES, long_ones);
	EXPECT_GE(exits - 1, all);
	EXPECT_LT(exits - 1 - exits / 2, all);

	ASSERT_TRUE(!switch_timing(&self->v, "N"));
	EXPECT_EQ(long_ones, pause_between_exits(&self->v, TIMES));
	EXPECT_EQ(all, stats_sum(&self->v.s, "exit_host_ns_hist"));
	EXPECT_LE(exits + TIMES, stats_value(&self->v.s, "exits"));
}

/* What the vCPU did while it was off is no time between exit and entry. */
TEST_F(vcpu, exit_time_starts_when_switched_on)
{
	const char *why;

	why = switch_timing(&self->v, "Y");
	if (why)
		SKIP(return, "%s: exit_timing: %s", _metadata->name, why);
	ASSERT_TRUE(vcpu_do(&self->v, GUEST_EXIT, 1));
	ASSERT_TRUE(!switch_timing(&self->v, "N"));
	poll(NULL, 0, REST_MS);
	ASSERT_TRUE(!switch_timing(&self->v, "Y"));
	EXPECT_TRUE(vcpu_do(&self->v, GUEST_EXIT, 1));
	EXPECT_EQ(0, samples_from(&self->v, REST_AT_LEAST));

	/* The same rest with it on is one. */
	poll(NULL, 0, REST_MS);
	EXPECT_TRUE(vcpu_do(&self->v, GUEST_EXIT, 1));
	EXPECT_EQ(1, samples_from(&self->v, REST_AT_LEAST));
	ASSERT_TRUE(!switch_timing(&self->v, "N"));
}

TEST_F_TIMEOUT(vcpu, exit_time_switched_while_it_runs, LONG_TEST)
{
	const char *why;
	u64 exits;
	int i;

	why = switch_timing(&self->v, "N");
	if (why)
		SKIP(return, "%s: exit_timing: %s", _metadata->name, why);
	exits = stats_value(&self->v.s, "exits");
	ASSERT_TRUE(spinner_start(&self->spinner, &self->v.m, GUEST_SPIN));
	for (i = 0; i < SWITCHES; i++) {
		EXPECT_TRUE(parameter_set(EXIT_TIMING, i % 2 ? "N" : "Y"));
		poll(NULL, 0, i % 5);
	}
	EXPECT_TRUE(parameter_set(EXIT_TIMING, "Y"));
	EXPECT_TRUE(WAIT_FOR(stats_value(&self->v.s, "exits") > exits + TIMES));
	EXPECT_EQ(EINTR, spinner_stop(&self->spinner));
	EXPECT_TRUE(parameter_set(EXIT_TIMING, "N"));
	exits = stats_value(&self->v.s, "exits");
	EXPECT_EQ(exits, stats_sum(&self->v.s, "exit_reasons"));
	EXPECT_GT(exits, stats_sum(&self->v.s, "exit_host_ns_hist"));
	EXPECT_LE(1, stats_sum(&self->v.s, "exit_host_ns_hist"));
}

/* ---- flushes of TLBs ----------------------------------------------------- */

static bool set_memory(const struct machine *m, u64 at, void *memory, size_t size, int flags)
{
	struct kvm_userspace_memory_region region = {
		.guest_phys_addr = at,
		.memory_size = size,
		.userspace_addr = (uintptr_t)memory,
		.flags = flags,
	};

	return !ioctl(m->vm, KVM_SET_USER_MEMORY_REGION, &region);
}

static bool get_dirty_log(const struct machine *m)
{
	u64 bits[GUEST_RAM / 4096 / 8] = {};
	struct kvm_dirty_log log = { .dirty_bitmap = bits };

	return !ioctl(m->vm, KVM_GET_DIRTY_LOG, &log);
}

static u64 flush_requests(const struct vcpu *v)
{
	return stats_value(&v->vm, "remote_tlb_flush_requests");
}

TEST_F(vcpu, flushes_are_requested)
{
	u64 requests;

	if (!GUEST_LOG_FLUSHES)
		SKIP(return, NO_SUCH_STAT, _metadata->name);
	ASSERT_TRUE(vcpu_do(&self->v, GUEST_EXIT, 1));
	requests = flush_requests(&self->v);
	ASSERT_TRUE(set_memory(&self->v.m, GUEST_MEMORY, self->v.m.ram, GUEST_RAM,
			       KVM_MEM_LOG_DIRTY_PAGES)) TH_LOG("%m");
	EXPECT_LT(requests, flush_requests(&self->v));
	if (guest_can(GUEST_TOUCH)) {
		ASSERT_TRUE(vcpu_do(&self->v, GUEST_TOUCH, 1));
		requests = flush_requests(&self->v);
		ASSERT_TRUE(get_dirty_log(&self->v.m)) TH_LOG("%m");
		EXPECT_LT(requests, flush_requests(&self->v));
	}
	EXPECT_LE(stats_value(&self->v.vm, "remote_tlb_flush"), flush_requests(&self->v));
}

/* ---- the MMU of x86 ------------------------------------------------------ */

#define HUGE		(2 << 20)

FIXTURE(mmu)
{
	struct vcpu v;
};

FIXTURE_SETUP(mmu)
{
	ASSERT_TRUE(vcpu_create(&self->v, false)) TH_LOG("VM: %m");
}

FIXTURE_TEARDOWN(mmu)
{
	vcpu_destroy(&self->v);
}

#define NOT_X86		"%s: these are statistics of x86"

static bool mmu_is_counted(const struct vcpu *v)
{
	return !!stats_find(&v->vm, "pages_4k");
}

enum fault { TAKEN, FIXED, EMULATE, SPURIOUS, FAST, MMIO, FAULTS };

static void count_faults(const struct vcpu *v, u64 *faults)
{
	static const char * const names[FAULTS] = {
		"pf_taken", "pf_fixed", "pf_emulate", "pf_spurious", "pf_fast",
		"pf_mmio_spte_created",
	};
	int i;

	for (i = 0; i < FAULTS; i++)
		faults[i] = stats_value(&v->s, names[i]);
}

/* The page faults that @job makes */
static bool count_faults_of(struct vcpu *v, enum guest_job job, int times, u64 *faults)
{
	u64 before[FAULTS];
	bool done;
	int i;

	count_faults(v, before);
	done = vcpu_do(v, job, times);
	count_faults(v, faults);
	for (i = 0; i < FAULTS; i++)
		faults[i] -= before[i];
	return done;
}

/* A fault that is tried again is only taken. */
static void check_faults(struct __test_metadata *_metadata, const u64 *faults)
{
	EXPECT_LE(faults[FIXED] + faults[EMULATE] + faults[SPURIOUS], faults[TAKEN]);
	EXPECT_LE(faults[FAST], faults[FIXED] + faults[SPURIOUS]);
}

static u64 pages(const struct vcpu *v, const char *name)
{
	return stats_value(&v->vm, name);
}

TEST_F(mmu, pages_that_were_touched)
{
	u64 faults[FAULTS];

	if (!mmu_is_counted(&self->v))
		SKIP(return, NOT_X86, _metadata->name);
	EXPECT_EQ(0, pages(&self->v, "pages_4k"));
	ASSERT_TRUE(count_faults_of(&self->v, GUEST_TOUCH, 1, faults));
	EXPECT_LE(GUEST_PAGES, pages(&self->v, "pages_4k"));
	/* The TDP MMU has no shadow pages. */
	if (!module_has_on("kvm", "tdp_mmu"))
		EXPECT_LT(0, pages(&self->v, "mmu_shadow_pages"));
	EXPECT_LE(GUEST_PAGES, faults[FIXED]);
	EXPECT_EQ(0, faults[EMULATE]);
	check_faults(_metadata, faults);

	/* Nothing is left to fault for. */
	ASSERT_TRUE(count_faults_of(&self->v, GUEST_TOUCH, 1, faults));
	EXPECT_EQ(0, faults[TAKEN]);
	EXPECT_EQ(0, faults[FIXED]);
}

TEST_F(mmu, pages_of_a_slot_that_is_deleted)
{
	if (!mmu_is_counted(&self->v))
		SKIP(return, NOT_X86, _metadata->name);
	ASSERT_TRUE(vcpu_do(&self->v, GUEST_TOUCH, 1));
	ASSERT_TRUE(set_memory(&self->v.m, GUEST_MEMORY, self->v.m.ram, 0, 0)) TH_LOG("%m");
	EXPECT_EQ(0, pages(&self->v, "pages_4k"));
	EXPECT_EQ(0, pages(&self->v, "pages_2m"));
	EXPECT_EQ(0, pages(&self->v, "pages_1g"));
}

/* The page with the code stays. */
TEST_F(mmu, pages_that_the_host_takes_away)
{
	size_t code = 4096;
	u64 mapped;

	if (!mmu_is_counted(&self->v))
		SKIP(return, NOT_X86, _metadata->name);
	ASSERT_TRUE(vcpu_do(&self->v, GUEST_TOUCH, 1));
	mapped = pages(&self->v, "pages_4k");
	ASSERT_EQ(0, madvise(self->v.m.ram + code, GUEST_PAGES * 4096, MADV_DONTNEED));
	EXPECT_EQ(mapped - GUEST_PAGES, pages(&self->v, "pages_4k"));
	ASSERT_TRUE(vcpu_do(&self->v, GUEST_TOUCH, 1));
	EXPECT_EQ(mapped, pages(&self->v, "pages_4k"));
}

TEST_F(mmu, mmio_is_emulated)
{
	u64 faults[FAULTS];

	if (!mmu_is_counted(&self->v))
		SKIP(return, NOT_X86, _metadata->name);
	ASSERT_TRUE(vcpu_do(&self->v, GUEST_EXIT, 1));
	ASSERT_TRUE(count_faults_of(&self->v, GUEST_MMIO_WRITE, GUEST_PAGES, faults));
	EXPECT_EQ(GUEST_PAGES, faults[EMULATE]);
	EXPECT_EQ(GUEST_PAGES, faults[MMIO]);
	EXPECT_EQ(0, faults[FIXED]);
	check_faults(_metadata, faults);

	/* What is known to be MMIO is no page fault any more. */
	ASSERT_TRUE(count_faults_of(&self->v, GUEST_MMIO_WRITE, GUEST_PAGES, faults));
	EXPECT_EQ(0, faults[MMIO]);
	EXPECT_EQ(0, faults[TAKEN]);
}

/* The pages are mapped, but not writable as a write is to be seen. */
TEST_F(mmu, writes_are_logged_without_the_lock)
{
	u64 faults[FAULTS];

	if (!mmu_is_counted(&self->v))
		SKIP(return, NOT_X86, _metadata->name);
	if (module_has_on("kvm_intel", "pml"))
		SKIP(return, "%s: the CPU logs writes by itself", _metadata->name);
	if (module_has_on("kvm", "tdp_mmu"))
		SKIP(return, "%s: the TDP MMU takes the lock", _metadata->name);
	ASSERT_TRUE(vcpu_do(&self->v, GUEST_TOUCH, 1));
	ASSERT_TRUE(set_memory(&self->v.m, GUEST_MEMORY, self->v.m.ram, GUEST_RAM,
			       KVM_MEM_LOG_DIRTY_PAGES)) TH_LOG("%m");
	ASSERT_TRUE(count_faults_of(&self->v, GUEST_TOUCH, 1, faults));
	EXPECT_EQ(GUEST_PAGES, faults[FAST]);
	EXPECT_EQ(GUEST_PAGES, faults[FIXED]);
	check_faults(_metadata, faults);
}

/* In KiB; of the whole process */
static long huge_memory(void)
{
	char text[4096], *at;

	if (read_text("/proc/self/smaps_rollup", text, sizeof(text)) < 0)
		return 0;
	at = strstr(text, "AnonHugePages:");
	return at ? strtol(at + strlen("AnonHugePages:"), NULL, 10) : 0;
}

/* A page of 2 MiB that is transparent or, if the host has none, of hugetlb */
static void *map_huge(void)
{
	int prot = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS;
	char *place = mmap(NULL, 2 * HUGE, prot, flags, -1, 0);

	if (place == MAP_FAILED)
		return NULL;
	place += HUGE - (uintptr_t)place % HUGE;
	madvise(place, HUGE, MADV_HUGEPAGE);
	memset(place, 0, HUGE);
	if (huge_memory() >= HUGE >> 10)
		return place;
	parameter_set(HUGE_PAGES, "2");
	place = mmap(NULL, HUGE, prot, flags | MAP_HUGETLB | 21 << MAP_HUGE_SHIFT, -1, 0);
	return place == MAP_FAILED ? NULL : place;
}

TEST_F(mmu, pages_of_2_mib)
{
	struct machine *m = &self->v.m;
	char *huge;

	if (!mmu_is_counted(&self->v))
		SKIP(return, NOT_X86, _metadata->name);
	huge = map_huge();
	if (!huge)
		SKIP(return, "%s: the host has no page of 2 MiB to give", _metadata->name);
	memcpy(huge + GUEST_MEMORY, guest_code, sizeof(guest_code));
	ASSERT_TRUE(set_memory(m, GUEST_MEMORY, m->ram, 0, 0)) TH_LOG("%m");
	ASSERT_TRUE(set_memory(m, 0, huge, HUGE, 0)) TH_LOG("%m");
	ASSERT_TRUE(vcpu_do(&self->v, GUEST_TOUCH, 1));
	EXPECT_EQ(1, pages(&self->v, "pages_2m"));
	EXPECT_GT(GUEST_PAGES, pages(&self->v, "pages_4k"));
	if (!module_has_on("kvm", "tdp_mmu"))
		EXPECT_EQ(1, pages(&self->v, "lpages"));
	ASSERT_EQ(0, munmap(huge, HUGE));
	EXPECT_EQ(0, pages(&self->v, "pages_2m"));
}

int main(int argc, char **argv)
{
	int status;

	stats_require();
	parameters_save();
	status = test_harness_run(argc, argv);
	parameters_restore();
	return status;
}
