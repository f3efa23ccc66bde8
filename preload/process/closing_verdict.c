/* SPDX-License-Identifier: MIT */
/*
 * closing_verdict.c - has the trace judged while the program ends.
 *
 * The command beside the library reads the file, in a process that the program
 * doesn't hear of, and we print what it says: all of it, or nothing where it
 * takes too long.  Of a large file it reads the last part alone.
 */
#include "preload/process/life_parts.h"

#include "collector/system/log.h"
#include "collector/system/orphan.h"
#include "preload/process/process.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* To read one event takes so long, at most; that holds the end up for a
 * fiftieth of the run, a tenth of a second if that is more, but no more than a
 * tenth of a short run. */
#define EVENT_NS      2000u
#define LEAST_NS      UINT64_C(30000000)
#define SHORT_NS      UINT64_C(100000000)
#define LONG_NS	      UINT64_C(500000000)
#define SHORT_SHARE   10u
#define SHARE	      50u
/* On a machine with more to do it is waited for so many times as long, or, on
 * request, for so long. */
#define PATIENCE      4u
#define WAIT_NS	      UINT64_C(600000000000)
/* Of a part without so many the command says nothing; that there are as many
 * as are good may take so many times as long. */
#define STEPS_LEAST   8
#define STEPS_GOOD    12
#define TIMES_MOST    2

#define TEXT_BYTES    4096u
#define VARIABLES_MAX 9u

struct judge {
	char command[PATH_MAX + 32];
	char *arguments[6];
	char last[32];
	char *environment[VARIABLES_MAX];
	int said; /* where it writes */
	char text[TEXT_BYTES];
};

/* How long may that take? */
static uint64_t time_allowed(const struct session *session)
{
	const uint64_t ran =
		clock_monotonic_ns() - (uint64_t)session->head->clock.first_ns;

	return ran < SHORT_NS * SHORT_SHARE
		       ? max_u64(ran / SHORT_SHARE, LEAST_NS)
		       : min_u64(max_u64(ran / SHARE, SHORT_NS), LONG_NS);
}

static uint64_t time_waited(const struct session *session, uint64_t allowed)
{
	return session->head->options.verdict == VERDICT_WAIT
		       ? WAIT_NS
		       : max_u64(allowed, SHORT_NS) * PATIENCE;
}

/* Of the file as much, from its end, as is read in that time: it tells enough
 * if there are steps in it.  Where they are found when the run is over, all of
 * them lie at its end. */
static double percent_read(const struct session *session,
			   const struct writer_summary *done, uint64_t allowed)
{
	const int64_t steps = load_relaxed(&session->head->windows.steps);
	const double events = (double)allowed / EVENT_NS;
	const double more = steps > 0 ? (double)steps : 0;
	double percent, good;

	if ((double)done->judged_events <= events)
		return 100;
	if (steps < STEPS_LEAST)
		return 0;
	percent = 100 * (events + (more < events ? more : events)) /
		  (double)done->judged_events;
	good = 100 * STEPS_GOOD / more;
	if (good > TIMES_MOST * percent)
		good = TIMES_MOST * percent;
	return percent < good ? good : percent;
}

/* An orphan's end would reach a handler of the program's. */
static bool is_heard(void)
{
	struct sigaction action;

	return orphan_is_ours() &&
	       (sigaction(SIGCHLD, NULL, &action) ||
		(action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN));
}

/* Beside the library, as in a build folder, or in bin where that is in lib. */
static bool find_command(char *command, size_t bytes)
{
	static const char *const places[] = {"", "../bin/", "../../bin/"};
	const char *path = process_own_path();
	const char *slash = strrchr(path, '/');

	for (size_t i = 0; slash && i < sizeof(places) / sizeof(*places); i++) {
		log_format(command, bytes, "%.*s/%straceprof",
			   (int)(slash - path), path, places[i]);
		if (!access(command, X_OK))
			return true;
	}
	return false;
}

static bool is_in_path(char *file, size_t bytes)
{
	const char *at = getenv("PATH");

	while (at && *at) {
		const size_t len = strcspn(at, ":");

		log_format(file, bytes, "%.*s/traceprof", (int)len, at);
		if (len && !access(file, X_OK))
			return true;
		at += len + (at[len] == ':');
	}
	return false;
}

const char *closing_command(char *text, size_t bytes)
{
	char here[PATH_MAX];
	size_t len;

	if (is_in_path(text, bytes) || !find_command(text, bytes))
		return "traceprof";
	if (syscall(SYS_getcwd, here, sizeof(here)) < 0)
		return text;
	len = strlen(here);
	/* A shell looks for a name without a folder nowhere else. */
	return !strncmp(text, here, len) && text[len] == '/' &&
			       strchr(text + len + 1, '/')
		       ? text + len + 1
		       : text;
}

