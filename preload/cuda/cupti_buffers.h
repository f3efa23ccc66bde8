/* SPDX-License-Identifier: MIT */
/*
 * cupti_buffers.h - the memory that CUPTI writes its records into.
 *
 *	FREE -> LENT	cupti_buffers_request(), on any thread
 *	LENT -> FULL	cupti_buffers_complete(), on any thread: names are
 *			interned and the buffer is pushed on a list
 *	FULL -> FREE	the writer's thread, when it has decoded it
 *
 * Between LENT and FULL a buffer is CUPTI's alone.  Both callbacks may run with
 * CUPTI's locks held: they take none, call no CUPTI function but the walker,
 * and allocate nothing but pages.
 */
#ifndef PRELOAD_CUPTI_BUFFERS_H
#define PRELOAD_CUPTI_BUFFERS_H

#include "preload/cuda/cupti_library.h"

#ifdef HAVE_CUPTI

/* CUPTI keeps a buffer until it is full and all work in it is done.  A small
 * one comes back soon where the GPU is never done. */
#define CUPTI_BUFFER_BYTES (128u << 10)
#define CUPTI_BUFFERS_MAX  2048u
/* While something is recorded or a step is searched for, as long as few are
 * out: what is in a buffer that CUPTI holds is lost to a kill. */
#define CUPTI_SMALL_BYTES  (32u << 10)
#define CUPTI_SMALL_MOST   512u

struct cupti_buffer {
	_Atomic uint32_t state;
	_Atomic uint32_t next; /* in the list: index + 1, 0 none */
	_Atomic uint64_t lent_ticks;
	size_t valid_bytes;
	uint8_t *bytes;
	CUpti_Activity *at; /* last record decoded, NULL none yet */
	bool has_own_clock; /* CUPTI's: see cupti_clock.h */
};

/* Reserves the address space.  `may_refuse`: this CUPTI survives a NULL.
 * 0 or -errno. */
int cupti_buffers_start(bool may_refuse);

void CUPTIAPI cupti_buffers_request(uint8_t **buffer, size_t *bytes,
				    size_t *most_records);
void CUPTIAPI cupti_buffers_complete(CUcontext context, uint32_t stream,
				     uint8_t *buffer, size_t bytes,
				     size_t valid_bytes);

/* Who gets a buffer that isn't ours. */
void cupti_buffers_strange(CUpti_BuffersCallbackCompleteFunc complete);

/* Writer's thread: all that was completed since the last call, the oldest
 * first, linked by `next`; NULL none. */
struct cupti_buffer *cupti_buffers_take(void);
struct cupti_buffer *cupti_buffers_next(const struct cupti_buffer *buffer);
void cupti_buffers_link(struct cupti_buffer *buffer,
			const struct cupti_buffer *next);
void cupti_buffers_release(struct cupti_buffer *buffer);

/* Writer's thread: when the oldest buffer was lent that holds records and isn't
 * released yet; UINT64_MAX: none is. */
uint64_t cupti_buffers_oldest(void);

/* Buffers that CUPTI got although there was no room, or that were lost. */
uint64_t cupti_buffers_refused(void);
/* The same since the program's end: they are not counted as losses. */
uint64_t cupti_buffers_refused_late(void);

/* With records in them, lent before `ticks` and not back; *oldest: when. */
unsigned int cupti_buffers_unreturned(uint64_t ticks, uint64_t *oldest);

/* Those don't come back any more: they are counted and never lent again. */
void cupti_buffers_lose(uint64_t ticks);

/* When one was last lent or came back. */
uint64_t cupti_buffers_touched(void);

/* In a forked child: the buffers are the parent's. */
void cupti_buffers_forget(void);

#endif
#endif
