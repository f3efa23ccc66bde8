/* SPDX-License-Identifier: MIT */
/*
 * alone.c - what the kernel does for a process of one thread only, in the
 * middle of waits that are recorded.
 *
 * alone WAY [THREADS]
 *
 * user      unshare(CLONE_NEWUSER), and a second time by syscall()
 * thread    unshare(CLONE_THREAD), which does nothing else than be refused
 * many      that, a hundred times
 * clones    each time then a child by number, which changes its group: the C
 *           library has it wait for threads that are just being made
 * rights    setresuid() by number, thousands of times, as servers of files do
 * apart     the same where the kernel allows no thread
 * pid       unshare(CLONE_NEWUSER | CLONE_NEWPID), then a child
 * handler   the same, and its end in a signal handler on a small stack
 * late      the same before anything is recorded: a range is, after it
 * join      setns() to a child's user and mount namespace, each kind named
 * joins     the same by descriptors that say of what they are
 * files     unshare(CLONE_FILES), then an end of a pipe is closed
 * range     the same by close_range()
 * hides     a mount namespace in which /tmp is another, and two steps in it
 * bad       calls that fail in any process
 */
#include "traceprof.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE 2
#endif

#define CALM	  3
#define OFTEN	  100
#define THOUSANDS 5000
#define HANDLER	  16384
#define STEPS	  8
/* The writer looks at windows in so short a time. */
#define STEP_MS	  60

/* A wait that is recorded. */
static void pause_for(long milliseconds)
{
	const struct timespec time = {0, milliseconds * 1000000};

	nanosleep(&time, NULL);
}

static void pauses(void)
{
	for (int i = 0; i < CALM; i++)
		pause_for(2);
}

static void said(const char *what, long rc)
{
	printf("%s: %s\n", what, rc < 0 ? strerror(errno) : "done");
	fflush(stdout);
}

static void unshares(int flags)
{
	said("unshare", unshare(flags));
	pauses();
	said("by number", syscall(SYS_unshare, flags));
}

static void unshares_often(void)
{
	int refused = 0;

	for (int i = 0; i < OFTEN; i++) {
		refused += unshare(CLONE_THREAD) != 0;
		pause_for(1);
	}
	printf("%d refused\n", refused);
}

static void asks_for_rights(void)
{
	long refused = 0;

	for (int i = 0; i < THOUSANDS; i++)
		refused += syscall(SYS_setresuid, -1L, -1L, -1L);
	printf("%ld refused\n", refused);
}

static void asks_apart(void)
{
	said("unshare", unshare(CLONE_NEWUSER | CLONE_NEWPID));
	asks_for_rights();
}

static void clones_often(void)
{
	struct clone_args args = {.exit_signal = SIGCHLD};
	int refused = 0, status = 0;

	for (int i = 0; i < OFTEN; i++) {
		pid_t pid;

		refused += unshare(CLONE_THREAD) != 0;
		pid = (pid_t)(i % 2 ? syscall(SYS_clone3, &args, sizeof(args))
				    : syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
		if (!pid)
			syscall(SYS_exit_group, setgid(getgid()) != 0);
		refused += waitpid(pid, &status, 0) != pid || status;
	}
	printf("%d refused\n", refused);
}

static void child_of_a_namespace(void)
{
	pid_t pid;
	int status;

	said("unshare", unshare(CLONE_NEWUSER | CLONE_NEWPID));
	pauses();
	pid = fork();
	if (!pid) {
		printf("child %d\n", (int)getpid());
		fflush(stdout);
		_exit(3);
	}
	waitpid(pid, &status, 0);
	said("fork", pid);
	printf("status %d\n", WEXITSTATUS(status));
}

static void leave(int signal_number)
{
	_exit(signal_number == SIGUSR1 ? 0 : 1);
}

static void ends_in_a_handler(void)
{
	struct sigaction action = {.sa_handler = leave, .sa_flags = SA_ONSTACK};
	stack_t stack = {.ss_size = HANDLER};
	char *pages = mmap(NULL, (size_t)2 * HANDLER, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	said("unshare", unshare(CLONE_NEWUSER | CLONE_NEWPID));
	pauses();
	/* Who goes further than that finds nothing. */
	if (pages == MAP_FAILED || mprotect(pages, HANDLER, PROT_NONE))
		return;
	stack.ss_sp = pages + HANDLER;
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
}

static void records_late(void)
{
	said("unshare", unshare(CLONE_NEWUSER | CLONE_NEWPID));
	for (int i = 0; i < CALM; i++) {
		traceprof_push("late");
		pause_for(2);
		traceprof_pop();
	}
}

static void put(const char *path, const char *text)
{
	const int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		perror(path);
	if (fd >= 0)
		close(fd);
}

/* Nothing of ours is made in it. */
static void hides_a_folder(void)
{
	const unsigned int user = geteuid(), group = getegid();
	char map[64];
	DIR *folder;
	int entries = 0;

	traceprof_mark("before");
	/* Else it would be everybody's. */
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS)) {
		said("unshare", -1);
		return;
	}
	snprintf(map, sizeof(map), "0 %u 1", user);
	put("/proc/self/uid_map", map);
	put("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "0 %u 1", group);
	put("/proc/self/gid_map", map);
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/tmp", "tmpfs", 0, NULL)) {
		said("mount", -1);
		return;
	}
	for (int step = 0; step < STEPS; step++) {
		traceprof_step();
		pause_for(STEP_MS);
	}
	folder = opendir("/tmp");
	while (folder && readdir(folder))
		entries++;
	printf("%d entries\n", entries);
}

