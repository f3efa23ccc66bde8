/* SPDX-License-Identifier: MIT */
/*
 * gpu_state.h - what the session knows about GPUs beside events: where its
 * records come from, the devices, and how far those records have come.
 *
 * Records of the GPU arrive late: a kernel is delivered when it has run and its
 * buffer was handed over.  `settled_ticks` is the time up to which everything
 * that was launched has arrived; a window's file is not finished before.
 */
#ifndef COLLECTOR_GPU_STATE_H
#define COLLECTOR_GPU_STATE_H

#include "collector/system/base.h"

#define GPU_DEVICES_MAX 16u
#define GPU_NAME_BYTES	96
#define GPU_STREAMS_MAX 1024u
#define GPU_GRAPHS_MAX	16384u
#define GPU_TAKEN_MAX	1024u

enum gpu_source {
	GPU_SOURCE_NONE,
	GPU_SOURCE_CUPTI,
	GPU_SOURCE_CALLS, /* the calls of the shared CUDA runtime, no more */
};

struct gpu_device {
	uint64_t memory_bytes;
	uint32_t is_known;
	uint32_t major, minor; /* compute capability */
	uint32_t multiprocessors;
	uint32_t warp_size;
	uint32_t warps_per_multiprocessor;
	uint32_t blocks_per_multiprocessor;
	uint32_t threads_per_block;
	uint32_t registers_per_block;
	uint32_t registers_per_multiprocessor;
	uint32_t shared_per_block;
	uint32_t shared_per_multiprocessor;
	uint32_t is_mig;       /* a part of a GPU: */
	uint32_t gpu_instance; /* which */
	uint32_t compute_instance;
	uint8_t uuid[16];
	uint8_t mig_uuid[16];
	char name[GPU_NAME_BYTES];
};

/* A stream that has a priority or a name.  A slot is claimed by its key and
 * never given back. */
struct gpu_stream {
	_Atomic uint64_t key; /* context << 32 | stream, 0 free */
	_Atomic int32_t priority;
	_Atomic uint32_t name; /* interned, 0 none */
};

/* A CUDA graph that can be launched, as CUPTI told when it was made; the one
 * with the id i lies at i % GPU_GRAPHS_MAX. */
struct gpu_graph {
	_Atomic uint32_t id;
	_Atomic uint32_t kernels; /* in each launch; 0 not known */
	_Atomic uint32_t work;	  /* kernels, copies and memsets; 0 not known */
};

/* A time at which CUPTI was another profiler's; RELEASE of the count behind it.
 */
struct gpu_taken {
	_Atomic uint64_t start_ticks;
	_Atomic uint64_t end_ticks; /* 0 it goes on */
	_Atomic uint32_t tid;
	_Atomic uint32_t is_loss; /* before it was seen */
};

struct gpu_state {
	_Atomic uint32_t source;	/* enum gpu_source */
	_Atomic uint32_t is_live;	/* records may still come */
	_Atomic uint32_t is_cut;	/* CUPTI's last ones never came */
	_Atomic uint64_t settled_ticks; /* writer's thread alone stores */
	uint32_t cupti_version;
	/* As CUDA counts, 13000 is 13.0; 0 unknown. */
	_Atomic int32_t driver_version;
	_Atomic int32_t runtime_version;
	/* What was launched until then and isn't done has no times: it had been
	 * waited for long enough. */
	_Atomic uint64_t hurried_ticks;
	/* Windows at whose beginning CUPTI was not switched on in time. */
	_Atomic uint32_t late_windows;

	/* The writer's thread adds. */
	uint64_t launches; /* calls that put work on a GPU */
	uint64_t kernels;
	/* Launched in a window, and in no file. */
	_Atomic uint64_t missing_kernels;
	uint64_t without_time;	   /* records whose times are 0, left out */
	uint64_t unfinished;	   /* of them: of work that wasn't done */
	uint64_t unknown;	   /* records of kinds that aren't decoded */
	uint64_t doubled;	   /* driver calls made by a runtime call */
	uint64_t unpaired;	   /* calls that may be such, and are drawn */
	uint64_t unknown_captures; /* launches that may be a node's */
	uint64_t with_stack;	   /* calls that have one */
	uint64_t without_stack;	   /* calls that should have had one */
	_Atomic uint32_t has_allocator; /* that reports what it hands out */
	_Atomic uint64_t lost;		/* buffers that we had no room for */
	_Atomic uint64_t dropped;	/* records that CUPTI had no room for */
	/* When CUPTI last asked for a buffer or gave one back; 0 never. */
	_Atomic uint64_t touched_ticks;
	_Atomic uint32_t taken_count; /* ever: the newest are in the ring */
	struct gpu_taken taken[GPU_TAKEN_MAX];
	struct gpu_device device[GPU_DEVICES_MAX];
	struct gpu_stream stream[GPU_STREAMS_MAX];
	struct gpu_graph graph[GPU_GRAPHS_MAX];
};

/* The stream's slot, made if need be; NULL: there are too many.  Any thread. */
struct gpu_stream *gpu_stream_slot(struct gpu_state *gpu, uint32_t context,
				   uint32_t stream);

/* NULL: nothing is known of it. */
const struct gpu_stream *gpu_stream_find(const struct gpu_state *gpu,
					 uint32_t context, uint32_t stream);

/* Kernels in each launch of that graph; 0 not known. */
static inline uint32_t gpu_state_kernels(struct gpu_state *state, uint32_t id)
{
	struct gpu_graph *graph = &state->graph[id % GPU_GRAPHS_MAX];

	return load_relaxed(&graph->id) == id ? load_relaxed(&graph->kernels)
					      : 0;
}

#endif
