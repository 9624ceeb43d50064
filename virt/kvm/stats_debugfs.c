// SPDX-License-Identifier: GPL-2.0-only
/*
 * Statistics in debugfs: a file per stat, in kvm/ for all VMs together and in
 * kvm/<pid>-<fd>/ for one.  What vCPUs count is shown as their sum.
 */
#include <linux/debugfs.h>
#include <linux/kvm_host.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "stats.h"

/**
 * struct kvm_stat_file - what a debugfs file shows
 * @kvm: the VM, NULL for all of them
 * @entry: the stat
 * @of_vcpu: whether it is one of struct kvm_vcpu_stat
 * @name: of the file
 * @mode: of the file
 */
struct kvm_stat_file {
	struct kvm *kvm;
	const struct kvm_stat_entry *entry;
	bool of_vcpu;
	const char *name;
	umode_t mode;
};

struct dentry *kvm_debugfs_dir;
EXPORT_SYMBOL_GPL(kvm_debugfs_dir);

/* The files of kvm/, and the pattern of those of each VM */
static struct kvm_stat_file *kvm_stat_files;
static unsigned int kvm_stat_files_nr;

static u64 *kvm_stat_value(const struct kvm_stat_entry *entry,
			   struct kvm_stats *stats)
{
	return stats->data + entry->offset;
}

static u64 kvm_stat_sum_vm(const struct kvm_stat_file *f, struct kvm *kvm,
			   unsigned int i)
{
	struct kvm_vcpu *vcpu;
	u64 sum = 0;
	int n;

	if (!f->of_vcpu)
		return kvm_stat_value(f->entry, kvm->stats)[i];

	kvm_for_each_vcpu(n, vcpu, kvm)
		sum += kvm_stat_value(f->entry, vcpu->stats)[i];
	return sum;
}

/* Value @i of the stat; for all VMs, with kvm_lock held */
static u64 kvm_stat_sum(const struct kvm_stat_file *f, unsigned int i)
{
	struct kvm *kvm;
	u64 sum = 0;

	if (f->kvm)
		return kvm_stat_sum_vm(f, f->kvm, i);

	list_for_each_entry(kvm, &vm_list, vm_list)
		sum += kvm_stat_sum_vm(f, kvm, i);
	return sum;
}

static void kvm_stat_clear_vm(const struct kvm_stat_file *f, struct kvm *kvm)
{
	size_t size = f->entry->size * sizeof(u64);
	struct kvm_vcpu *vcpu;
	int n;

	if (!f->of_vcpu) {
		memset(kvm_stat_value(f->entry, kvm->stats), 0, size);
		return;
	}

	kvm_for_each_vcpu(n, vcpu, kvm)
		memset(kvm_stat_value(f->entry, vcpu->stats), 0, size);
}

static void kvm_stat_clear(const struct kvm_stat_file *f)
{
	struct kvm *kvm;

	if (f->kvm) {
		kvm_stat_clear_vm(f, f->kvm);
		return;
	}

	mutex_lock(&kvm_lock);
	list_for_each_entry(kvm, &vm_list, vm_list)
		kvm_stat_clear_vm(f, kvm);
	mutex_unlock(&kvm_lock);
}

/* A line with the value; of a histogram, with all of its buckets. */
static int kvm_stat_file_show(struct seq_file *m, void *unused)
{
	const struct kvm_stat_file *f = m->private;
	unsigned int i;

	if (!f->kvm)
		mutex_lock(&kvm_lock);
	for (i = 0; i < f->entry->size; i++)
		seq_printf(m, i ? " %llu" : "%llu", kvm_stat_sum(f, i));
	if (!f->kvm)
		mutex_unlock(&kvm_lock);
	seq_putc(m, '\n');
	return 0;
}

static ssize_t kvm_stat_file_write(struct file *file, const char __user *buf,
				   size_t count, loff_t *ppos)
{
	const struct kvm_stat_file *f = file_inode(file)->i_private;
	u64 val;
	int r;

	/* root can open even a file without write permission */
	if (!(f->mode & 0222))
		return -EACCES;

	r = kstrtoull_from_user(buf, count, 0, &val);
	if (r)
		return r;
	if (val)
		return -EINVAL;

	kvm_stat_clear(f);
	return count;
}

/*
 * An open file of a VM holds the VM.  The VM can be past its last reference
 * while it is removing its files: then it cannot be had any more.
 */
static int kvm_stat_file_open(struct inode *inode, struct file *file)
{
	struct kvm_stat_file *f = inode->i_private;
	int r;

	if (f->kvm && !refcount_inc_not_zero(&f->kvm->users_count))
		return -ENOENT;

	r = single_open(file, kvm_stat_file_show, f);
	if (r && f->kvm)
		kvm_put_kvm(f->kvm);
	return r;
}

static int kvm_stat_vm_file_release(struct inode *inode, struct file *file)
{
	struct kvm *kvm = ((struct kvm_stat_file *)inode->i_private)->kvm;

	single_release(inode, file);
	kvm_put_kvm(kvm);
	return 0;
}

