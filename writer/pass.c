/* SPDX-License-Identifier: MIT */
/* pass.c - the drain of all rings; see pass.h. */
#include "writer/pass.h"

#include "writer/account.h"
#include "writer/checkpoint.h"
#include "writer/draw.h"
#include "writer/gpu.h"
#include "writer/heap_track.h"
#include "writer/history.h"
#include "writer/step_finder.h"
#include <errno.h>
#include <time.h>

/* How often the last drain looks again for what hooks were just committing. */
#define LAST_LOOKS	  50
#define LAST_LOOK_NS	  200000

#define GRACE_NS	  500000

/* A slice of time is made longer or shorter until it holds so many events. */
#define SLICE_EVENTS_LOW  2000u
#define SLICE_EVENTS_HIGH 20000u

/* So many events between two looks at the stock of chunks; a power of two. */
#define STOCK_EVENTS	  1024u

/* Follows one ring ahead of the drain for the ends of regions. */
static void scan_ahead(struct scribe *scribe, struct track *track)
{
	struct ring *ring = &track->thread->ring;
	const uint64_t limit = ring_published(ring);
	const struct event *event;

	while ((event = drain_peek(scribe->session, ring, &track->scan, limit,
				   NULL, &scribe->budget))) {
		if (event->kind == EVENT_OMP_REGION)
			region_join_add(&scribe->regions, event->omp.region,
					event->end_ticks, false);
		gpu_scan(scribe, event);
		step_finder_see(scribe, track, event);
		drain_skip(&track->scan, event);
	}
}

static int look(struct scribe *scribe)
{
	for (struct track *t = scribe->tracks; t; t = t->older)
		t->first_limit = ring_published(&t->thread->ring);
	if (scribe_find_tracks(scribe) || gpu_start(scribe))
		return -ENOMEM;
	scribe->retired = 0;
	for (struct track *t = scribe->tracks; t; t = t->older) {
		t->limit = ring_published(&t->thread->ring);
		/* What a history holds back is not given back yet. */
		scribe->retired +=
			load_relaxed(&t->thread->state) == THREAD_RETIRED &&
			(!scribe->history || !t->limit ||
			 drain_at(&t->drain) == t->limit);
	}
	history_look(scribe);
	for (struct track *t = scribe->tracks; t; t = t->older) {
		if (t->limit)
			scan_ahead(scribe, t);
	}
	return 0;
}

/* What an event changes whether it is written or not. */
static void note(struct scribe *scribe, struct track *track,
		 const struct event *event)
{
	switch (event->kind) {
	case EVENT_HEAP_ALLOC:
	case EVENT_HEAP_FREE: heap_track_event(scribe, track, event); break;
	case EVENT_OMP_REGION:
		region_join_add(&scribe->regions, event->omp.region,
				event->end_ticks, true);
		break;
	case EVENT_LOSS: track->loss_drawn += event->loss.count; break;
	default: break;
	}
	scribe->counts.last_ticks =
		max_u64(scribe->counts.last_ticks, event->end_ticks);
}

/* One event.  False: it belongs to a later window and stays in its ring. */
static bool take(struct scribe *scribe, struct track *track,
		 const struct event *event)
{
	struct scribe_counts *counts = &scribe->counts;
	enum scribe_place place = SCRIBE_CUT;

	if (event_is_gpu(event->kind))
		return gpu_take(scribe, track, event);
	if (likely(event->kind && event->kind < EVENT_KIND_COUNT)) {
		place = scribe_place(scribe, event->start_ticks);
		if (place == SCRIBE_HOLD) {
			track->is_held = true;
			return false;
		}
		note(scribe, track, event);
	}
	if (place == SCRIBE_WRITE && draw_event(scribe, track, event)) {
		counts->written++;
		counts->file_events++;
		counts->written_by_kind[event->kind]++;
	} else {
		counts->cut++;
	}
	return true;
}

/* A pass can take long enough for the rings to use up what lies ready. */
static inline void keep_stock(struct scribe *scribe, uint64_t events)
{
	if (scribe->is_live && !(events & (STOCK_EVENTS - 1)))
		stock_refill(&scribe->stock, scribe->session);
}

