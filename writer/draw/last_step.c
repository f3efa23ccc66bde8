/* SPDX-License-Identifier: MIT */
/* last_step.c - counts what steps hold; see last_step.h. */
#include "writer/draw/last_step.h"

static void count(struct step_content *step, const struct event *event)
{
	if (!step->count++)
		step->begin_ticks = event->start_ticks;
	if (step->count <= step->most || !step->most)
		step->end_ticks = max_u64(step->end_ticks, event->end_ticks);
}

const struct event *last_step_see(struct ring_reader *reader,
				  const struct event *event,
				  struct event *ended)
{
	struct step_content *step = &reader->step;
	uint64_t work_ticks, end;

	switch (event->kind) {
	case EVENT_OMP_REGION:
	case EVENT_SCOPE:
	case EVENT_RANGE:
	case EVENT_MARK: count(step, event); return event;
	case EVENT_STEP: break;
	default: return event;
	}
	if (event->extra != reader->thread->tid)
		return event;
	*ended = *event;
	work_ticks = event->step.work_ticks;
	end = max_u64(step->most ? step->end_ticks : 0, work_ticks);
	if (event->flags & EVENT_UNFINISHED && end > event->start_ticks) {
		ended->end_ticks = end;
		ended->flags &= (uint16_t)~EVENT_UNFINISHED;
		/* Slices that follow it are on the main lane already, and a
		 * call's may end a little later by CUPTI's clock. */
		ended->step.outer_at_end =
			step->count > step->most || end == work_ticks
				? UINT64_MAX
				: ended->step.outer_at_start;
	}
	/* Before the first step begins is what comes before the loop. */
	if (step->begin_ticks >= event->start_ticks)
		step->most = max_u64(step->most, step->count);
	step->count = step->end_ticks = 0;
	return ended;
}
