/* SPDX-License-Identifier: MIT */
/* step_finder.c - the steps in streams of marks; see step_finder.h. */
#include "writer/step_finder.h"

#include "collector/gate.h"
#include "collector/log.h"
#include "collector/pool.h"
#include "collector/steps.h"
#include "writer/draw.h"
#include "writer/gpu_draw.h"
#include "writer/step_calls.h"

#define STREAMS_MAX   16u
/* Older halves that were dropped: then the search is given up. */
#define DROPS_MAX     16u
#define TRY_LEAST     8u
/* After so long a call's record isn't waited for. */
#define CALL_LOST_MS  3000u

/* With a schedule, without one, and at the end of the run. */
#define REPEATS_SOON  8u
#define REPEATS_LATER 16u
#define SPAN_SOON_MS  250u
#define SPAN_LATER_MS 1000u
#define SHORT_MS      50u

struct step_finder {
	struct step_marks streams[STREAMS_MAX];
	size_t stream_count;
	unsigned int drops;
	uint64_t divisor;
	bool holds;
	bool is_drawn; /* the steps before the thread counts them */
	unsigned int room_at_start; /* chunks */
	struct step_calls calls;

	struct step_marks *of; /* whose loop it is, NULL not known yet */
	struct period period;
	size_t walked;	     /* marks that were looked at for hits */
	uint64_t hits;	     /* in those */
	uint64_t step_ticks; /* the step that is running, 0 none */
	int64_t step_number;
	uint32_t seen_state; /* as of the last pass */
	uint64_t seen_ticks; /* and before which all calls had come */
};

static struct step_search *search_of(const struct scribe *scribe)
{
	return &scribe->session->head->search;
}

void step_finder_start(struct scribe *scribe)
{
	const struct options *options = &scribe->session->head->options;
	struct step_marker marker;
	struct step_finder *finder;
	char why[LOG_LINE_BYTES];

	scribe->finder = NULL;
	if (search_state(search_of(scribe)) != SEARCH_ON)
		return;
	finder = arena_alloc(&scribe->arena, sizeof(*finder));
	if (!finder)
		return;
	steps_parse(options->step, &marker, why, sizeof(why));
	finder->divisor = marker.divisor;
	finder->holds = !search_of(scribe)->is_whole;
	finder->is_drawn = search_of(scribe)->is_whole &&
			   !scribe->session->head->flight.is_on;
	finder->room_at_start = pool_room(scribe->session);
	scribe->finder = finder;
}

void step_finder_end(struct scribe *scribe)
{
	struct step_finder *finder = scribe->finder;

	scribe->finder = NULL;
	for (size_t i = 0; finder && i < finder->stream_count; i++)
		array_free(&finder->streams[i].marks);
}

/* --- streams -------------------------------------------------------------- */

static struct step_marks *stream_of(struct step_finder *finder,
				    struct track *track, uint32_t tid,
				    uint32_t family)
{
	struct step_marks *stream;

	for (size_t i = 0; i < finder->stream_count; i++) {
		stream = &finder->streams[i];
		if (stream->tid == tid && stream->family == family)
			return stream;
	}
	if (finder->stream_count == STREAMS_MAX)
		return NULL;
	stream = &finder->streams[finder->stream_count++];
	*stream = (struct step_marks){.track = track,
				      .tid = tid,
				      .family = family,
				      .next_try = TRY_LEAST};
	return stream;
}

/* The kernel's call is on one of the threads, or still to come. */
static void see_kernel(struct scribe *scribe, const struct event *kernel)
{
	struct step_finder *finder = scribe->finder;

	if (kernel->gpu.graph)
		return;
	for (size_t i = 0; i < finder->stream_count; i++) {
		struct step_marks *stream = &finder->streams[i];

		if (stream->family == SEARCH_CALLS &&
		    step_calls_name(scribe->session, stream, kernel))
			return;
	}
	step_calls_keep(&finder->calls, kernel);
}

