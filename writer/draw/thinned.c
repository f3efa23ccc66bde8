/* SPDX-License-Identifier: MIT */
/* thinned.c - counts calls that left a mark; see thinned.h. */
#include "writer/draw/thinned.h"

#include "collector/session/thin.h"
#include "writer/events/clip.h"
#include "writer/gpu/gpu.h"

/* How often at most a ring is looked at that its thread goes on filling. */
#define LOOKS 4u

unsigned int thinned_marks(const struct event *event)
{
	if (event->flags & EVENT_IN_SUMS)
		return 0;
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

/* What the calls of a site are called.  False: it is not there. */
static bool name(const struct thin_site *site, struct event *call)
{
	if (!site)
		return false;
	call->kind = site->kind;
	call->outlined_offset = site->outlined;
	call->extra = site->outer;
	call->omp.code = site->code;
	call->omp.sync = site->sync;
	if (call->kind == EVENT_OMP_WAIT) {
		call->omp.from = site->outlined;
		call->outlined_offset = 0;
	}
	return call->kind == EVENT_OMP_REGION || call->kind == EVENT_OMP_WAIT ||
	       call->kind == EVENT_OMP_EXPLICIT ||
	       call->kind == EVENT_OMP_CREATE ||
	       call->kind == EVENT_OMP_ACQUIRED;
}

bool thinned_call(const struct writer_state *state,
		  const struct ring_reader *reader, const struct event *event,
		  unsigned int at, struct event *call)
{
	const uint64_t mark = event->words[at];

	*call = (struct event){.start_ticks = event_mark_start(event, at)};
	call->end_ticks = call->start_ticks + event_mark_took(mark);
	return name(site_of(state, reader->thread, event_mark_site(mark)),
		    call);
}

static void say(struct writer_state *state, const char *what)
{
	session_note(state->session,
		     "TRACEPROF_MAX_OVERHEAD=%ld: not every %s is drawn, see "
		     "`sampled`",
		     (long)state->session->head->options.max_overhead, what);
}

static void note(struct writer_state *state, struct label *label,
		 const struct thin_site *site, uint64_t calls)
{
	if (!state->says_calls)
		say(state, "OpenMP region, task and wait");
	state->says_calls = true;
	label->run.thinned += calls;
	label->file.thinned += calls;
	label->file.mask =
		label->file.mask > site->mask ? label->file.mask : site->mask;
	state->counts.thinned += calls;
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

	totals_add(label, end_ns > start_ns ? end_ns - start_ns : 0);
	note(state, label, site, 1);
}

static void leave_out(struct writer_state *state, uint64_t calls)
{
	state->counts.cut += calls;
	state->counts.outside += calls;
}

/* By the clock as it was then: the sum may be longer than what it is of. */
static uint64_t duration_ns(struct writer_state *state, uint64_t start_ticks,
			    uint64_t ticks)
{
	const uint64_t second =
		clock_ticks_per_second(&state->session->head->clock) + 1;
	const uint64_t ns =
		timeline_ns(&state->timeline, start_ticks + second) -
		timeline_ns(&state->timeline, start_ticks);

	return (uint64_t)((double)ticks * (double)ns / (double)second);
}

static void add(struct total *total, uint64_t calls, const uint64_t *ns)
{
	if (!total->calls || ns[EVENT_SUM_LEAST] < total->min_ns)
		total->min_ns = ns[EVENT_SUM_LEAST];
	total->max_ns = max_u64(total->max_ns, ns[EVENT_SUM_MOST]);
	total->calls += calls;
	total->sum_ns += ns[EVENT_SUM_ALL];
}

/* Calls of one site.  Those that were counted while they lay in the record are
 * not again: all, unless one came in just then. */
static bool take_sums(struct writer_state *state, struct ring_reader *reader,
		      const struct event *sums)
{
	const struct thin_site *site =
		sums->outlined_offset < THIN_SITES
			? site_of(state, reader->thread, sums->outlined_offset)
			: NULL;
	const int32_t before =
		(int32_t)((uint32_t)reader->marks_taken - sums->extra);
	const uint32_t more =
		before > 0 ? sums->name - min_u32((uint32_t)before, sums->name)
			   : sums->name;
	struct event call = {0};
	enum event_place place = PLACE_SKIP;
	struct label *label;
	uint64_t ns[3];

	if (name(site, &call))
		place = writer_state_place(state, sums->start_ticks);
	if (place == PLACE_DEFER)
		return false;
	reader->marks_taken += more;
	if (place != PLACE_WRITE) {
		leave_out(state, more);
		return true;
	}
	if (!more)
		return true;
	for (int i = 0; i < 3; i++)
		ns[i] = duration_ns(state, sums->start_ticks, sums->words[i]);
	ns[EVENT_SUM_ALL] =
		(uint64_t)((double)ns[EVENT_SUM_ALL] * more / sums->name);
	label = totals_label(&state->totals, &call);
	add(&label->run, more, ns);
	add(&label->file, more, ns);
	note(state, label, site, more);
	return true;
}

bool thinned_take(struct writer_state *state, struct ring_reader *reader,
		  const struct event *event)
{
	struct writer_counts *counts = &state->counts;

	if (event->flags & EVENT_IN_SUMS)
		return take_sums(state, reader, event);
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
		if (place == PLACE_WRITE)
			count(state, reader, event, at, &call);
		else
			leave_out(state, 1);
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
		leave_out(state, more);
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

/* Sums that their thread has not told of yet. */
static void take_waiting(struct writer_state *state, struct ring_reader *reader)
{
	const struct thin *thin = &reader->thread->thin;
	const struct thin_site *sites = site_of(state, reader->thread, 0);
	uint64_t number;

	if (!sites)
		return;
	number = thin_first(thin, sites);
	for (uint32_t i = 0; i < min_u32(thin->used, THIN_SITES); i++) {
		const struct event sums =
			thin_sums(thin, sites, thin->place[i], number,
				  state->counts.last_ticks);

		number += sums.name;
		if (sums.name)
			take_sums(state, reader, &sums);
	}
}

/* What a thread told of this window behind events of the next.  False: some of
 * it is of the next. */
static bool take_ahead(struct writer_state *state, struct ring_reader *reader,
		       uint64_t limit)
{
	struct ring *ring = &reader->thread->ring;
	struct drain drain = reader->drain;
	const struct event *event;

	while ((event = drain_peek(state->session, ring, &drain, limit, NULL,
				   &state->budget))) {
		const struct event one = *event;

		drain_skip(&drain, event);
		if (one.kind == EVENT_OMP_THINNED &&
		    !thinned_take(state, reader, &one))
			return false;
	}
	return true;
}

/* Marks and sums that no event has told of, in the ring or beside it. */
static void take_rest(struct writer_state *state, struct ring_reader *reader)
{
	struct thread *thread = reader->thread;
	unsigned int looks = 0;
	struct event marks;
	uint64_t limit;

	/* What it tells of meanwhile isn't beside the ring any more. */
	do {
		limit = ring_published(&thread->ring);
		if (limit != drain_at(&reader->drain) &&
		    !take_ahead(state, reader, limit))
			return;
		marks = thread->thin.marks;
	} while (limit != ring_published(&thread->ring) && ++looks < LOOKS);
	if (marks.name)
		thinned_take(state, reader, &marks);
	take_waiting(state, reader);
}

void thinned_take_last(struct writer_state *state)
{
	for (struct ring_reader *t = state->readers; t; t = t->older) {
		const struct thin *thin = &t->thread->thin;

		if (gpu_is_reader(t))
			continue;
		take_rest(state, t);
		if (t->limit != drain_at(&t->drain))
			continue;
		take_blocks(state, t, EVENT_HEAP_ALLOC,
			    (uint32_t)thin->heap_skipped[0], true);
		take_blocks(state, t, EVENT_HEAP_FREE,
			    (uint32_t)thin->heap_skipped[1], true);
	}
}
