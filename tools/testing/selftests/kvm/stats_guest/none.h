/* SPDX-License-Identifier: GPL-2.0-only */
/* No guest for this architecture yet: jobs do nothing and count nothing. */

#define HAVE_GUEST		0
#define GUEST_STAT		"halt_wakeup"
#define GUEST_OTHER_STAT	"halt_wakeup"
#define GUEST_EXITS		"halt_wakeup"
#define EXITS_PER_OTHER		0
#define COPY_GRAIN		64

#define GUEST_MEMORY		0

static const uint32_t guest_code[1];
static const uint32_t guest_start[GUEST_JOBS];

static bool guest_enter(int vm, int vcpu, enum guest_job job)
{
	return true;
}

static bool guest_did(const struct kvm_run *run, enum guest_job job)
{
	return true;
}
