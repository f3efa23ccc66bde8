/* SPDX-License-Identifier: MIT */
/* unwind_trial.c - loads libunwind in a copy of the process; see
 * unwind_trial.h. */
#include "preload/stack/unwind_trial.h"

#include "preload/process/real.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRIAL_SECONDS 3

/* Whatever ends it does so at once, without a word, a core file, or a handler
 * of the program's. */
static void prepare_to_end(void)
{
	static const int ends[] = {SIGSEGV, SIGBUS,  SIGILL, SIGFPE,
				   SIGABRT, SIGALRM, SIGSYS, SIGTRAP};
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	const struct sigaction plain = {.sa_handler = SIG_DFL};
	const struct rlimit nothing = {0, 0};
	sigset_t none;

	prctl(PR_SET_DUMPABLE, 0);
	setrlimit(RLIMIT_CORE, &nothing);
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		sigaction(ends[i], &plain, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	alarm(TRIAL_SECONDS);
}

/* Neither of the two calls is one of the C library's: nothing that waits for a
 * fork or for children is to know of it.  No signal tells of its end. */
static bool try_in_a_copy(void)
{
	const pid_t pid = (pid_t)syscall(SYS_clone, 0, 0, 0, 0, 0);
	int status;

	if (!pid) {
		prepare_to_end();
		dlopen(UNWIND_FILE, RTLD_NOW | RTLD_LOCAL);
		syscall(SYS_exit_group, 0);
	}
	if (pid < 0)
		return false;
	while (syscall(SYS_wait4, pid, &status, __WCLONE, NULL) < 0)
		if (errno != EINTR)
			return false;
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

COLD bool unwind_can_be_loaded(void)
{
	const char *object;

	return real_sees_heap(&object) || try_in_a_copy();
}