static bool read_mark(struct scribe *scribe, const struct event *event,
		      uint32_t *family, struct period_mark *mark)
{
	if (event_is_gpu(event->kind))
		step_calls_start(&scribe->finder->calls, &scribe->arena);
	switch (event->kind) {
	case EVENT_GPU_KERNEL: see_kernel(scribe, event); return false;
	case EVENT_GPU_API:
		*family = SEARCH_CALLS;
		return step_calls_read(&scribe->finder->calls, scribe->session,
				       event, mark);
	default: return step_marks_read(scribe->session, event, family, mark);
	}
}

void step_finder_see(struct scribe *scribe, struct track *track,
		     const struct event *event)
{
	struct step_finder *finder = scribe->finder;
	struct step_marks *stream;
	struct period_mark mark;
	uint32_t family;
	size_t at;

	if (likely(!finder) || !read_mark(scribe, event, &family, &mark))
		return;
	stream = stream_of(finder, track,
			   family == SEARCH_CALLS ? event->extra
						  : track->thread->tid,
			   family);
	if (!stream || (finder->of && stream != finder->of))
		return;
	if (stream->count == STEP_MARKS_MAX && !finder->of) {
		step_marks_halve(stream);
		finder->drops++;
	}
	at = step_marks_add(stream, &mark);
	if (stream == finder->of && at < finder->walked)
		finder->walked = at;
}

/* --- the search ----------------------------------------------------------- */

static uint64_t ticks_of(const struct scribe *scribe, uint64_t ms)
{
	return clock_ticks_per_second(&scribe->session->head->clock) * ms /
	       1000;
}

static void say(struct scribe *scribe, const struct step_marks *stream,
		const struct period *period)
{
	const uint64_t second =
		clock_ticks_per_second(&scribe->session->head->clock);
	const double us = (double)period->ticks * 1e6 / (double)second;
	char name[128];
	char outer[48] = "";

	step_marks_describe(stream, period->first, &scribe->naming, name,
			    sizeof(name));
	if (period->outer)
		log_format(outer, sizeof(outer), "; outer period %lu",
			   (unsigned long)period->outer);
	if (us < 1000)
		log_say("step = %s, every %.1f us%s", name, us, outer);
	else
		log_say("step = %s, every %.1f ms%s", name, us / 1e3, outer);
	session_note(scribe->session, "step = %s, every %lu us%s", name,
		     (unsigned long)us, outer);
}

static void found(struct scribe *scribe, struct step_marks *stream,
		  const struct period *period)
{
	struct step_finder *finder = scribe->finder;
	struct step_search *search = search_of(scribe);

	finder->of = stream;
	finder->period = *period;
	finder->walked = period->first;
	finder->holds = false;
	say(scribe, stream, period);
	search->tid = stream->tid;
	search->family = stream->family;
	search->context = period->context;
	search->id = period->id;
	search->key = period->key;
	store_relaxed(&scribe->session->head->windows.step_tid, stream->tid);
	if (search_move(search, SEARCH_ON, SEARCH_FOUND) &&
	    stream->family == SEARCH_REGIONS)
		gate_mark(GATE_OMP_MARK, true);
}

/* Marks to which nothing is to come any more. */
static size_t ready(const struct scribe *scribe,
		    const struct step_marks *stream)
{
	return stream->family == SEARCH_CALLS
		       ? step_marks_before(stream, scribe->finder->seen_ticks)
		       : stream->count;
}

/* Where to look next: the main thread's streams go before others, and larger
 * ones before smaller ones.  NULL: all were looked at. */
static struct step_marks *next_stream(const struct scribe *scribe,
				      uint32_t *looked)
{
	const uint32_t main_tid = (uint32_t)scribe->session->head->pid;
	struct step_finder *finder = scribe->finder;
	struct step_marks *next = NULL;
	size_t place = 0;

	for (size_t i = 0; i < finder->stream_count; i++) {
		struct step_marks *stream = &finder->streams[i];

		if (*looked >> i & 1)
			continue;
		if (next &&
		    (stream->tid != main_tid) >= (next->tid != main_tid) &&
		    ((stream->tid != main_tid) != (next->tid != main_tid) ||
		     stream->count <= next->count))
			continue;
		next = stream;
		place = i;
	}
	*looked |= UINT32_C(1) << place;
	return next;
}

