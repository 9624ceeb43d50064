// SPDX-License-Identifier: GPL-2.0-only
/*
 * races ROUNDS: a VM with one vCPU is closed while another thread does something with its
 * statistics again and again. A round counts as hit if it was done once from beginning to
 * end while the VM was being closed; what can be done no more then, if it was under way
 * when that began, and worked. Without a hit there are more rounds, up to MOST_ROUNDS times
 * as many. What goes wrong in the kernel is seen in its log; here it is looked at what the
 * calls return, and what a mapping shows.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../vm.h"

#define PROGRESS 500	/* rounds */
#define MOST_ROUNDS 20	/* for each that was asked for */

enum phase { BEFORE, CLOSING, CLOSED };

struct round {
	int vm, vcpu;		/* closed by the main thread */
	int vm_stats, vcpu_stats;
	bool gone;		/* the other thread can do nothing any more */
	char debugfs[64];
	uint32_t offset;	/* of the vCPU's data */
	size_t size;
};

struct race {
	const char *name;
	/* Returns NULL, or what is wrong. */
	const char *(*once)(struct round *r);
	bool ends;		/* it cannot be done while the VM is being closed */
};

static int kvm;
static size_t page_size;
static _Atomic enum phase phase;
static atomic_int calls;
static atomic_bool hit;
static const char *_Atomic trouble;

/* ---- what the other thread does ------------------------------------------- */

static const char *read_all(struct round *r)
{
	static char buf[1 << 17];
	ssize_t vm = pread(r->vm_stats, buf, sizeof(buf), 0);
	ssize_t vcpu = pread(r->vcpu_stats, buf, sizeof(buf), 0);

	return vm > 0 && vcpu == (ssize_t)(r->offset + r->size) ? NULL : "a read failed";
}

static char *map(struct round *r)
{
	return mmap(NULL, r->size, PROT_READ, MAP_SHARED, r->vcpu_stats, r->offset);
}

/*
 * After the data there is nothing but zeros up to the end of the page. That the last page
 * is there is enough.
 */
static bool rest_is_zero(const struct round *r, const char *data)
{
	size_t i;

	for (i = r->size; i % page_size; i++)
		if (data[i])
			return false;
	return true;
}

static const char *map_and_fault(struct round *r)
{
	char *data = map(r);
	const char *wrong = NULL;

	if (data == MAP_FAILED)
		return "mmap failed";
	if (!rest_is_zero(r, data))
		wrong = "something else is in the page";
	munmap(data, r->size);
	return wrong;
}