static int namespace_of(pid_t pid, const char *kind)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)pid, kind);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static void joins(bool are_named)
{
	int ready[2], go[2], user, mount;
	char byte = 0;
	pid_t pid;

	if (pipe(ready) || pipe(go))
		return;
	pid = fork();
	if (!pid) {
		byte = unshare(CLONE_NEWUSER | CLONE_NEWNS) ? 'n' : 'y';
		(void)!write(ready[1], &byte, 1);
		close(go[1]);
		(void)!read(go[0], &byte, 1);
		_exit(0);
	}
	close(ready[1]);
	(void)!read(ready[0], &byte, 1);
	user = namespace_of(pid, "user");
	mount = namespace_of(pid, "mnt");
	said("user", setns(user, are_named ? CLONE_NEWUSER : 0));
	pauses();
	said("mount", setns(mount, are_named ? CLONE_NEWNS : 0));
	close(go[1]);
	waitpid(pid, NULL, 0);
}

/* Whoever reads finds the end as soon as the last writer closes. */
static void closes(bool by_range)
{
	int ends[2];
	char byte;

	if (pipe2(ends, O_NONBLOCK))
		return;
	said(by_range ? "range" : "files",
	     by_range ? close_range((unsigned int)ends[1],
				    (unsigned int)ends[1], CLOSE_RANGE_UNSHARE)
		      : unshare(CLONE_FILES));
	if (!by_range)
		close(ends[1]);
	said("read", read(ends[0], &byte, 1));
}

static void fail(void)
{
	said("unshare", unshare(CLONE_NEWUSER | 0x1));
	said("setns", setns(-1, CLONE_NEWUSER));
	said("setns", setns(STDOUT_FILENO, 0));
	said("by number", syscall(SYS_setns, STDOUT_FILENO, CLONE_NEWUSER));
	said("range", close_range(7, 3, CLOSE_RANGE_UNSHARE));
	said("nowhere", syscall(SYS_clone3, 1L, (long)CLONE_ARGS_SIZE_VER0));
	said("too little", syscall(SYS_clone3, 1L, 8L));
}

static void *wait_for_ever(void *unused)
{
	pause();
	return unused;
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "user";
	pthread_t thread;

	for (int left = argc > 2 ? atoi(argv[2]) : 0; left > 0; left--)
		pthread_create(&thread, NULL, wait_for_ever, NULL);
	pauses();
	errno = 0;
	if (!strcmp(way, "user"))
		unshares(CLONE_NEWUSER);
	else if (!strcmp(way, "thread"))
		unshares(CLONE_THREAD);
	else if (!strcmp(way, "many"))
		unshares_often();
	else if (!strcmp(way, "rights"))
		asks_for_rights();
	else if (!strcmp(way, "apart"))
		asks_apart();
	else if (!strcmp(way, "clones"))
		clones_often();
	else if (!strcmp(way, "handler"))
		ends_in_a_handler();
	else if (!strcmp(way, "late"))
		records_late();
	else if (!strcmp(way, "hides"))
		hides_a_folder();
	else if (!strcmp(way, "pid"))
		child_of_a_namespace();
	else if (!strcmp(way, "join") || !strcmp(way, "joins"))
		joins(!way[4]);
	else if (!strcmp(way, "files") || !strcmp(way, "range"))
		closes(way[0] == 'r');
	else
		fail();
	pauses();
	return 0;
}
