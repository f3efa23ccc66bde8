/* SPDX-License-Identifier: MIT */
/* pass.c - the drain of all rings; see pass.h. */
#include "writer/pass.h"

#include "writer/account.h"
#include "writer/checkpoint.h"
#include "writer/draw/draw.h"
#include "writer/events/clip.h"
#include "writer/gpu/gpu.h"
#include "writer/draw/heap_counter.h"
#include "writer/draw/heap_sites.h"
#include "writer/draw/thinned.h"
#include "writer/flight/history.h"
#include "writer/history/late.h"
#include "writer/history/pack.h"
#include "writer/steps/step_finder.h"
#include "writer/trace_frame.h"
#include "writer/window_trace.h"
#include <errno.h>
#include <time.h>

/* How often the last drain looks again for what hooks were just committing. */
#define LAST_LOOKS	  50
#define LAST_LOOK_NS	  200000
#define GRACE_NS	  500000

/* A slice of time is made longer or shorter until it holds so many events. */
#define SLICE_EVENTS_LOW  2000u
#define SLICE_EVENTS_HIGH 20000u
/* ... and holds so many regions of one thread at most. */
#define SLICE_REGIONS	  8192u

/* One that is to end soon is cut into so many. */
#define PART_SLICES	  16u
/* So many events between two looks at the free chunks; a power of two. */
#define PREFAULT_EVENTS	  1024u

int pass_start(struct writer_state *state, struct session *session,
	       bool is_live)
{
	int rc = writer_state_start(state, session, is_live);

	if (rc)
		return rc;
	if (is_live)
		trace_frame_note_scheduled(session->head, true);
	rc = history_start(state);
	if (!rc)
		rc = late_start(state);
	if (rc)
		pass_end(state);
	else if (is_live)
		step_finder_start(state);
	return rc;
}

void pass_end(struct writer_state *state)
{
	gpu_end(state);
	heap_sites_end(state);
	heap_counter_stop(state);
	step_finder_end(state);
	writer_state_end(state);
}

/* The search for the step sees each region, drawn or not, and once: those that
 * waited in their thread's record when a window ended come by in its ring. */
static void see_thinned(struct writer_state *state, struct ring_reader *reader,
			const struct event *event)
{
	struct event call;

	for (unsigned int at = 0; at < thinned_marks(event); at++) {
		const uint32_t number = event->extra + at;

		if (reader->marks_seen &&
		    (int32_t)(number - reader->marks_seen) < 0)
			continue;
		reader->marks_seen = number + 1;
		if (thinned_call(state, reader, event, at, &call))
			step_finder_see(state, reader, &call);
	}
}

/* A window has ended: marks that wait for others in their threads' records. */
static void see_last(struct writer_state *state)
{
	if (!state->finder || state->session->head->flight.is_on)
		return;
	for (struct ring_reader *t = state->readers; t; t = t->older) {
		const struct event marks = t->thread->thin.marks;

		if (marks.name)
			see_thinned(state, t, &marks);
	}
}

/* Who recovers another run's session has one of its own to end. */
static inline void look_if_cancelled(struct writer_state *state,
				     uint64_t events)
{
	if (!(events & (PREFAULT_EVENTS - 1)) &&
	    writer_state_is_cancelled(state))
		state->error = -ECANCELED;
}

/* Nobody waits for a team of one.  last_ticks: of the scan, else NULL. */
static inline bool join_region(struct writer_state *state,
			       const struct event *event, uint64_t *last_ticks)
{
	if (event->kind != EVENT_OMP_REGION || event->flags & EVENT_SERIAL)
		return false;
	region_join_add(&state->regions, event->omp.region, event->end_ticks,
			!last_ticks);
	if (last_ticks)
		*last_ticks = event->end_ticks;
	return true;
}

/* Follows one ring ahead of the drain, as far as events that ended by
 * `until_ticks`.  With the ends of regions it goes no further than their table
 * has room for: how far is returned. */
