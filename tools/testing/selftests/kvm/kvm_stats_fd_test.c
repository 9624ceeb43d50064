// SPDX-License-Identifier: GPL-2.0-only
/*
 * KVM binary statistics: the files that KVM_GET_STATS_FD returns.
 *
 * Every promise of Documentation/virt/kvm/stats.rst is a test of its own here.
 * What needs a running guest is skipped on an architecture that stats_guest/ has
 * no guest for; everything else is the same on all of them.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

#include <linux/compiler.h>
#include <linux/kvm.h>
#include <linux/types.h>

#include "../kselftest_harness.h"
#include "stats_vm.h"
#include "stats_file.h"

#define NOBODY		65534

/* Emulated hosts are slow: this is for tests that create hundreds of VMs. */
#define LONG_TEST	240

/* What GUEST_STAT shows after @n times GUEST_EXIT */
#define COUNTED(n)	((u64)(HAVE_GUEST ? (n) : 0))

/* The events of @fd after at most @ms, 0: none */
static int events(int fd, int asked, int ms)
{
	struct pollfd p = { .fd = fd, .events = asked };

	return poll(&p, 1, ms) < 0 ? -errno : p.revents;
}

/* ---- the system around it ------------------------------------------------ */

static int open_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = -3;		/* ".", ".." and the directory itself */

	while (dir && readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* -1: the module is not loaded, or built in */
static long module_refs(const char *name)
{
	char path[64], text[32];

	snprintf(path, sizeof(path), "/sys/module/%s/refcnt", name);
	return read_text(path, text, sizeof(text)) < 0 ? -1 : strtol(text, NULL, 10);
}

/* Exit status of a child that runs fn(arg); 128 + signal if one killed it */
static int in_child(int (*fn)(void *arg), void *arg)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(fn(arg));
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static bool become_nobody(void)
{
	return getuid() || (!setgid(NOBODY) && !setuid(NOBODY));
}

/* ---- another process, not related to the VM and without privileges ------- */

enum helper_job { HELPER_TAKE, HELPER_READ };

struct helper_answer {
	int error;		/* of taking, reading or mapping the file */
	uid_t uid;
	char id[NAME_SIZE];
};

struct helper {
	pid_t pid;
	int sock;
};

/* A message of one byte, with room for one fd beside it */
struct fd_message {
	char job;
	struct iovec iov;
	struct msghdr msg;
	char control[CMSG_SPACE(sizeof(int))];
};

static struct msghdr *fd_message_init(struct fd_message *fm)
{
	memset(fm, 0, sizeof(*fm));
	fm->iov.iov_base = &fm->job;
	fm->iov.iov_len = 1;
	fm->msg.msg_iov = &fm->iov;
	fm->msg.msg_iovlen = 1;
	fm->msg.msg_control = fm->control;
	fm->msg.msg_controllen = sizeof(fm->control);
	return &fm->msg;
}

static bool send_fd(int sock, int fd, enum helper_job job)
{
	struct fd_message fm;
	struct msghdr *msg = fd_message_init(&fm);
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(msg);

	fm.job = job;
	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
	return sendmsg(sock, msg, 0) == 1;
}

static int receive_fd(int sock, enum helper_job *job)
{
	struct fd_message fm;
	struct msghdr *msg = fd_message_init(&fm);
	int fd = -1;

	if (recvmsg(sock, msg, 0) == 1 && CMSG_FIRSTHDR(msg))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(msg)), sizeof(fd));
	*job = fm.job;
	return fd;
}

/* Ends when the other side of its socket is closed. */
static void helper_serve(int sock)
{
	enum helper_job job;
	int fd;

	while ((fd = receive_fd(sock, &job)) >= 0) {
		struct helper_answer a = { .uid = getuid() };
		struct stats s;
		char *map;

		if (job == HELPER_TAKE ? stats_take(&s, fd) : stats_read(&s, dup(fd))) {
			memcpy(a.id, stats_id(&s), NAME_SIZE);
			map = stats_map(&s, MAP_SHARED);
			a.error = map || caches_alias() ? 0 : errno;
		} else {
			a.error = errno;
		}
		stats_close(&s);
		close(fd);
		if (send(sock, &a, sizeof(a), 0) != sizeof(a))
			break;
	}
}

/* To be called before the VM exists, so that nothing of it is inherited. */
static bool helper_start(struct helper *h)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair))
		return false;
	h->pid = fork();
	if (!h->pid) {
		close(pair[0]);
		if (become_nobody())
			helper_serve(pair[1]);
		_exit(0);
	}
	close(pair[1]);
	h->sock = pair[0];
	return h->pid > 0;
}

/* false: the helper did not answer in time */
static bool helper_ask(struct helper *h, enum helper_job job, int fd, struct helper_answer *a)
{
	memset(a, 0, sizeof(*a));
	return send_fd(h->sock, fd, job) && events(h->sock, POLLIN, PATIENCE_MS) & POLLIN &&
	       recv(h->sock, a, sizeof(*a), 0) == sizeof(*a);
}

static void helper_stop(struct helper *h)
{
	close(h->sock);
	waitpid(h->pid, NULL, 0);
}

/* ---- one file, of a VM and of a vCPU: what is in it ---------------------- */

#define VCPU_ID		3
#define RUNS		5

FIXTURE(file)
{
	struct machine m;
	struct stats s;
	int owner;		/* the fd that the file was taken from */
	int fds_before;
};

FIXTURE_VARIANT(file)
{
	bool vcpu;
	const char *link;
	const char *id;
};

FIXTURE_VARIANT_ADD(file, vm)
{
	.vcpu = false,
	.link = "anon_inode:kvm-vm-stats",
	.id = "kvm-%d",
};

FIXTURE_VARIANT_ADD(file, vcpu)
{
	.vcpu = true,
	.link = "anon_inode:kvm-vcpu-stats:3",
	.id = "kvm-%d/vcpu-3",
};

FIXTURE_SETUP(file)
{
	self->fds_before = open_fds();
	ASSERT_TRUE(machine_create(&self->m, 1, VCPU_ID)) TH_LOG("VM: %m");
	/* So that the data are not all 0. */
	ASSERT_EQ(RUNS, guest_do(&self->m, 0, GUEST_EXIT, RUNS));
	self->owner = variant->vcpu ? self->m.vcpu[0] : self->m.vm;
	ASSERT_TRUE(stats_take(&self->s, self->owner)) TH_LOG("stats file: %m");
}

FIXTURE_TEARDOWN(file)
{
	stats_close(&self->s);
	machine_destroy(&self->m);
	EXPECT_EQ(self->fds_before, open_fds());
}

TEST_F(file, is_read_only_and_close_on_exec)
{
	EXPECT_EQ(O_RDONLY, fcntl(self->s.fd, F_GETFL) & O_ACCMODE);
	EXPECT_EQ(FD_CLOEXEC, fcntl(self->s.fd, F_GETFD));
}

TEST_F(file, link_text)
{
	char path[64], text[64] = "";

	snprintf(path, sizeof(path), "/proc/self/fd/%d", self->s.fd);
	EXPECT_LT(0, readlink(path, text, sizeof(text) - 1));
	EXPECT_STREQ(variant->link, text);
}

