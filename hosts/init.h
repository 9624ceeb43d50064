/* SPDX-License-Identifier: GPL-2.0-only */
/* PID 1 of an emulated host. */
#ifndef HOSTS_INIT_H
#define HOSTS_INIT_H

#include <stdbool.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define __printf(a, b) __attribute__((__format__(__printf__, a, b)))

/* init.c: the channel to the runner */
void say(const char *fmt, ...) __printf(1, 2);
void complain(const char *fmt, ...) __printf(1, 2);

/* mounts.c */
void mount_dev(void);
void mount_kernel_filesystems(void);

/* command.c: the runs, bounded in time */
void run_command(char *line);
bool all_skipped(void);

/* klog.c: the checks after the runs */
void check_log(void);
void check_taint(void);
void check_leaks(void);

#endif