static const struct file_operations kvm_stat_vm_file_fops = {
	.owner = THIS_MODULE,
	.open = kvm_stat_file_open,
	.read = seq_read,
	.write = kvm_stat_file_write,
	.llseek = seq_lseek,
	.release = kvm_stat_vm_file_release,
};

/*
 * An open file of all VMs holds nothing but this module: it can be closed when
 * the vendor module has left and taken the files with it.  debugfs keeps out
 * of every operation then, except for the release.
 */
static const struct file_operations kvm_stat_file_fops = {
	.owner = THIS_MODULE,
	.open = kvm_stat_file_open,
	.read = seq_read,
	.write = kvm_stat_file_write,
	.llseek = seq_lseek,
	.release = single_release,
};

static void kvm_stat_files_create(struct kvm_stat_file *files,
				  struct dentry *dir,
				  const struct file_operations *fops)
{
	unsigned int i;

	for (i = 0; i < kvm_stat_files_nr; i++)
		debugfs_create_file(files[i].name, files[i].mode, dir,
				    &files[i], fops);
}

int kvm_stats_debugfs_add_vm(struct kvm *kvm, int fd)
{
	static DEFINE_MUTEX(lock);
	struct kvm_stat_file *files;
	struct dentry *dir;
	char name[32];
	unsigned int i;

	if (!kvm_stat_files)
		return 0;

	files = kmemdup(kvm_stat_files, kvm_stat_files_nr * sizeof(*files),
			GFP_KERNEL_ACCOUNT);
	if (!files)
		return -ENOMEM;
	for (i = 0; i < kvm_stat_files_nr; i++)
		files[i].kvm = kvm;

	/*
	 * The name is not unique: a closed descriptor may be used for another
	 * VM while this one lives on, held by something else.
	 */
	snprintf(name, sizeof(name), "%d-%d", task_pid_nr(current), fd);
	mutex_lock(&lock);
	dir = debugfs_lookup(name, kvm_debugfs_dir);
	if (dir) {
		pr_warn_ratelimited("KVM: debugfs: duplicate directory %s\n",
				    name);
		dput(dir);
		dir = ERR_PTR(-EEXIST);
	} else {
		dir = debugfs_create_dir(name, kvm_debugfs_dir);
	}
	mutex_unlock(&lock);

	/* A VM can do without its files. */
	if (IS_ERR(dir)) {
		kfree(files);
		return 0;
	}

	kvm->debugfs_dentry = dir;
	kvm->debugfs_files = files;
	kvm_stat_files_create(files, dir, &kvm_stat_vm_file_fops);
	return 0;
}

void kvm_stats_debugfs_remove_vm(struct kvm *kvm)
{
	/* Returns when nobody is inside of the operations of a file any more. */
	debugfs_remove_recursive(kvm->debugfs_dentry);
	kfree(kvm->debugfs_files);
}

static void kvm_stat_file_init(struct kvm_stat_file *f,
			       const struct kvm_stat_entry *entry, bool of_vcpu)
{
	const struct kvm_stat_debugfs *other;

	f->entry = entry;
	f->of_vcpu = of_vcpu;
	f->name = entry->name;
	f->mode = (entry->flags & KVM_STATS_TYPE_MASK) == KVM_STATS_TYPE_INSTANT ?
		  0444 : 0644;

	for (other = kvm_stats_debugfs_names; other->name; other++) {
		if (!strcmp(other->name, entry->name)) {
			f->name = other->file;
			f->mode = other->mode;
		}
	}
}

void kvm_stats_debugfs_init(void)
{
	u32 vm_nr = kvm_vm_stats_table.header.num_desc;
	u32 vcpu_nr = kvm_vcpu_stats_table.header.num_desc;
	u32 i;

	kvm_debugfs_dir = debugfs_create_dir("kvm", NULL);

	if (!debugfs_initialized())
		return;

	kvm_stat_files = kcalloc(vm_nr + vcpu_nr, sizeof(*kvm_stat_files),
				 GFP_KERNEL);
	if (!kvm_stat_files)
		return;
	kvm_stat_files_nr = vm_nr + vcpu_nr;

	for (i = 0; i < vm_nr; i++)
		kvm_stat_file_init(&kvm_stat_files[i],
				   &kvm_vm_stats_table.entries[i], false);
	for (i = 0; i < vcpu_nr; i++)
		kvm_stat_file_init(&kvm_stat_files[vm_nr + i],
				   &kvm_vcpu_stats_table.entries[i], true);

	kvm_stat_files_create(kvm_stat_files, kvm_debugfs_dir,
			      &kvm_stat_file_fops);
}

void kvm_stats_debugfs_exit(void)
{
	debugfs_remove_recursive(kvm_debugfs_dir);
	kfree(kvm_stat_files);
	kvm_stat_files = NULL;
}
