// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory: what the kernel charges to the memory cgroup of who creates VMs, vCPUs
 * and stats files. It charges in batches, hence differences over many.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"

#define CGROUPS "/tmp/cgroup"
#define OWN CGROUPS "/bench"
#define FIRST 32
#define MANY 256

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || dprintf(fd, "%s", text) < 0)
		give_up(path);
	close(fd);
}

static double charged(void)
{
	FILE *file = fopen(OWN "/memory.current", "r");
	double bytes;

	if (!file || fscanf(file, "%lf", &bytes) != 1)
		give_up(OWN "/memory.current");
	fclose(file);
	return bytes;
}

static void enter_cgroup(void)
{
	struct rlimit files = { 4096, 4096 };

	mkdir(CGROUPS, 0755);
	must(mount("cgroup2", CGROUPS, "cgroup2", 0, NULL), "cgroup2");
	write_file(CGROUPS "/cgroup.subtree_control", "+memory");
	must(mkdir(OWN, 0755), OWN);
	write_file(OWN "/cgroup.procs", "0");
	must(setrlimit(RLIMIT_NOFILE, &files), "number of files");
}

static int create(int fd, unsigned long request, int i)
{
	/* Neither the type of a VM nor an argument of a stats file may be a number. */
	return ioctl(fd, request, request == KVM_CREATE_VCPU ? i : 0);
}

/* Of one more that the request makes, when FIRST are there. Closes none. */
static void bench_one(int fd, unsigned long request, int many, const char *what)
{
	double before = 0;
	int i;

	for (i = 0; i < many; i++) {
		if (i == FIRST)
			before = charged();
		must(create(fd, request, i), what);
	}
	result("bytes", (charged() - before) / (many - FIRST), "memory/%s", what);
}

void bench_memory(void)
{
	int kvm = open_kvm(), vm, vcpu;

	enter_cgroup();
	vm = must(ioctl(kvm, KVM_CREATE_VM, 0), "KVM_CREATE_VM");
	bench_one(kvm, KVM_CREATE_VM, FIRST + MANY, "vm");
	bench_one(vm, KVM_CREATE_VCPU, MANY, "vcpu");
	vm = must(ioctl(kvm, KVM_CREATE_VM, 0), "KVM_CREATE_VM");
	vcpu = must(ioctl(vm, KVM_CREATE_VCPU, 0), "KVM_CREATE_VCPU");
	if (ioctl(vcpu, KVM_GET_STATS_FD, NULL) >= 0)
		bench_one(vcpu, KVM_GET_STATS_FD, FIRST + 8 * MANY, "stats-file");
}