static uint64_t scan_ahead(struct writer_state *state,
			   struct ring_reader *reader, uint64_t until_ticks,
			   bool with_regions)
{
	struct ring *ring = &reader->thread->ring;
	const uint64_t limit = ring_published(ring);
	const bool joins = with_regions &&
			   drain_at(&reader->ends) == drain_at(&reader->scan);
	const struct event *event;
	uint64_t events = 0, regions = 0, last_ticks = 0;

	while (!state->error && regions < SLICE_REGIONS &&
	       (event = drain_peek(state->session, ring, &reader->scan, limit,
				   NULL, &state->budget)) &&
	       event->end_ticks <= until_ticks) {
		regions += joins && join_region(state, event, &last_ticks);
		gpu_scan(state, event);
		if (event->kind == EVENT_OMP_THINNED)
			see_thinned(state, reader, event);
		else
			step_finder_see(state, reader, event);
		drain_skip(&reader->scan, event);
		look_if_cancelled(state, ++events);
	}
	if (joins)
		reader->ends = reader->scan;
	return regions < SLICE_REGIONS ? until_ticks : last_ticks;
}

/* The same for the ends of regions alone, where the scan is elsewhere. */
static uint64_t scan_ends(struct writer_state *state,
			  struct ring_reader *reader, uint64_t until_ticks)
{
	struct ring *ring = &reader->thread->ring;
	const uint64_t limit = ring_published(ring);
	const struct event *event;
	uint64_t events = 0, regions = 0, last_ticks = 0;

	while (!state->error && regions < SLICE_REGIONS &&
	       (event = drain_peek(state->session, ring, &reader->ends, limit,
				   NULL, &state->budget)) &&
	       event->end_ticks <= until_ticks) {
		regions += join_region(state, event, &last_ticks);
		drain_skip(&reader->ends, event);
		look_if_cancelled(state, ++events);
	}
	return regions < SLICE_REGIONS ? until_ticks : last_ticks;
}

/* The scan goes as far as it can, or just ahead of each slice of the drain. */
static bool scans_all(const struct writer_state *state)
{
	return state->history || !state->file.is_open ||
	       step_finder_waits(state);
}

static void scan_all(struct writer_state *state)
{
	for (struct ring_reader *t = state->readers; t; t = t->older) {
		if (t->limit && !gpu_is_reader(t))
			scan_ahead(state, t, UINT64_MAX, false);
	}
}

/* Just ahead of a slice of the drain in any case: so a large backlog finds its
 * regions' ends in a small table.  Returns where the slice is to end. */
static uint64_t scan_slice(struct writer_state *state, uint64_t until_ticks)
{
	const bool with_scan = !state->is_scanned; /* at the look */

	for (struct ring_reader *t = state->readers; t; t = t->older) {
		if (!t->limit || gpu_is_reader(t))
			continue;
		if (with_scan)
			until_ticks = scan_ahead(state, t, until_ticks, true);
		until_ticks = scan_ends(state, t, until_ticks);
	}
	return until_ticks;
}

static int look(struct writer_state *state)
{
	/* Before a ring's end is looked at: what it lacks ended later, and so
	 * did what came of that on other threads.  Not by a clock that went
	 * back. */
	state->looked_ticks = clock_ticks();
	if (!state->is_live || state->is_finishing ||
	    state->counts.last_ticks > state->looked_ticks)
		state->looked_ticks = UINT64_MAX - 1;
	gpu_look(state);
	for (struct ring_reader *t = state->readers; t; t = t->older)
		t->first_limit = ring_published(&t->thread->ring);
	if (writer_state_find_readers(state) || gpu_start(state))
		return -ENOMEM;
	for (struct ring_reader *t = state->readers; t; t = t->older)
		t->limit = ring_published(&t->thread->ring);
	writer_state_count_retired(state);
	history_poll(state);
	state->is_scanned = scans_all(state);
	if (state->is_scanned)
		scan_all(state);
	for (struct ring_reader *t = state->readers; t; t = t->older) {
		if (t->limit && gpu_is_reader(t))
			scan_ahead(state, t, UINT64_MAX, false);
	}
	if (state->is_live)
		pack_relieve(state);
	return 0;
}

/* What an event changes whether it is written or not. */
static void note(struct writer_state *state, struct ring_reader *reader,
		 const struct event *event)
{
	switch (event->kind) {
	case EVENT_HEAP_ALLOC:
	case EVENT_HEAP_FREE: heap_counter_event(state, reader, event); break;
	case EVENT_OMP_REGION: join_region(state, event, NULL); break;
	case EVENT_LOSS: reader->loss_drawn += event->loss.count; break;
	default: break;
	}
	state->counts.last_ticks =
		max_u64(state->counts.last_ticks, event->end_ticks);
}

/* It lay in its ring after one that was kept for the dump that is written. */
static void count_aged(struct writer_state *state, enum event_place place)
{
	const struct window *window = writer_state_window(state);

	if (place == PLACE_SKIP && window && window->reason)
		state->session->head->flight.aged++;
}

