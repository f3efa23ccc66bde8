/* SPDX-License-Identifier: MIT */
/*
 * live.h - a running program as its session shows it, at one moment.
 *
 * The session's file is read, never mapped for writing, and nobody is asked or
 * stopped: counters of one look may be some calls apart from each other.
 * Rates come of two looks.
 */
#ifndef TOOLS_LIVE_H
#define TOOLS_LIVE_H

#include <stdio.h>

#include "collector/session/session.h"
#include "collector/session/thread.h"

#define LIVE_THREADS_MAX 512u

struct live_thread {
	uint32_t tid;
	bool is_live;
	char name[THREAD_NAME_BYTES];
	uint64_t events, dropped, regions;
	uint32_t depth;	   /* open slices */
	unsigned int kind; /* of the innermost: enum event_kind */
	int64_t open_ns;   /* since it began; 0 nothing is open */
};

struct live {
	int64_t now_ns; /* CLOCK_MONOTONIC */
	int64_t began_ns;
	int pid;
	char program[64], host[64], file[SESSION_TEXT_BYTES];
	bool is_over; /* the recording has ended */
	bool is_recording, is_searching;
	int64_t steps, step_ns; /* begun; since the present one began, -1 */
	uint64_t events, dropped, unrecorded, missed, regions;
	uint64_t heap_calls;
	int64_t heap_live; /* bytes; -1 not counted */
	uint64_t launches, kernels, gpu_lost;
	bool has_gpu;
	int64_t gpu_behind_ns; /* its records are known up to then; -1 */
	uint64_t windows, files;
	uint32_t chunks, free_chunks;
	struct live_thread thread[LIVE_THREADS_MAX];
	size_t thread_count;
};

/* 0; -errno.  `file`: of running_open(). */
int live_read(int file, struct live *live);

/* `before`: an earlier look, or NULL; then there are no rates. */
void live_print_text(const struct live *live, const struct live *before,
		     unsigned int rows, unsigned int columns, FILE *out);
void live_print_line(const struct live *live, const struct live *before,
		     FILE *out);
void live_print_json(const struct live *live, const struct live *before,
		     FILE *out);

#endif