TEST_F(file, header)
{
	const struct kvm_stats_header *h = &self->s.header;
	size_t end = 72 + 64 * h->num_desc;

	EXPECT_EQ(24, sizeof(*h));
	EXPECT_EQ(0, h->flags);
	EXPECT_EQ(48, h->name_size);
	EXPECT_LT(0, h->num_desc);
	EXPECT_EQ(24, h->id_offset);
	EXPECT_EQ(72, h->desc_offset);
	EXPECT_EQ((end + page_size() - 1) / page_size() * page_size(), h->data_offset);
}

TEST_F(file, id_string)
{
	char expected[NAME_SIZE] = "";

	snprintf(expected, sizeof(expected), variant->id, getpid());
	EXPECT_EQ('\0', stats_id(&self->s)[NAME_SIZE - 1]);
	EXPECT_STREQ(expected, stats_id(&self->s));
	EXPECT_EQ(0, memcmp(expected, stats_id(&self->s), NAME_SIZE))
		TH_LOG("there is more behind the NUL");
}

TEST_F(file, padding_is_zero)
{
	size_t i = 72 + 64 * self->s.header.num_desc;

	for (; i < self->s.header.data_offset; i++) {
		ASSERT_EQ(0, self->s.image[i])
			TH_LOG("at offset %zu", i);
	}
}

TEST_F(file, names)
{
	unsigned int i, j;

	for (i = 0; i < self->s.header.num_desc; i++) {
		const char *name = stats_desc(&self->s, i)->name;

		ASSERT_NE('\0', name[0]) TH_LOG("descriptor %u has no name", i);
		for (j = strnlen(name, NAME_SIZE - 1); j < NAME_SIZE; j++) {
			ASSERT_EQ('\0', name[j])
				TH_LOG("descriptor %u, byte %u", i, j);
		}
		for (j = 0; j < i; j++)
			ASSERT_STRNE(stats_desc(&self->s, j)->name, name);
	}
}

/* A hole makes clients read past their buffer, an overlap counts twice. */
TEST_F(file, data_has_no_hole_and_no_overlap)
{
	size_t words = self->s.data_bytes / 8, w;
	unsigned char *uses = calloc(1, words);
	unsigned int i;

	for (i = 0; i < self->s.header.num_desc; i++) {
		const struct kvm_stats_desc *d = stats_desc(&self->s, i);

		ASSERT_EQ(0, d->offset % 8) TH_LOG("%s", d->name);
		ASSERT_LT(0, d->size) TH_LOG("%s", d->name);
		ASSERT_GE(words, d->offset / 8 + d->size) TH_LOG("%s", d->name);
		for (w = 0; w < d->size; w++)
			uses[d->offset / 8 + w]++;
	}
	for (w = 0; w < words; w++) {
		EXPECT_EQ(1, uses[w])
			TH_LOG("word %zu of the data", w);
	}
	free(uses);
}

TEST_F(file, descriptors_are_legal)
{
	unsigned int i;

	for (i = 0; i < self->s.header.num_desc; i++) {
		const struct kvm_stats_desc *d = stats_desc(&self->s, i);
		__u32 type = d->flags & KVM_STATS_TYPE_MASK;
		__u32 unit = d->flags & KVM_STATS_UNIT_MASK;
		__u32 base = d->flags & KVM_STATS_BASE_MASK;
		bool hist = type == KVM_STATS_TYPE_LINEAR_HIST || type == KVM_STATS_TYPE_LOG_HIST;
		bool ns = strstr(d->name, "_ns") || (hist && unit == KVM_STATS_UNIT_SECONDS);

		EXPECT_EQ(0, d->flags & ~0xfff) TH_LOG("%s", d->name);
		EXPECT_GE(KVM_STATS_TYPE_MAX, type) TH_LOG("%s", d->name);
		EXPECT_GE(KVM_STATS_UNIT_MAX, unit) TH_LOG("%s", d->name);
		EXPECT_GE(KVM_STATS_BASE_MAX, base) TH_LOG("%s", d->name);
		EXPECT_EQ(hist, d->size > 1) TH_LOG("%s", d->name);
		EXPECT_EQ(type == KVM_STATS_TYPE_LINEAR_HIST, d->bucket_size > 0)
			TH_LOG("%s", d->name);
		EXPECT_EQ(ns, unit == KVM_STATS_UNIT_SECONDS) TH_LOG("%s", d->name);
		EXPECT_EQ(ns ? -9 : 0, d->exponent) TH_LOG("%s", d->name);
	}
}

/* Stats that collectors look for by name, a sample of every kind. */
static const struct {
	bool vcpu;
	const char *name;
	__u32 flags;
	int exponent;
} well_known[] = {
	{ false, "remote_tlb_flush", KVM_STATS_TYPE_CUMULATIVE, 0 },
	{ true, "halt_wakeup", KVM_STATS_TYPE_CUMULATIVE, 0 },
	{ true, "halt_poll_success_ns", KVM_STATS_TYPE_CUMULATIVE | KVM_STATS_UNIT_SECONDS, -9 },
	{ true, GUEST_OTHER_STAT, KVM_STATS_TYPE_CUMULATIVE, 0 },
	{ true, "halt_poll_fail_ns", KVM_STATS_TYPE_CUMULATIVE | KVM_STATS_UNIT_SECONDS, -9 },
#if defined(__x86_64__) || defined(__i386)
	{ false, "mmu_unsync", KVM_STATS_TYPE_INSTANT, 0 },
	{ false, "nx_lpage_splits", KVM_STATS_TYPE_INSTANT, 0 },
	{ false, "max_mmu_page_hash_collisions", KVM_STATS_TYPE_PEAK, 0 },
	{ true, "request_irq_exits", KVM_STATS_TYPE_CUMULATIVE, 0 },
#endif
};

TEST_F(file, well_known_stats)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(well_known); i++) {
		const struct kvm_stats_desc *d = stats_find(&self->s, well_known[i].name);

		ASSERT_EQ(well_known[i].vcpu == variant->vcpu, !!d)
			TH_LOG("%s", well_known[i].name);
		if (!d)
			continue;
		EXPECT_EQ(well_known[i].flags, d->flags) TH_LOG("%s", d->name);
		EXPECT_EQ(well_known[i].exponent, d->exponent) TH_LOG("%s", d->name);
	}
}

/* ---- reading it ---------------------------------------------------------- */

static ssize_t by_read(int fd, void *buf, size_t size, off_t at)
{
	return lseek(fd, at, SEEK_SET) == at ? read(fd, buf, size) : -1;
}

/* In two parts, so that blocks of the file and of the buffer do not match. */
static ssize_t by_preadv(int fd, void *buf, size_t size, off_t at)
{
	struct iovec iov[2] = { { buf, size / 3 }, { buf + size / 3, size - size / 3 } };

	return preadv(fd, iov, 2, at);
}

static ssize_t by_readv(int fd, void *buf, size_t size, off_t at)
{
	struct iovec iov[2] = { { buf, size / 3 }, { buf + size / 3, size - size / 3 } };

	return lseek(fd, at, SEEK_SET) == at ? readv(fd, iov, 2) : -1;
}

/* All that must give the same bytes, counts and errors. */
static const struct {
	const char *name;
	ssize_t (*read)(int fd, void *buf, size_t size, off_t at);
	bool moves;
} ways[] = {
	{ "pread", pread, false },
	{ "preadv", by_preadv, false },
	{ "read", by_read, true },
	{ "readv", by_readv, true },
};

#define ROOM	0x200000

/* The last @room bytes of a buffer behind which nothing is mapped. */
static char *edge(size_t room)
{
	static char *end;

	if (!end) {
		end = mmap(NULL, 2 * ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0) + ROOM;
		munmap(end, ROOM);
	}
	return end - room;
}