/* One event.  False: it belongs to a later window and stays in its ring. */
static bool take(struct writer_state *state, struct ring_reader *reader,
		 const struct event *event)
{
	const bool is_known = event->kind && event->kind < EVENT_KIND_COUNT;
	enum event_place place = PLACE_SKIP;
	struct event region;
	bool is_drawn;

	if (event_is_gpu(event->kind))
		return gpu_take(state, reader, event);
	if (event->kind == EVENT_OMP_THINNED) {
		if (thinned_take(state, reader, event))
			return true;
		reader->is_deferred = true;
		return false;
	}
	if (likely(is_known)) {
		place = writer_state_place(state,
					   writer_state_begin(state, event));
		if (place == PLACE_DEFER) {
			reader->is_deferred = true;
			return false;
		}
		note(state, reader, event);
		thinned_blocks(state, reader, event, place == PLACE_WRITE);
		if (event_has_share(event)) {
			region = *event;
			draw_share(state, reader, &region,
				   place == PLACE_WRITE);
			event = &region;
		}
	}
	is_drawn = place == PLACE_WRITE && draw_event(state, reader, event);
	clip_count(state, event, place == PLACE_WRITE || !is_known, is_drawn);
	count_aged(state, place);
	return true;
}

/* A pass can take long enough for the rings to use up what lies ready. */
static inline void keep_prefault(struct writer_state *state, uint64_t events)
{
	if (state->is_live && !(events & (PREFAULT_EVENTS - 1)))
		chunk_prefault_refill(&state->prefault, state->session);
}

/* Drains one ring as far as events that ended by `until_ticks`. */
static uint64_t drain_ring(struct writer_state *state,
			   struct ring_reader *reader, uint64_t until_ticks)
{
	struct ring *ring = &reader->thread->ring;
	const struct event *event;
	uint64_t events = 0;

	while (!state->error) {
		reader->is_late |=
			!reader->first_limit ||
			drain_at(&reader->drain) == reader->first_limit;
		event = drain_peek(state->session, ring, &reader->drain,
				   reader->limit, &state->spent,
				   &state->budget);
		if (!event || event->end_ticks > until_ticks)
			break;
		reader->is_late |=
			drain_at(&reader->drain) == reader->first_limit;
		if ((reader->is_late && event->kind == EVENT_OMP_REGION) ||
		    !take(state, reader, event)) {
			reader->is_stopped = true;
			break;
		}
		drain_skip(&reader->drain, event);
		keep_prefault(state, ++events);
		look_if_cancelled(state, events);
	}
	heap_counter_thread(state, reader);
	return events;
}

/* When the oldest event that may be drained ended; UINT64_MAX: none is left. */
static uint64_t oldest_end(struct writer_state *state)
{
	uint64_t oldest = UINT64_MAX;

	for (struct ring_reader *t = state->readers; t; t = t->older) {
		const struct event *event;

		if (t->is_stopped || !t->limit || gpu_is_reader(t) ||
		    drain_at(&t->drain) == t->limit)
			continue;
		event = drain_peek(state->session, &t->thread->ring, &t->drain,
				   t->limit, &state->spent, &state->budget);
		if (event)
			oldest = min_u64(oldest, min_u64(event->end_ticks,
							 UINT64_MAX - 1));
	}
	return oldest;
}

/* Last, so that the slices around a launch are written already. */
static uint64_t drain_gpu(struct writer_state *state, uint64_t keep_ticks)
{
	uint64_t events = 0;

	for (struct ring_reader *t = state->readers; t; t = t->older) {
		if (gpu_is_reader(t) && t->limit)
			events += drain_ring(state, t, keep_ticks);
	}
	gpu_drained(state);
	return events;
}

static bool is_time_up(const struct writer_state *state)
{
	return state->drain_until_ns &&
	       clock_monotonic_ns() >= state->drain_until_ns;
}

/* A large backlog is drained in slices of time over all rings, so that running
 * totals follow the order of events, and that a checkpoint between two slices
 * never parts a region's end from the shares of its team.  What ended at
 * `keep_ticks` or later stays, and what ended after the look. */
