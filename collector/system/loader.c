/* SPDX-License-Identifier: MIT */
/* loader.c - who is inside the dynamic loader, and who forks; see loader.h. */
#include "collector/system/loader.h"

#include <time.h>

#define PAUSE_NS 1000000
#define PAUSES	 200

static _Atomic int inside; /* our threads in the loader */
static _Atomic int forks;  /* forks under way */

/* Each side first says what it does and then looks at the other: sequentially
 * consistent, so at least one of two that meet sees the other. */
static bool wait_for(_Atomic int *count)
{
	const struct timespec pause = {0, PAUSE_NS};

	for (int i = 0; i < PAUSES && atomic_load(count); i++)
		nanosleep(&pause, NULL);
	return !atomic_load(count);
}

bool loader_enter(void)
{
	for (int i = 0; i < PAUSES; i++) {
		atomic_fetch_add(&inside, 1);
		if (!atomic_load(&forks))
			return true;
		atomic_fetch_sub(&inside, 1);
		if (!wait_for(&forks))
			return false;
	}
	return false;
}

void loader_leave(void)
{
	atomic_fetch_sub(&inside, 1);
}

void loader_before_fork(void)
{
	atomic_fetch_add(&forks, 1);
	wait_for(&inside);
}

void loader_after_fork(void)
{
	atomic_fetch_sub(&forks, 1);
}

void loader_forget(void)
{
	atomic_store(&inside, 0);
	atomic_store(&forks, 0);
}
