// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file that KVM_GET_STATS_FD returns; uapi/linux/kvm_stats.h has its layout.
 *
 * Reading takes no lock, allocates nothing and does not wait: what does not
 * change is constant data, and counters are read while they are counted.
 */
#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kvm_host.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

#include "stats.h"

/* End of the file: the data is its last block. */
static u64 kvm_stats_file_size(const struct kvm_stats *stats)
{
	return stats->table->header.data_offset + stats->table->data_size;
}

/*
 * What is at file offset @pos: @len bytes from the returned address on.  @len
 * is 0 at the end of the file and beyond it, however large @pos is: it is
 * compared as a whole, before any arithmetic in the width of a pointer.
 */
static const void *kvm_stats_at(const struct kvm_stats *stats, u64 pos,
				size_t *len)
{
	const struct kvm_stats_header *header = &stats->table->header;
	u32 start = header->data_offset;
	u32 end = kvm_stats_file_size(stats);
	const void *block = stats->data;

	if (unlikely(pos >= end)) {
		*len = 0;
		return NULL;
	}

	if (unlikely(pos < start)) {
		u32 desc_end = header->desc_offset + header->num_desc *
			       sizeof(struct kvm_stat_entry);

		if (pos < header->id_offset) {
			start = 0;
			end = header->id_offset;
			block = header;
		} else if (pos < header->desc_offset) {
			start = header->id_offset;
			end = header->desc_offset;
			block = stats->id;
		} else if (pos < desc_end) {
			start = header->desc_offset;
			end = desc_end;
			block = stats->table->entries;
		} else {
			/* Fewer bytes than a page, as the data is aligned to one */
			end = start;
			start = desc_end;
			block = page_address(ZERO_PAGE(0));
		}
	}

	*len = end - pos;
	return block + (u32)(pos - start);
}

/* Not inlined, so that the short way below saves no registers for it. */
static noinline ssize_t kvm_stats_read_blocks(const struct kvm_stats *stats,
					      char __user *buf, size_t count,
					      loff_t *ppos)
{
	size_t done = 0;

	while (done < count) {
		size_t len, left;
		const void *src = kvm_stats_at(stats, *ppos, &len);

		if (!len)
			break;

		len = min(len, count - done);
		left = copy_to_user(buf + done, src, len);
		done += len - left;
		*ppos += len - left;
		if (left)
			return done ?: -EFAULT;
	}
	return done;
}

/*
 * read() and pread().  The same as kvm_stats_read_iter(), without the cost of
 * an iterator, and the short way for what is read again and again: data.
 */
static ssize_t kvm_stats_read(struct file *file, char __user *buf, size_t count,
			      loff_t *ppos)
{
	const struct kvm_stats *stats = file->private_data;
	u64 at = *ppos - stats->table->header.data_offset;
	u32 data_size = stats->table->data_size;
	size_t left;

	/* True before the data too, as @at wraps there */
	if (unlikely(at >= data_size))
		return kvm_stats_read_blocks(stats, buf, count, ppos);

	/*
	 * copy_to_user() would look up what object the source is in, to refuse
	 * what is out of its bounds.  Here that takes longer than everything
	 * else but the copy, and has nothing to say about whole pages.
	 */
	count = min_t(size_t, count, data_size - (u32)at);
	left = _copy_to_user(buf, stats->data + (u32)at, count);
	if (unlikely(left)) {
		if (left == count)
			return -EFAULT;
		count -= left;
	}
	*ppos += count;
	return count;
}

/*
 * Everything else that reads: readv(), splice(), io_uring.
 */
static ssize_t kvm_stats_read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	const struct kvm_stats *stats = iocb->ki_filp->private_data;
	ssize_t done = 0;

	while (iov_iter_count(to)) {
		size_t len, copied;
		const void *src = kvm_stats_at(stats, iocb->ki_pos, &len);

		if (!len)
			break;

		len = min(len, iov_iter_count(to));
		copied = copy_to_iter(src, len, to);
		done += copied;
		iocb->ki_pos += copied;
		if (copied < len)
			return done ?: -EFAULT;
	}
	return done;
}

static loff_t kvm_stats_llseek(struct file *file, loff_t offset, int whence)
{
	return generic_file_llseek_size(file, offset, whence, MAX_LFS_FILESIZE,
					kvm_stats_file_size(file->private_data));
}

