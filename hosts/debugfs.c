// SPDX-License-Identifier: GPL-2.0-only
/*
 * The debugfs files of KVM: debugfs [--idle] TABLE PART... The table lists them, by parts
 * of an architecture; names and modes are the same with and without the series,
 * so this runs on both. Where there are stats files too, there may be a file that
 * 5.10 has not, and every value is the same read both ways. With --idle no guest
 * runs, where the unpatched kernel cannot run one.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vm.h"

#define ALL_VMS "/sys/kernel/debug/kvm"
#define MAX_STATS 160
#define MAX_VALUES 256

struct stat_row {
	char scope[8];
	char name[48];		/* in the stats file */
	char file[48];		/* in debugfs */
	unsigned int mode;
};

static struct stat_row rows[MAX_STATS];
static int num_rows;

/* What a stat consists of: one value, or the buckets of a histogram. */
struct values {
	int count;
	uint64_t of[MAX_VALUES];
};

static bool is_one_of(const char *word, char **list)
{
	while (*list && strcmp(*list, word))
		list++;
	return *list;
}

/* Rows with a "+" before the mode have no file where there are no stats files. */
static void read_table(const char *path, char **parts, bool with_new)
{
	FILE *table = fopen(path, "r");
	char line[256], arch[32], mode[8];

	if (!table)
		give_up(path);
	while (fgets(line, sizeof(line), table) && num_rows < MAX_STATS) {
		struct stat_row *row = &rows[num_rows];

		if (sscanf(line, "%31s\t%7s\t%47s\t%47[^\t]\t%7s", arch,
			   row->scope, row->name, row->file, mode) != 5 ||
		    !is_one_of(arch, parts))
			continue;
		row->mode = strtoul(mode, NULL, 8);
		num_rows += *mode != '+' || with_new;
	}
	fclose(table);
	if (!num_rows)
		give_up("an empty table");
}

/* Files are the table's, no more and no less; folders do not count. */
static void test_names(const char *dir, const char *whose)
{
	DIR *entries = opendir(dir);
	int files = 0, right = 0, i;
	struct dirent *entry;
	char name[80];

	if (!entries)
		give_up(dir);
	while ((entry = readdir(entries))) {
		struct stat st;

		if (fstatat(dirfd(entries), entry->d_name, &st, 0) ||
		    S_ISDIR(st.st_mode))
			continue;
		files++;
		for (i = 0; i < num_rows; i++)
			right += !strcmp(rows[i].file, entry->d_name) &&
				 rows[i].mode == (st.st_mode & 07777);
	}
	closedir(entries);
	snprintf(name, sizeof(name), "%s: the %d files and their modes", whose,
		 num_rows);
	ok(files == num_rows && right == num_rows, name,
	   "%d files, %d as in the table", files, right);
}

static void read_file(const char *dir, const char *file, struct values *values)
{
	char path[300], text[8192] = "", *at = text, *end;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	fd = open(path, O_RDONLY);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		give_up(path);
	close(fd);
	for (values->count = 0; values->count < MAX_VALUES; values->count++) {
		values->of[values->count] = strtoull(at, &end, 10);
		if (end == at)
			break;
		at = end;
	}
}

static uint64_t read_value(const char *dir, const char *file)
{
	struct values values;

	read_file(dir, file, &values);
	return values.count == 1 ? values.of[0] : UINT64_MAX;
}

static bool is_zero(const char *dir, const char *file)
{
	struct values values;
	int i;

	read_file(dir, file, &values);
	for (i = 0; i < values.count; i++)
		if (values.of[i])
			return false;
	return values.count;
}

static bool same_values(const struct values *a, const struct values *b)
{
	return a->count == b->count &&
	       !memcmp(a->of, b->of, a->count * sizeof(a->of[0]));
}

/* Returns 0 or the errno of opening or writing. */
static int write_file(const char *dir, const char *file, const char *text)
{
	char path[300];
	int fd, err = 0;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		return errno;
	if (write(fd, text, strlen(text)) < 0)
		err = errno;
	close(fd);
	return err;
}

/* Adds what the stats file says of that name; false if it does not. */
static bool add_stat(int fd, const char *name, struct values *sums)
{
	struct kvm_stats_header head;
	struct { struct kvm_stats_desc desc; char name[48]; } stat;
	uint64_t values[MAX_VALUES];
	uint32_t i, j;

	if (pread(fd, &head, sizeof(head), 0) != sizeof(head))
		give_up("a stats header");
	for (i = 0; i < head.num_desc; i++) {
		ssize_t size;

		if (pread(fd, &stat, sizeof(stat),
			  head.desc_offset + i * sizeof(stat)) != sizeof(stat))
			give_up("a stats descriptor");
		if (strcmp(stat.name, name))
			continue;
		size = stat.desc.size * sizeof(values[0]);
		if (size > (ssize_t)sizeof(values) ||
		    pread(fd, values, size, head.data_offset + stat.desc.offset) != size)
			give_up("a stat");
		for (j = 0; j < stat.desc.size; j++)
			sums->of[j] += values[j];
		sums->count = stat.desc.size;
		return true;
	}
	return false;
}