/* Drains one ring as far as events that ended by `until_ticks`. */
static uint64_t drain_track(struct scribe *scribe, struct track *track,
			    uint64_t until_ticks)
{
	struct ring *ring = &track->thread->ring;
	const struct event *event;
	uint64_t events = 0;

	while (!scribe->error) {
		track->is_late |= !track->first_limit ||
				  drain_at(&track->drain) == track->first_limit;
		event = drain_peek(scribe->session, ring, &track->drain,
				   track->limit, &scribe->spent,
				   &scribe->budget);
		if (!event || event->end_ticks > until_ticks)
			break;
		track->is_late |= drain_at(&track->drain) == track->first_limit;
		if ((track->is_late && event->kind == EVENT_OMP_REGION) ||
		    !take(scribe, track, event)) {
			track->is_stopped = true;
			break;
		}
		drain_skip(&track->drain, event);
		keep_stock(scribe, ++events);
	}
	return events;
}

/* When the oldest event that may be drained ended; UINT64_MAX: none is left. */
static uint64_t oldest_end(struct scribe *scribe)
{
	uint64_t oldest = UINT64_MAX;

	for (struct track *t = scribe->tracks; t; t = t->older) {
		const struct event *event;

		if (t->is_stopped || !t->limit || gpu_is_track(t) ||
		    drain_at(&t->drain) == t->limit)
			continue;
		event = drain_peek(scribe->session, &t->thread->ring, &t->drain,
				   t->limit, &scribe->spent, &scribe->budget);
		if (event)
			oldest = min_u64(oldest, min_u64(event->end_ticks,
							 UINT64_MAX - 1));
	}
	return oldest;
}

/* Last, so that the slices around a launch are written already. */
static uint64_t drain_gpu(struct scribe *scribe, uint64_t keep_ticks)
{
	uint64_t events = 0;

	for (struct track *t = scribe->tracks; t; t = t->older) {
		if (gpu_is_track(t) && t->limit)
			events += drain_track(scribe, t, keep_ticks);
	}
	gpu_drained(scribe);
	return events;
}

/* A large backlog is drained in slices of time over all rings, so that running
 * totals follow the order of events, and that a checkpoint between two slices
 * never parts a region's end from the shares of its team.  What ended at
 * `keep_ticks` or later stays. */
static uint64_t drain_all(struct scribe *scribe, uint64_t keep_ticks)
{
	uint64_t events = 0;
	uint64_t oldest;

	for (struct track *t = scribe->tracks; t; t = t->older) {
		t->is_stopped = false;
		t->is_held = false;
		t->is_late = false;
	}
	while (!scribe->error && (oldest = oldest_end(scribe)) < keep_ticks) {
		const uint64_t slice = oldest < UINT64_MAX - scribe->slice_ticks
					       ? oldest + scribe->slice_ticks
					       : UINT64_MAX;
		const uint64_t until = keep_ticks == UINT64_MAX
					       ? slice
					       : min_u64(slice, keep_ticks - 1);
		uint64_t drained = 0;

		for (struct track *t = scribe->tracks; t; t = t->older) {
			if (t->limit && !t->is_stopped && !gpu_is_track(t))
				drained += drain_track(scribe, t, until);
		}
		draw_waits(scribe);
		if (drained < SLICE_EVENTS_LOW &&
		    scribe->slice_ticks < UINT64_MAX / 4)
			scribe->slice_ticks *= 2;
		if (drained > SLICE_EVENTS_HIGH && scribe->slice_ticks > 1)
			scribe->slice_ticks /= 2;
		events += drained;
		if (checkpoint_is_urgent(scribe))
			checkpoint_make(scribe);
	}
	draw_waits(scribe);
	return events + drain_gpu(scribe, keep_ticks);
}

/* Some ring was left at an event that came in while we looked. */
static bool is_behind(const struct scribe *scribe)
{
	for (const struct track *t = scribe->tracks; t; t = t->older) {
		if (t->is_stopped && !t->is_held)
			return true;
	}
	return false;
}

/* All, or of the flight recorder's history what is too old. */
static uint64_t drain_kept(struct scribe *scribe)
{
	const uint64_t keep_ticks = history_keep(scribe);
	const uint64_t cut = scribe->counts.cut;
	const uint64_t events = drain_all(scribe, keep_ticks);

	if (keep_ticks != UINT64_MAX)
		scribe->session->head->flight.aged += scribe->counts.cut - cut;
	return events;
}

static uint64_t shorten(struct scribe *scribe)
{
	uint64_t events = 0;

	while (!scribe->error && history_shorten(scribe))
		events += drain_kept(scribe);
	return events;
}

/* Drains what was committed so far.  Of a window that has ended everything:
 * what comes in meanwhile are its last events, and they don't come for long. */
static uint64_t drain_window(struct scribe *scribe, bool has_ended)
{
	uint64_t events = 0;
	int looks = 0;

	do {
		if (look(scribe))
			break;
		events += drain_kept(scribe);
	} while (has_ended && !scribe->error && is_behind(scribe) &&
		 ++looks < LAST_LOOKS);
	return events;
}