static void try_streams(struct scribe *scribe, const struct period_needs *needs)
{
	struct step_finder *finder = scribe->finder;
	struct step_marks *next;
	struct period period;
	uint32_t looked = 0;
	size_t most = 0;

	for (size_t i = 0; i < finder->stream_count; i++) {
		struct step_marks *stream = &finder->streams[i];

		if (stream->family == SEARCH_RANGES &&
		    step_marks_find_range(stream, scribe->session, &period)) {
			found(scribe, stream, &period);
			return;
		}
		most = max_u64(most, stream->count);
	}
	while ((next = next_stream(scribe, &looked))) {
		const size_t count =
			needs->is_over ? next->count : ready(scribe, next);

		if (next->count * 4 < most ||
		    (!needs->is_over && count < next->next_try))
			continue;
		next->next_try = count + count / 4 + 4;
		if (!step_marks_find(next, count, needs, &period)) {
			found(scribe, next, &period);
			return;
		}
	}
}

static void give_up(struct scribe *scribe)
{
	struct step_finder *finder = scribe->finder;
	struct step_search *search = search_of(scribe);
	const bool is_held = finder->holds;

	finder->holds = false;
	if (!search->is_whole && !scribe->is_finishing)
		log_say("no period found: %s",
			is_held ? "the run is recorded whole"
				: "everything from here on is recorded");
	steps_give_up(scribe->session,
		      is_held ? search->from_ticks : clock_ticks());
}

static void search_on(struct scribe *scribe)
{
	const bool is_whole = search_of(scribe)->is_whole;
	const struct period_needs needs = {
		.repeats = is_whole ? REPEATS_LATER : REPEATS_SOON,
		.span_ticks = ticks_of(scribe,
				       is_whole ? SPAN_LATER_MS : SPAN_SOON_MS),
		.short_ticks = ticks_of(scribe, SHORT_MS),
	};

	try_streams(scribe, &needs);
	if (!scribe->finder->of && scribe->finder->drops > DROPS_MAX)
		give_up(scribe);
}

bool step_finder_holds(struct scribe *scribe)
{
	struct step_finder *finder = scribe->finder;

	if (!finder || !finder->holds)
		return false;
	if (search_state(search_of(scribe)) != SEARCH_ON ||
	    scribe_window(scribe) ||
	    pool_room(scribe->session) * 2 < finder->room_at_start)
		finder->holds = false;
	return finder->holds;
}

/* --- steps before the thread counted them itself -------------------------- */

static void draw_step(struct scribe *scribe, uint64_t end_ticks,
		      unsigned int flags)
{
	struct step_finder *finder = scribe->finder;
	struct track *track = finder->of->track;
	const struct event event = {
		.kind = EVENT_STEP,
		.flags = (uint16_t)flags,
		.extra = finder->of->tid,
		.start_ticks = finder->step_ticks,
		.end_ticks = end_ticks,
		.step = {.number = finder->step_number,
			 .outer_at_start = UINT64_MAX},
	};

	if (gpu_is_track(track))
		track = gpu_track_of(scribe, event.extra);
	if (finder->step_ticks && track && track->thread->tid == event.extra)
		draw_late(scribe, track, &event);
}

static void walk(struct scribe *scribe, uint64_t until_ticks)
{
	struct step_finder *finder = scribe->finder;
	const struct period_mark *marks = step_marks(finder->of);
	/* A call's record may begin a little before its callback. */
	const uint64_t near =
		finder->of->family == SEARCH_CALLS && until_ticks != UINT64_MAX
			? min_u64(finder->period.ticks / 4,
				  ticks_of(scribe, 1) / 50)
			: 0;

	for (; finder->walked < finder->of->count; finder->walked++) {
		const struct period_mark *mark = &marks[finder->walked];

		if (mark->ticks + near >= until_ticks)
			return;
		if (!step_marks_is_hit(finder->of, &finder->period,
				       finder->walked) ||
		    finder->hits++ % finder->divisor)
			continue;
		draw_step(scribe, mark->ticks, 0);
		finder->step_number += finder->step_ticks != 0;
		finder->step_ticks = mark->ticks;
	}
}

