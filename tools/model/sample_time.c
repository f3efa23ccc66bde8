/* SPDX-License-Identifier: MIT */
/* sample_time.c - a walk over each lane of samples; see sample_time.h. */
#include "tools/model/sample_time.h"

#include <stdlib.h>
#include <string.h>

#include "tools/model/host_cover.h"
#include "tools/util/memory.h"
#include "tools/util/numbers.h"

struct open_function {
	int64_t end_ns;
	uint32_t function; /* for which its own time counts */
	uint32_t line;	   /* the program's that calls it; or the function */
	bool is_python;
};

struct walk {
	const struct timeline *timeline;
	const struct split *split;
	struct open_function *open;
	size_t depth, capacity;
	int64_t now_ns;
	bool *is_own;		/* the program's line or function, by name */
	struct key_table pairs; /* int64_t, by line and function */
	struct sample_time *times;
};

/* Neither a package's function of Python nor the interpreter's, and in native
 * code no runtime's. */
static bool is_program(const struct timeline *timeline, uint32_t name)
{
	const struct timeline_name *row = timeline_name(timeline, name);
	const char *text = row->text;

	if (timeline_is_sample(row->host))
		return !row->is_runtime;
	return !strcmp(timeline_category(timeline, name), "python_function") &&
	       *text != '<' && !strstr(text, "/site-packages/") &&
	       !strstr(text, "/dist-packages/") &&
	       !strstr(text, "/lib/python") && strncmp(text, "torch/", 6);
}

static void count(struct walk *walk, const struct open_function *top,
		  int64_t end_ns)
{
	const uint32_t key[2] = {top->line, top->function};
	const int64_t ns = walk->split ? split_typical_ns(walk->split,
							  walk->now_ns, end_ns)
				       : end_ns - walk->now_ns;
	struct sample_time *time = &walk->times[top->line];
	int64_t *pair = key_table_row(
		&walk->pairs, key_table_number(&walk->pairs, key, sizeof(key)));

	saturate_into(&time->ns, ns);
	saturate_into(pair, ns);
	if (*pair <= time->most_ns)
		return;
	time->most_ns = *pair;
	time->most = top->function;
}

static void leave(struct walk *walk, int64_t until_ns)
{
	while (walk->depth) {
		const struct open_function *top = &walk->open[walk->depth - 1];
		const int64_t end_ns =
			top->end_ns < until_ns ? top->end_ns : until_ns;

		if (end_ns > walk->now_ns) {
			count(walk, top, end_ns);
			walk->now_ns = end_ns;
		}
		if (top->end_ns > until_ns)
			break;
		walk->depth--;
	}
	if (until_ns > walk->now_ns)
		walk->now_ns = until_ns;
}

static void enter(struct walk *walk, const struct span *span, int64_t end_ns)
{
	const struct open_function *outer =
		walk->depth ? &walk->open[walk->depth - 1] : NULL;
	const bool is_native = timeline_is_sample(
		timeline_name(walk->timeline, span->name)->host);
	const bool is_below = outer && outer->is_python;
	struct open_function open = {end_ns, span->name, span->name,
				     !is_native || is_below};

	if (is_below && is_native) {
		open.function = outer->function;
		open.line = outer->line;
	} else if (outer && is_below == !is_native &&
		   !walk->is_own[span->name] && walk->is_own[outer->line]) {
		open.line = outer->line;
	}
	if (outer && open.end_ns > outer->end_ns)
		open.end_ns = outer->end_ns;
	walk->open = memory_grow(walk->open, walk->depth, &walk->capacity,
				 sizeof(open));
	walk->open[walk->depth++] = open;
}

static void walk_lane(struct walk *walk, uint32_t at)
{
	const struct timeline_lane *lane = timeline_lane(walk->timeline, at);

	walk->depth = 0;
	walk->now_ns = INT64_MIN;
	for (size_t i = 0; i < lane->count; i++) {
		const struct span *span = &lane->spans[i];

		leave(walk, span->start_ns);
		enter(walk, span,
		      span->start_ns +
			      timeline_dur_ns(walk->timeline, at, span));
	}
	leave(walk, INT64_MAX);
}

struct sample_time *sample_times(const struct timeline *timeline,
				 const struct split *split)
{
	return sample_times_but(timeline, split, TIMELINE_NONE);
}

struct sample_time *sample_times_but(const struct timeline *timeline,
				     const struct split *split, uint32_t lane)
{
	const uint32_t left_out = lane == TIMELINE_NONE
					  ? TIMELINE_NONE
					  : host_cover_lane(timeline, lane);
	const size_t names = timeline->names.count + 1;
	struct walk walk = {
		.timeline = timeline,
		.split = split,
		.pairs.row_bytes = sizeof(int64_t),
		.is_own = memory_zeroed(names, sizeof(*walk.is_own)),
		.times = memory_zeroed(names, sizeof(*walk.times)),
	};

	for (uint32_t at = 0; at < timeline->names.count; at++)
		walk.is_own[at] = is_program(timeline, at);
	for (uint32_t at = 0; at < timeline->lanes.table.count; at++)
		if (at != left_out && host_cover_is_lane(timeline, at))
			walk_lane(&walk, at);
	free(walk.open);
	free(walk.is_own);
	key_table_free(&walk.pairs);
	return walk.times;
}
