/* SPDX-License-Identifier: MIT */
/*
 * thread_ends.c - the end of a thread, and of a process with its last one.
 *
 * A thread's record is retired by the destructor of a pthread key;
 * pthread_create() is left alone.  Other keys' destructors still free memory,
 * some after ours, so ours puts itself back until the last round.  What is
 * freed after that is counted as missed.
 *
 * A main thread may leave by pthread_exit(); the process then ends with its
 * last thread, which calls exit(0).  With our writer about, the last thread of
 * the program isn't the last one.  So the writer looks now and then: when all
 * other threads are ours, CUPTI's that began for us, or a main thread that is
 * dead already, nobody can ever make another one, and exit(0) is due.  A thread
 * of its own calls it, since finishing the file is the writer's work.
 *
 * Without us a main thread that ended by a bare system call, or was killed by a
 * seccomp filter, would have been the whole program's end, by that status or
 * that signal: then this is how the program ends, once its file is finished.
 */
#include "preload/process/families.h"
#include "preload/process/life_parts.h"

#include "collector/session/thread.h"
#include "collector/system/clock.h"
#include "collector/system/loader.h"
#include "collector/system/log.h"
#include "collector/system/proc.h"
#include "preload/process/life.h"
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LOOK_EACH_NS 200000000u
#define GONE_MS	     1000

static START_DATA pthread_key_t key;
static START_DATA bool has_key;
static START_DATA pthread_key_t background_key;
static START_DATA bool has_background_key;

/* `round` counts the calls for this thread, from 1. */
static void thread_ends(void *round)
{
	const uintptr_t number = (uintptr_t)round;

	if (number < PTHREAD_DESTRUCTOR_ITERATIONS &&
	    !pthread_setspecific(key, (void *)(number + 1)))
		return;
	/* A forked child that took no handler on its way (_Fork, clone) still
	 * has its parent's record here.  After the end of the recording not
	 * even the question is allowed: the thread may sit in a sandbox. */
	if (life_is_running()) {
		families_thread_leaves();
		thread_leave();
	}
}

static void background_ends(void *unused)
{
	(void)unused;
	background_leave();
}

void thread_ends_start(void)
{
	if (!has_key)
		has_key = !pthread_key_create(&key, thread_ends);
	if (!has_background_key)
		has_background_key =
			!pthread_key_create(&background_key, background_ends);
}

void life_thread_is_background(void)
{
	if (has_background_key &&
	    !pthread_setspecific(background_key, (void *)1))
		background_enter();
}

void thread_ends_arm(void)
{
	const int saved = errno;
	struct thread *was;

	if (!has_key)
		return;
	was = thread_busy();
	pthread_setspecific(key, (void *)1);
	thread_unbusy(was);
	errno = saved;
}

/* --- the last thread ------------------------------------------------------ */

/* The writer's alone. */
static uint64_t looked_ns;

/* The links of the folder: itself twice, and one for each thread, a dead main
 * thread included. */
static bool are_ours(void)
{
	struct stat status;

	return !stat("/proc/self/task", &status) &&
	       status.st_nlink == 3 + background_count();
}

/* *status: as waitpid() would have it, the line's last field. */
static bool main_is_dead(int *status)
{
	char path[64];
	char text[512];
	const char *state;
	const char *at;

	/* The dead have no program.  A link is read without a descriptor, whose
	 * number the program may count on. */
	log_format(path, sizeof(path), "/proc/self/task/%d/exe", (int)getpid());
	if (readlink(path, text, sizeof(text)) > 0)
		return false;
	log_format(path, sizeof(path), "/proc/self/task/%d/stat",
		   (int)getpid());
	if (proc_read(path, text, sizeof(text)) <= 0)
		return false;
	/* The state follows the name, which may hold anything. */
	state = strrchr(text, ')');
	if (!state || state[1] != ' ' || state[2] != 'Z')
		return false;
	at = strrchr(text, ' ');
	*status = at ? (int)strtol(at, NULL, 10) : 0;
	return true;
}

/* No handler of the program's runs: its threads are all gone. */
static _Noreturn void end_as(int status)
{
	const int signal_number = status & 0x7f;
	sigset_t wanted;

	if (signal_number) {
		life_end();
		sigemptyset(&wanted);
		sigaddset(&wanted, signal_number);
		signal(signal_number, SIG_DFL);
		pthread_sigmask(SIG_UNBLOCK, &wanted, NULL);
		kill(getpid(), signal_number);
	}
	_exit(status >> 8);
}

static sigset_t program_blocks;

void last_thread_blocks(const sigset_t *blocked)
{
	program_blocks = *blocked;
}

/* The writer blocks all signals; exit handlers may send some. */
static void *leave(void *status)
{
	if (status)
		end_as((int)(intptr_t)status);
	pthread_sigmask(SIG_SETMASK, &program_blocks, NULL);
	exit(0);
}

void last_thread_poll(void *unused)
{
	const uint64_t now = clock_monotonic_ns();
	pthread_t thread;
	int status = 0;

	(void)unused;
	if (now - looked_ns < LOOK_EACH_NS)
		return;
	looked_ns = now;
	if (are_ours() && main_is_dead(&status) &&
	    !pthread_create(&thread, NULL, leave, (void *)(intptr_t)status))
		pthread_detach(thread);
}

void last_thread_wait_gone(uint32_t tid)
{
	const struct timespec pause = {0, 1000000};

	for (int i = 0; i < GONE_MS; i++) {
		if (syscall(SYS_tgkill, getpid(), (int)tid, 0))
			return;
		nanosleep(&pause, NULL);
	}
}
