// SPDX-License-Identifier: GPL-2.0-only
/* Stats files by io_uring: BATCH reads in one submission. */
#include <liburing.h>

#include "bench.h"

static struct io_uring ring;
static char buffer[BATCH][PAGE] __attribute__((__aligned__(PAGE)));

const struct uring_way uring_ways[URING_WAYS] = {
	{ "plain", false, false },
	{ "file", true, false },
	{ "buffer", true, true },
};

/* The registered file 0, and the buffer. */
void uring_start(int fd)
{
	struct iovec all = { buffer, sizeof(buffer) };

	must(io_uring_queue_init(BATCH, &ring, 0), "io_uring");
	must(io_uring_register_files(&ring, &fd, 1), "registering a file");
	must(io_uring_register_buffers(&ring, &all, 1), "registering a buffer");
}

static void prepare(struct uring_job *job, int i)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);
	int file = job->way->fixed_file ? 0 : job->fds[i % job->num_fds];

	if (job->way->fixed_buffer)
		io_uring_prep_read_fixed(sqe, file, buffer[i % BATCH], job->size, job->data, 0);
	else
		io_uring_prep_read(sqe, file, buffer[i % BATCH], job->size, job->data);
	if (job->way->fixed_file)
		io_uring_sqe_set_flags(sqe, IOSQE_FIXED_FILE);
}

static void reap(int reads, size_t expected)
{
	struct io_uring_cqe *cqe;

	while (reads--) {
		if (io_uring_wait_cqe(&ring, &cqe) || cqe->res != (int)expected)
			give_up("a read by io_uring");
		io_uring_cqe_seen(&ring, cqe);
	}
}

void uring_read(void *arg)
{
	struct uring_job *job = arg;
	int start, i;

	for (start = 0; start < job->reads; start += BATCH) {
		int batch = job->reads - start < BATCH ? job->reads - start : BATCH;

		for (i = 0; i < batch; i++)
			prepare(job, start + i);
		io_uring_submit_and_wait(&ring, batch);
		reap(batch, job->size);
	}
}

int uring_inline(struct uring_job *job)
{
	int ready, i;

	for (i = 0; i < BATCH; i++)
		prepare(job, i);
	io_uring_submit(&ring);
	ready = io_uring_cq_ready(&ring);
	reap(BATCH, job->size);
	return ready;
}
