/* SPDX-License-Identifier: MIT */
/*
 * sim_stream.h - streams, events, and the work that is put into them.
 *
 * Nothing runs: a stream is the moment at which its last work will be done.
 * Work starts when that moment has come and the launch's latency is over, and
 * takes the time that its kind and size take.  Copies and memsets are carried
 * out at once, so that their results are there in time.
 */
#ifndef FAKE_GPU_SIM_STREAM_H
#define FAKE_GPU_SIM_STREAM_H

#include <cupti.h>
#include <stdint.h>

struct sim_graph;
struct sim_work;

struct sim_stream {
	struct sim_stream *next;
	uint32_t id;
	uint32_t context; /* of the program's own, 0 a primary one */
	int is_null;
	int blocking; /* waits for the null stream, and it for this one */
	int priority;
	int64_t tail;			  /* of the device's clock */
	int64_t kernel_start, kernel_end; /* its newest kernel */
	struct sim_graph *capture;
};

/* A CUDA handle: NULL and cudaStreamLegacy are the null stream,
 * cudaStreamPerThread this thread's own.  NULL if there is no such stream. */
struct sim_stream *stream_of(const void *handle);
struct sim_stream *stream_null(void);
struct sim_stream *stream_per_thread(void);

struct sim_stream *stream_new(int blocking, int priority);
int stream_free(struct sim_stream *stream);

/* Finds the place of work that takes so long, and takes it. */
void stream_place(struct sim_stream *stream, int kernel, int64_t duration_ns,
		  int64_t *start, int64_t *end);

/* 1: all work is done.  The query is recorded where queries are. */
int stream_query(struct sim_stream *stream);
int stream_synchronize(struct sim_stream *stream);
void stream_synchronize_all(void);

/* When what is put into the stream now could start at the earliest. */
int64_t stream_ready_at(struct sim_stream *stream);

/* Nothing later in the stream starts before that. */
void stream_hold(struct sim_stream *stream, int64_t until_ns);

/* The capture with this number, if it goes on; all of its streams leave it. */
struct sim_graph *stream_find_capture(uint32_t graph);
void stream_leave_capture(const struct sim_graph *graph);

/* A SYNCHRONIZATION record from `start` of the client's clock till now. */
void stream_record_wait(CUpti_ActivitySynchronizationType type, uint64_t start,
			uint32_t stream, uint32_t event, uint64_t sync,
			int result);

/* STREAM records of those that there are. */
void stream_dump(void);

#endif
