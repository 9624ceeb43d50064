/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A VM with the guest of stats_guest.h, and a thread that runs it.
 */
#ifndef SELFTEST_KVM_STATS_VM_H
#define SELFTEST_KVM_STATS_VM_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/kvm.h>
#include <linux/types.h>

#include "stats_guest.h"

#define MAX_VCPUS	2
#define PATIENCE_MS	10000
#define DEBUGFS		"/sys/kernel/debug/kvm"

#define ERROR_OF(call)	((call) < 0 ? errno : 0)

#define WAIT_FOR(condition) ({							\
	int tries = PATIENCE_MS / 10;						\
										\
	while (!(condition) && --tries)						\
		poll(NULL, 0, 10);						\
	tries > 0;								\
})

/* ---- a VM ---------------------------------------------------------------- */

struct machine {
	int vm;			/* -1: closed */
	int vcpus;
	int vcpu[MAX_VCPUS];	/* -1: closed */
	struct kvm_run *run[MAX_VCPUS];
	size_t run_size;
	void *ram;		/* GUEST_RAM bytes */
	char debugfs[64];
};

/* The vCPU's kvm_run page keeps the VM alive just as the fd does. */
static inline void vcpu_close(struct machine *m, int i)
{
	if (m->vcpu[i] < 0)
		return;
	munmap(m->run[i], m->run_size);
	close(m->vcpu[i]);
	m->vcpu[i] = -1;
}

static inline void vm_close(struct machine *m)
{
	if (m->vm >= 0)
		close(m->vm);
	m->vm = -1;
}

static inline void machine_destroy(struct machine *m)
{
	int i;

	for (i = 0; i < m->vcpus; i++)
		vcpu_close(m, i);
	vm_close(m);
	munmap(m->ram, GUEST_RAM);
	m->ram = NULL;
}

/* A VM without vCPUs.  After a failure, errno says why. */
static inline bool machine_create_vm(struct machine *m)
{
	int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);

	memset(m, 0, sizeof(*m));
	m->run_size = ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0);
	m->vm = ioctl(kvm, KVM_CREATE_VM, 0);
	if (m->vm < 0)
		return false;
	close(kvm);
	snprintf(m->debugfs, sizeof(m->debugfs), DEBUGFS "/%d-%d", getpid(), m->vm);
	m->ram = mmap(NULL, GUEST_RAM, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	return m->ram != MAP_FAILED && guest_load(m->vm, m->ram);
}

/* Their ids count from first_id. */
static inline bool machine_add_vcpus(struct machine *m, int vcpus, int first_id)
{
	int i;

	for (i = 0; i < vcpus; i++) {
		m->vcpu[i] = ioctl(m->vm, KVM_CREATE_VCPU, first_id + i);
		m->run[i] = mmap(NULL, m->run_size, PROT_READ | PROT_WRITE, MAP_SHARED,
				 m->vcpu[i], 0);
		if (m->run[i] == MAP_FAILED)
			return false;
		m->vcpus = i + 1;
	}
	return true;
}

static inline bool machine_create(struct machine *m, int vcpus, int first_id)
{
	return machine_create_vm(m) && machine_add_vcpus(m, vcpus, first_id);
}

/* ---- its guest ----------------------------------------------------------- */

/* How many of @times exits were what @job asks for. */
static inline int guest_do(struct machine *m, int i, enum guest_job job, int times)
{
	int n;

	if (!guest_enter(m->vm, m->vcpu[i], job))
		return -1;
	for (n = 0; HAVE_GUEST && n < times; n++) {
		if (guest_run(m->vcpu[i], job) < 0 || !guest_did(m->run[i], job))
			return n;
	}
	return times;
}

#define NO_GUEST	"%s: no guest code for this architecture"

struct spinner {
	struct machine *m;
	pthread_t thread;
	int error;
};

static inline void *spin(void *arg)
{
	struct spinner *s = arg;

	s->error = ERROR_OF(ioctl(s->m->vcpu[0], KVM_RUN, 0));
	return NULL;
}

static inline void on_kick(int sig)
{
}

/* vCPU 0 enters the guest, on a thread of its own, and stays: GUEST_SPIN or GUEST_HALT. */
static inline bool spinner_start(struct spinner *s, struct machine *m, enum guest_job job)
{
	struct sigaction act = { .sa_handler = on_kick };

	s->m = m;
	m->run[0]->immediate_exit = 0;
	return guest_enter(m->vm, m->vcpu[0], job) && !sigaction(SIGUSR1, &act, NULL) &&
	       !pthread_create(&s->thread, NULL, spin, s);
}

/* EINTR: the vCPU was in KVM_RUN until now. */
static inline int spinner_stop(struct spinner *s)
{
	s->m->run[0]->immediate_exit = 1;
	pthread_kill(s->thread, SIGUSR1);
	pthread_join(s->thread, NULL);
	return s->error;
}

#endif /* SELFTEST_KVM_STATS_VM_H */
