/* SPDX-License-Identifier: MIT */
/* gpu_behind.c - see gpu_behind.h. */
#include "tools/model/gpu_behind.h"

#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"
#include "tools/util/numbers.h"

/* A GPU with nothing else to do begins some microseconds after a call. */
#define WAITS_NS INT64_C(1000000)

struct stream {
	int64_t until_ns; /* what was launched before is done as far as this */
	bool is_settled; /* its first work that was launched in the file came */
};

/* Its call is over, and it waits: for WAITS_NS, or since what was launched
 * before the file isn't done.  The call itself may have loaded code. */
static bool waits(const struct timeline *timeline, const struct stream *stream,
		  const struct gpu_work *work, uint32_t lane,
		  const struct launch *launch)
{
	const int64_t called_ns =
		launch->start_ns + timeline_launch_ns(timeline, lane, launch);

	return called_ns <= stream->until_ns ||
	       work->start_ns - called_ns >= WAITS_NS;
}

/* Ends come in order. */
static void add_unseen(struct gpu_behind *behind, int64_t start_ns,
		       int64_t end_ns)
{
	if (start_ns >= end_ns)
		return;
	while (behind->count &&
	       behind->unseen[behind->count - 1].end_ns >= start_ns) {
		const struct gpu_unseen *last =
			&behind->unseen[--behind->count];

		if (last->start_ns < start_ns)
			start_ns = last->start_ns;
	}
	behind->unseen =
		memory_grow(behind->unseen, behind->count, &behind->capacity,
			    sizeof(*behind->unseen));
	behind->unseen[behind->count++] = (struct gpu_unseen){start_ns, end_ns};
}

static void go_on(struct gpu_behind *behind, struct stream *stream,
		  int64_t until_ns)
{
	if (until_ns > stream->until_ns)
		stream->until_ns = until_ns;
	if (stream->until_ns > behind->until_ns)
		behind->until_ns = stream->until_ns;
}

static void take_earlier(struct gpu_behind *behind, struct stream *stream,
			 const struct timeline *timeline,
			 const struct gpu_work *work)
{
	const int64_t dur_ns = timeline_work_ns(timeline, work);

	if (!stream->is_settled) {
		add_unseen(behind, stream->until_ns, work->start_ns);
		go_on(behind, stream, work->start_ns + dur_ns);
	}
	if (timeline_row(timeline, work)->kind == GPU_COPY ||
	    timeline_row(timeline, work)->kind == GPU_FILL)
		return;
	behind->kernels++;
	saturate_into(&behind->kernels_ns, dur_ns);
}

/* The first one that was launched in the file. */
static void settle(struct gpu_behind *behind, struct stream *stream,
		   const struct timeline *timeline, const struct gpu_work *work)
{
	uint32_t lane;
	const struct launch *launch =
		timeline_launch_of(timeline, work->correlation, &lane);

	if (!launch)
		return;
	stream->is_settled = true;
	if (!waits(timeline, stream, work, lane, launch))
		return;
	add_unseen(behind, stream->until_ns, work->start_ns);
	go_on(behind, stream, work->start_ns);
}

void gpu_behind_find(struct gpu_behind *behind, const struct timeline *timeline)
{
	const size_t count = timeline->streams.count;
	struct stream *streams = memory_zeroed(count + 1, sizeof(*streams));

	*behind = (struct gpu_behind){.until_ns = INT64_MIN};
	for (size_t at = 0; at < count; at++)
		streams[at].until_ns = INT64_MIN;
	for (size_t at = 0; at < timeline->work_count; at++) {
		const struct gpu_work *work = &timeline->work[at];
		struct stream *stream =
			&streams[timeline_row(timeline, work)->stream];

		if (timeline_is_earlier(timeline, work))
			take_earlier(behind, stream, timeline, work);
		else if (!stream->is_settled)
			settle(behind, stream, timeline, work);
	}
	free(streams);
}

void gpu_behind_free(struct gpu_behind *behind)
{
	free(behind->unseen);
	memset(behind, 0, sizeof(*behind));
}
