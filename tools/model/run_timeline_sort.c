/* SPDX-License-Identifier: MIT */
/*
 * run_timeline_sort.c - puts in order what a timeline gathered, and finds what
 * lies in what.
 *
 * A file is nearly in order, and glibc's qsort() takes as much memory again as
 * what it sorts: so what is nearly in order is put in order in place.
 */
#include "tools/model/run_timeline.h"

#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"
#include "tools/util/numbers.h"

/* Elements moved per element before qsort() is the better way. */
#define MOVES_MAX 256u

struct launch_place {
	uint32_t correlation, lane, place;
};

struct order {
	const struct timeline *timeline;
	uint32_t lane;
	int (*compare)(const void *left, const void *right, void *order);
};

static int compare_spans(const void *left, const void *right, void *arg)
{
	const struct span *a = left, *b = right;
	const struct order *order = arg;
	int64_t a_ns, b_ns;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	a_ns = timeline_dur_ns(order->timeline, order->lane, a);
	b_ns = timeline_dur_ns(order->timeline, order->lane, b);
	return (a_ns < b_ns) - (a_ns > b_ns);
}

/* Of steps, launches, samples and work, which all begin with their start. */
static int compare_starts(const void *left, const void *right, void *arg)
{
	const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	(void)arg;
	return a < b ? -1 : a > b;
}

