/* SPDX-License-Identifier: MIT */
/*
 * cupti_hooks.c - in front of those functions of CUPTI by which another client
 * takes it over.
 *
 * Each tells preload/cuda/cupti_neighbour.c and goes on to the libcupti that
 * the calling file was linked with.  Our own calls don't come here.
 *
 * Only names that every CUPTI has: of newer ones a program asks whether they
 * are there, and these would always be.
 */
#include "preload/cuda/cupti_neighbour.h"

#ifdef HAVE_CUPTI

#include "collector/system/loader.h"
#include "preload/process/quiet.h"
#include <dlfcn.h>

/* As the loader would have bound the caller: by its own libraries, else by the
 * next in the global scope, else whichever is there. */
static void *find(uintptr_t caller, const char *name, const void *self)
{
	static const char *const loaded[] = {"libcupti.so.13",
					     "libcupti.so.12"};
	void *own, *found = NULL;
	Dl_info info = {0};

	/* The program itself has another name there, and finds the next. */
	if (dladdr((void *)caller, &info) && info.dli_fname) {
		own = dlopen(info.dli_fname,
			     RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
		found = own ? dlsym(own, name) : NULL;
	}
	/* A program's own handle stands for the global scope: we are in it. */
	if (!found || found == self)
		found = dlsym(RTLD_NEXT, name);
	for (int i = 0; i < 2 && !found; i++) {
		own = dlopen(loaded[i], RTLD_LAZY | RTLD_NOLOAD);
		found = own ? dlsym(own, name) : NULL;
	}
	return found;
}

static COLD void *original(uintptr_t caller, const char *name, const void *self)
{
	const struct quiet quiet = quiet_begin();
	const bool keeps_forks_out = loader_enter();
	void *found = find(caller, name, self);

	if (keeps_forks_out)
		loader_leave();
	quiet_end(&quiet);
	return found;
}

#define CALLER ((uintptr_t)__builtin_return_address(0))
#define ORIGINAL(name)                                                         \
	__typeof__(&name) real = NULL;                                         \
                                                                               \
	*(void **)(void *)&real = original(CALLER, #name, (void *)name);       \
	if (!real)                                                             \
	return CUPTI_ERROR_NOT_INITIALIZED

EXPORT CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *subscriber,
				  CUpti_CallbackFunc callback, void *argument)
{
	CUptiResult result;

	ORIGINAL(cuptiSubscribe);
	cupti_neighbour_comes(true);
	result = real(subscriber, callback, argument);
	if (result == CUPTI_SUCCESS)
		cupti_neighbour_subscribed(true);
	cupti_neighbour_is_done();
	return result;
}

EXPORT CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle subscriber)
{
	CUptiResult result;

	ORIGINAL(cuptiUnsubscribe);
	result = real(subscriber);
	if (result == CUPTI_SUCCESS)
		cupti_neighbour_subscribed(false);
	return result;
}

EXPORT CUptiResult
cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc clock)
{
	CUptiResult result;

	ORIGINAL(cuptiActivityRegisterTimestampCallback);
	cupti_neighbour_comes(false);
	result = real(clock);
	cupti_neighbour_timed(clock);
	cupti_neighbour_is_done();
	return result;
}

EXPORT CUptiResult
cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
			       CUpti_BuffersCallbackCompleteFunc complete)
{
	CUptiResult result;

	ORIGINAL(cuptiActivityRegisterCallbacks);
	cupti_neighbour_comes(false);
	cupti_neighbour_registered(request, complete);
	result = real(request, complete);
	cupti_neighbour_is_done();
	return result;
}

EXPORT CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
	CUptiResult result;

	ORIGINAL(cuptiActivityEnable);
	cupti_neighbour_comes(false);
	result = real(kind);
	if (result == CUPTI_SUCCESS)
		cupti_neighbour_turned(kind, true);
	cupti_neighbour_is_done();
	return result;
}

EXPORT CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind)
{
	ORIGINAL(cuptiActivityDisable);
	cupti_neighbour_turned(kind, false);
	return real(kind);
}

EXPORT CUptiResult cuptiFinalize(void)
{
	CUptiResult result;

	ORIGINAL(cuptiFinalize);
	cupti_neighbour_comes(true);
	result = real();
	cupti_neighbour_finalised();
	cupti_neighbour_is_done();
	return result;
}

#endif
