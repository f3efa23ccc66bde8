/* SPDX-License-Identifier: MIT */
/* step_lane.c - steps as slices; see step_lane.h. */
#include "writer/steps/step_lane.h"

#include "writer/draw/draw.h"
#include "writer/gpu/gpu_draw.h"

/* Of the thread, also when it has ended: its place keeps its number until
 * another thread has it. */
static struct ring_reader *reader_of(const struct writer_state *state,
				     const struct step_lane *lane)
{
	struct ring_reader *reader = lane->of->reader;

	if (!reader || !gpu_is_reader(reader))
		return reader;
	reader = gpu_reader_of(state, lane->of->tid);
	for (struct ring_reader *r = state->readers; r && !reader;
	     r = r->older) {
		if (!gpu_is_reader(r) && r->thread->tid == lane->of->tid)
			reader = r;
	}
	return reader;
}

void step_lane_end(struct writer_state *state, struct step_lane *lane,
		   uint64_t end_ticks)
{
	struct ring_reader *reader = reader_of(state, lane);
	const struct event event = {
		.kind = EVENT_STEP,
		.extra = lane->of->tid,
		.start_ticks = lane->ticks,
		.end_ticks = end_ticks,
		.step = {.number = lane->number, .outer_at_start = UINT64_MAX},
	};

	if (!lane->ticks)
		return;
	/* Of a part that was closed before the step was known. */
	if (end_ticks <= lane->closed_ticks) {
		lane->late++;
		return;
	}
	if (!reader || thread_shown_tid(reader->thread) != event.extra) {
		session_note(
			state->session,
			"steps are not drawn: another thread has the place "
			"of the one that made them");
		return;
	}
	state->file.steps_found += draw_late(state, reader, &event);
}

/* The same by the marks of the stream that tells how long a turn is. */
static void begin_by_work(struct step_lane *lane)
{
	size_t first, last;

	if (!lane->work || !lane->number)
		return;
	first = step_marks_before(lane->work, lane->ticks);
	last = step_marks_before(lane->work, lane->turns.ticks);
	if ((last - first) * 2 > lane->work_length * 3)
		lane->ticks =
			step_marks(lane->work)[last - lane->work_length].ticks;
}

/* A turn that is much longer than others has something else before it, an
 * evaluation, say: the step begins where a usual one would. */
static void begin_late(struct step_lane *lane, size_t end)
{
	const struct loop_level *level = lane->level;
	const struct loop_mark *marks = step_marks(lane->of);

	if (level->is_end) {
		begin_by_work(lane);
		return;
	}
	if (level->is_begin || lane->turns.divisor > 1 || !lane->number ||
	    (end - lane->begin) * 2 <= level->length * 3)
		return;
	lane->ticks =
		marks[loop_level_begin(level, marks, end - 1, lane->begin)]
			.ticks;
}

void step_lane_draw(struct writer_state *state, struct step_lane *lane,
		    size_t count, uint64_t until)
{
	struct step_turns before = lane->turns;
	size_t begin;

	while (step_turns_next(lane->of, lane->level, count, &lane->turns,
			       &begin)) {
		const uint64_t ticks = lane->turns.ticks;

		if (ticks > until) {
			lane->turns = before;
			return;
		}
		if (lane->ticks) {
			begin_late(lane, begin);
			step_lane_end(state, lane, ticks);
			lane->number++;
		}
		lane->begin = begin;
		lane->ticks = ticks;
		before = lane->turns;
	}
}
