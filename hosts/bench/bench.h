/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What it costs, in ticks of the TSC: instructions where the host is emulated with
 * -icount shift=0, cycles on real hardware, where only ratios mean something.
 */
#ifndef HOSTS_BENCH_H
#define HOSTS_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_VCPUS 256
#define BATCH 64	/* reads in one submission to io_uring */
#define PAGE 4096

/* vm.c: a VM that need not run, with the stats files of all its vCPUs */
struct bench_vm {
	int fd;
	int vcpus;
	int vcpu[MAX_VCPUS];
	int vm_stats;		/* -1 where the kernel has no stats files */
	int stats[MAX_VCPUS];	/* the same */
	void *map[MAX_VCPUS];	/* NULL where they cannot be mapped */
	size_t size;		/* bytes of a vCPU's data */
	size_t vm_size;		/* bytes of the VM's */
	off_t data;		/* where they are in a vCPU's file */
	off_t vm_data;		/* and in the VM's */
	void *vm_map;
};

int must(int result, const char *what);
_Noreturn void give_up(const char *what);
int open_kvm(void);
void bench_vm_create(struct bench_vm *vm, int vcpus);
void bench_vm_close(struct bench_vm *vm);

/* clock.c */
uint64_t ticks(void);
/* Of one call of op, the best of many times, without what an empty one takes. */
double cost(void (*op)(void *arg), void *arg);
/* One line: name, value and unit. */
void result(const char *unit, double value, const char *name, ...)
	__attribute__((__format__(__printf__, 3, 4)));

/* The same of what cost() has said. */
void result_cost(double value, const char *name, ...)
	__attribute__((__format__(__printf__, 2, 3)));

/* reads.c: one vCPU's data every way, and how that grows with vCPUs */
void bench_reads(int unused);
void bench_growth(int vcpus);
/* Reads by WAY for ever, for a profile. */
_Noreturn void spin_read(const char *way);

/* uring.c */
struct uring_way {
	const char *name;
	bool fixed_file;
	bool fixed_buffer;
};
#define URING_WAYS 3
extern const struct uring_way uring_ways[URING_WAYS];

struct uring_job {
	const struct uring_way *way;
	const int *fds;
	int num_fds;
	int reads;		/* of the files in turn, BATCH in one submission */
	size_t size;
	off_t data;
};
/* With the file that a way with fixed_file reads. */
void uring_start(int fd);
void uring_read(void *job);
/* How many of BATCH reads were complete when the submission returned. */
int uring_inline(struct uring_job *job);

/* memory.c */
void bench_memory(void);

/* exits.c */
void bench_exits(const char *modules);
_Noreturn void spin_exits(void);

#endif
