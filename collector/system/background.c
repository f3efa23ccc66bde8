/* SPDX-License-Identifier: MIT */
/* background.c - detached, deaf, small; see background.h. */
#include "collector/system/background.h"

#include <pthread.h>
#include <signal.h>

int background_start(void *(*run)(void *), size_t stack_bytes)
{
	pthread_attr_t attributes;
	pthread_t thread;
	sigset_t all;
	sigset_t before;
	int rc;

	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, stack_bytes);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = -pthread_create(&thread, &attributes, run, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return rc;
}