/*
 * Read @size bytes at @at into a buffer that has only @room, in several ways: what
 * there is up to the end of the file or of the buffer arrives and counts.
 */
static void check_ways(struct __test_metadata *_metadata, const struct stats *s, off_t at,
		       size_t size, size_t room, int first, int last)
{
	size_t left = at < (off_t)s->size ? s->size - at : 0;
	size_t wanted = size < left ? size : left, most = wanted < room ? wanted : room;
	char *buf = edge(room);
	size_t good;
	ssize_t got;
	int i;

	for (i = first; i <= last; i++) {
		memset(buf, 0xa5, room);
		ASSERT_TRUE(!!stats_data(s));
		errno = 0;
		got = ways[i].read(s->fd, buf, size, at);
		if (got < 0 && room < wanted && room < COPY_GRAIN) {
			EXPECT_EQ(EFAULT, errno);
			got = 0;
		}
		EXPECT_GE((ssize_t)most, got);
		EXPECT_LT((ssize_t)most, got + (room < wanted ? COPY_GRAIN : 1));
		good = got > 0 && (size_t)got <= most ? got : 0;
		EXPECT_EQ(0, memcmp(buf, s->image + (good ? at : 0), good));
		if (room > most)
			EXPECT_EQ((char)0xa5, buf[most]);
		if (ways[i].moves)
			EXPECT_EQ(at + got, lseek(s->fd, 0, SEEK_CUR));
		ASSERT_TRUE(_metadata->passed)
			TH_LOG("%s of %zu bytes from %jd, room for %zu: %zd, errno %d",
			       ways[i].name, size, (intmax_t)at, room, got, errno);
	}
}

/* By offset; these do not need lseek(). */
static void check_pread(struct __test_metadata *_metadata, const struct stats *s, off_t at,
			size_t size)
{
	check_ways(_metadata, s, at, size, size, 0, 1);
}

static void check_read(struct __test_metadata *_metadata, const struct stats *s, off_t at,
		       size_t size, size_t room)
{
	check_ways(_metadata, s, at, size, room, 0, 3);
}

TEST_F(file, header_and_id_in_sequence)
{
	char buf[24 + NAME_SIZE];

	EXPECT_EQ(24, read(self->s.fd, buf, 24));
	EXPECT_EQ(NAME_SIZE, read(self->s.fd, buf + 24, NAME_SIZE));
	EXPECT_EQ(0, memcmp(buf, self->s.image, sizeof(buf)));
	EXPECT_EQ(72, lseek(self->s.fd, 0, SEEK_CUR));
}

TEST_F(file, header_again_and_again)
{
	int i;

	for (i = 0; i < 5; i++)
		check_pread(_metadata, &self->s, 0, 24);
}

TEST_F(file, all_descriptors_or_all_data)
{
	size_t descs = self->s.header.num_desc * DESC_SIZE;

	check_pread(_metadata, &self->s, 72, descs);
	check_pread(_metadata, &self->s, self->s.header.data_offset, self->s.data_bytes);
}

TEST_F(file, one_stat)
{
	unsigned int i;

	for (i = 0; i < self->s.header.num_desc; i++)
		check_pread(_metadata, &self->s,
			    self->s.header.data_offset + stats_desc(&self->s, i)->offset, 8);
}

TEST_F(file, end_of_file)
{
	size_t size = self->s.size;

	check_pread(_metadata, &self->s, 0, 2 * size);
	check_pread(_metadata, &self->s, size - 3, 100);
	check_pread(_metadata, &self->s, size, 100);
	check_pread(_metadata, &self->s, size + 1, 100);
	check_pread(_metadata, &self->s, 0, 0);
}

TEST_F(file, same_bytes_in_any_steps)
{
	static const size_t steps[] = { 1, 7, 24, 64, 1000, 4097 };
	unsigned int i;
	size_t at;

	for (i = 0; i < ARRAY_SIZE(steps); i++)
		for (at = 0; at < self->s.size; at += steps[i])
			check_read(_metadata, &self->s, at, steps[i], steps[i]);
}

/* A 32-bit position would wrap and find the file again. */
TEST_F(file, offsets_that_need_64_bits)
{
	const off_t far[] = { 1LL << 31, 1LL << 32, 1LL << 33, 1LL << 43 };
	const off_t near[] = { 0, 24, 72, self->s.header.data_offset };
	unsigned int f, n;
	char buf[64];

	for (f = 0; f < ARRAY_SIZE(far); f++)
		for (n = 0; n < ARRAY_SIZE(near); n++)
			check_pread(_metadata, &self->s, far[f] + near[n], 64);
	EXPECT_EQ(0, pread(self->s.fd, buf, 64, INT64_MAX - 64));
	EXPECT_EQ(0, by_preadv(self->s.fd, buf, 64, INT64_MAX - 64));
	EXPECT_EQ(EINVAL, ERROR_OF(pread(self->s.fd, buf, 64, -1)));
	EXPECT_EQ(EINVAL, ERROR_OF(pread(self->s.fd, buf, 64, INT64_MIN)));
}

TEST_F(file, partial_copies)
{
	size_t data = self->s.header.data_offset, size = self->s.size;
	const size_t rooms[] = { 0, 1, 23, 24, 40, 72, 100, 500, data - 1, data + 9 };
	const off_t starts[] = { 0, 5, 24, 70, 72, data - 10, data, data + 8, size - 1, size };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rooms) * ARRAY_SIZE(starts); i++)
		check_read(_metadata, &self->s, starts[i % ARRAY_SIZE(starts)], size,
			   rooms[i / ARRAY_SIZE(starts)]);
}

TEST_F(file, dup_shares_the_position)
{
	int twin = dup(self->s.fd);
	char buf[24];

	EXPECT_EQ(24, read(self->s.fd, buf, 24));
	EXPECT_EQ(24, lseek(twin, 0, SEEK_CUR));
	EXPECT_EQ(24, pread(twin, buf, 24, 0));
	EXPECT_EQ(0, memcmp(buf, self->s.image, 24));
	close(twin);
}

TEST_F(file, many_iovecs)
{
	/* Ends inside the header, id, descriptors, padding and data. */
	size_t ends[] = { 10, 10, 30, 80, self->s.header.data_offset - 5,
			  self->s.header.data_offset + 5, self->s.size + 100 };
	char *buf = calloc(1, self->s.size + 100);
	struct iovec iov[ARRAY_SIZE(ends)];
	size_t at = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ends); at = ends[i++]) {
		iov[i].iov_base = buf + at;
		iov[i].iov_len = ends[i] - at;
	}
	EXPECT_EQ(self->s.size, preadv(self->s.fd, iov, ARRAY_SIZE(ends), 0));
	EXPECT_EQ(0, memcmp(buf, self->s.image, self->s.size));
	EXPECT_EQ(self->s.size - 20, preadv(self->s.fd, iov, ARRAY_SIZE(ends), 20));
	EXPECT_EQ(0, memcmp(buf, self->s.image + 20, self->s.size - 20));
	free(buf);
}

/* What io_uring needs to serve the read without a worker thread. */
TEST_F(file, nowait)
{
	char *buf = calloc(1, self->s.size);
	struct iovec iov = { buf, self->s.size };

	EXPECT_EQ(self->s.size, preadv2(self->s.fd, &iov, 1, 0, RWF_NOWAIT)) TH_LOG("%m");
	EXPECT_EQ(0, memcmp(buf, self->s.image, self->s.size));
	free(buf);
}

