/* SPDX-License-Identifier: MIT */
/* thin_tasks.c - what is drawn in the place of tasks; see thin_tasks.h. */
#include "collector/session/thin_tasks.h"

/* The slots of the ring that are filled, as far as its last chunk has them. */
static const struct event *slots(const struct thread *thread,
				 const struct event **end)
{
	const struct ring *ring = &thread->ring;
	const char *base = (const char *)ring;

	*end = (const struct event *)(base + ring->next);
	return (const struct event *)(base + (int64_t)(ring->chunk - ring->at) +
				      (int64_t)sizeof(struct chunk));
}

COLD bool thin_holds_slice(const struct thread *thread,
			   const struct thin_frame *frame)
{
	const struct event *end, *first = slots(thread, &end);
	const struct event *from =
		(const struct event *)((const char *)thread + frame->next);

	/* Begun in another chunk: who knows. */
	if (!thread->ring.chunk || from < first || from > end)
		return true;
	for (; from < end; from++)
		if (event_is_on_lane(from->kind))
			return true;
	return false;
}

/* Marks are told of when there are some, or at the next one: later than all of
 * them, and nobody knows when. */
static bool are_marks(const struct event *event)
{
	return event->kind == EVENT_OMP_THINNED &&
	       !(event->flags & EVENT_IN_SUMS);
}

/* The end of the last slice.  One that lies in a chunk before ended before the
 * first event of this one did, or before the first mark behind such ones;
 * without any nobody knows. */
static uint64_t last_end(const struct thread *thread)
{
	const struct event *marks = &thread->thin.marks;
	const struct event *end, *first = slots(thread, &end);
	const struct event *last = end;

	if (!thread->ring.chunk || first == end)
		return UINT64_MAX;
	while (last-- > first)
		if (event_is_on_lane(last->kind))
			return last->end_ticks;
	if (!are_marks(first))
		return first->end_ticks;
	if (++first < end)
		return are_marks(first) ? first->start_ticks : first->end_ticks;
	return marks->name ? marks->start_ticks : UINT64_MAX;
}

/* One slice of that length, of a payload that the caller fills in; how much of
 * it found room. */
static uint64_t show(struct thread *thread, struct event slice,
		     uint64_t from_ticks, uint64_t now_ticks, uint64_t took)
{
	const uint32_t depth = load_relaxed(&thread->depth);
	struct event *event;

	from_ticks = max_u64(from_ticks, thread->thin.wait_ticks);
	from_ticks = max_u64(from_ticks, last_end(thread));
	if (depth && depth <= OPEN_SLICES_MAX)
		from_ticks = max_u64(from_ticks,
				     thread->open[depth - 1].start_ticks);
	if (!took || from_ticks >= now_ticks)
		return 0;
	event = ring_reserve(&thread->ring, 1);
	if (!event)
		return 0;
	slice.start_ticks = from_ticks;
	slice.end_ticks = min_u64(from_ticks + took, now_ticks);
	*event = slice;
	ring_commit(&thread->ring, 1, 1);
	return slice.end_ticks - from_ticks;
}

COLD void thin_show(struct thread *thread, uint64_t from_ticks,
		    uint64_t now_ticks)
{
	struct thin *thin = &thread->thin;
	struct thread *was = thread_fill();
	const int64_t other =
		thin->bare_other ? (int64_t)(thin->bare_other - thin->bare_code)
				 : 0;
	const bool is_known = thin->bare_code && other == (int32_t)other;
	const struct event slice = {
		.kind = EVENT_OMP_TASKS,
		.outlined_offset = is_known ? (uint32_t)other : 0,
		.omp = {.region = thin->bare_region,
			.code = is_known ? thin->bare_code : 0},
	};
	const uint64_t shown =
		show(thread, slice, from_ticks, now_ticks, thin->frame.bare);

	thin->frame.bare -= shown;
	thin->frame.covered += shown;
	if (shown)
		thin->bare_code = thin->bare_other = 0;
	thread_unbusy(was);
}

COLD void thin_show_waits(struct thread *thread, uint64_t before,
			  uint64_t region, uint64_t from_ticks,
			  uint64_t now_ticks)
{
	struct thin_frame *here = &thread->thin.frame;
	struct thread *was = thread_fill();
	const struct event slice = {.kind = EVENT_OMP_WAITS,
				    .omp = {.region = region}};

	here->idle -=
		show(thread, slice, from_ticks, now_ticks, here->idle - before);
	thread_unbusy(was);
}
