// SPDX-License-Identifier: GPL-2.0-only
/* The checks after the runs: do the kernel's log, taint or kmemleak tell of trouble? */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <unistd.h>

#include "init.h"

#define MAX_SIGNS 64
#define MAX_QUOTED 5
#define MAX_LEAK_LINES 60
#define KLOG_READ_ALL 3
#define KLOG_SIZE 10

/* Modules of our own are out of tree and unsigned: no more than that. */
#define TAINT_ALLOWED ((1 << 12) | (1 << 13))

static char signs[MAX_SIGNS][64];

static size_t read_signs(void)
{
	FILE *file = fopen("/splats", "re");
	size_t n = 0;

	while (file && n < MAX_SIGNS && fgets(signs[n], sizeof(signs[n]), file)) {
		signs[n][strcspn(signs[n], "\n")] = '\0';
		if (signs[n][0] && signs[n][0] != '#')
			n++;
	}
	if (file)
		fclose(file);
	return n;
}

static bool is_splat(const char *line, size_t n)
{
	while (n--)
		if (strstr(line, signs[n]))
			return true;
	return false;
}

static char *read_log(void)
{
	int size = klogctl(KLOG_SIZE, NULL, 0);
	char *log = size > 0 ? calloc(1, size + 1) : NULL;

	if (log && klogctl(KLOG_READ_ALL, log, size) < 0)
		log[0] = '\0';
	return log;
}

void check_log(void)
{
	size_t n = read_signs();
	char *log = read_log();
	unsigned int found = 0;
	char *line;

	/* Looking for nothing, or in half a log, would find nothing. */
	if (!n)
		complain("no list of splats");
	if (!log || !strstr(log, "Linux version"))
		complain("the kernel log cannot be read, or its start is lost");
	for (line = log ? strtok(log, "\n") : NULL; line;
	     line = strtok(NULL, "\n")) {
		if (is_splat(line, n) && ++found <= MAX_QUOTED)
			complain("kernel log: %s", line);
	}
	if (found > MAX_QUOTED)
		complain("kernel log: %u more such lines", found - MAX_QUOTED);
	free(log);
}

void check_taint(void)
{
	FILE *file = fopen("/proc/sys/kernel/tainted", "re");
	unsigned long taint;

	if (!file || fscanf(file, "%lu", &taint) != 1)
		complain("the taint of the kernel cannot be read");
	else if (taint & ~TAINT_ALLOWED)
		complain("the kernel is tainted: %lu", taint);
	if (file)
		fclose(file);
}

/*
 * Of a kernel that has kmemleak. It leaves out what is younger than five seconds, and
 * what changed since the scan before: hence the wait, and the second scan.
 */
void check_leaks(void)
{
	int file = open("/sys/kernel/debug/kmemleak", O_RDWR | O_CLOEXEC);
	unsigned int lines = 0;
	char line[256];
	FILE *found;
	int scan;

	if (file < 0)
		return;
	sleep(6);
	for (scan = 0; scan < 2; scan++)
		if (write(file, "scan", 4) != 4)
			complain("kmemleak does not scan: %s", strerror(errno));
	lseek(file, 0, SEEK_SET);
	found = fdopen(file, "r");
	while (fgets(line, sizeof(line), found) && lines++ < MAX_LEAK_LINES) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "unreferenced object", 19))
			complain("kmemleak: %s", line);
		else
			say("| %s\n", line);
	}
	say("| kmemleak: scanned, %s\n", lines ? "leaks" : "nothing leaked");
	fclose(found);
}
