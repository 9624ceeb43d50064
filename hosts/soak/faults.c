// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every allocation that fails, one by one: /proc/self/fail-nth lets the nth that this
 * task makes fail, so counting up until none is left to fail has tried them all. And
 * memory that vanishes while it is read into. Whether something leaked is for PID 1 to
 * say, which asks kmemleak when all is over.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../vm.h"

#define MOST_ALLOCATIONS 5000	/* of one call */

static const char *const settings[][2] = {
	{ "failslab/ignore-gfp-wait", "N" },
	{ "failslab/verbose", "0" },
	{ "fail_page_alloc/ignore-gfp-wait", "N" },
	{ "fail_page_alloc/ignore-gfp-highmem", "N" },
	{ "fail_page_alloc/min-order", "0" },
	{ "fail_page_alloc/verbose", "0" },
};

static int fail_nth;
static int kvm;

/* Returns false, with errno, if the file cannot be written. */
static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return written;
}

static void set_up(void)
{
	char path[96];
	size_t i;

	fail_nth = open("/proc/self/fail-nth", O_RDWR | O_CLOEXEC);
	if (fail_nth < 0)
		skip_all("this kernel cannot let allocations fail (FAULT_INJECTION)");
	for (i = 0; i < ARRAY_SIZE(settings); i++) {
		snprintf(path, sizeof(path), "/sys/kernel/debug/%s", settings[i][0]);
		if (!write_file(path, settings[i][1]))
			give_up(path);
	}
}

/* 0: none */
static void arm(int nth)
{
	if (dprintf(fail_nth, "%d", nth) < 0)
		give_up("writing fail-nth");
}

/* Has an allocation failed since?  None will any more. */
static bool disarm(void)
{
	char text[16] = "";

	if (pread(fail_nth, text, sizeof(text) - 1, 0) <= 0)
		give_up("reading fail-nth");
	arm(0);
	return atoi(text) == 0;
}

