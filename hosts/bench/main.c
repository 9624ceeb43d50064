// SPDX-License-Identifier: GPL-2.0-only
/*
 * What it costs on this kernel, as lines of name, value and unit.
 *
 *   bench reads          every way to read, and how they grow; with or without stats files
 *   bench native         the same without growth; skips where the machine has none
 *   bench memory         of VMs, vCPUs and stats files
 *   bench exits MODULES  the exit path; MODULES is for the names
 *   bench spin WAY       pread, uring or exits for ever, for a profile
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

static void usage(void)
{
	fprintf(stderr, "usage: bench reads | native | memory | exits MODULES | spin pread|uring|exits\n");
	exit(2);
}

static _Noreturn void skip(const char *why)
{
	printf("SKIP %s\n", why);
	exit(4);
}

/* On a machine that may be anything. */
static void need_interface(void)
{
	int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);

	if (kvm < 0)
		skip(errno == ENOENT ? "no /dev/kvm" : "/dev/kvm cannot be opened");
	if (ioctl(kvm, KVM_CHECK_EXTENSION, KVM_CAP_BINARY_STATS_FD) != 1)
		skip("its KVM has no KVM_GET_STATS_FD");
	close(kvm);
}

/* In a process of its own, since workers of io_uring stay. */
static void alone(void (*measure)(int arg), int arg)
{
	int status;

	if (!must(fork(), "fork")) {
		measure(arg);
		exit(0);
	}
	if (wait(&status) < 0 || status)
		exit(1);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "reads") && argc == 2) {
		alone(bench_reads, 0);
		alone(bench_growth, 1);
		alone(bench_growth, 16);
		alone(bench_growth, MAX_VCPUS);
	} else if (!strcmp(what, "native") && argc == 2) {
		need_interface();
		bench_reads(0);
	} else if (!strcmp(what, "memory") && argc == 2) {
		bench_memory();
	} else if (!strcmp(what, "exits") && argc == 3) {
		bench_exits(argv[2]);
	} else if (!strcmp(what, "spin") && argc == 3 && !strcmp(argv[2], "exits")) {
		spin_exits();
	} else if (!strcmp(what, "spin") && argc == 3) {
		spin_read(argv[2]);
	} else {
		usage();
	}
	return 0;
}
