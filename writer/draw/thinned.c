/* SPDX-License-Identifier: MIT */
/* thinned.c - counts calls that left a mark; see thinned.h. */
#include "writer/draw/thinned.h"

#include "collector/session/thin.h"
#include "writer/events/clip.h"

unsigned int thinned_marks(const struct event *event)
{
	return event->name < EVENT_MARKS ? event->name : EVENT_MARKS;
}

static const struct thin_site *site_of(const struct writer_state *state,
				       const struct thread *thread, uint32_t at)
{
	const struct thin_site *sites = session_at_checked(
		state->session, thread->ring.at + thread->thin.sites,
		THIN_SITES * sizeof(*sites));

	return thread->thin.sites && sites ? &sites[at] : NULL;
}

bool thinned_call(const struct writer_state *state,
		  const struct ring_reader *reader, const struct event *event,
		  unsigned int at, struct event *call)
{
	const uint64_t mark = event->words[at];
	const struct thin_site *site =
		site_of(state, reader->thread, event_mark_site(mark));

	*call = (struct event){.start_ticks = event_mark_start(event, at)};
	call->end_ticks = call->start_ticks + event_mark_took(mark);
	if (!site)
		return false;
	call->kind = site->kind;
	call->outlined_offset = site->outlined;
	call->extra = site->outer;
	call->omp.code = site->code;
	call->omp.sync = site->sync;
	return call->kind == EVENT_OMP_REGION || call->kind == EVENT_OMP_WAIT;
}

static void say(struct writer_state *state, const char *what)
{
	session_note(state->session,
		     "TRACEPROF_MAX_OVERHEAD=%ld: not every %s is drawn, see "
		     "`sampled`",
		     (long)state->session->head->options.max_overhead, what);
}

static void count(struct writer_state *state, const struct ring_reader *reader,
		  const struct event *event, unsigned int at,
		  const struct event *call)
{
	const struct thin_site *site = site_of(
		state, reader->thread, event_mark_site(event->words[at]));
	const uint64_t limit = clip_window_end(state);
	const uint64_t end =
		limit ? min_u64(call->end_ticks, limit) : call->end_ticks;
	const uint64_t start_ns =
		timeline_ns(&state->timeline, call->start_ticks);
	const uint64_t end_ns = timeline_ns(&state->timeline, end);
	struct label *label = totals_label(&state->totals, call);

	if (!state->says_calls)
		say(state, "OpenMP region and wait");
	state->says_calls = true;
	totals_add(label, end_ns > start_ns ? end_ns - start_ns : 0);
	label->run.thinned++;
	label->file.thinned++;
	label->file.mask =
		label->file.mask > site->mask ? label->file.mask : site->mask;
}

bool thinned_take(struct writer_state *state, struct ring_reader *reader,
		  const struct event *event)
{
	struct writer_counts *counts = &state->counts;

	for (unsigned int at = 0; at < thinned_marks(event); at++) {
		enum event_place place = PLACE_SKIP;
		struct event call;

		/* As it was left in the record; ordinals have 32 bits. */
		if ((int32_t)(event->extra + at -
			      (uint32_t)reader->marks_taken) < 0)
			continue;
		if (thinned_call(state, reader, event, at, &call))
			place = writer_state_place(
				state, writer_state_begin(state, &call));
		if (place == PLACE_DEFER)
			return false;
		if (place == PLACE_WRITE) {
			count(state, reader, event, at, &call);
			counts->thinned++;
		} else {
			counts->cut++;
			counts->outside++;
		}
		reader->marks_taken++;
		counts->last_ticks =
			max_u64(counts->last_ticks, call.end_ticks);
	}
	return true;
}

/* Calls of the heap that left nothing but their number. */
static void take_blocks(struct writer_state *state, struct ring_reader *reader,
			enum event_kind kind, uint32_t upto, bool is_inside)
{
	uint64_t *taken = &reader->heap_taken[kind == EVENT_HEAP_FREE];
	const struct event call = {.kind = (uint16_t)kind};
	const uint32_t more = upto - (uint32_t)*taken;
	struct session_header *head = state->session->head;
	struct label *label;

	/* Of an event that was filled before any was passed over: 0. */
	if ((int32_t)more <= 0)
		return;
	*taken += more;
	if (!is_inside) {
		state->counts.cut += more;
		state->counts.outside += more;
		return;
	}
	if (!state->says_blocks)
		say(state, "block");
	state->says_blocks = true;
	label = totals_label(&state->totals, &call);
	label->run.calls += more;
	label->run.thinned += more;
	label->file.calls += more;
	label->file.thinned += more;
	label->file.mask = load_relaxed(&head->heap_most);
	state->counts.thinned += more;
}

void thinned_blocks(struct writer_state *state, struct ring_reader *reader,
		    const struct event *event, bool is_inside)
{
	if (event->kind == EVENT_HEAP_ALLOC || event->kind == EVENT_HEAP_FREE)
		take_blocks(state, reader, (enum event_kind)event->kind,
			    event->outlined_offset, is_inside);
}

void thinned_take_last(struct writer_state *state)
{
	for (struct ring_reader *t = state->readers; t; t = t->older) {
		const struct thin *thin = &t->thread->thin;
		const struct event marks = thin->marks;

		if (t->limit != drain_at(&t->drain))
			continue;
		if (marks.name)
			thinned_take(state, t, &marks);
		take_blocks(state, t, EVENT_HEAP_ALLOC,
			    (uint32_t)thin->heap_skipped[0], true);
		take_blocks(state, t, EVENT_HEAP_FREE,
			    (uint32_t)thin->heap_skipped[1], true);
	}
}