/* When the first hit was that the thread counted: as the record of the call has
 * it, if it was one.  False: calls before it are still to come. */
static bool joined_at(struct scribe *scribe, uint64_t *ticks)
{
	struct step_finder *finder = scribe->finder;
	const struct step_search *search = search_of(scribe);
	size_t at;

	*ticks = search->joined_ticks;
	if (finder->of->family != SEARCH_CALLS)
		return true;
	at = step_calls_find(finder->of, search->joined_call);
	if (at == finder->of->count)
		return finder->seen_ticks >
		       *ticks + ticks_of(scribe, CALL_LOST_MS);
	*ticks = step_marks(finder->of)[at].ticks;
	return finder->seen_ticks >= *ticks;
}

/* What the thread did before it said that it counts has been scanned by now,
 * if it had said so before this pass. */
static void number(struct scribe *scribe)
{
	struct step_finder *finder = scribe->finder;
	struct step_search *search = search_of(scribe);
	uint64_t ticks;

	if (finder->seen_state != SEARCH_JOINED || !joined_at(scribe, &ticks))
		return;
	search->before = step_marks_count(finder->of, &finder->period, ticks);
	search_move(search, SEARCH_JOINED, SEARCH_LIVE);
}

/* Up to the thread's first step of its own, which must be known; and one pass
 * later, since a region that was around others came after them. */
static void catch_up(struct scribe *scribe)
{
	struct step_finder *finder = scribe->finder;
	const struct step_search *search = search_of(scribe);
	const uint64_t live =
		load_relaxed(&((struct step_search *)search)->live_ticks);

	if (!live || finder->seen_state != SEARCH_LIVE)
		return;
	if (finder->is_drawn && finder->of->family == SEARCH_CALLS &&
	    finder->seen_ticks < live)
		return;
	if (finder->is_drawn && scribe->file.is_open) {
		walk(scribe, live);
		draw_step(scribe, live, 0);
	}
	step_finder_end(scribe);
}

void step_finder_run(struct scribe *scribe)
{
	struct step_finder *finder = scribe->finder;
	uint32_t state;

	if (!finder)
		return;
	state = search_state(search_of(scribe));
	switch (state) {
	case SEARCH_ON: search_on(scribe); break;
	case SEARCH_FOUND: break;
	case SEARCH_JOINED: number(scribe); break;
	case SEARCH_LIVE: catch_up(scribe); break;
	default: step_finder_end(scribe); break;
	}
	finder->seen_state = state;
	finder->seen_ticks =
		load_relaxed(&scribe->session->head->gpu.settled_ticks);
}

void step_finder_stop(struct scribe *scribe)
{
	struct window_state *windows = &scribe->session->head->windows;
	struct step_search *search = search_of(scribe);

	if (search_state(search) != SEARCH_ON || search->is_whole ||
	    load_relaxed(&windows->opened))
		return;
	if (!scribe->is_live) {
		/* It was killed before; what it held is still there. */
		window_open(windows, search->from_ticks, -1, 0, false);
		search_move(search, SEARCH_ON, SEARCH_OVER);
	} else if (scribe->finder) {
		give_up(scribe);
	}
}

void step_finder_draw_rest(struct scribe *scribe, uint64_t end_ticks)
{
	const struct period_needs needs = {
		.repeats = REPEATS_SOON,
		.short_ticks = ticks_of(scribe, SHORT_MS),
		.is_over = true,
	};
	struct window_state *windows = &scribe->session->head->windows;
	struct step_finder *finder = scribe->finder;
	uint64_t live;

	if (!finder || !finder->is_drawn)
		return;
	if (search_state(search_of(scribe)) == SEARCH_ON)
		try_streams(scribe, &needs);
	if (finder->of) {
		live = load_relaxed(&search_of(scribe)->live_ticks);
		walk(scribe, live ? live : UINT64_MAX);
		draw_step(scribe, live ? live : end_ticks,
			  live ? 0 : EVENT_CUT);
		if (!live && finder->step_ticks)
			store_relaxed(&windows->steps, finder->step_number + 1);
	}
	step_finder_end(scribe);
}
