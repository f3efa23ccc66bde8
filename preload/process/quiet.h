/* SPDX-License-Identifier: MIT */
/*
 * quiet.h - a stretch of cold work inside the program's own call: no hook sees
 * it, nothing cancels it, and errno and the state of arithmetic are what they
 * were.
 */
#ifndef PRELOAD_QUIET_H
#define PRELOAD_QUIET_H

#include "collector/session/thread.h"
#include "collector/system/float_state.h"
#include <errno.h>
#include <pthread.h>

/* What we do is no point of cancellation, as malloc() is none; and hooks see
 * nothing of it. */
struct quiet {
	struct thread *was;
	int cancels;
	int saved;
	struct float_state arithmetic;
};

static inline struct quiet quiet_begin(void)
{
	struct quiet quiet = {.saved = errno, .was = thread_busy()};

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &quiet.cancels);
	quiet.arithmetic = float_state_leave();
	return quiet;
}

static inline void quiet_end(const struct quiet *quiet)
{
	int ignored;

	float_state_return(&quiet->arithmetic);
	pthread_setcancelstate(quiet->cancels, &ignored);
	thread_unbusy(quiet->was);
	errno = quiet->saved;
}

#endif
