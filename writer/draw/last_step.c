/* SPDX-License-Identifier: MIT */
/* last_step.c - counts what steps hold; see last_step.h. */
#include "writer/draw/last_step.h"

#include "writer/events/clip.h"

/* Slices end a little later on a lane than they did, so that none cross. */
#define ROOM_TICKS 1000u

static void limit(struct step_content *step, uint64_t ticks)
{
	if (!step->limit_ticks || ticks < step->limit_ticks)
		step->limit_ticks = ticks;
}

static void reach(struct step_content *step, uint64_t end_ticks)
{
	/* What began after its end so far is in it now. */
	if (end_ticks > step->end_ticks && !step->is_left)
		step->limit_ticks = 0;
	step->end_ticks = max_u64(step->end_ticks, end_ticks);
}

/* A slice that it began in is another step's. */
static void count(struct step_content *step, const struct event *event)
{
	if (event->start_ticks < step->from_ticks)
		return;
	if (!step->count++)
		step->begin_ticks = event->start_ticks;
	if (step->count <= step->most || !step->most)
		reach(step, event->end_ticks);
}

/* Slices come in the order of their ends. */
static void enclose(struct step_content *step, const struct event *event)
{
	if (event->end_ticks <= step->from_ticks ||
	    !event_is_on_lane(event->kind))
		return;
	if (event->start_ticks < step->from_ticks) {
		limit(step, event->end_ticks);
		step->is_left = true;
	} else if (event->start_ticks >= step->end_ticks) {
		limit(step, event->start_ticks);
	} else if (step->count <= step->most) {
		/* What the last of its slices lies in is a part of it. */
		reach(step, event->end_ticks);
	}
}

/* Where it ends on its thread's lane if it did at `end`, 0: it would cross
 * another slice there. */
static uint64_t end_on_lane(const struct step_content *step,
			    const struct event *event, uint64_t end)
{
	if (step->from_ticks != event->start_ticks || step->count > step->most)
		return 0;
	/* Where a slice around it has ended, what is in that isn't known any
	 * more. */
	if (!step->is_left)
		return end;
	return step->limit_ticks > end + ROOM_TICKS ? end + ROOM_TICKS / 2 : 0;
}

const struct event *last_step_see(struct ring_reader *reader,
				  const struct event *event,
				  struct event *ended)
{
	struct step_content *step = &reader->step;
	uint64_t work_ticks, end, on_lane;

	if (step->most)
		enclose(step, event);
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
		/* Slices that follow it are on the main lane already, and a
		 * call's may end a little later by CUPTI's clock. */
		on_lane = end == work_ticks ? 0 : end_on_lane(step, event, end);
		ended->end_ticks = on_lane ? on_lane : end;
		ended->flags &= (uint16_t)~EVENT_UNFINISHED;
		ended->step.outer_at_end =
			on_lane ? ended->step.outer_at_start : UINT64_MAX;
	}
	/* Before the first step begins is what comes before the loop. */
	if (step->begin_ticks >= event->start_ticks)
		step->most = max_u64(step->most, step->count);
	*step = (struct step_content){.most = step->most,
				      .from_ticks = event->end_ticks};
	return ended;
}