TEST_F(file, lseek)
{
	off_t size = self->s.size;
	int fd = self->s.fd;
	char buf[8];

	EXPECT_EQ(size, lseek(fd, 0, SEEK_END));
	EXPECT_EQ(100, lseek(fd, 100, SEEK_SET));
	EXPECT_EQ(8, read(fd, buf, 8));
	EXPECT_EQ(0, memcmp(buf, self->s.image + 100, 8));
	EXPECT_EQ(108, lseek(fd, 0, SEEK_CUR));
	EXPECT_EQ(98, lseek(fd, -10, SEEK_CUR));
	EXPECT_EQ(size - 8, lseek(fd, -8, SEEK_END));
	EXPECT_EQ(8, read(fd, buf, 8));
	EXPECT_EQ(0, memcmp(buf, self->s.image + size - 8, 8));
	EXPECT_EQ(0, read(fd, buf, 8));
	EXPECT_EQ(size + 100, lseek(fd, 100, SEEK_CUR));
	EXPECT_EQ(0, read(fd, buf, 8));
	EXPECT_EQ(1LL << 32, lseek(fd, 1LL << 32, SEEK_SET));
	EXPECT_EQ(0, read(fd, buf, 8));

	/* Errors leave the position alone. */
	EXPECT_EQ(size, lseek(fd, size, SEEK_SET));
	EXPECT_EQ(EINVAL, ERROR_OF(lseek(fd, -1, SEEK_SET)));
	EXPECT_EQ(EINVAL, ERROR_OF(lseek(fd, -size - 1, SEEK_CUR)));
	EXPECT_EQ(EINVAL, ERROR_OF(lseek(fd, -size - 1, SEEK_END)));
	EXPECT_EQ(EINVAL, ERROR_OF(lseek(fd, 0, 99)));
	EXPECT_NE(0, ERROR_OF(lseek(fd, INT64_MAX, SEEK_CUR)));
	EXPECT_EQ(size, lseek(fd, 0, SEEK_CUR));
}

TEST_F(file, splice)
{
	size_t size = self->s.size, at = 0;
	char *buf = calloc(1, size);
	ssize_t got;
	int pipefd[2];

	ASSERT_EQ(0, pipe(pipefd));
	while (at < size) {
		got = splice(self->s.fd, NULL, pipefd[1], NULL, size - at, 0);
		ASSERT_LT(0, got) TH_LOG("splice: %m");
		ASSERT_EQ(got, read(pipefd[0], buf + at, got));
		at += got;
	}
	EXPECT_EQ(0, memcmp(buf, self->s.image, size));
	EXPECT_EQ(0, splice(self->s.fd, NULL, pipefd[1], NULL, 100, 0));
	close(pipefd[0]);
	close(pipefd[1]);
	free(buf);
}

TEST_F(file, refuses_what_is_not_reading)
{
	int fd = self->s.fd;
	char path[64];

	EXPECT_EQ(EBADF, ERROR_OF(write(fd, "", 1)));
	EXPECT_EQ(EBADF, ERROR_OF(pwrite(fd, "", 1, self->s.header.data_offset)));
	EXPECT_EQ(EINVAL, ERROR_OF(ftruncate(fd, 0)));
	EXPECT_EQ(EINVAL, ERROR_OF(fsync(fd)));
	EXPECT_EQ(ENOTTY, ERROR_OF(ioctl(fd, KVM_GET_STATS_FD, 0)));
	EXPECT_EQ(ENOTTY, ERROR_OF(ioctl(fd, KVM_GET_API_VERSION, 0)));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	EXPECT_EQ(-1, open(path, O_WRONLY));
	EXPECT_EQ(-1, open(path, O_RDWR));
}

/* ---- mapping it ---------------------------------------------------------- */

static const int map_kinds[] = { MAP_SHARED, MAP_PRIVATE };

static int map_error(const struct stats *s, off_t at, size_t size, int prot, int flags)
{
	void *map = mmap(NULL, size, prot, flags, s->fd, at);

	if (map == MAP_FAILED)
		return errno;
	munmap(map, size);
	return 0;
}

TEST_F(file, mapping_is_the_data_and_zeros)
{
	size_t size = stats_map_size(&self->s), i;
	unsigned int kind;

	if (caches_alias())
		SKIP(return, NO_MAPPING, _metadata->name);
	for (kind = 0; kind < ARRAY_SIZE(map_kinds); kind++) {
		char *map = stats_map(&self->s, map_kinds[kind]);

		ASSERT_TRUE(!!map) TH_LOG("mmap: %m");
		EXPECT_EQ(0, memcmp(map, stats_data(&self->s), self->s.data_bytes));
		for (i = self->s.data_bytes; i < size; i++) {
			ASSERT_EQ(0, map[i])
				TH_LOG("at %zu", i);
		}
		munmap(map, size);
	}
}

TEST_F(file, mapping_cannot_be_written)
{
	size_t size = self->s.data_bytes;
	off_t data = self->s.header.data_offset;
	unsigned int k;

	if (caches_alias())
		SKIP(return, NO_MAPPING, _metadata->name);
	for (k = 0; k < ARRAY_SIZE(map_kinds); k++) {
		char *map = stats_map(&self->s, map_kinds[k]);

		EXPECT_EQ(EACCES, map_error(&self->s, data, size, PROT_READ | PROT_WRITE,
					    map_kinds[k]));
		EXPECT_EQ(EACCES, map_error(&self->s, data, size, PROT_WRITE, map_kinds[k]));
		ASSERT_TRUE(!!map) TH_LOG("mmap: %m");
		EXPECT_EQ(EACCES, ERROR_OF(mprotect(map, size, PROT_READ | PROT_WRITE)));
		munmap(map, size);
	}
}

TEST_F(file, mapping_of_anything_but_the_data)
{
	size_t page = page_size(), size = stats_map_size(&self->s);
	off_t data = self->s.header.data_offset;
	const struct {
		off_t at;
		size_t size;
	} bad[] = {
		{ 0, page },
		{ 0, data + size },
		{ 72, page },			/* the descriptors */
		{ data - page, page },
		{ data - page, 2 * page },
		{ data + 8, page },
		{ data, size + page },
		{ data, size + 1 },
		{ data + size, page },
		{ data + size - page, 2 * page },
		{ data + (1LL << 32), page },
		{ data + (1LL << 32) * page / 2, page },
	};
	unsigned int i, k;

	if (caches_alias())
		SKIP(return, NO_MAPPING, _metadata->name);
	for (k = 0; k < ARRAY_SIZE(map_kinds); k++) {
		for (i = 0; i < ARRAY_SIZE(bad); i++) {
			int error = map_error(&self->s, bad[i].at, bad[i].size, PROT_READ,
					      map_kinds[k]);

			/* mmap() itself of a 32-bit kernel knows nothing beyond 4 GiB. */
			if (sizeof(long) == 4 && bad[i].at >> 32 && error == EOVERFLOW)
				error = EINVAL;
			EXPECT_EQ(EINVAL, error)
				TH_LOG("bad[%u]", i);
		}
	}
}

TEST_F(file, mapping_is_refused_where_caches_alias)
{
	EXPECT_EQ(caches_alias() ? ENODEV : 0,
		  map_error(&self->s, self->s.header.data_offset, self->s.data_bytes, PROT_READ,
			    MAP_SHARED));
}

