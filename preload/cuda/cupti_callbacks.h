/* SPDX-License-Identifier: MIT */
/*
 * cupti_callbacks.h - the few moments at which CUPTI calls us back.
 *
 *	the end of cuInit(), a first context	our exit handler goes before
 *						libcuda's own
 *	a fatal error				CUPTI is gone
 *	launches and calls, and new nodes	only where they begin a step, or
 *	of graphs				may be one that was found
 */
#ifndef PRELOAD_CUPTI_CALLBACKS_H
#define PRELOAD_CUPTI_CALLBACKS_H

#include "preload/cuda/cupti_library.h"

#ifdef HAVE_CUPTI
#include "collector/session/session.h"

void cupti_callbacks_start(CUpti_SubscriberHandle subscriber);

/* Writer, each pass: once a search (collector/control/search.h) has found a
 * call, those that put work on a GPU are called back for. */
void cupti_callbacks_follow(const struct session *session);
void cupti_callbacks_forget(void);
void CUPTIAPI cupti_callback(void *unused, CUpti_CallbackDomain domain,
			     CUpti_CallbackId number, const void *data);

/* A step is being marked inside a call of CUDA's: CUPTI's settings must not be
 * touched. */
bool cupti_callbacks_are_inside(void);
#endif
#endif
