/* SPDX-License-Identifier: MIT */
/*
 * slow_start.c - preloaded: a recording takes SLOW_START_MS longer to begin,
 * since it asks how much room there is in /dev/shm.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <time.h>

static atomic_int inside;

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