static int touch(void *byte)
{
	return READ_ONCE(*(char *)byte);
}

TEST_F(file, mapping_moved_cut_and_not_grown)
{
	size_t page = page_size(), size = stats_map_size(&self->s), bytes = self->s.data_bytes;
	char *map = stats_map(&self->s, MAP_SHARED), *moved, *grown, *place;

	if (caches_alias())
		SKIP(return, NO_MAPPING, _metadata->name);
	ASSERT_TRUE(!!map) TH_LOG("mmap: %m");
	place = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	moved = mremap(map, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, place);
	ASSERT_TRUE(moved == place) TH_LOG("mremap: %m");
	EXPECT_EQ(0, memcmp(moved, stats_data(&self->s), bytes));

	grown = mremap(moved, size, size + page, MREMAP_MAYMOVE);
	if (grown != MAP_FAILED) {
		moved = grown;
		EXPECT_EQ(128 + SIGBUS, in_child(touch, moved + size));
	}

	/* Another mapping does not care; of this one the rest stays. */
	map = stats_map(&self->s, MAP_SHARED);
	EXPECT_EQ(0, munmap(moved, page));
	if (size > page)
		EXPECT_EQ(0, memcmp(moved + page, stats_data(&self->s) + page, bytes - page));
	EXPECT_EQ(0, memcmp(map, stats_data(&self->s), bytes));
	EXPECT_EQ(0, mprotect(map, page, PROT_NONE));
	EXPECT_EQ(0, mprotect(map, page, PROT_READ));
	EXPECT_EQ(0, memcmp(map, stats_data(&self->s), bytes));
	munmap(map, size);
}

struct last_look {
	const struct stats *s;
	const char *map;
	u64 expected;
};

static int look_at_the_last(void *arg)
{
	struct last_look *l = arg;

	return mapped_value(l->s, l->map, GUEST_STAT) != l->expected;
}

/* In the end mappings are all that is left, one of them never touched before. */
TEST_F(file, mapping_outlives_everything)
{
	struct last_look look[3] = { 0 };
	unsigned int i;

	if (caches_alias())
		SKIP(return, NO_MAPPING, _metadata->name);
	ASSERT_EQ(3, guest_do(&self->m, 0, GUEST_EXIT, 3));
	for (i = 0; i < ARRAY_SIZE(look); i++) {
		look[i].s = &self->s;
		look[i].map = stats_map(&self->s, map_kinds[i % 2]);
		look[i].expected = variant->vcpu ? COUNTED(RUNS + 3) : NO_STAT;
		ASSERT_TRUE(!!look[i].map) TH_LOG("mmap: %m");
		if (i < 2)
			EXPECT_EQ(0, look_at_the_last(&look[i]));
	}
	machine_destroy(&self->m);
	close(self->s.fd);
	self->s.fd = -1;
	for (i = 0; i < ARRAY_SIZE(look); i++) {
		EXPECT_EQ(0, look_at_the_last(&look[i])) TH_LOG("mapping %u", i);
		EXPECT_EQ(0, in_child(look_at_the_last, &look[i])) TH_LOG("mapping %u", i);
		munmap((void *)look[i].map, self->s.data_bytes);
	}
}

/* ---- end of life --------------------------------------------------------- */

/* The VM's own fds in turn: it is gone with the last one, not before. */
TEST_F(file, poll_tells_the_end)
{
	EXPECT_EQ(0, events(self->s.fd, 0, 0));
	EXPECT_EQ(POLLIN, events(self->s.fd, POLLIN, 0));
	vm_close(&self->m);
	EXPECT_EQ(0, events(self->s.fd, 0, 0)) TH_LOG("the vCPU is still open");
	EXPECT_EQ(POLLIN, events(self->s.fd, POLLIN, 0));
	vcpu_close(&self->m, 0);
	EXPECT_EQ(POLLHUP, events(self->s.fd, 0, PATIENCE_MS));
	EXPECT_EQ(POLLIN | POLLHUP, events(self->s.fd, POLLIN, 0));
}

TEST_F(file, epoll_tells_the_end)
{
	struct epoll_event event = { .events = 0 };
	int ep = epoll_create1(0);

	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, self->s.fd, &event)) TH_LOG("%m");
	EXPECT_EQ(0, epoll_wait(ep, &event, 1, 0));
	vcpu_close(&self->m, 0);
	EXPECT_EQ(0, epoll_wait(ep, &event, 1, 0)) TH_LOG("the VM is still open");
	vm_close(&self->m);
	EXPECT_EQ(1, epoll_wait(ep, &event, 1, PATIENCE_MS));
	EXPECT_EQ(EPOLLHUP, event.events);
	close(ep);
}

struct waiter {
	int fd;
	int events;
};

static void *wait_for_end(void *arg)
{
	struct waiter *w = arg;

	w->events = events(w->fd, 0, PATIENCE_MS);
	return NULL;
}

TEST_F(file, poll_is_woken_by_the_end)
{
	struct waiter w = { .fd = self->s.fd };
	time_t start = time(NULL);
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, wait_for_end, &w));
	poll(NULL, 0, 100);	/* it sleeps by now, or else the test is weaker */
	machine_destroy(&self->m);
	pthread_join(thread, NULL);
	EXPECT_EQ(POLLHUP, w.events);
	/* When its time is over poll() looks once more: that is not waking. */
	EXPECT_GT(PATIENCE_MS / 2000, time(NULL) - start);
}

static void *epoll_for_end(void *arg)
{
	struct waiter *w = arg;
	struct epoll_event event = { .events = 0 };

	epoll_wait(w->fd, &event, 1, PATIENCE_MS);
	w->events = event.events;
	return NULL;
}

/* One of those who wait exclusively is woken by most events, by the last all. */
TEST_F(file, exclusive_pollers_are_all_woken)
{
	struct epoll_event event = { .events = EPOLLEXCLUSIVE };
	struct waiter w[2];
	pthread_t thread[2];
	int i;

	for (i = 0; i < 2; i++) {
		w[i].fd = epoll_create1(0);
		ASSERT_EQ(0, epoll_ctl(w[i].fd, EPOLL_CTL_ADD, self->s.fd, &event)) TH_LOG("%m");
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, epoll_for_end, &w[i]));
	}
	poll(NULL, 0, 100);	/* both sleep by now, or else the test is weaker */
	machine_destroy(&self->m);
	for (i = 0; i < 2; i++) {
		pthread_join(thread[i], NULL);
		EXPECT_EQ(EPOLLHUP, w[i].events) TH_LOG("poller %d", i);
		close(w[i].fd);
	}
}

TEST_F(file, outlives_the_vm)
{
	struct stats after;

	machine_destroy(&self->m);
	EXPECT_EQ(POLLHUP, events(self->s.fd, 0, PATIENCE_MS));
	ASSERT_TRUE(stats_read(&after, dup(self->s.fd))) TH_LOG("%m");
	EXPECT_EQ(0, memcmp(after.image, self->s.image, self->s.header.data_offset));
	EXPECT_EQ(variant->vcpu ? COUNTED(RUNS) : NO_STAT, stats_value(&after, GUEST_STAT));
	stats_close(&after);
}