static bool read_stat(struct vm *vm, const struct stat_row *row,
		      struct values *values)
{
	bool found = true;
	int i;

	memset(values, 0, sizeof(*values));
	if (!strcmp(row->scope, "vm"))
		return add_stat(vm->vm_stats, row->name, values);
	for (i = 0; i < VCPUS; i++)
		found &= add_stat(vm->vcpu_stats[i], row->name, values);
	return found;
}

/* Twice the folders: of this VM, and of all VMs while there is no other. */
static void test_values(struct vm *vm, const char *dir, const char *when)
{
	int same = 0, other = 0, i;
	char name[80];

	if (vm->vm_stats < 0)
		return;
	for (i = 0; i < num_rows; i++) {
		struct values stat, here, all;

		read_file(dir, rows[i].file, &here);
		read_file(ALL_VMS, rows[i].file, &all);
		if (read_stat(vm, &rows[i], &stat) && same_values(&stat, &here) &&
		    same_values(&here, &all))
			same++;
		else
			other = i;
	}
	snprintf(name, sizeof(name), "the %d stats read both ways, %s",
		 num_rows, when);
	ok(same == num_rows, name, "%d are the same, but not %s", same,
	   rows[other].file);
}

/* The file of a job that vm_work() does. */
static const char *job_file(int job)
{
	int i;

	for (i = 0; i < num_rows; i++)
		if (!strcmp(rows[i].name, vm_stat(job)))
			return rows[i].file;
	give_up(vm_stat(job));
}

static void test_counted(struct vm *vm, const char *dir)
{
	char name[80];
	int job;

	for (job = 0; job < VM_JOBS; job++) {
		int did = vm->did[0][job] + vm->did[1][job];
		uint64_t counted = read_value(dir, job_file(job));

		snprintf(name, sizeof(name), "%s of two vCPUs is %d",
			 job_file(job), did);
		ok(counted == (uint64_t)did, name, "%ju", (uintmax_t)counted);
	}
}

static void test_writes(const char *dir)
{
	int refused = 0, einval = 0, reset = 0, read_only = 0, i;

	for (i = 0; i < num_rows; i++) {
		const char *file = rows[i].file;

		if (!(rows[i].mode & 0222)) {
			read_only++;
			refused += write_file(dir, file, "0") == EACCES;
			continue;
		}
		einval += write_file(dir, file, "1") == EINVAL;
		reset += !write_file(dir, file, "0") && is_zero(dir, file);
	}
	ok(refused == read_only, "the read-only files refuse a write: EACCES",
	   "%d of %d", refused, read_only);
	ok(einval == num_rows - read_only, "writing 1 gives EINVAL", "%d of %d",
	   einval, num_rows - read_only);
	ok(reset == num_rows - read_only, "writing 0 resets", "%d of %d", reset,
	   num_rows - read_only);
}

static void test_all_vms_writes(struct vm *vm, const char *dir)
{
	const char *file = job_file(0);
	int before = vm->did[1][0];
	uint64_t counted;

	vm_work(vm, 1, 3);
	counted = read_value(dir, file);
	ok(counted == (uint64_t)vm->did[1][0] - before,
	   "a reset stat counts on from 0", "%ju", (uintmax_t)counted);
	ok(write_file(ALL_VMS, file, "1") == EINVAL,
	   "all VMs: writing 1 gives EINVAL", "it does not");
	ok(!write_file(ALL_VMS, file, "0") && is_zero(dir, file),
	   "all VMs: writing 0 resets this VM's stat", "%ju",
	   (uintmax_t)read_value(dir, file));
}

#if defined(__x86_64__)
static void test_folders(const char *dir)
{
	char path[300];
	int found = 0, i;

	for (i = 0; i < VCPUS; i++) {
		snprintf(path, sizeof(path), "%s/vcpu%d/tsc-offset", dir, i);
		found += !access(path, R_OK);
	}
	ok(found == VCPUS, "a folder for each vCPU", "%d", found);
}
#else
/* Only x86 has folders for vCPUs. */
static void test_folders(const char *dir)
{
	(void)dir;
}
#endif

int main(int argc, char **argv)
{
	bool idle = argc > 1 && !strcmp(argv[1], "--idle");
	struct vm vm;
	char dir[64];

	argv += idle;
	if (argc < 3 + idle)
		return 2;
	vm_create(&vm);
	read_table(argv[1], argv + 2, vm.vm_stats >= 0);
	snprintf(dir, sizeof(dir), ALL_VMS "/%d-%d", getpid(), vm.fd);
	test_names(ALL_VMS, "all VMs");
	test_names(dir, "one VM");
	test_folders(dir);
	if (!idle) {
		vm_work(&vm, 0, 10);
		vm_work(&vm, 1, 3);
		test_counted(&vm, dir);
		test_values(&vm, dir, "after work");
	}
	test_writes(dir);
	test_values(&vm, dir, "after the reset");
	if (!idle)
		test_all_vms_writes(&vm, dir);
	vm_close(&vm);
	ok(access(dir, F_OK), "the folder goes with its VM", "it is still there");
	tests_done();
}
