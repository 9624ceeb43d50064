// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stats files by io_uring: 64 reads in one submission are complete when the
 * submission returns, and no worker thread was created for them.
 *
 * A worker is a thread of this process named iou-wrk-<pid>. That one would be
 * seen here is shown at the end, by a read that does need a worker.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <linux/kvm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "vm.h"

#define READS 64
#define FILE_MAX 16384

static struct io_uring ring;
static char content[READS][FILE_MAX];

/* How one submission reads: the fd or its index in the registered files. */
struct way {
	const char *name;
	bool fixed_file;
	bool fixed_buffer;
};

static const struct way ways[] = {
	{ "plain reads", false, false },
	{ "registered file", true, false },
	{ "registered buffer", false, true },
	{ "registered file and buffer", true, true },
};

static bool is_worker(const char *task)
{
	char path[300], comm[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%s/comm", task);
	file = fopen(path, "r");
	if (!file)
		return false;
	if (!fgets(comm, sizeof(comm), file))
		comm[0] = '\0';
	fclose(file);
	return !strncmp(comm, "iou-wrk-", 8);
}

static int workers(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *task;
	int n = 0;

	if (!tasks)
		give_up("/proc/self/task");
	while ((task = readdir(tasks)))
		n += is_worker(task->d_name);
	closedir(tasks);
	return n;
}

static int register_buffer(void)
{
	struct iovec all = { content, sizeof(content) };

	return io_uring_register_buffers(&ring, &all, 1);
}

/* Different lengths from different places: header, middle, the whole file. */
static size_t length_of(int i)
{
	static const size_t lengths[] = { 24, 48, 64, FILE_MAX };

	return lengths[i % ARRAY_SIZE(lengths)];
}

static off_t offset_of(int i)
{
	return length_of(i) == FILE_MAX ? 0 : 8 * i;
}

static void prepare(int fd, const struct way *way, int i)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);
	int file = way->fixed_file ? 0 : fd;

	if (way->fixed_buffer)
		io_uring_prep_read_fixed(sqe, file, content[i], length_of(i),
					 offset_of(i), 0);
	else
		io_uring_prep_read(sqe, file, content[i], length_of(i),
				   offset_of(i));
	if (way->fixed_file)
		io_uring_sqe_set_flags(sqe, IOSQE_FIXED_FILE);
	io_uring_sqe_set_data64(sqe, i);
}

/* Takes all completions; returns how many gave what pread gives. */
static int exact_reads(int fd)
{
	static char expected[FILE_MAX];
	struct io_uring_cqe *cqe;
	int n, exact = 0;

	for (n = 0; n < READS && !io_uring_wait_cqe(&ring, &cqe); n++) {
		int i = cqe->user_data;
		ssize_t len = pread(fd, expected, length_of(i), offset_of(i));

		exact += len > 0 && cqe->res == len &&
			 !memcmp(content[i], expected, len);
		io_uring_cqe_seen(&ring, cqe);
	}
	return exact;
}

static void test_way(int fd, const char *whose, const struct way *way)
{
	int submitted, ready, exact, i;
	char name[100];

	memset(content, 0xa5, sizeof(content));
	for (i = 0; i < READS; i++)
		prepare(fd, way, i);
	submitted = io_uring_submit(&ring);
	ready = io_uring_cq_ready(&ring);
	exact = exact_reads(fd);
	snprintf(name, sizeof(name), "%s stats, %d reads at once, %s, no worker",
		 whose, READS, way->name);
	ok(submitted == READS && ready == READS && exact == READS && !workers(),
	   name, "%d submitted, %d ready on return, %d exact, %d workers",
	   submitted, ready, exact, workers());
}

static void test_file(int fd, const char *whose)
{
	size_t i;

	if (io_uring_register_files(&ring, &fd, 1))
		give_up("registering the stats file");
	for (i = 0; i < ARRAY_SIZE(ways); i++)
		test_way(fd, whose, &ways[i]);
	io_uring_unregister_files(&ring);
}

/* The file position is used with offset -1, and moves. */
static void test_position(int fd)
{
	static const struct { int len; off_t pos; } steps[] = {
		{ 24, 0 }, { 48, 24 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		char expected[64], got[64] = "";
		struct io_uring_cqe *cqe;

		pread(fd, expected, steps[i].len, steps[i].pos);
		io_uring_prep_read(io_uring_get_sqe(&ring), fd, got,
				   steps[i].len, -1);
		io_uring_submit(&ring);
		if (io_uring_wait_cqe(&ring, &cqe))
			give_up("waiting for a completion");
		ok(cqe->res == steps[i].len &&
		   !memcmp(got, expected, steps[i].len),
		   i ? "a second read goes on where the first ended" :
		       "a read at the file position starts with the header",
		   "result %d", cqe->res);
		io_uring_cqe_seen(&ring, cqe);
	}
	ok(!workers(), "no worker was created in all this", "%d workers",
	   workers());
}

/* procfs cannot say whether a read would wait, so io_uring asks a worker. */
static void test_detection(void)
{
	int fd = open("/proc/self/stat", O_RDONLY);
	struct io_uring_cqe *cqe;
	int before = workers();

	io_uring_prep_read(io_uring_get_sqe(&ring), fd, content, 64, 0);
	io_uring_submit(&ring);
	if (io_uring_wait_cqe(&ring, &cqe))
		give_up("waiting for a completion");
	ok(cqe->res == 64 && !before && workers() > 0,
	   "control: a read of a proc file creates a worker and it is seen",
	   "result %d, %d workers before, %d after", cqe->res, before,
	   workers());
	io_uring_cqe_seen(&ring, cqe);
	close(fd);
}

int main(void)
{
	struct vm vm;

	vm_create(&vm);
	if (vm.vm_stats < 0)
		skip_all("no KVM_GET_STATS_FD in this kernel");
	vm_work(&vm, 0, 5);
	if (io_uring_queue_init(READS, &ring, 0) || register_buffer())
		give_up("io_uring");
	test_file(vm.vm_stats, "VM");
	test_file(vm.vcpu_stats[0], "vCPU");
	test_position(vm.vcpu_stats[0]);
	test_detection();
	io_uring_queue_exit(&ring);
	vm_close(&vm);
	tests_done();
}
