/* SPDX-License-Identifier: MIT */
/*
 * cupti_source.h - the GPU as a source of events, through CUPTI.
 *
 * libcuda loads us by CUDA_INJECTION64_PATH when the program initialises CUDA
 * and calls InitializeInjection().  From then on
 *
 *	CUPTI		fills buffers and hands them over (cupti_buffers.c)
 *	a helper	asks it to hand over what is done, each second and when
 *			a window has ended (cupti_flush.c): that call may hang,
 *			and then only the helper does
 *	the writer	decodes buffers into a ring of its own, each pass
 *			(cupti_source.c), where they survive a kill
 *
 * A program that never initialises CUDA pays for one variable in its
 * environment.  CUPTI is never finalised, and nothing of it is called once the
 * program has begun to exit, or in a forked child.
 */
#ifndef PRELOAD_CUPTI_SOURCE_H
#define PRELOAD_CUPTI_SOURCE_H

#include "collector/session/session.h"

#ifdef HAVE_CUPTI

/* From our constructor: lets libcuda find us. */
void cupti_prepare(void);

/* Attaches if nobody has, `late` when CUDA is in use already.  True: CUPTI
 * records.  Keeps errno. */
bool cupti_attach(bool late);
bool cupti_is_attached(void);

/* The program ends: gets from CUPTI what it has, waiting at most so long. */
void cupti_end(unsigned int wait_ms);

/* In a forked child: forgets everything, touches nothing of CUPTI's. */
void cupti_forget(void);

/* --- between the files of cupti_*.c ----------------------------------- */

/* CUPTI may be called: attached, not exiting, no fatal error. */
bool cupti_is_alive(void);
void cupti_kill(void);

/* Writer's thread, each pass. */
void cupti_source_poll(void *arg);
void cupti_source_forget(void);

/* The helper. */
int cupti_flush_start(void);
void cupti_flush_ask(void);
void cupti_flush_end(unsigned int wait_ms);
void cupti_flush_at_exit(void);
void cupti_flush_forget(void);

/* Its thread, whose own calls of CUDA aren't the program's; 0 none. */
uint32_t cupti_flush_tid(void);

/* Ticks before which CUPTI was last asked, and gave what it had. */
uint64_t cupti_flush_ticks(void);

/* Activity kinds, on or off; any thread, but not inside a callback. */
void cupti_kinds_start(const struct options *options, bool late);
void cupti_kinds_want(bool on);

/* The writer: off, if nothing needs them. */
void cupti_kinds_rest(const struct session *session);
void cupti_kinds_forget(void);

#else

static inline void cupti_prepare(void)
{
}

static inline bool cupti_attach(bool late)
{
	(void)late;
	return false;
}

static inline bool cupti_is_attached(void)
{
	return false;
}

static inline void cupti_end(unsigned int wait_ms)
{
	(void)wait_ms;
}

static inline void cupti_forget(void)
{
}

#endif
#endif
