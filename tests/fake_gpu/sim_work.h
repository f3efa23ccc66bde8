/* SPDX-License-Identifier: MIT */
/*
 * sim_work.h - one piece of work for a stream: a kernel, a copy or a memset.
 */
#ifndef FAKE_GPU_SIM_WORK_H
#define FAKE_GPU_SIM_WORK_H

#include "tests/fake_gpu/sim_kernel.h"
#include "tests/fake_gpu/sim_stream.h"
#include <stddef.h>
#include <stdint.h>

/* The last two are nodes of graphs alone. */
enum work_kind {
	WORK_KERNEL,
	WORK_COPY,
	WORK_SET,
	WORK_HOST,
	WORK_ALLOC,
	WORK_FREE
};

/* What not every launch has. */
struct sim_shape {
	unsigned int cluster[3];
	int cooperative;
};

struct sim_work {
	enum work_kind kind;
	const struct sim_kernel *kernel;
	unsigned int grid[3], block[3];
	size_t shared;
	void *to;
	const void *from;
	size_t bytes; /* of a row; of a memset all of them */
	size_t rows;  /* 0: one */
	size_t to_pitch, from_pitch;
	uint32_t value; /* of a memset */
	uint32_t unit;	/* 1, 2 or 4 bytes */
	int asynchronous;
	int peer;
	int from_device, to_device; /* of a peer's copy */
	struct sim_shape shape;
	uint64_t queued;	  /* of the client's clock, 0 not asked for */
	void (*function)(void *); /* of the host */
	void *argument;
	uint64_t graph_node; /* 0 outside graphs */
	uint32_t graph;
	int silent;   /* the graph has a record of its own */
	int disabled; /* a node that is passed over */
};

/* Into the stream, or into the graph that it captures.  0 or an error. */
int work_put(struct sim_stream *stream, const struct sim_work *work);

/* Straight into the stream; says from when to when it will run. */
void work_run(struct sim_stream *stream, const struct sim_work *work,
	      int64_t *start, int64_t *end);

/* Work as the two APIs describe it. */
int work_copy(struct sim_stream *stream, void *to, const void *from,
	      size_t bytes, int asynchronous);
int work_copy_rows(struct sim_stream *stream, void *to, size_t to_pitch,
		   const void *from, size_t from_pitch, size_t width,
		   size_t rows, int asynchronous);
int work_set(struct sim_stream *stream, void *to, uint32_t value, uint32_t unit,
	     size_t count, int asynchronous);
/* The shape of this thread's next work_launch(). */
extern __thread struct sim_shape work_shape;
int work_launch(struct sim_stream *stream, struct sim_kernel *kernel,
		const unsigned int grid[3], const unsigned int block[3],
		size_t shared);

#endif