TEST_F(file, vm_is_freed_under_it)
{
	char byte;

	if (access(DEBUGFS, F_OK))
		SKIP(return, "vm_is_freed_under_it: " DEBUGFS ": %s", strerror(errno));
	EXPECT_EQ(0, access(self->m.debugfs, F_OK)) TH_LOG("%s: %m", self->m.debugfs);
	machine_destroy(&self->m);
	EXPECT_TRUE(WAIT_FOR(access(self->m.debugfs, F_OK) && errno == ENOENT))
		TH_LOG("%s is still there", self->m.debugfs);
	EXPECT_EQ(1, pread(self->s.fd, &byte, 1, self->s.size - 1));
}

/* ---- errors and leaks ---------------------------------------------------- */

TEST_F(file, no_fd_left)
{
	int before = open_fds(), lowest = dup(self->s.fd), i;
	long refs = module_refs("kvm");
	struct rlimit old, none;

	close(lowest);
	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &old));
	none = old;
	none.rlim_cur = lowest;
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &none));
	for (i = 0; i < 10; i++)
		EXPECT_EQ(EMFILE, ERROR_OF(ioctl(self->owner, KVM_GET_STATS_FD, 0)));
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &old));
	EXPECT_EQ(before, open_fds());
	EXPECT_EQ(refs, module_refs("kvm"));
	EXPECT_EQ(lowest, ioctl(self->owner, KVM_GET_STATS_FD, 0));
	close(lowest);
}

static int take_as_nobody(void *owner)
{
	return become_nobody() ? ERROR_OF(ioctl(*(int *)owner, KVM_GET_STATS_FD, 0)) : 255;
}

/* Root could open files all the same, so that only this child meets the limit. */
TEST_F(file, no_file_left)
{
	static const char * const limit = "/proc/sys/fs/file-max";
	long refs = module_refs("kvm");
	char old[32];
	int error;

	if (getuid() || read_text(limit, old, sizeof(old)) <= 0 || !write_text(limit, "0"))
		SKIP(return, "no_file_left: cannot change %s", limit);
	error = in_child(take_as_nobody, &self->owner);
	ASSERT_TRUE(write_text(limit, old));
	EXPECT_EQ(ENFILE, error) TH_LOG("%s", strerror(error));
	EXPECT_EQ(refs, module_refs("kvm"));
	EXPECT_EQ(0, in_child(take_as_nobody, &self->owner));
}

TEST_F(file, a_thousand_times)
{
	int before = open_fds(), fds[100], round, i;
	long refs = module_refs("kvm");

	for (round = 0; round < 10; round++) {
		for (i = 0; i < 100; i++) {
			fds[i] = ioctl(self->owner, KVM_GET_STATS_FD, 0);
			ASSERT_LE(0, fds[i]) TH_LOG("file %d of round %d: %m", i, round);
		}
		for (i = 0; i < 100; i++)
			close(fds[i]);
	}
	EXPECT_EQ(before, open_fds());
	EXPECT_EQ(refs, module_refs("kvm"));
}

/* ---- more than one file -------------------------------------------------- */

FIXTURE(kvm)
{
	int fds_before;
};

FIXTURE_SETUP(kvm)
{
	self->fds_before = open_fds();
}

FIXTURE_TEARDOWN(kvm)
{
	EXPECT_EQ(self->fds_before, open_fds());
}

TEST_F(kvm, capability)
{
	int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	struct machine m;

	ASSERT_TRUE(machine_create(&m, 0, 0)) TH_LOG("%m");
	EXPECT_EQ(1, ioctl(kvm, KVM_CHECK_EXTENSION, KVM_CAP_BINARY_STATS_FD));
	EXPECT_EQ(1, ioctl(m.vm, KVM_CHECK_EXTENSION, KVM_CAP_BINARY_STATS_FD));
	machine_destroy(&m);
	close(kvm);
}

enum closable { VM, VCPU, VM_STATS, VCPU_STATS, MAPPING, CLOSABLE };

struct closing {
	struct machine m;
	struct stats vm, vcpu;
	char *map;
	bool closed[CLOSABLE];
};

static void close_one(struct closing *c, enum closable what)
{
	switch (what) {
	case VM:
		vm_close(&c->m);
		break;
	case VCPU:
		vcpu_close(&c->m, 0);
		break;
	case VM_STATS:
		close(c->vm.fd);
		c->vm.fd = -1;
		break;
	case VCPU_STATS:
		close(c->vcpu.fd);
		c->vcpu.fd = -1;
		break;
	default:
		if (c->map)
			munmap(c->map, c->vcpu.data_bytes);
	}
	c->closed[what] = true;
}

/* Whatever is still open works, and knows whether the VM is gone. */
static void check_open(struct __test_metadata *_metadata, struct closing *c)
{
	bool gone = c->closed[VM] && c->closed[VCPU];
	struct stats *files[] = { &c->vm, &c->vcpu }, again;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(files); i++) {
		if (files[i]->fd < 0)
			continue;
		EXPECT_EQ(gone ? POLLHUP : 0, events(files[i]->fd, 0, gone ? PATIENCE_MS : 0));
		EXPECT_TRUE(stats_read(&again, dup(files[i]->fd))) TH_LOG("%m");
		EXPECT_EQ(0, memcmp(files[i]->image, again.image, again.header.data_offset));
		stats_close(&again);
	}
	if (!c->closed[VCPU_STATS])
		EXPECT_EQ(COUNTED(1), stats_value(&c->vcpu, GUEST_STAT));
	if (!c->closed[MAPPING] && c->map)
		EXPECT_EQ(COUNTED(1), mapped_value(&c->vcpu, c->map, GUEST_STAT));
}

/* The number of an order says at each step which of those left is next. */
TEST_F_TIMEOUT(kvm, closed_in_any_order, LONG_TEST)
{
	int order, code, left, i;

	for (order = 0; order < 2 * 3 * 4 * 5; order++) {
		struct closing c = { 0 };
		int next[CLOSABLE] = { VM, VCPU, VM_STATS, VCPU_STATS, MAPPING };

		ASSERT_TRUE(machine_create(&c.m, 1, 0)) TH_LOG("%m");
		ASSERT_EQ(1, guest_do(&c.m, 0, GUEST_EXIT, 1));
		ASSERT_TRUE(stats_take(&c.vm, c.m.vm));
		ASSERT_TRUE(stats_take(&c.vcpu, c.m.vcpu[0]));
		c.map = stats_map(&c.vcpu, MAP_SHARED);
		ASSERT_NE(caches_alias(), !!c.map) TH_LOG("mmap: %m");

		check_open(_metadata, &c);
		for (left = CLOSABLE, code = order; left; code /= left--) {
			i = code % left;
			close_one(&c, next[i]);
			next[i] = next[left - 1];
			check_open(_metadata, &c);
		}
		ASSERT_TRUE(_metadata->passed) TH_LOG("order %d", order);
		stats_close(&c.vm);
		stats_close(&c.vcpu);
		machine_destroy(&c.m);
	}
}

/* A collector must not keep the vendor module, but needs the core. */
TEST_F(kvm, module_references)
{
	static const char * const vendors[] = { "kvm_intel", "kvm_amd", "kvm_hv", "kvm_pr" };
	long core_before = module_refs("kvm"), vendor_before = -1;
	const char *vendor = NULL;
	struct machine m;
	unsigned int i;
	int fds[2];

	for (i = 0; i < ARRAY_SIZE(vendors) && vendor_before < 0; i++) {
		vendor = vendors[i];
		vendor_before = module_refs(vendor);
	}
	if (core_before < 0 || vendor_before < 0)
		SKIP(return, "module_references: KVM is built in or not split into modules");
	ASSERT_TRUE(machine_create(&m, 1, 0)) TH_LOG("%m");
	fds[0] = ioctl(m.vm, KVM_GET_STATS_FD, 0);
	fds[1] = ioctl(m.vcpu[0], KVM_GET_STATS_FD, 0);
	EXPECT_LT(vendor_before, module_refs(vendor));
	machine_destroy(&m);
	EXPECT_TRUE(WAIT_FOR(module_refs(vendor) == vendor_before))
		TH_LOG("%s: %ld references, not %ld", vendor, module_refs(vendor), vendor_before);
	EXPECT_EQ(core_before + 2, module_refs("kvm"));
	close(fds[0]);
	close(fds[1]);
	EXPECT_EQ(core_before, module_refs("kvm"));
}