/* Moved, locked, given up, faulted in anew, and unmapped in two parts where it can be */
static const char *twist(struct round *r)
{
	char *data = map(r), *moved;
	const char *wrong = NULL;
	size_t first = r->size > page_size ? page_size : r->size;

	if (data == MAP_FAILED)
		return "mmap failed";
	mlock(data, r->size);
	moved = mremap(data, r->size, r->size, MREMAP_MAYMOVE | MREMAP_FIXED,
		       mmap(NULL, r->size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	if (moved == MAP_FAILED)
		return "mremap failed";
	madvise(moved, r->size, MADV_DONTNEED);
	if (!rest_is_zero(r, moved))
		wrong = "something else is in the page";
	munmap(moved, first);
	if (first < r->size) {
		if (!wrong && !rest_is_zero(r, moved))
			wrong = "something else is in the page after a part is unmapped";
		munmap(moved + first, r->size - first);
	}
	return wrong;
}

static const char *inherit(struct round *r)
{
	char *data = map(r);
	pid_t child;
	int status;

	if (data == MAP_FAILED)
		return "mmap failed";
	child = fork();
	if (!child)
		_exit(!rest_is_zero(r, data));
	munmap(data, r->size);
	return waitpid(child, &status, 0) == child && !status ?
		NULL : "something else is in the page of a child";
}

static const char *poll_end(struct round *r)
{
	struct pollfd fd = { .fd = r->vcpu_stats };

	/* Nothing but the end wakes it; not to miss it costs it the time limit. */
	return poll(&fd, 1, 60000) == 1 && fd.revents == POLLHUP ? NULL : "poll told of no end";
}

/* The last that holds the vCPU, and so the VM, may be this call. */
static const char *open_another(struct round *r)
{
	int fd = ioctl(r->vcpu, KVM_GET_STATS_FD, 0);
	char byte;
	bool good;

	if (fd < 0) {
		r->gone = true;
		return errno == EBADF && atomic_load(&phase) != BEFORE ?
			NULL : "a stats file of a living vCPU could not be had";
	}
	good = pread(fd, &byte, 1, r->offset) == 1;
	close(fd);
	return good ? NULL : "a new stats file could not be read";
}

static const char *duplicate(struct round *r)
{
	int fd = dup(r->vcpu_stats);
	char byte;
	bool good = pread(fd, &byte, 1, r->offset) == 1;

	close(fd);
	return good ? NULL : "a duplicate could not be read";
}

/* It is closed with the file under way. */
static const char *pass_on(struct round *r)
{
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {};
	struct iovec iov = { "x", 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);
	int ends[2], fd = dup(r->vcpu_stats);
	bool sent;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		return "no socket";
	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(int));
	sent = sendmsg(ends[0], &msg, 0) == 1;
	close(fd);
	close(ends[0]);
	close(ends[1]);
	return sent ? NULL : "it could not be sent";
}

/* The file of a VM that goes may be gone, or refuse. */
static const char *read_debugfs(struct round *r)
{
	int fd = open(r->debugfs, O_RDONLY | O_CLOEXEC);
	char text[32];

	if (fd < 0)
		return errno == ENOENT ? NULL : "debugfs: another error of open";
	if (read(fd, text, sizeof(text)) < 0 && errno != EIO) {
		close(fd);
		return "debugfs: another error of read";
	}
	close(fd);
	return NULL;
}

static const struct race races[] = {
	{ .name = "read", .once = read_all },
	{ .name = "mapped and faulted in", .once = map_and_fault },
	{ .name = "a mapping moved, locked, dropped and unmapped in parts", .once = twist },
	{ .name = "a mapping inherited by a child", .once = inherit },
	{ .name = "polled", .once = poll_end, .ends = true },
	{ .name = "opened", .once = open_another, .ends = true },
	{ .name = "duplicated", .once = duplicate },
	{ .name = "passed over a socket that is closed", .once = pass_on },
	{ .name = "debugfs opened", .once = read_debugfs },
};

/* ---- a round ---------------------------------------------------------------- */

static struct round start_round(void)
{
	struct kvm_stats_header header;
	struct round r = { .vm = ioctl(kvm, KVM_CREATE_VM, 0) };

	r.vcpu = ioctl(r.vm, KVM_CREATE_VCPU, 0);
	r.vm_stats = ioctl(r.vm, KVM_GET_STATS_FD, 0);
	r.vcpu_stats = ioctl(r.vcpu, KVM_GET_STATS_FD, 0);
	if (r.vcpu_stats < 0 || pread(r.vcpu_stats, &header, sizeof(header), 0) != sizeof(header))
		give_up("a VM with statistics");
	r.offset = header.data_offset;
	r.size = lseek(r.vcpu_stats, 0, SEEK_END) - r.offset;
	snprintf(r.debugfs, sizeof(r.debugfs), "/sys/kernel/debug/kvm/%d-%d/halt_wakeup",
		 getpid(), r.vm);
	return r;
}

struct work {
	const struct race *race;
	struct round *round;
};

static void *work(void *arg)
{
	const struct work *w = arg;

	while (!w->round->gone && atomic_load(&phase) != CLOSED) {
		enum phase began = atomic_load(&phase), ended;
		const char *wrong;

		atomic_fetch_add(&calls, 1);
		wrong = w->race->once(w->round);
		if (wrong)
			atomic_store(&trouble, wrong);
		ended = atomic_load(&phase);
		if (!w->round->gone &&
		    (w->race->ends ? began == BEFORE && ended != BEFORE :
				     began == CLOSING && ended == CLOSING))
			atomic_store(&hit, true);
	}
	return NULL;
}

/* Returns whether it was hit. */
static bool do_round(const struct race *race)
{
	struct round r = start_round();
	struct work w = { race, &r };
	pthread_t thread;

	atomic_store(&phase, BEFORE);
	atomic_store(&calls, 0);
	atomic_store(&hit, false);
	if (pthread_create(&thread, NULL, work, &w))
		give_up("a thread");
	while (!atomic_load(&calls))
		sched_yield();
	atomic_store(&phase, CLOSING);
	close(r.vcpu);
	close(r.vm);
	atomic_store(&phase, CLOSED);
	pthread_join(thread, NULL);
	if (read_all(&r))
		atomic_store(&trouble, "after the end a read failed");
	close(r.vm_stats);
	close(r.vcpu_stats);
	return atomic_load(&hit);
}

static void run(const struct race *race, int rounds)
{
	char name[128];
	int i, hits = 0;

	atomic_store(&trouble, NULL);
	for (i = 1; !atomic_load(&trouble) &&
		    (i <= rounds || (!hits && i <= rounds * MOST_ROUNDS)); i++) {
		hits += do_round(race);
		if (i % PROGRESS == 0 && i < rounds)
			printf("# %s: %d of %d rounds\n", race->name, i, rounds);
	}
	snprintf(name, sizeof(name), "%s while the VM is closed: %d rounds, %d hit", race->name,
		 i - 1, hits);
	ok(hits && !atomic_load(&trouble), name, "%s",
	   hits ? atomic_load(&trouble) : "not one round was hit");
}

int main(int argc, char **argv)
{
	int rounds = argc == 2 ? atoi(argv[1]) : 0;
	struct vm vm;
	size_t i;

	if (rounds <= 0) {
		fprintf(stderr, "usage: races ROUNDS, at least 1\n");
		return 2;
	}
	setlinebuf(stdout);
	page_size = sysconf(_SC_PAGESIZE);
	vm_create(&vm);
	if (vm.vm_stats < 0)
		skip_all("no KVM_GET_STATS_FD in this kernel");
	kvm = vm.kvm;
	for (i = 0; i < ARRAY_SIZE(races); i++)
		run(&races[i], rounds);
	vm_work(&vm, 0, 3);
	ok(!read_debugfs(&(struct round){ .debugfs = "/sys/kernel/debug/kvm/halt_wakeup" }),
	   "another VM runs on", "debugfs");
	vm_close(&vm);
	tests_done();
}
