/* SPDX-License-Identifier: MIT */
/* gpu_known.h - what the writer remembers of GPUs while it writes. */
#ifndef WRITER_GPU_KNOWN_H
#define WRITER_GPU_KNOWN_H

#include "writer/gpu/gpu_launch.h"
#include "writer/gpu/gpu_links.h"
#include "writer/gpu/gpu_pinned.h"
#include "writer/gpu/gpu_rows.h"
#include "writer/gpu/gpu_runs.h"
#include "writer/gpu/gpu_strays.h"
#include "writer/state/writer_state.h"

/* Readers by their threads' tids, as of a pass: threads come and go by the
 * thousand, and each event asks for its own. */
struct gpu_index {
	struct array slots; /* of struct ring_reader * */
	size_t count;	    /* a power of two; 0 none */
	uint64_t pass;
	const struct ring_reader *newest;
};

struct gpu {
	struct gpu_launches launches;
	/* Calls that were added once more, ahead of the drain, and how many
	 * events it is behind them. */
	struct drain ahead;
	uint32_t ahead_events;
	struct gpu_rows rows;
	struct gpu_rows annotations; /* the same lanes, of annotations */
	struct gpu_links links;
	struct gpu_marks marks;
	struct gpu_runs runs;
	int64_t allocated[GPU_DEVICES_MAX]; /* bytes, by device */
	struct gpu_pinned pinned;
	struct array memory; /* of struct event: allocations of this pass */
	size_t memory_count;
	struct gpu_index index; /* of threads' readers */
	uint32_t devices_named; /* bit each, in this file */
	uint64_t named_in_file;
	/* Kernels of a device whose limits haven't come wait until then; 0:
	 * none was met. */
	uint64_t settled_ticks; /* as of the last pass */
	uint64_t waits_until[GPU_DEVICES_MAX];
	/* The oldest launch whose work was put back in this pass. */
	uint64_t held_ticks;
	bool is_closing; /* the window's file ends: nothing waits any more */
	uint64_t moved;	 /* work that began before its launch */
	uint64_t most_moved_ns;
	uint64_t unlinked; /* work whose launch was never seen */
	struct gpu_strays strays;
	/* Before the file's end, of which records may be missing. */
	uint64_t unsettled_ns;
	/* So long CUPTI was another's in the file, or gave no sign at all. */
	uint64_t taken_ns;
	bool is_silent;
};

/* Of the ring that holds their events. */
static inline bool gpu_is_reader(const struct ring_reader *reader)
{
	return reader->thread->ring.never_waits;
}

#endif