TEST_F(kvm, two_vms_and_four_vcpus)
{
	struct stats vcpu[2][2], vm[2], other;
	char expected[NAME_SIZE];
	struct machine m[2];
	int v, i;

	for (v = 0; v < 2; v++) {
		ASSERT_TRUE(machine_create(&m[v], 2, 10 * v)) TH_LOG("%m");
		ASSERT_TRUE(stats_take(&vm[v], m[v].vm)) TH_LOG("%m");
		for (i = 0; i < 2; i++) {
			ASSERT_TRUE(stats_take(&vcpu[v][i], m[v].vcpu[i])) TH_LOG("%m");
			snprintf(expected, NAME_SIZE, "kvm-%d/vcpu-%d", getpid(), 10 * v + i);
			EXPECT_STREQ(expected, stats_id(&vcpu[v][i]));
		}
	}

	/* VM 0 runs first, which VM 1 must not show. */
	for (i = 0; i < 2; i++)
		ASSERT_EQ(1 + i, guest_do(&m[0], i, GUEST_EXIT, 1 + i));
	ASSERT_TRUE(stats_read(&other, dup(vm[1].fd)));
	EXPECT_EQ(0, memcmp(other.image, vm[1].image, vm[1].size));
	stats_close(&other);
	for (i = 0; i < 2; i++)
		ASSERT_EQ(3 + i, guest_do(&m[1], i, GUEST_EXIT, 3 + i));

	for (v = 0; v < 2; v++) {
		for (i = 0; i < 2; i++) {
			EXPECT_EQ(COUNTED(1 + 2 * v + i), stats_value(&vcpu[v][i], GUEST_STAT))
				TH_LOG("VM %d, vCPU %d", v, i);
			stats_close(&vcpu[v][i]);
		}
		stats_close(&vm[v]);
		machine_destroy(&m[v]);
	}
}

/* Files of a process and of a vCPU that does not leave the guest meanwhile. */
TEST_F(kvm, taken_by_an_unprivileged_process)
{
	char expected[NAME_SIZE];
	struct helper_answer a;
	struct spinner spinner;
	struct helper helper;
	struct machine m;
	struct stats s;
	int i;

	ASSERT_TRUE(helper_start(&helper));
	ASSERT_TRUE(machine_create(&m, 1, VCPU_ID)) TH_LOG("%m");
	ASSERT_TRUE(stats_take(&s, m.vcpu[0])) TH_LOG("%m");
	if (HAVE_GUEST) {
		ASSERT_TRUE(spinner_start(&spinner, &m, GUEST_SPIN));
		EXPECT_TRUE(WAIT_FOR(stats_value(&s, GUEST_EXITS) > 1));
	}
	for (i = 0; i < 3; i++) {
		int fds[3] = { m.vm, m.vcpu[0], s.fd };

		snprintf(expected, NAME_SIZE, i ? "kvm-%d/vcpu-3" : "kvm-%d", getpid());
		EXPECT_TRUE(helper_ask(&helper, i < 2 ? HELPER_TAKE : HELPER_READ, fds[i], &a))
			TH_LOG("no answer for fd %d", i);
		EXPECT_EQ(0, a.error) TH_LOG("fd %d: %s", i, strerror(a.error));
		EXPECT_STREQ(expected, a.id);
		EXPECT_NE(0, a.uid);
	}
	if (HAVE_GUEST)
		EXPECT_EQ(EINTR, spinner_stop(&spinner));

	/* The file that it received works after the VM's end, too. */
	machine_destroy(&m);
	EXPECT_TRUE(helper_ask(&helper, HELPER_READ, s.fd, &a));
	EXPECT_EQ(0, a.error) TH_LOG("%s", strerror(a.error));
	EXPECT_STREQ(expected, a.id);
	helper_stop(&helper);
	stats_close(&s);
}

/* ---- a guest that runs --------------------------------------------------- */

FIXTURE(guest)
{
	struct machine m;
	struct stats s;
	char *map;
};

FIXTURE_SETUP(guest)
{
	ASSERT_TRUE(machine_create(&self->m, 1, 0)) TH_LOG("VM: %m");
	ASSERT_TRUE(stats_take(&self->s, self->m.vcpu[0])) TH_LOG("stats file: %m");
	self->map = stats_map(&self->s, MAP_SHARED);
}

FIXTURE_TEARDOWN(guest)
{
	if (self->map)
		munmap(self->map, self->s.data_bytes);
	stats_close(&self->s);
	machine_destroy(&self->m);
}

#ifdef GUEST_HOST_EXITS
/* The host's interrupts, and its taking the guest's page away, are exits, too. */
static const char * const host_exits[] = { GUEST_HOST_EXITS };
#endif

static u64 count_host_exits(const struct stats *s)
{
	u64 sum = 0;
#ifdef GUEST_HOST_EXITS
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(host_exits); i++)
		sum += stats_value(s, host_exits[i]);
#endif
	return sum;
}

/* What a guest does shows up, no more and no less, whichever way it is read. */
TEST_F(guest, counts_are_exact)
{
	enum { EXIT, OTHER, EXITS, SIGNAL, STATS };
	const char * const names[STATS] = {
		GUEST_STAT, GUEST_OTHER_STAT, GUEST_EXITS, "signal_exits"
	};
	u64 before[STATS], delta[STATS], host, shown;
	int i;

	if (!HAVE_GUEST)
		SKIP(return, NO_GUEST, _metadata->name);
	/* The first run also brings in the guest's page. */
	ASSERT_EQ(1, guest_do(&self->m, 0, GUEST_EXIT, 1));
	ASSERT_EQ(1, guest_do(&self->m, 0, GUEST_OTHER, 1));
	for (i = 0; i < STATS; i++)
		before[i] = stats_value(&self->s, names[i]);
	host = count_host_exits(&self->s);
	ASSERT_EQ(7, guest_do(&self->m, 0, GUEST_EXIT, 7));
	ASSERT_EQ(3, guest_do(&self->m, 0, GUEST_OTHER, 3));
	for (i = 0; i < STATS; i++)
		delta[i] = stats_value(&self->s, names[i]) - before[i];
	host = count_host_exits(&self->s) - host;

	EXPECT_EQ(7 + 3 * EXITS_PER_OTHER, delta[EXIT]);
	EXPECT_EQ(3, delta[OTHER]);
	/* Not every architecture counts these. */
	EXPECT_EQ(0, delta[SIGNAL]);
#ifdef GUEST_HOST_EXITS
	EXPECT_EQ(7 + 3 + host, delta[EXITS]);
#endif

	for (i = 0; i < STATS; i++) {
		if (before[i] == NO_STAT)
			continue;
		if (self->map) {
			EXPECT_EQ(before[i] + delta[i], mapped_value(&self->s, self->map, names[i]))
				TH_LOG("%s", names[i]);
		}
		if (debugfs_values(&self->m, names[i], &shown, 1) == 1) {
			EXPECT_EQ(before[i] + delta[i], shown)
				TH_LOG("%s, debugfs", names[i]);
		}
	}
}

