/* SPDX-License-Identifier: MIT */
/*
 * slow_start.c - preloaded: a recording takes SLOW_START_MS longer to begin,
 * since it asks how much room there is in /dev/shm.  The first START_TOGETHER
 * threads that block all signals, as who is about to begin it does, wait for
 * each other.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <time.h>

static atomic_int inside, blocking;

/* So many times has a recording been about to begin. */
int slow_start_inside(void)
{
	return atomic_load(&inside);
}

int statvfs(const char *path, struct statvfs *space)
{
	int (*next)(const char *, struct statvfs *);
	const char *text = getenv("SLOW_START_MS");
	const long ms = text ? atol(text) : 0;
	struct timespec left = {ms / 1000, ms % 1000 * 1000000};

	*(void **)&next = dlsym(RTLD_NEXT, "statvfs");
	atomic_fetch_add(&inside, 1);
	/* A signal doesn't shorten it. */
	while (nanosleep(&left, &left))
		;
	return next(path, space);
}

int pthread_sigmask(int how, const sigset_t *set, sigset_t *was)
{
	int (*next)(int, const sigset_t *, sigset_t *);
	const char *text = getenv("START_TOGETHER");
	const int together = text ? atoi(text) : 0;
	const struct timespec moment = {0, 1000000};

	*(void **)&next = dlsym(RTLD_NEXT, "pthread_sigmask");
	if (set && how == SIG_BLOCK && sigismember(set, SIGTERM) &&
	    atomic_load(&blocking) < together) {
		atomic_fetch_add(&blocking, 1);
		/* For ten seconds at most: then the test is to fail. */
		for (int i = 0; i < 10000 && atomic_load(&blocking) < together;
		     i++)
			nanosleep(&moment, NULL);
	}
	return next(how, set, was);
}
