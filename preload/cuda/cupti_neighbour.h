/* SPDX-License-Identifier: MIT */
/*
 * cupti_neighbour.h - another client of CUPTI in the process, torch.profiler
 * say.
 *
 * CUPTI has one set of buffers, one clock and, for callbacks, one subscriber.
 * The program's own profiler is to get what it gets without us.  So CUPTI is
 * handed over at its first call (cupti_hooks.c), and taken up again when it has
 * turned off all that it had turned on:
 *
 *	OURS -> LEAVING		its call, on the program's thread, which waits
 *				until our kinds are off and our buffers in
 *	LEAVING -> THEIRS	our thread of CUPTI has done so
 *	THEIRS -> RETURNING	it has been idle for a while
 *	RETURNING -> OURS	our thread has set everything up again
 *
 * On a busy machine any time may lie between two of its calls.  So what it
 * registered is kept, and registered again when it goes on.
 *
 * Older Kinetos keep the subscription for the life of the process.  Records
 * need none; what callbacks tell is missing from then on.
 *
 * Who found CUPTI's functions by dlopen() before us is not seen.  It is noticed
 * by CUPTI's silence (cupti_flush.c) and by buffers that a forced flush doesn't
 * bring back; then they are its for good.
 *
 * What the rest of preload/cuda/ asks is in cupti_source.h; here are its calls.
 */
#ifndef PRELOAD_CUPTI_NEIGHBOUR_H
#define PRELOAD_CUPTI_NEIGHBOUR_H

#include "preload/cuda/cupti_library.h"

#ifdef HAVE_CUPTI

/* Before it subscribes or sets something up that CUPTI has once. */
void cupti_neighbour_comes(bool subscribes);
/* After that; what it did stands between the two. */
void cupti_neighbour_is_done(void);
void cupti_neighbour_subscribed(bool is_subscribed);
/* What it registers is kept: we register our own later, and it may turn its
 * kinds on after that. */
void cupti_neighbour_registered(CUpti_BuffersCallbackRequestFunc request,
				CUpti_BuffersCallbackCompleteFunc complete);
void cupti_neighbour_timed(CUpti_TimestampCallbackFunc clock);
void cupti_neighbour_turned(uint32_t kind, bool on);
void cupti_neighbour_finalised(void);

/* Who looks functions up in that libcupti alone finds the hooks, too.  Once;
 * false: its table of symbols can't be changed, and stays.  Takes the loader's
 * lock. */
bool cupti_hooks_lead(void *handle);

#endif
#endif