/* Always readable, without waiting.  Hung up once no value will change. */
static __poll_t kvm_stats_poll(struct file *file, poll_table *wait)
{
	struct kvm_stats *stats = file->private_data;

	poll_wait(file, &stats->wait, wait);
	return EPOLLIN | EPOLLRDNORM | (READ_ONCE(stats->ended) ? EPOLLHUP : 0);
}

/*
 * Maps the frame, not the page (see kvm_stats_create()): the mapping takes no
 * reference to the page.  It needs none, since the mapping holds the file and
 * the file the statistics.  kvm_stats_mmap() saw to it that the offset is inside
 * of the data, and VM_DONTEXPAND keeps it there.
 */
static vm_fault_t kvm_stats_fault(struct vm_fault *vmf)
{
	const struct kvm_stats *stats = vmf->vma->vm_file->private_data;
	pgoff_t first = stats->table->header.data_offset >> PAGE_SHIFT;

	return vmf_insert_pfn(vmf->vma, vmf->address,
			      page_to_pfn(virt_to_page(stats->data)) +
			      vmf->pgoff - first);
}

static const struct vm_operations_struct kvm_stats_vm_ops = {
	.fault = kvm_stats_fault,
};

/*
 * Whether a data cache may hold old counts for the address of a mapping while the
 * kernel counts by another.  An architecture that has such CPUs defines it.
 */
#ifndef kvm_arch_stats_alias
#define kvm_arch_stats_alias()	false
#endif

static int kvm_stats_mmap(struct file *file, struct vm_area_struct *vma)
{
	const struct kvm_stats *stats = file->private_data;
	pgoff_t first = stats->table->header.data_offset >> PAGE_SHIFT;
	unsigned long pages = PAGE_ALIGN(stats->table->data_size) >> PAGE_SHIFT;

	if (kvm_arch_stats_alias())
		return -ENODEV;

	if (vma->vm_pgoff < first || vma->vm_pgoff - first >= pages ||
	    vma_pages(vma) > pages - (vma->vm_pgoff - first))
		return -EINVAL;

	/*
	 * A private writable mapping would be a copy that stops counting, which
	 * nobody wants, and would need copy-on-write of bare frames.
	 */
	if (vma->vm_flags & VM_WRITE)
		return -EACCES;

	/* VM_EXEC may be there only because of READ_IMPLIES_EXEC. */
	vma->vm_flags &= ~(VM_MAYWRITE | VM_EXEC | VM_MAYEXEC);
	vma->vm_flags |= VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP;
	vma->vm_ops = &kvm_stats_vm_ops;
	return 0;
}

static int kvm_stats_release(struct inode *inode, struct file *file)
{
	kvm_stats_put(file->private_data);
	return 0;
}

static const struct file_operations kvm_stats_fops = {
	.owner = THIS_MODULE,
	.llseek = kvm_stats_llseek,
	.read = kvm_stats_read,
	.read_iter = kvm_stats_read_iter,
	.splice_read = generic_file_splice_read,
	.poll = kvm_stats_poll,
	.mmap = kvm_stats_mmap,
	.release = kvm_stats_release,
};

/**
 * kvm_stats_fd - open the statistics
 * @stats: what to open; the caller's reference keeps them during the call
 * @name: shown by the link in /proc/<pid>/fd
 *
 * Every call makes a file of its own, with its own position.
 *
 * Return: a new read-only, close-on-exec file descriptor; -EMFILE, -ENFILE or
 * -ENOMEM.
 */
int kvm_stats_fd(struct kvm_stats *stats, const char *name)
{
	struct file *file;
	int fd;

	fd = get_unused_fd_flags(O_CLOEXEC);
	if (fd < 0)
		return fd;

	file = anon_inode_getfile(name, &kvm_stats_fops, stats, O_RDONLY);
	if (IS_ERR(file)) {
		put_unused_fd(fd);
		return PTR_ERR(file);
	}

	/*
	 * The file cannot be seen by anybody before fd_install(), so its
	 * reference may be taken now that nothing can fail any more.
	 * FMODE_PWRITE lets pwrite() fail like write(), for want of FMODE_WRITE.
	 * FMODE_NOWAIT has io_uring read inline instead of in a worker.
	 */
	kvm_stats_get(stats);
	file->f_mode |= FMODE_LSEEK | FMODE_PREAD | FMODE_PWRITE | FMODE_NOWAIT;
	fd_install(fd, file);
	return fd;
}
