/* SPDX-License-Identifier: MIT */
/*
 * cupti_side.h - what CUPTI tells beside calls and the GPU's work: memory
 * pools, managed memory, compilation, host functions, streams.
 *
 * All of it is rare but managed memory, which is off unless asked for, as are
 * the times at which kernels were queued.
 */
#ifndef PRELOAD_CUPTI_SIDE_H
#define PRELOAD_CUPTI_SIDE_H

#include "preload/cuda/cupti_record.h"

#ifdef HAVE_CUPTI

/* Streams and their like, once, whatever the windows do. */
void cupti_side_start(const struct options *options, bool late);

/* CUPTI becomes another's. */
void cupti_side_leave(void);

/* The kinds that follow the windows. */
void cupti_side_turn(const struct options *options, bool on,
		     void (*enable)(CUpti_ActivityKind kind));

/* cuInit() is over, in a callback of CUPTI's: what had to wait for that. */
void cupti_side_initialised(void);

/* How much of a record of this kind is read; 0: none of these. */
size_t cupti_side_needs(CUpti_ActivityKind kind);

enum cupti_record cupti_side_decode(struct session *session, const void *record,
				    CUpti_ActivityKind kind,
				    struct cupti_event *made);

/* The pool that a block came from, beside the block. */
void cupti_side_pool(const CUpti_ActivityMemory4 *record, size_t room,
		     struct cupti_event *made);

/* There is no room for what is to be known of a stream: said. */
void cupti_side_refuse_stream(struct session *session);

/* A stream or an event got a name, on the thread of the program that gives
 * it. */
void cupti_side_name_stream(const void *stream, const char *name);
void cupti_side_name_event(const void *event, const char *name);

#endif
#endif
