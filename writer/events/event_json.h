/* SPDX-License-Identifier: MIT */
/*
 * event_json.h - which fields an event has in the file.
 *
 * Each text is one line that begins with ",\n"; it goes to state->json, the
 * metadata events that name its lane before it.  Times come in nanoseconds of
 * the file, already clipped to the window.
 */
#ifndef WRITER_EVENT_JSON_H
#define WRITER_EVENT_JSON_H

#include "writer/state/writer_state.h"

struct event_span {
	uint64_t start_ns;
	uint64_t end_ns;
	bool is_cut; /* the call had not returned, or the window ended first */
};

/* How much of a wait were explicit tasks that its thread ran in it. */
static inline uint64_t event_tasks_ns(const struct event *event,
				      struct event_span span)
{
	const uint64_t ticks = event->end_ticks - event->start_ticks;

	if (event->kind != EVENT_OMP_WAIT || !event->omp.tasks_ticks || !ticks)
		return 0;
	return (uint64_t)((double)(span.end_ns - span.start_ns) *
			  (double)min_u64(event->omp.tasks_ticks, ticks) /
			  (double)ticks);
}

/* One event.  False: nothing was written (memory, or a value that JSON can't
 * hold, or a block of unknown size). */
bool event_json_write(struct writer_state *state, struct ring_reader *reader,
		      const struct event *event, struct label *label,
		      const struct event_span *span);

/* Begins an instant event of the host, up to inside of its name's quotes. */
void event_json_instant(struct json *json, const char *name);

/* Our own cost: one pass. */
void event_json_pass(struct writer_state *state, uint64_t start_ns,
		     uint64_t end_ns);

/* A counter of bytes that live: of the heap, of pinned memory. */
void event_json_live(struct writer_state *state, const char *name,
		     uint64_t ts_ns, int64_t live);

/* A step lies on its thread's own lane only where both ends lie in the same
 * slice; 1 stands for "too deep to tell". */
static inline bool event_json_step_nests(const struct event *event)
{
	return event->step.outer_at_start == event->step.outer_at_end &&
	       event->step.outer_at_start != 1;
}

#endif