/* What a command needs that reads a file.  Whoever loads us into each program
 * (/etc/ld.so.preload) does so into this one. */
static void choose_environment(struct judge *judge)
{
	static const char *const kept[] = {
		"LC_ALL=", "LC_CTYPE=", "LANG=", "LD_LIBRARY_PATH=", "HOME="};
	static char columns[] = "COLUMNS=69", off[] = "TRACEPROF=0";
	size_t count = 0;

	judge->environment[count++] = columns;
	judge->environment[count++] = off;
	for (char **at = environ; at && *at && count < VARIABLES_MAX - 1; at++)
		for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
			if (!strncmp(*at, kept[i], strlen(kept[i])) &&
			    count < VARIABLES_MAX - 1)
				judge->environment[count++] = *at;
}

/* In the program's memory until execve(). */
static int run(void *arg)
{
	struct judge *judge = arg;
	const int null = open("/dev/null", O_RDWR);

	if (null >= 0 && dup2(null, 0) == 0 && dup2(null, 2) == 2 &&
	    dup2(judge->said, 1) == 1 && !fcntl(1, F_SETFD, 0)) {
		syscall(SYS_close_range, 3, ~0u, 0);
		syscall(SYS_execve, judge->command, judge->arguments,
			judge->environment);
	}
	syscall(SYS_exit_group, 1);
	return 0;
}

/* All that comes until the end.  -1: that doesn't come in time. */
static int read_all(int from, char *text, int bytes, uint64_t allowed)
{
	const uint64_t until = clock_monotonic_ns() + allowed;
	int len = 0;

	for (;;) {
		struct pollfd ready = {.fd = from, .events = POLLIN};
		const uint64_t now = clock_monotonic_ns();
		const uint64_t left = now < until ? until - now : 0;
		const struct timespec limit = {
			.tv_sec = (time_t)(left / 1000000000u),
			.tv_nsec = (long)(left % 1000000000u)};
		long got;

		if (len == bytes)
			return -1;
		got = syscall(SYS_ppoll, &ready, 1, &limit, NULL, 0);
		if (got > 0)
			got = syscall(SYS_read, from, text + len, bytes - len);
		else if (!got)
			return -1;
		/* The program's timers go on. */
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (!got)
			return len;
		len += (int)got;
	}
}

static bool ask(struct judge *judge, uint64_t allowed)
{
	int len = 0;
	pid_t pid;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return false;
	judge->said = ends[1];
	pid = orphan_start(run, judge, true);
	syscall(SYS_close, ends[1]);
	if (pid > 0)
		len = read_all(ends[0], judge->text, TEXT_BYTES - 1, allowed);
	syscall(SYS_close, ends[0]);
	if (len < 0)
		syscall(SYS_kill, pid, SIGKILL);
	judge->text[len > 0 ? len : 0] = '\0';
	return len > 0;
}

static void say(char *text)
{
	for (char *line = text; *line;) {
		char *end = strchr(line, '\n');

		if (end)
			*end = '\0';
		log_tell("%s", line);
		if (!end)
			break;
		line = end + 1;
	}
}

static const char *is_judged_for(enum window_worth worth)
{
	return worth == WORTH_STEPS   ? "the newest with the most steps"
	       : worth == WORTH_ASKED ? "the fullest that was begun by hand"
				      : "the newest with anything in it";
}

bool closing_verdict(const struct session *session,
		     const struct writer_summary *done, bool *hints)
{
	static const char option[] = "--verdict";
	const uint64_t allowed = time_allowed(session);
	const double percent = percent_read(session, done, allowed);
	struct judge *judge;
	bool is_said = false;

	/* `traceprof record` judges one of all that it began.  For memcheck
	 * the process that asks is another one of the program's. */
	if (process.is_checked || !session->head->options.verdict ||
	    process.record_pid || percent <= 0 || !done->judged[0] ||
	    !log_is_heard() || is_heard())
		return false;
	judge = mmap(NULL, sizeof(*judge), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (judge == MAP_FAILED)
		return false;
	if (find_command(judge->command, sizeof(judge->command))) {
		char *const arguments[] = {judge->command, "report",
					   (char *)(uintptr_t)option,
					   (char *)(uintptr_t)done->judged,
					   percent < 100 ? judge->last : NULL};

		log_format(judge->last, sizeof(judge->last), "--last=%.3f",
			   percent);
		memcpy(judge->arguments, arguments, sizeof(arguments));
		choose_environment(judge);
		is_said = ask(judge, time_waited(session, allowed));
		*hints = is_said && strstr(judge->text, "--sample");
		if (is_said && strcmp(done->judged, done->path) != 0)
			log_say("%s is %s:", is_judged_for(done->judged_worth),
				closing_short_path(session, done->judged));
		if (is_said)
			say(judge->text);
	}
	munmap(judge, sizeof(*judge));
	return is_said;
}