/* The window has ended and everything of it was drained. */
static int finish_window(struct scribe *scribe, bool is_last)
{
	/* ACQUIRE pairs with RELEASE in window_close(). */
	const uint64_t end = load_acquire(&scribe_window(scribe)->end_ticks);
	int rc;

	step_finder_draw_rest(scribe, end);
	draw_open(scribe);
	gpu_project(scribe, true);
	heap_track_end(scribe, end);
	if (is_last)
		draw_refused(scribe);
	rc = window_file_finish(scribe, is_last);
	if (rc)
		return rc;
	scribe->window++;
	rc = checkpoint_make(scribe);
	if (!rc)
		/* RELEASE pairs with ACQUIRE in window_open(): its slot in the
		 * table may be used again. */
		store_release(&scribe->session->head->windows.written,
			      scribe->window);
	return rc;
}

static bool window_has_ended(struct scribe *scribe)
{
	struct window *window = scribe_window(scribe);

	/* ACQUIRE pairs with RELEASE in window_close(). */
	return window && load_acquire(&window->end_ticks);
}

/* Nothing of the window is still on its way from a GPU. */
static bool is_complete(struct scribe *scribe)
{
	return gpu_is_settled(scribe,
			      load_relaxed(&scribe_window(scribe)->end_ticks));
}

/* A hook that saw the window open is done with its event by then, and the step
 * that ended the window has been recorded too. */
static void let_hooks_end(const struct scribe *scribe)
{
	const struct timespec pause = {0, GRACE_NS};

	if (scribe->is_live)
		nanosleep(&pause, NULL);
}

static uint64_t run(struct scribe *scribe, bool may_finish)
{
	uint64_t events = 0;
	bool has_ended;

	do {
		if (!scribe->file.is_open && scribe_window(scribe)) {
			if (window_file_open(scribe) || checkpoint_make(scribe))
				return events;
		}
		has_ended = window_has_ended(scribe);
		if (has_ended && may_finish)
			let_hooks_end(scribe);
		events += drain_window(scribe, has_ended);
		if (scribe->error || !has_ended || !may_finish ||
		    !is_complete(scribe))
			return events;
	} while (!finish_window(scribe, false));
	return events;
}

uint64_t pass_run(struct scribe *scribe)
{
	uint64_t events = 0;

	if (scribe->error)
		return 0;
	scribe->passes++;
	if (step_finder_holds(scribe))
		look(scribe);
	else
		events = run(scribe, true) + shorten(scribe);
	if (history_dump(scribe))
		events += run(scribe, true);
	if (scribe->error)
		return events;
	step_finder_run(scribe);
	heap_track_sample(scribe);
	if (checkpoint_is_due(scribe))
		checkpoint_make(scribe);
	return events;
}

/* Hooks that were in flight when the gate closed commit within microseconds:
 * wait for them, so that the account of the last file closes. */
static bool drain_rest(struct scribe *scribe)
{
	for (int i = 0; i < LAST_LOOKS; i++) {
		const struct timespec pause = {0, LAST_LOOK_NS};

		run(scribe, false);
		if (scribe->error || !account_unread(scribe))
			return !scribe->error;
		if (!scribe->is_live)
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

int pass_finish(struct scribe *scribe, uint64_t end_ticks)
{
	struct window_state *windows = &scribe->session->head->windows;
	struct window *window;
	bool is_settled;

	/* What ends a program is often what triggers. */
	if (scribe->history)
		pass_run(scribe);
	if (scribe->error)
		return scribe->error;
	scribe->passes++;
	scribe->is_finishing = true;
	step_finder_stop(scribe);
	/* ACQUIRE pairs with RELEASE in window_open(). */
	scribe->opened = load_acquire(&windows->opened);
	/* All windows but the last one are finished as ever. */
	while ((window = scribe_window(scribe)) &&
	       scribe->window + 1 < scribe->opened) {
		run(scribe, false);
		if (scribe->error || finish_window(scribe, false))
			return scribe->error;
	}
	if (window && !load_relaxed(&window->end_ticks)) {
		/* Nobody steps any more. */
		store_release(&window->end_ticks,
			      max_u64(end_ticks, window->start_ticks));
		store_relaxed(&windows->is_open, 0);
	}
	is_settled = drain_rest(scribe);
	if (scribe->error)
		return scribe->error;
	if (!is_settled)
		session_note(scribe->session,
			     "hooks were still recording when the file was "
			     "closed");
	if (scribe->file.is_open)
		return finish_window(scribe, is_settled) ? scribe->error : 0;
	return checkpoint_make(scribe);
}
