/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a file of KVM_GET_STATS_FD holds, and how else statistics can be seen.
 */
#ifndef SELFTEST_KVM_STATS_FILE_H
#define SELFTEST_KVM_STATS_FILE_H

#include <linux/compiler.h>

#include "../kselftest.h"
#include "stats_vm.h"

#define NAME_SIZE	48
#define DESC_SIZE	(sizeof(struct kvm_stats_desc) + NAME_SIZE)
#define NO_STAT		UINT64_MAX
#define MAX_VALUES	256	/* of a histogram */

/* To be called first of all: without the capability there is nothing to test. */
static inline void stats_require(void)
{
	int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);

	if (kvm < 0)
		ksft_exit_skip("/dev/kvm: %s\n", strerror(errno));
	if (ioctl(kvm, KVM_CHECK_EXTENSION, KVM_CAP_BINARY_STATS_FD) <= 0)
		ksft_exit_skip("this kernel has no KVM_CAP_BINARY_STATS_FD (%d)\n",
			       KVM_CAP_BINARY_STATS_FD);
	close(kvm);
}

static inline size_t page_size(void)
{
	return sysconf(_SC_PAGESIZE);
}

/* ---- a stats file -------------------------------------------------------- */

struct stats {
	int fd;			/* -1: closed */
	struct kvm_stats_header header;
	char *image;		/* the whole file as it was read first */
	size_t data_bytes;
	size_t size;
};

static inline const struct kvm_stats_desc *stats_desc(const struct stats *s, unsigned int i)
{
	return (void *)(s->image + s->header.desc_offset + i * DESC_SIZE);
}

static inline const char *stats_id(const struct stats *s)
{
	return s->image + s->header.id_offset;
}

/*
 * The data as it is now, kept in the image.  Even that of an idle VM may change: some
 * architectures flush its TLBs whenever this process gives back memory.
 */
static inline const char *stats_data(const struct stats *s)
{
	char *data = s->image + s->header.data_offset;

	if (s->fd >= 0 &&
	    pread(s->fd, data, s->data_bytes, s->header.data_offset) != (ssize_t)s->data_bytes)
		return NULL;
	return data;
}

/* Reads the file by what its header says.  After a failure, errno says why. */
static inline bool stats_read(struct stats *s, int fd)
{
	struct kvm_stats_header *h = &s->header;
	unsigned int i;

	memset(s, 0, sizeof(*s));
	s->fd = fd;
	if (fd < 0 || pread(fd, h, sizeof(*h), 0) != sizeof(*h))
		return false;
	errno = EPROTO;
	if (h->name_size != NAME_SIZE || h->num_desc > 1000 || h->data_offset > 1 << 20 ||
	    h->desc_offset + h->num_desc * DESC_SIZE > h->data_offset)
		return false;

	s->image = calloc(1, h->data_offset);
	if (pread(fd, s->image, h->data_offset, 0) != h->data_offset)
		return false;
	for (i = 0; i < h->num_desc; i++)
		s->data_bytes += stats_desc(s, i)->size * sizeof(u64);
	s->size = h->data_offset + s->data_bytes;
	s->image = realloc(s->image, s->size);
	return pread(fd, s->image + h->data_offset, s->data_bytes, h->data_offset) ==
	       (ssize_t)s->data_bytes;
}

/* From the fd of a VM or a vCPU. */
static inline bool stats_take(struct stats *s, int owner)
{
	return stats_read(s, ioctl(owner, KVM_GET_STATS_FD, 0));
}

static inline void stats_close(struct stats *s)
{
	free(s->image);
	if (s->fd >= 0)
		close(s->fd);
}

/* NULL: the file has no such stat */
static inline const struct kvm_stats_desc *stats_find(const struct stats *s, const char *name)
{
	unsigned int i;

	for (i = 0; i < s->header.num_desc; i++)
		if (!strncmp(stats_desc(s, i)->name, name, NAME_SIZE))
			return stats_desc(s, i);
	return NULL;
}

/* The value as it is now, by a read of 8 bytes. */
static inline u64 stats_value(const struct stats *s, const char *name)
{
	const struct kvm_stats_desc *d = stats_find(s, name);
	u64 value;

	if (!d || pread(s->fd, &value, 8, s->header.data_offset + d->offset) != 8)
		return NO_STAT;
	return value;
}

/* All values of a histogram as they are now; how many there are, 0: no such stat */
static inline unsigned int stats_values(const struct stats *s, const char *name, u64 *values,
					unsigned int max)
{
	const struct kvm_stats_desc *d = stats_find(s, name);
	ssize_t bytes;

	if (!d || d->size > max)
		return 0;
	bytes = d->size * sizeof(u64);
	return pread(s->fd, values, bytes, s->header.data_offset + d->offset) == bytes ?
	       d->size : 0;
}

static inline size_t stats_map_size(const struct stats *s)
{
	return (s->data_bytes + page_size() - 1) / page_size() * page_size();
}

/*
 * Does the CPU see one page of memory as two in its data cache, by the address of
 * each mapping?  Then the kernel accepts no shared mapping of another colour.
 */
static inline bool caches_alias(void)
{
	static int alias = -1;
	size_t page = page_size();
	char *place;

	if (alias < 0) {
		int fd = memfd_create("", MFD_CLOEXEC);

		place = mmap(NULL, 2 * page, PROT_READ, MAP_SHARED, fd, 0);
		alias = place != MAP_FAILED &&
			mmap(place + page, page, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) ==
			MAP_FAILED;
		munmap(place, 2 * page);
		close(fd);
	}
	return alias;
}

#define NO_MAPPING	"%s: where data caches alias there is no mapping"

/* NULL: failed */
static inline char *stats_map(const struct stats *s, int flags)
{
	char *map = mmap(NULL, s->data_bytes, PROT_READ, flags, s->fd, s->header.data_offset);

	return map == MAP_FAILED ? NULL : map;
}

/* The value as it is now, by a plain load. */
static inline u64 mapped_value(const struct stats *s, const char *map, const char *name)
{
	const struct kvm_stats_desc *d = stats_find(s, name);

	return d ? READ_ONCE(*(const u64 *)(map + d->offset)) : NO_STAT;
}

/* ---- small text files ---------------------------------------------------- */

/* A small file; -errno if it cannot be read */
static inline int read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int got = fd < 0 ? -errno : read(fd, text, size - 1);

	text[got > 0 ? got : 0] = '\0';
	if (fd >= 0)
		close(fd);
	return got;
}

static inline bool write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return ok;
}

/* How many numbers the VM's debugfs file has, -errno if it cannot be read */
static inline int debugfs_values(const struct machine *m, const char *name, u64 *values, int max)
{
	char path[160], text[MAX_VALUES * 21], *at = text, *end;
	int got, n;

	snprintf(path, sizeof(path), "%s/%s", m->debugfs, name);
	got = read_text(path, text, sizeof(text));
	if (got < 0)
		return got;
	for (n = 0; n < max; n++, at = end) {
		values[n] = strtoull(at, &end, 10);
		if (end == at)
			break;
	}
	return n;
}

#endif /* SELFTEST_KVM_STATS_FILE_H */
