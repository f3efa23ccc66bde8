/* SPDX-License-Identifier: MIT */
/*
 * child.c - fork, exec, pass signals on, wait.
 *
 * Signals are blocked and taken one by one, so that none gets lost between the
 * fork and the wait.  What the terminal sends goes to the whole process group;
 * the child has it already, so only signals that a process sent are passed on.
 */
#include "tools/record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const int passed_on[] = {SIGINT,	 SIGTERM, SIGHUP,
				SIGQUIT, SIGUSR1, SIGUSR2};

/* The child's half: errno of a failed exec goes through the pipe. */
static _Noreturn void become(char *const *command, int report,
			     const sigset_t *mask,
			     const struct sigaction *on_child)
{
	int error;

	sigaction(SIGCHLD, on_child, NULL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(command[0], command);
	error = errno;
	while (write(report, &error, sizeof(error)) < 0 && errno == EINTR)
		;
	_exit(127);
}

static void set_end(struct child_end *end, int status)
{
	end->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	end->code = end->signal ? 128 + end->signal : WEXITSTATUS(status);
}

static void attend(pid_t child, const sigset_t *watched, struct child_end *end,
		   void (*idle)(void *arg), void *arg)
{
	const struct timespec second = {.tv_sec = 1};
	siginfo_t info;
	int status;

	for (;;) {
		if (sigtimedwait(watched, &info, idle ? &second : NULL) < 0) {
			if (errno == EAGAIN)
				idle(arg);
			continue;
		}
		if (info.si_signo != SIGCHLD) {
			if (info.si_code <= 0)
				kill(child, info.si_signo);
			continue;
		}
		if (waitpid(child, &status, WNOHANG) == child) {
			set_end(end, status);
			return;
		}
	}
}

/* Undoes what child_run() set up; what came too late for the child is gone. */
static void restore(const sigset_t *watched, const sigset_t *mask,
		    const struct sigaction *on_child)
{
	const struct timespec now = {0};

	while (sigtimedwait(watched, NULL, &now) > 0)
		;
	sigaction(SIGCHLD, on_child, NULL);
	sigprocmask(SIG_SETMASK, mask, NULL);
}

int child_run(char *const *command, struct child_end *end,
	      void (*idle)(void *arg), void *arg)
{
	const struct sigaction ordinary = {.sa_handler = SIG_DFL};
	struct sigaction on_child;
	sigset_t watched, mask;
	int report[2], error = 0;
	ssize_t got;
	pid_t child;

	if (pipe2(report, O_CLOEXEC) < 0)
		return -errno;
	/* An inherited "ignore" would reap the child before we see it. */
	sigaction(SIGCHLD, &ordinary, &on_child);
	sigemptyset(&watched);
	sigaddset(&watched, SIGCHLD);
	for (size_t at = 0; at < sizeof(passed_on) / sizeof(passed_on[0]); at++)
		sigaddset(&watched, passed_on[at]);
	sigprocmask(SIG_BLOCK, &watched, &mask);
	child = fork();
	if (child == 0)
		become(command, report[1], &mask, &on_child);
	close(report[1]);
	if (child < 0) {
		error = errno;
		close(report[0]);
		restore(&watched, &mask, &on_child);
		return -error;
	}
	do {
		got = read(report[0], &error, sizeof(error));
	} while (got < 0 && errno == EINTR);
	close(report[0]);
	end->pid = child;
	attend(child, &watched, end, idle, arg);
	restore(&watched, &mask, &on_child);
	return got == (ssize_t)sizeof(error) ? -error : 0;
}
