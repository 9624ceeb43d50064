// SPDX-License-Identifier: GPL-2.0-only
/*
 * PID 1 of an emulated host: carries out /plan, which the runner put into the
 * initramfs, and tells on a serial port of its own what came of it. The last
 * line it writes is the verdict; a host that dies before has given none.
 *
 * The kernel hands over "channel=ttyS1" of its command line as environment, and
 * "end=restart" of a machine that cannot power off: the emulator takes it as the end.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <termios.h>
#include <unistd.h>

#include "init.h"

static FILE *channel;
static char first_complaint[256];

void say(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vfprintf(channel, fmt, args);
	va_end(args);
	fflush(channel);
}

/* Whatever is wrong fails the verdict, which quotes what was wrong first. */
void complain(const char *fmt, ...)
{
	char text[sizeof(first_complaint)];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (!first_complaint[0])
		strcpy(first_complaint, text);
	say("error %s\n", text);
}

/* PID 1 starts with no descriptors, and the channel must not become one of 0-2. */
static void open_standard_files(void)
{
	int null = open("/dev/null", O_RDWR);
	int fd;

	for (fd = 0; fd < 3; fd++)
		dup2(null, fd);
	if (null > 2)
		close(null);
}

static void open_channel(void)
{
	const char *name = getenv("channel");
	struct termios tio;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/dev/%s", name ? name : "console");
	fd = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0 && !tcgetattr(fd, &tio)) {
		cfmakeraw(&tio);
		cfsetspeed(&tio, B115200);
		tcsetattr(fd, TCSANOW, &tio);
	}
	channel = fd >= 0 ? fdopen(fd, "w") : NULL;
	/* Without a channel there is nobody to tell: no output is a failure. */
	if (!channel)
		reboot(RB_POWER_OFF);
}

static void load_module(char *line)
{
	const char *path = strtok(line, " ");
	const char *params = strtok(NULL, "");
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || syscall(SYS_finit_module, fd, params ? params : "", 0))
		complain("loading %s: %s", path, strerror(errno));
	close(fd);
}

/*
 * What held the module may be let go by a kernel worker, after the process
 * that used it is gone: try for five seconds before calling it a leak.
 */
static void unload_module(char *name)
{
	int tries;

	for (tries = 0; tries < 50; tries++) {
		if (!syscall(SYS_delete_module, name, O_NONBLOCK))
			return;
		if (errno != EAGAIN && errno != EBUSY)
			break;
		usleep(100 * 1000);
	}
	complain("unloading %s: %s", name, strerror(errno));
}

static const struct {
	const char *verb;
	void (*act)(char *rest);
} verbs[] = {
	{ "load ", load_module },
	{ "run ", run_command },
	{ "unload ", unload_module },
};

static void carry_out(char *line)
{
	size_t i;

	line[strcspn(line, "\n")] = '\0';
	for (i = 0; i < ARRAY_SIZE(verbs); i++) {
		size_t len = strlen(verbs[i].verb);

		if (!strncmp(line, verbs[i].verb, len)) {
			verbs[i].act(line + len);
			return;
		}
	}
	complain("unknown line of the plan: %s", line);
}

static void carry_out_plan(void)
{
	FILE *plan = fopen("/plan", "re");
	char line[4096];

	if (!plan) {
		complain("no plan: %s", strerror(errno));
		return;
	}
	while (fgets(line, sizeof(line), plan))
		carry_out(line);
	fclose(plan);
}

int main(void)
{
	struct utsname uts;

	mount_dev();
	open_standard_files();
	open_channel();
	mount_kernel_filesystems();
	uname(&uts);
	say("boot %s %s\n", uts.release, uts.machine);
	carry_out_plan();
	check_leaks();
	check_log();
	check_taint();
	if (first_complaint[0])
		say("verdict fail %s\n", first_complaint);
	else if (all_skipped())
		say("verdict skip all runs were skipped\n");
	else
		say("verdict pass\n");
	tcdrain(fileno(channel));
	reboot(getenv("end") ? RB_AUTOBOOT : RB_POWER_OFF);
	return 1;
}