TEST_F(guest, mapping_follows_a_running_vcpu)
{
	struct spinner spinner;
	u64 exits;
	int i;

	if (!HAVE_GUEST)
		SKIP(return, NO_GUEST, _metadata->name);
	if (caches_alias())
		SKIP(return, NO_MAPPING, _metadata->name);
	ASSERT_TRUE(!!self->map);
	for (i = 1; i <= 5; i++) {
		ASSERT_EQ(1, guest_do(&self->m, 0, GUEST_EXIT, 1));
		EXPECT_EQ(i, mapped_value(&self->s, self->map, GUEST_STAT));
	}

	/* While the vCPU stays in KVM_RUN the host's timer makes it exit. */
	exits = mapped_value(&self->s, self->map, GUEST_EXITS);
	ASSERT_TRUE(spinner_start(&spinner, &self->m, GUEST_SPIN));
	EXPECT_TRUE(WAIT_FOR(mapped_value(&self->s, self->map, GUEST_EXITS) > exits + 1));
	EXPECT_EQ(EINTR, spinner_stop(&spinner));
	exits = mapped_value(&self->s, self->map, GUEST_EXITS);
	EXPECT_EQ(stats_value(&self->s, GUEST_EXITS), exits);
}

static void *take_stats(void *arg)
{
	int *fd = arg;

	*fd = ioctl(*fd, KVM_GET_STATS_FD, 0);
	return NULL;
}

TEST_F(guest, file_of_a_vcpu_that_stays_in_the_guest)
{
	int fd = self->m.vcpu[0];
	struct spinner spinner;
	struct timespec limit;
	struct stats s;
	pthread_t thread;

	if (!HAVE_GUEST)
		SKIP(return, NO_GUEST, _metadata->name);
	ASSERT_TRUE(spinner_start(&spinner, &self->m, GUEST_SPIN));
	EXPECT_TRUE(WAIT_FOR(stats_value(&self->s, GUEST_EXITS) > 1));
	ASSERT_EQ(0, pthread_create(&thread, NULL, take_stats, &fd));
	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += PATIENCE_MS / 2000;
	ASSERT_EQ(0, pthread_timedjoin_np(thread, NULL, &limit))
		TH_LOG("the ioctl waits for the vCPU to leave KVM_RUN");
	EXPECT_TRUE(stats_read(&s, fd)) TH_LOG("%m");
	EXPECT_EQ(EINTR, spinner_stop(&spinner));
	stats_close(&s);
}

/* ---- debugfs ------------------------------------------------------------- */

/* Against the sum over @n files.  Returns how many stats debugfs has by that name. */
static int compare_debugfs(struct __test_metadata *_metadata, struct machine *m,
			   const struct stats *s, int n)
{
	u64 shown[MAX_VALUES], sum, value;
	unsigned int d;
	int found = 0, got, b, i;

	for (d = 0; d < s->header.num_desc; d++) {
		const struct kvm_stats_desc *desc = stats_desc(s, d);

		got = debugfs_values(m, desc->name, shown, ARRAY_SIZE(shown));
		if (got == -ENOENT)
			continue;
		/* Of a histogram every bucket is shown. */
		EXPECT_EQ(desc->size, got) TH_LOG("%s", desc->name);
		for (b = 0; b < got; b++) {
			off_t at = s->header.data_offset + desc->offset + 8 * b;

			for (sum = 0, i = 0; i < n; i++) {
				EXPECT_EQ(8, pread(s[i].fd, &value, 8, at));
				sum += value;
			}
			EXPECT_EQ(sum, shown[b]) TH_LOG("%s[%d]", desc->name, b);
		}
		found++;
	}
	return found;
}

TEST_F(kvm, debugfs_shows_the_same)
{
	struct stats vm, vcpu[MAX_VCPUS];
	struct machine m;
	u64 value;
	int i, error;

	ASSERT_TRUE(machine_create(&m, MAX_VCPUS, 0)) TH_LOG("%m");
	error = debugfs_values(&m, "halt_wakeup", &value, 1);
	if (error < 0) {
		machine_destroy(&m);
		SKIP(return, "debugfs_shows_the_same: %s: %s", m.debugfs, strerror(-error));
	}
	ASSERT_TRUE(stats_take(&vm, m.vm)) TH_LOG("%m");
	for (i = 0; i < MAX_VCPUS; i++) {
		ASSERT_EQ(3 + i, guest_do(&m, i, GUEST_EXIT, 3 + i));
		ASSERT_TRUE(stats_take(&vcpu[i], m.vcpu[i])) TH_LOG("%m");
	}
	EXPECT_LT(0, compare_debugfs(_metadata, &m, &vm, 1));
	EXPECT_LT(0, compare_debugfs(_metadata, &m, vcpu, MAX_VCPUS));

	stats_close(&vm);
	for (i = 0; i < MAX_VCPUS; i++)
		stats_close(&vcpu[i]);
	machine_destroy(&m);
}

/* ---- all at once --------------------------------------------------------- */

#define COLLECTORS	3
#define ROUNDS		200

static struct {
	int fd[2];		/* of a VM and a vCPU that come and go */
	bool stop;
	int taken;
} race;

/* Takes whatever is there; that an fd is stale or of another file is part of it. */
static void *collect(void *arg)
{
	int turn = 0;

	while (!READ_ONCE(race.stop)) {
		struct stats s;
		char *map;

		if (stats_take(&s, READ_ONCE(race.fd[turn++ % 2]))) {
			map = stats_map(&s, MAP_SHARED);
			if (map) {
				touch(map);
				munmap(map, s.data_bytes);
			}
			if (map || caches_alias())
				__atomic_fetch_add(&race.taken, 1, __ATOMIC_RELAXED);
		}
		stats_close(&s);
		poll(NULL, 0, 1);
	}
	return NULL;
}

TEST_F_TIMEOUT(kvm, collectors_while_vms_come_and_go, LONG_TEST)
{
	pthread_t thread[COLLECTORS];
	struct machine m;
	int round, i, fd;

	race.fd[0] = -1;
	race.fd[1] = -1;
	for (i = 0; i < COLLECTORS; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, collect, NULL));
	for (round = 0; round < ROUNDS && _metadata->passed; round++) {
		ASSERT_TRUE(machine_create(&m, 1, 0)) TH_LOG("%m");
		fd = ioctl(m.vm, KVM_GET_STATS_FD, 0);
		WRITE_ONCE(race.fd[0], m.vm);
		WRITE_ONCE(race.fd[1], m.vcpu[0]);
		EXPECT_EQ(1, guest_do(&m, 0, GUEST_EXIT, 1));
		machine_destroy(&m);
		/* A call that still runs keeps the VM, and so its name in debugfs, a while. */
		EXPECT_EQ(POLLHUP, events(fd, 0, PATIENCE_MS)) TH_LOG("round %d", round);
		close(fd);
	}
	WRITE_ONCE(race.stop, true);
	for (i = 0; i < COLLECTORS; i++)
		pthread_join(thread[i], NULL);
	EXPECT_LT(ROUNDS / 10, race.taken);
}

int main(int argc, char **argv)
{
	stats_require();
	return test_harness_run(argc, argv);
}
