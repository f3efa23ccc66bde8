/* SPDX-License-Identifier: MIT */
/*
 * sim_buffers.h - the client's activity buffers: asked for, filled, given back.
 */
#ifndef FAKE_GPU_SIM_BUFFERS_H
#define FAKE_GPU_SIM_BUFFERS_H

#include <cupti.h>
#include <stddef.h>
#include <stdint.h>

void buffers_register(CUpti_BuffersCallbackRequestFunc request,
		      CUpti_BuffersCallbackCompleteFunc complete);

/* Append to this thread's buffer, or to the common one. */
void buffers_put(const void *record, size_t size);

/* A record whose times are still to come: its place now, its times later.
 * Without a buffer it is dropped, and `buffer` NULL. */
struct sim_place {
	struct sim_buffer *buffer;
	uint8_t *record;
};

struct sim_place buffers_reserve(const void *record, size_t size);
void buffers_finish(struct sim_place place, const void *record, size_t size);

/* Give back everything that holds a record and none that is unfinished, after
 * collecting what the device has finished, or with `forced` also what it has
 * not. */
void buffers_flush(int forced);

size_t buffers_dropped(void); /* since the last question */
void buffers_count_dropped(void);

/* CUPTI_ACTIVITY_ATTR_*: 1 if it is so now. */
int buffers_per_thread(void);
int buffers_set_per_thread(int on); /* 0 if that is refused */
void buffers_set_zeroed(int by_client);

#endif