static int open_files(void)
{
	int fd, n = 0;

	for (fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* ---- a call, with each of its allocations failing ------------------------- */

struct call {
	const char *name;
	int (*make)(int owner);	/* returns a descriptor, or -1 and errno */
	bool (*works)(int fd);	/* what came of the call */
};

static int make_vm(int owner)
{
	return ioctl(owner, KVM_CREATE_VM, 0);
}

static int make_vcpu(int owner)
{
	return ioctl(owner, KVM_CREATE_VCPU, 0);
}

static int make_stats(int owner)
{
	return ioctl(owner, KVM_GET_STATS_FD, 0);
}

static bool stats_work(int fd)
{
	struct kvm_stats_header header;

	return pread(fd, &header, sizeof(header), 0) == sizeof(header) &&
	       header.name_size == 48 && header.id_offset == 24;
}

static bool has_stats(int fd)
{
	int stats = make_stats(fd);
	bool work = stats_work(stats);

	close(stats);
	return work;
}

/* One that came about with less than it wanted, such as without debugfs files */
static bool vm_works(int fd)
{
	int vcpu = make_vcpu(fd);
	bool works = vcpu >= 0 && has_stats(fd) && has_stats(vcpu);

	close(vcpu);
	return works;
}

static const struct call vm_call = { "KVM_CREATE_VM", make_vm, vm_works };
static const struct call vcpu_call = { "KVM_CREATE_VCPU", make_vcpu, has_stats };
static const struct call stats_call = { "KVM_GET_STATS_FD", make_stats, stats_work };

/*
 * Counts in @denied how often the call failed, and in @borne how often it did not.
 * Returns false after the last allocation, and after something wrong.
 */
static bool fail_one(const struct call *call, int owner, int nth, int *denied, int *borne)
{
	int files = open_files();
	int fd, error;
	bool failed;

	arm(nth);
	fd = call->make(owner);
	error = errno;
	failed = disarm();
	if (fd < 0 && (!failed || error != ENOMEM)) {
		ok(false, call->name, "allocation %d: %s", nth, strerror(error));
		return false;
	}
	if (fd >= 0 && !call->works(fd)) {
		ok(false, call->name, "allocation %d: it came about and does not work", nth);
		return false;
	}
	*denied += fd < 0;
	*borne += fd >= 0 && failed;
	if (fd >= 0)
		close(fd);
	if (open_files() != files) {
		ok(false, call->name, "allocation %d: a descriptor is left", nth);
		return false;
	}
	return failed;
}

/* As often as there are allocations, with an owner of its own each time */
static void fail_each(const struct call *call, int (*owner)(void), const char *of)
{
	int nth, denied = 0, borne = 0;
	bool more = true;
	char name[96];

	for (nth = 1; more && nth < MOST_ALLOCATIONS; nth++) {
		int fd = owner();

		more = fail_one(call, fd, nth, &denied, &borne);
		close(fd);
	}
	snprintf(name, sizeof(name), "%s%s: each of %d allocations failed: %d ENOMEM, %d done without",
		 call->name, of, denied + borne, denied, borne);
	ok(denied > 0 && denied + borne == nth - 2, name, "there were %d rounds", nth - 1);
}

static int owner_kvm(void)
{
	return dup(kvm);
}

static int owner_vm(void)
{
	return make_vm(kvm);
}

static int owner_vcpu(void)
{
	int vm = make_vm(kvm);
	int vcpu = make_vcpu(vm);

	close(vm);
	return vcpu;
}

/* Refused once, a vCPU can still be had under the same number. */
static void test_vcpu_again(void)
{
	int vm, vcpu, nth, again = 0;
	bool failed = true;

	for (nth = 1; failed && nth < MOST_ALLOCATIONS; nth++) {
		vm = make_vm(kvm);
		arm(nth);
		vcpu = make_vcpu(vm);
		failed = disarm();
		if (vcpu < 0) {
			vcpu = make_vcpu(vm);
			again += vcpu >= 0 && has_stats(vcpu);
		} else {
			again += failed;
		}
		close(vcpu);
		close(vm);
	}
	ok(again == nth - 2, "after each of them the same vCPU can be made", "%d of %d",
	   again, nth - 2);
}

/* ---- what allocates nothing ------------------------------------------------ */

static void test_reads_allocate_nothing(const struct vm *vm)
{
	static char buf[1 << 16];
	struct kvm_stats_header header;
	int fd = vm->vcpu_stats[0];
	bool failed;
	ssize_t len;

	len = pread(fd, buf, sizeof(buf), 0);
	memcpy(&header, buf, sizeof(header));
	arm(1);
	len -= pread(fd, buf, sizeof(buf), 0);
	len += pread(fd, buf, 8, header.data_offset) - 8;
	len += lseek(fd, 0, SEEK_SET);
	failed = disarm();
	ok(!failed && !len, "reading and seeking allocate nothing", "an allocation failed");
}

/* ---- the destination vanishes ------------------------------------------------ */

struct destination {
	char *page[2];
	size_t size;
	volatile bool over;
};

/* Takes the second page away, and gives it back. */
static void *take_away(void *arg)
{
	struct destination *d = arg;

	while (!d->over) {
		munmap(d->page[1], d->size);
		mmap(d->page[1], d->size, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	}
	return NULL;
}

/*
 * What lies before the second page arrives in any case. The rest may: the page comes back
 * while the copy is at it, and goes again.
 */
static void test_destination_vanishes(const struct vm *vm)
{
	struct destination d = { .size = sysconf(_SC_PAGESIZE) };
	int whole = 0, part = 0, none = 0, wrong = 0, i;
	char truth[64];
	pthread_t thread;

	if (pread(vm->vcpu_stats[0], truth, sizeof(truth), 0) != sizeof(truth))
		give_up("reading a stats file");
	d.page[0] = mmap(NULL, 2 * d.size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	d.page[1] = d.page[0] + d.size;
	pthread_create(&thread, NULL, take_away, &d);
	for (i = 0; i < 20000; i++) {
		ssize_t room = i % (sizeof(truth) + 1);
		ssize_t len;

		memset(d.page[1] - room, 0xff, room);
		len = pread(vm->vcpu_stats[0], d.page[1] - room, sizeof(truth), 0);
		whole += len == sizeof(truth);
		part += len >= 0 && len < (ssize_t)sizeof(truth);
		none += len < 0;
		if (len < 0)
			wrong += room || errno != EFAULT;
		else
			wrong += !len || len < room || memcmp(d.page[1] - room, truth, room);
	}
	d.over = true;
	pthread_join(thread, NULL);
	munmap(d.page[0], 2 * d.size);
	printf("# a destination that vanishes: %d whole, %d cut short, %d EFAULT\n", whole, part, none);
	ok(!wrong && part && none, "a destination that vanishes cuts the read short",
	   "%d wrong results", wrong);
}

int main(void)
{
	struct vm vm;

	vm_create(&vm);
	if (vm.vm_stats < 0)
		skip_all("no KVM_GET_STATS_FD in this kernel");
	set_up();
	kvm = vm.kvm;
	fail_each(&stats_call, owner_vm, " of a VM");
	fail_each(&stats_call, owner_vcpu, " of a vCPU");
	fail_each(&vcpu_call, owner_vm, "");
	test_vcpu_again();
	fail_each(&vm_call, owner_kvm, "");
	test_reads_allocate_nothing(&vm);
	test_destination_vanishes(&vm);
	vm_work(&vm, 0, 3);
	ok(has_stats(vm.fd) && has_stats(vm.vcpu[0]), "the VM of before runs on", "it does not");
	vm_close(&vm);
	tests_done();
}