static uint64_t drain_all(struct writer_state *state, uint64_t keep_ticks)
{
	const uint64_t keep = min_u64(keep_ticks, state->looked_ticks + 1);
	uint64_t events = 0;
	uint64_t oldest;

	for (struct ring_reader *t = state->readers; t; t = t->older) {
		t->is_stopped = false;
		t->is_deferred = false;
		t->is_late = false;
	}
	while (!state->error && (oldest = oldest_end(state)) < keep) {
		const uint64_t slice = oldest < UINT64_MAX - state->slice_ticks
					       ? oldest + state->slice_ticks
					       : UINT64_MAX;
		const uint64_t until = scan_slice(
			state,
			keep == UINT64_MAX ? slice : min_u64(slice, keep - 1));
		uint64_t drained = 0;

		for (struct ring_reader *t = state->readers; t; t = t->older) {
			if (t->limit && !t->is_stopped && !gpu_is_reader(t))
				drained += drain_ring(state, t, until);
		}
		draw_settle(state);
		if (drained < SLICE_EVENTS_LOW && !state->drain_until_ns &&
		    state->slice_ticks < UINT64_MAX / 4)
			state->slice_ticks *= 2;
		if (drained > SLICE_EVENTS_HIGH && state->slice_ticks > 1)
			state->slice_ticks /= 2;
		events += drained;
		if (checkpoint_is_urgent(state))
			checkpoint_make(state);
		if (state->file.part_is_due && !state->error &&
		    !window_trace_next(state))
			checkpoint_make(state);
		if (state->is_live)
			pack_relieve(state);
		/* The rest when there is room again. */
		if (late_is_now(state) || is_time_up(state))
			return events;
	}
	draw_waits(state);
	late_is_over(state);
	return events + drain_gpu(state, keep_ticks);
}

/* Some ring was left at an event that came in while we looked. */
static bool is_behind(const struct writer_state *state)
{
	for (const struct ring_reader *t = state->readers; t; t = t->older) {
		if (t->is_stopped && !t->is_deferred)
			return true;
	}
	return false;
}

/* All, or of the flight recorder's history what is too old. */
static uint64_t drain_kept(struct writer_state *state)
{
	const uint64_t history = history_keep(state);
	const uint64_t outside = state->counts.outside;
	const uint64_t events =
		drain_all(state, min_u64(history, step_finder_keep(state)));

	if (history != UINT64_MAX)
		state->session->head->flight.aged +=
			state->counts.outside - outside;
	return events;
}

static uint64_t shorten(struct writer_state *state)
{
	uint64_t events = 0;

	while (!state->error && history_shorten(state))
		events += drain_kept(state);
	return events;
}

/* Drains what was committed so far.  Of a window that has ended everything:
 * what comes in meanwhile are its last events, and they don't come for long. */
static uint64_t drain_window(struct writer_state *state, bool has_ended)
{
	uint64_t events = 0;
	int looks = 0;

	do {
		if (look(state))
			break;
		events += drain_kept(state);
	} while (has_ended && !state->error && !late_waits_for_end(state) &&
		 is_behind(state) && ++looks < LAST_LOOKS);
	return events;
}

/* The window has ended and everything of it was drained. */
static int finish_window(struct writer_state *state, bool is_last)
{
	/* ACQUIRE pairs with RELEASE in window_close(). */
	const uint64_t end =
		load_acquire(&writer_state_window(state)->end_ticks);
	int rc;

	thinned_take_last(state);
	/* The writer may come by before it is told that this is the last. */
	if (state->session->head->search.is_whole)
		see_last(state);
	step_finder_draw(state, end);
	draw_open(state);
	gpu_project(state, true);
	gpu_count_missing(state, end);
	heap_counter_end(state, end);
	if (is_last)
		draw_refused(state);
	rc = window_trace_finish(state, is_last);
	if (rc)
		return rc;
	heap_sites_next_window(state);
	state->window++;
	rc = checkpoint_make(state);
	if (!rc)
		/* RELEASE pairs with ACQUIRE in window_open(): its slot in the
		 * table may be used again. */
		store_release(&state->session->head->windows.written,
			      state->window);
	return rc;
}

static bool window_has_ended(struct writer_state *state)
{
	struct window *window = writer_state_window(state);

	/* ACQUIRE pairs with RELEASE in window_close(). */
	return window && load_acquire(&window->end_ticks);
}

/* Nothing of the window is still on its way from a GPU. */
static bool is_complete(struct writer_state *state)
{
	return gpu_is_settled(
		state, load_relaxed(&writer_state_window(state)->end_ticks));
}

/* A hook that saw the window open is done with its event by then, and the step
 * that ended the window has been recorded too. */
static void let_hooks_end(const struct writer_state *state)
{
	const struct timespec pause = {0, GRACE_NS};

	if (state->is_live)
		nanosleep(&pause, NULL);
}