static int compare_steps(const void *left, const void *right, void *arg)
{
	const struct timeline_step *a = left, *b = right;

	(void)arg;
	return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

static int compare_places(const void *left, const void *right, void *arg)
{
	const struct launch_place *a = left, *b = right;

	(void)arg;
	return a->correlation < b->correlation
		       ? -1
		       : a->correlation > b->correlation;
}

/* Where in the first `count` elements one that is less than the last goes. */
static size_t place_of(const char *array, size_t count, size_t size,
		       const char *element, struct order *order)
{
	size_t low = 0, high = count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (order->compare(array + middle * size, element, order) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void sort(void *elements, size_t count, size_t size, struct order *order)
{
	char *array = elements, kept[64];
	size_t moves = 0;

	for (size_t at = 1; at < count; at++) {
		char *element = array + at * size;
		size_t place;

		if (order->compare(element - size, element, order) <= 0)
			continue;
		place = place_of(array, at, size, element, order);
		moves += at - place;
		if (moves > MOVES_MAX * count) {
			qsort_r(array, count, size, order->compare, order);
			return;
		}
		memcpy(kept, element, size);
		memmove(array + (place + 1) * size, array + place * size,
			(at - place) * size);
		memcpy(array + place * size, kept, size);
	}
}

/* A slice that is open. */
struct open_span {
	int64_t end_ns, inside_ns;
	uint32_t name;
	enum host_kind kind;
};

struct walk {
	struct timeline *timeline;
	struct open_span *open;
	size_t depth, capacity;
	int64_t now_ns;
	timeline_piece *piece;
	void *arg;
	struct timeline_lane *lane; /* whose launches are matched, or NULL */
	size_t next_launch;
};

/* What is inside data loading or communication is a part of it, and so is what
 * is inside one call of CUDA. */
static enum host_kind kind_inside(const struct walk *walk, enum host_kind kind)
{
	const enum host_kind outer =
		walk->depth ? walk->open[walk->depth - 1].kind : HOST_PLAIN;

	switch (outer) {
	case HOST_DATA:
	case HOST_COMM:
	case HOST_LAUNCH:
	case HOST_COPY:
	case HOST_SYNC:
	case HOST_SAMPLE_ALLOC:
	case HOST_ALLOC: return outer;
	case HOST_OMP_TEAM: /* a share of nobody's: work all the same */
	case HOST_OMP: return kind == HOST_PLAIN ? HOST_OMP : kind;
	default: return kind;
	}
}

static void give_piece(struct walk *walk, int64_t end_ns)
{
	const struct open_span *top =
		walk->depth ? &walk->open[walk->depth - 1] : NULL;

	if (walk->piece && end_ns > walk->now_ns)
		walk->piece(walk->arg, walk->now_ns, end_ns,
			    top ? top->kind : HOST_PLAIN,
			    top ? top->name : TIMELINE_NONE);
	if (end_ns > walk->now_ns)
		walk->now_ns = end_ns;
}

static void leave(struct walk *walk, int64_t until_ns)
{
	while (walk->depth && walk->open[walk->depth - 1].end_ns <= until_ns) {
		give_piece(walk, walk->open[walk->depth - 1].end_ns);
		walk->depth--;
	}
	give_piece(walk, until_ns);
}

/* Is there the same name further out? */
static bool is_twice(const struct walk *walk, size_t depth)
{
	for (size_t at = depth; at-- > 0;)
		if (walk->open[at].name == walk->open[depth].name)
			return true;
	return false;
}

static bool is_cuda(enum host_kind kind)
{
	return kind == HOST_LAUNCH || kind == HOST_COPY || kind == HOST_SYNC ||
	       kind == HOST_ALLOC;
}

/* The GPU's time goes to all that encloses the launch. */
static void match_launch(struct walk *walk, const struct span *span)
{
	struct timeline_lane *lane = walk->lane;
	struct launch *launch;

	while (walk->next_launch < lane->launch_count &&
	       lane->launches[walk->next_launch].start_ns < span->start_ns)
		walk->next_launch++;
	launch = &lane->launches[walk->next_launch];
	if (walk->next_launch == lane->launch_count ||
	    launch->start_ns != span->start_ns || launch->name != span->name)
		return;
	walk->next_launch++;
	for (size_t at = walk->depth; at-- > 0;) {
		struct timeline_name *row =
			timeline_name(walk->timeline, walk->open[at].name);

		if (launch->op == TIMELINE_NONE &&
		    !is_cuda(walk->open[at].kind)) {
			launch->op = walk->open[at].name;
			saturate_into(&row->gpu_self_ns, launch->gpu_ns);
		}
		if (!is_twice(walk, at))
			saturate_into(&row->gpu_ns, launch->gpu_ns);
	}
}

/* torch.profiler writes ranges that begin in the function which opens them, and
 * outlast it by far.  They aren't in it. */
static void leave_crossed(struct walk *walk, const struct open_span *open,
			  int64_t start_ns)
{
	while (walk->depth &&
	       open->end_ns - walk->open[walk->depth - 1].end_ns >
		       walk->open[walk->depth - 1].end_ns - start_ns)
		walk->depth--;
}

/* What is inside isn't the outer one's own; but native code that samples met
 * below a function of Python is that function's. */
static void take_from_outer(struct walk *walk, const struct timeline_name *row,
			    const struct open_span *open, int64_t start_ns)
{
	bool is_first = true;

	for (size_t at = walk->depth; at-- > 0; is_first = false) {
		const int64_t end_ns = walk->open[at].end_ns < open->end_ns
					       ? walk->open[at].end_ns
					       : open->end_ns;
		struct timeline_name *outer =
			timeline_name(walk->timeline, walk->open[at].name);
		const bool is_native = timeline_is_sample(outer->host);

		if (timeline_is_sample(row->host) && !is_native)
			return;
		if (is_first || !is_native)
			outer->self_ns = saturate_subtract(outer->self_ns,
							   end_ns - start_ns);
		if (timeline_is_sample(row->host) || !is_native)
			return;
	}
}

static void enter(struct walk *walk, const struct span *span, uint32_t lane)
{
	struct timeline_name *row = timeline_name(walk->timeline, span->name);
	const int64_t dur_ns = timeline_dur_ns(walk->timeline, lane, span);
	struct open_span open = {span->start_ns + dur_ns, 0, span->name,
				 HOST_PLAIN};

	leave_crossed(walk, &open, span->start_ns);
	open.kind = kind_inside(walk, row->host);
	if (walk->lane) {
		saturate_into(&row->self_ns, dur_ns);
		take_from_outer(walk, row, &open, span->start_ns);
		match_launch(walk, span);
	}
	if (walk->depth && open.end_ns > walk->open[walk->depth - 1].end_ns)
		open.end_ns = walk->open[walk->depth - 1].end_ns;
	walk->open = memory_grow(walk->open, walk->depth, &walk->capacity,
				 sizeof(open));
	walk->open[walk->depth++] = open;
}

static void walk_lane(struct walk *walk, uint32_t number)
{
	const struct timeline_lane *lane =
		timeline_lane(walk->timeline, number);

	walk->now_ns = walk->timeline->start_ns;
	for (size_t at = 0; at < lane->count; at++) {
		leave(walk, lane->spans[at].start_ns);
		enter(walk, &lane->spans[at], number);
	}
	leave(walk, walk->timeline->end_ns);
	free(walk->open);
}

void timeline_walk(struct timeline *timeline, uint32_t lane,
		   timeline_piece *piece, void *arg)
{
	struct walk walk = {.timeline = timeline, .piece = piece, .arg = arg};

	walk_lane(&walk, lane);
}

static struct launch *launch_in(const struct timeline_lane *lane,
				uint32_t correlation)
{
	size_t low = 0, high = lane->launch_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (lane->launches[middle].correlation < correlation)
			low = middle + 1;
		else
			high = middle;
	}
	return low < lane->launch_count &&
			       lane->launches[low].correlation == correlation
		       ? &lane->launches[low]
		       : NULL;
}

static struct launch *launch_in_places(const struct timeline *timeline,
				       uint32_t correlation, uint32_t *lane)
{
	const struct launch_place *places = timeline->places;
	size_t low = 0, high = timeline->place_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (places[middle].correlation < correlation)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == timeline->place_count ||
	    places[low].correlation != correlation)
		return NULL;
	*lane = places[low].lane;
	return &timeline_lane(timeline, *lane)->launches[places[low].place];
}

struct launch *timeline_launch_of(const struct timeline *timeline,
				  uint32_t correlation, uint32_t *lane)
{
	for (unsigned int at = 0; at < timeline->searched_count; at++) {
		const uint32_t number = timeline->searched[at];
		struct launch *launch =
			launch_in(timeline_lane(timeline, number), correlation);

		if (launch) {
			*lane = number;
			return launch;
		}
	}
	return launch_in_places(timeline, correlation, lane);
}

/* Do the numbers of its launches go up with time, as most do? */
static bool is_in_order(const struct timeline_lane *lane)
{
	for (size_t at = 1; at < lane->launch_count; at++)
		if (lane->launches[at].correlation <=
		    lane->launches[at - 1].correlation)
			return false;
	return lane->launch_count;
}

/* A few lanes in order need no table. */
static void index_launches(struct timeline *timeline, struct order *order)
{
	size_t count = 0;

	for (uint32_t at = 0; at < timeline->lanes.table.count; at++) {
		struct timeline_lane *lane = timeline_lane(timeline, at);

		timeline->launch_count += lane->launch_count;
		lane->is_indexed =
			timeline->searched_count == TIMELINE_LANES_SEARCHED ||
			!is_in_order(lane);
		if (lane->is_indexed)
			count += lane->launch_count;
		else
			timeline->searched[timeline->searched_count++] = at;
	}
	timeline->places = memory_zeroed(count, sizeof(*timeline->places));
	for (uint32_t at = 0; at < timeline->lanes.table.count; at++) {
		const struct timeline_lane *lane = timeline_lane(timeline, at);

		for (size_t i = 0; lane->is_indexed && i < lane->launch_count;
		     i++)
			timeline->places[timeline->place_count++] =
				(struct launch_place){
					lane->launches[i].correlation, at,
					(uint32_t)i};
	}
	order->compare = compare_places;
	sort(timeline->places, count, sizeof(*timeline->places), order);
}

/* Is it by the numbers, which begin anew after 32 bits? */
static bool is_before(uint32_t left, uint32_t right)
{
	return (int32_t)(left - right) < 0;
}

static void find_first_launch(struct timeline *timeline)
{
	bool is_any = false;

	for (uint32_t at = 0; at < timeline->lanes.table.count; at++) {
		const struct timeline_lane *lane = timeline_lane(timeline, at);

		for (size_t i = 0; i < lane->launch_count; i++) {
			const uint32_t key = lane->launches[i].correlation;

			if (!is_any || is_before(key, timeline->first_launch))
				timeline->first_launch = key;
			is_any = true;
		}
	}
}

/* Of work with the number 0 nobody knows the launch. */
bool timeline_is_earlier(const struct timeline *timeline,
			 const struct gpu_work *work)
{
	return work->correlation &&
	       (!timeline->launch_count ||
		is_before(work->correlation, timeline->first_launch));
}

static void match_work(struct timeline *timeline)
{
	uint32_t lane;

	for (size_t at = 0; at < timeline->work_count; at++) {
		struct launch *launch = timeline_launch_of(
			timeline, timeline->work[at].correlation, &lane);

		if (launch)
			saturate_into(&launch->gpu_ns,
				      timeline_work_ns(timeline,
						       &timeline->work[at]));
	}
}

long timeline_step_at(const struct timeline *timeline, int64_t ns)
{
	size_t low = 0, high = timeline->step_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (timeline->steps[middle].start_ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return (long)low - 1;
}

/* The last sample in or before a step's end stands for it. */
static void weigh_steps(struct timeline *timeline)
{
	size_t sample = 0;

	for (size_t at = 0; at < timeline->step_count; at++) {
		struct timeline_step *step = &timeline->steps[at];
		const int64_t end_ns = step->start_ns + step->dur_ns;

		while (sample < timeline->heap_count &&
		       timeline->heap[sample].ns <= end_ns)
			sample++;
		if (sample)
			step->live_bytes = timeline->heap[sample - 1].bytes;
	}
}

void timeline_finish(struct timeline *timeline)
{
	struct order order = {timeline, 0, compare_starts};

	/* Nothing may be drawn in it. */
	if (timeline->end_ns <= timeline->start_ns && !timeline->step_count &&
	    timeline->lanes.table.count &&
	    timeline->recorded_ns > timeline->began_ns) {
		timeline->start_ns = timeline->began_ns;
		timeline->end_ns = timeline->recorded_ns;
	}
	sort(timeline->work, timeline->work_count, sizeof(*timeline->work),
	     &order);
	sort(timeline->heap, timeline->heap_count, sizeof(*timeline->heap),
	     &order);
	for (uint32_t at = 0; at < timeline->lanes.table.count; at++) {
		struct timeline_lane *lane = timeline_lane(timeline, at);

		sort(lane->launches, lane->launch_count, sizeof(struct launch),
		     &order);
		sort(lane->selves, lane->self_count,
		     sizeof(struct self_time_of), &order);
	}
	index_launches(timeline, &order);
	find_first_launch(timeline);
	match_work(timeline);
	for (uint32_t at = 0; at < timeline->lanes.table.count; at++) {
		struct timeline_lane *lane = timeline_lane(timeline, at);
		struct walk walk = {.timeline = timeline, .lane = lane};

		order.lane = at;
		order.compare = compare_spans;
		sort(lane->spans, lane->count, sizeof(*lane->spans), &order);
		walk_lane(&walk, at);
	}
	order.compare = compare_steps;
	sort(timeline->steps, timeline->step_count, sizeof(*timeline->steps),
	     &order);
	weigh_steps(timeline);
}
