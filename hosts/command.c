// SPDX-License-Identifier: GPL-2.0-only
/*
 * The runs. What a run prints goes to the channel with "| " before each line,
 * so that nothing it prints can be taken for a verdict.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "init.h"

#define EXIT_SKIP 4	/* what kselftest programs exit with */
#define MAX_WORDS 64
#define PATIENCE_MS 10000

static unsigned int runs, skips;

bool all_skipped(void)
{
	return runs && runs == skips;
}

static void child(char *command, int output)
{
	char *words[MAX_WORDS + 1] = { NULL };
	size_t n = 0;
	char *word;

	setsid();
	dup2(output, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
	setenv("PATH", "/bin", 1);
	for (word = strtok(command, " "); word && n < MAX_WORDS;
	     word = strtok(NULL, " "))
		words[n++] = word;
	execvp(words[0], words);
	printf("starting %s: %s\n", words[0], strerror(errno));
	fflush(stdout);
	_exit(127);
}

static pid_t start(char *command, int *output)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return -1;
	pid = fork();
	if (!pid)
		child(command, ends[1]);
	close(ends[1]);
	*output = ends[0];
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	return pid;
}

/* Passes on what there is to read; lines may come in pieces. */
static void pass_on(int output, bool *line_start)
{
	char buf[4096];
	ssize_t len, i;

	while ((len = read(output, buf, sizeof(buf) - 1)) > 0) {
		buf[len] = '\0';
		for (i = 0; i < len; ) {
			int piece = strcspn(buf + i, "\n");
			bool whole = i + piece < len;

			say("%s%.*s%s", *line_start ? "| " : "", piece,
			    buf + i, whole ? "\n" : "");
			*line_start = whole;
			i += piece + 1;
		}
	}
}

static long long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

/*
 * PID 1 excepted. One that cannot be killed is stuck in the kernel: its stack
 * goes to the kernel log.
 */
static void end_all_processes(void)
{
	long long deadline = now_ms() + PATIENCE_MS;
	int trigger;

	kill(-1, SIGKILL);
	while (waitpid(-1, NULL, WNOHANG) >= 0) {
		if (now_ms() > deadline) {
			complain("a process cannot be killed");
			trigger = open("/proc/sysrq-trigger", O_WRONLY);
			dprintf(trigger, "t");
			close(trigger);
			return;
		}
		usleep(10 * 1000);
	}
}

/* Returns false when the time was up. Leaves no process behind. */
static bool watch(pid_t pid, int output, int seconds, int *status)
{
	long long deadline = now_ms() + seconds * 1000LL;
	struct pollfd poll_output = { .fd = output, .events = POLLIN };
	bool ended = false, line_start = true;

	while (!ended && now_ms() < deadline) {
		poll(&poll_output, 1, 50);
		/* All ends closed: poll no longer waits, so do it here. */
		if (poll_output.revents & POLLHUP)
			usleep(20 * 1000);
		ended = waitpid(pid, status, WNOHANG) == pid;
		pass_on(output, &line_start);
	}
	end_all_processes();
	pass_on(output, &line_start);
	if (!line_start)
		say("\n");
	return ended;
}

static void judge(const char *name, int status)
{
	if (WIFSIGNALED(status)) {
		say("end %s fail killed by %s\n", name,
		    strsignal(WTERMSIG(status)));
		complain("%s: killed by %s", name, strsignal(WTERMSIG(status)));
	} else if (WEXITSTATUS(status) == EXIT_SKIP) {
		say("end %s skip\n", name);
		skips++;
	} else if (WEXITSTATUS(status)) {
		say("end %s fail exit status %d\n", name, WEXITSTATUS(status));
		complain("%s: exit status %d", name, WEXITSTATUS(status));
	} else {
		say("end %s pass\n", name);
	}
}

/* NAME SECONDS COMMAND [WORD...] */
void run_command(char *line)
{
	const char *name = strtok(line, " ");
	const char *limit = strtok(NULL, " ");
	char *command = strtok(NULL, "");
	int seconds = limit ? atoi(limit) : 0;
	int output, status;
	pid_t pid;

	if (!command || seconds <= 0) {
		complain("plan: run needs a name, seconds and a command");
		return;
	}
	runs++;
	say("run %s\n", name);
	pid = start(command, &output);
	if (pid < 0) {
		complain("%s: no process: %s", name, strerror(errno));
		return;
	}
	if (watch(pid, output, seconds, &status)) {
		judge(name, status);
	} else {
		say("end %s timeout %d s\n", name, seconds);
		complain("%s: not done after %d s", name, seconds);
	}
	close(output);
}