static uint64_t run(struct writer_state *state, bool may_finish)
{
	uint64_t events = 0;
	bool has_ended;

	do {
		if (!state->file.is_open && writer_state_window(state)) {
			if (window_trace_open(state) || checkpoint_make(state))
				return events;
		}
		has_ended = window_has_ended(state);
		if (has_ended && may_finish)
			let_hooks_end(state);
		events += drain_window(state, has_ended);
		if (state->error || !has_ended || !may_finish ||
		    late_waits_for_end(state) || !is_complete(state))
			return events;
		gpu_close(state, true);
		events += drain_window(state, has_ended);
		gpu_close(state, false);
		if (state->error)
			return events;
	} while (!finish_window(state, false));
	return events;
}

/* No core is free: events are only moved out of the hooks' way. */
static uint64_t defer(struct writer_state *state)
{
	if (!state->file.is_open && writer_state_window(state)) {
		if (window_trace_open(state) || checkpoint_make(state))
			return 0;
	}
	if (writer_state_find_readers(state))
		return 0;
	writer_state_count_retired(state);
	late_begin(state);
	pack_rings(state);
	if (checkpoint_is_due(state))
		checkpoint_make(state);
	return 1;
}

uint64_t pass_run(struct writer_state *state)
{
	uint64_t events = 0;

	if (state->error)
		return 0;
	state->passes++;
	if (late_is_now(state))
		return defer(state);
	events = run(state, true) + shorten(state);
	if (history_dump(state))
		events += run(state, true);
	if (state->error)
		return events;
	step_finder_run(state);
	heap_counter_sample(state);
	if (checkpoint_is_due(state))
		checkpoint_make(state);
	return events;
}

uint64_t pass_part(struct writer_state *state, uint64_t most_ns)
{
	uint64_t events;

	state->is_asked = true;
	state->drain_until_ns = clock_monotonic_ns() + most_ns;
	state->slice_ticks = state->slice_ticks / PART_SLICES + 1;
	events = run(state, false);
	window_file_code(state);
	state->slice_ticks *= PART_SLICES;
	state->drain_until_ns = 0;
	return events;
}

void pass_find_step(struct writer_state *state)
{
	if (look(state))
		return;
	scan_all(state);
	see_last(state);
	step_finder_find(state);
}

/* Hooks that were in flight when the gate closed commit within microseconds:
 * wait for them, so that the account of the last file closes. */
static bool drain_rest(struct writer_state *state)
{
	for (int i = 0; i < LAST_LOOKS; i++) {
		const struct timespec pause = {0, LAST_LOOK_NS};

		run(state, false);
		thinned_take_last(state);
		if (state->error || !account_unread(state))
			return !state->error;
		if (!state->is_live)
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

/* All windows but the last one are finished as ever.  While more are to be cut
 * than the table holds, the last one keeps what lies behind it in the rings. */
static int finish_windows(struct writer_state *state)
{
	struct window_state *windows = &state->session->head->windows;
	bool is_cut = step_finder_stop(state);

	for (;;) {
		/* ACQUIRE pairs with RELEASE in window_open(). */
		state->opened = load_acquire(&windows->opened);
		while (state->window + 1 < state->opened) {
			run(state, false);
			if (state->error || finish_window(state, false))
				return state->error;
		}
		if (is_cut)
			return 0;
		is_cut = step_finder_cut(state);
	}
}

int pass_finish(struct writer_state *state, uint64_t end_ticks)
{
	struct window_state *windows = &state->session->head->windows;
	struct window *window;
	bool is_settled;

	/* What ends a program is often what triggers. */
	if (state->history)
		pass_run(state);
	/* All marks, for a step that is to be found now. */
	else if (state->finder && look(state))
		return -ENOMEM;
	if (state->error)
		return state->error;
	state->passes++;
	state->is_finishing = true;
	if (!state->session->head->search.is_whole)
		see_last(state);
	if (finish_windows(state))
		return state->error;
	window = writer_state_window(state);
	if (window && !load_relaxed(&window->end_ticks)) {
		/* Nobody steps any more. */
		store_release(&window->end_ticks,
			      max_u64(end_ticks, window->start_ticks));
		store_relaxed(&windows->is_open, 0);
	}
	is_settled = drain_rest(state);
	if (state->error)
		return state->error;
	if (!is_settled)
		session_note(state->session,
			     "hooks were still recording when the file was "
			     "closed");
	if (state->file.is_open)
		return finish_window(state, is_settled) ? state->error : 0;
	return checkpoint_make(state);
}
