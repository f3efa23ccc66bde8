/* SPDX-License-Identifier: MIT */
/*
 * nvtx_range.h - the functions that NVTX's tables are filled with.
 *
 * Domains are NULL for the default one.  Pushes return the level, counted from
 * 0 in each thread and domain.
 */
#ifndef PRELOAD_NVTX_RANGE_H
#define PRELOAD_NVTX_RANGE_H

#include "collector/session/thread.h"
#include "preload/annotate/nvtx_text.h"

void nvtx_mark(const struct nvtx_string *domain,
	       const struct nvtx_event *event);
int nvtx_push(const struct nvtx_string *domain, const struct nvtx_event *event);
int nvtx_pop(const struct nvtx_string *domain);

/* Ranges that may end on any thread: a number that is never 0. */
uint64_t nvtx_start(const struct nvtx_string *domain,
		    const struct nvtx_event *event);
void nvtx_end(uint64_t number);

/* One that PyTorch tells of, with the id of its shapes or 0. */
uint64_t nvtx_start_operator(const char *name, uint32_t shapes);

/* The run ends, and with it the ranges that were never ended: on this thread,
 * which is and stays busy. */
void nvtx_finish(struct thread *thread);

/* `tid` is called so from now on, also if it comes later. */
void nvtx_name_thread(uint32_t tid, const char *name);

/* This thread has got a record: the name that it was given before. */
void nvtx_thread_entered(void);

#endif
