/* SPDX-License-Identifier: MIT */
/* step_finder.c - the steps in streams of marks; see step_finder.h. */
#include "writer/steps/step_finder.h"

#include "collector/session/gate.h"
#include "collector/system/log.h"
#include "collector/session/pool.h"
#include "collector/steps/steps.h"
#include "writer/draw/draw.h"
#include "writer/gpu/gpu_draw.h"
#include "writer/steps/step_calls.h"

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

static struct step_search *search_of(const struct writer_state *state)
{
	return &state->session->head->search;
}

void step_finder_start(struct writer_state *state)
{
	const struct options *options = &state->session->head->options;
	struct step_marker marker;
	struct step_finder *finder;
	char why[LOG_LINE_BYTES];

	state->finder = NULL;
	if (search_state(search_of(state)) != SEARCH_ON)
		return;
	finder = arena_alloc(&state->arena, sizeof(*finder));
	if (!finder)
		return;
	steps_parse(options->step, &marker, why, sizeof(why));
	finder->divisor = marker.divisor;
	finder->holds = !search_of(state)->is_whole;
	finder->is_drawn = search_of(state)->is_whole &&
			   !state->session->head->flight.is_on;
	finder->room_at_start = pool_room(state->session);
	state->finder = finder;
}

void step_finder_end(struct writer_state *state)
{
	struct step_finder *finder = state->finder;

	state->finder = NULL;
	for (size_t i = 0; finder && i < finder->stream_count; i++)
		array_free(&finder->streams[i].marks);
}

/* --- streams -------------------------------------------------------------- */

static struct step_marks *stream_of(struct step_finder *finder,
				    struct ring_reader *reader, uint32_t tid,
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
	*stream = (struct step_marks){.reader = reader,
				      .tid = tid,
				      .family = family,
				      .next_try = TRY_LEAST};
	return stream;
}

/* The kernel's call is on one of the threads, or still to come. */
static void see_kernel(struct writer_state *state, const struct event *kernel)
{
	struct step_finder *finder = state->finder;

	if (kernel->gpu.graph)
		return;
	for (size_t i = 0; i < finder->stream_count; i++) {
		struct step_marks *stream = &finder->streams[i];

		if (stream->family == SEARCH_CALLS &&
		    step_calls_name(state->session, stream, kernel))
			return;
	}
	step_calls_keep(&finder->calls, kernel);
}

static bool read_mark(struct writer_state *state, const struct event *event,
		      uint32_t *family, struct period_mark *mark)
{
	if (event_is_gpu(event->kind))
		step_calls_start(&state->finder->calls, &state->arena);
	switch (event->kind) {
	case EVENT_GPU_KERNEL: see_kernel(state, event); return false;
	case EVENT_GPU_API:
		*family = SEARCH_CALLS;
		return step_calls_read(&state->finder->calls, state->session,
				       event, mark);
	default: return step_marks_read(state->session, event, family, mark);
	}
}

void step_finder_see(struct writer_state *state, struct ring_reader *reader,
		     const struct event *event)
{
	struct step_finder *finder = state->finder;
	struct step_marks *stream;
	struct period_mark mark;
	uint32_t family;
	size_t at;

	if (likely(!finder) || !read_mark(state, event, &family, &mark))
		return;
	stream = stream_of(finder, reader,
			   family == SEARCH_CALLS ? event->extra
						  : reader->thread->tid,
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

static uint64_t ms_to_ticks(const struct writer_state *state, uint64_t ms)
{
	return clock_ticks_per_second(&state->session->head->clock) * ms / 1000;
}

static void say(struct writer_state *state, const struct step_marks *stream,
		const struct period *period)
{
	const uint64_t second =
		clock_ticks_per_second(&state->session->head->clock);
	const double us = (double)period->ticks * 1e6 / (double)second;
	char name[128];
	char outer[48] = "";

	step_marks_describe(stream, period->first, &state->naming, name,
			    sizeof(name));
	if (period->outer)
		log_format(outer, sizeof(outer), "; outer period %lu",
			   (unsigned long)period->outer);
	if (us < 1000)
		log_say("step = %s, every %.1f us%s", name, us, outer);
	else
		log_say("step = %s, every %.1f ms%s", name, us / 1e3, outer);
	session_note(state->session, "step = %s, every %lu us%s", name,
		     (unsigned long)us, outer);
}

static void found(struct writer_state *state, struct step_marks *stream,
		  const struct period *period)
{
	struct step_finder *finder = state->finder;
	struct step_search *search = search_of(state);

	finder->of = stream;
	finder->period = *period;
	finder->walked = period->first;
	finder->holds = false;
	say(state, stream, period);
	search->tid = stream->tid;
	search->family = stream->family;
	search->context = period->context;
	search->id = period->id;
	search->key = period->key;
	store_relaxed(&state->session->head->windows.step_tid, stream->tid);
	if (search_move(search, SEARCH_ON, SEARCH_FOUND) &&
	    stream->family == SEARCH_REGIONS)
		gate_mark(GATE_OMP_MARK, true);
}

/* Marks to which nothing is to come any more. */
static size_t ready(const struct writer_state *state,
		    const struct step_marks *stream)
{
	return stream->family == SEARCH_CALLS
		       ? step_marks_before(stream, state->finder->seen_ticks)
		       : stream->count;
}

/* Where to look next: the main thread's streams go before others, and larger
 * ones before smaller ones.  NULL: all were looked at. */
static struct step_marks *next_stream(const struct writer_state *state,
				      uint32_t *looked)
{
	const uint32_t main_tid = (uint32_t)state->session->head->pid;
	struct step_finder *finder = state->finder;
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

static void try_streams(struct writer_state *state,
			const struct period_needs *needs)
{
	struct step_finder *finder = state->finder;
	struct step_marks *next;
	struct period period;
	uint32_t looked = 0;
	size_t most = 0;

	for (size_t i = 0; i < finder->stream_count; i++) {
		struct step_marks *stream = &finder->streams[i];

		if (stream->family == SEARCH_RANGES &&
		    step_marks_find_range(stream, state->session, &period)) {
			found(state, stream, &period);
			return;
		}
		most = max_u64(most, stream->count);
	}
	while ((next = next_stream(state, &looked))) {
		const size_t count =
			needs->is_over ? next->count : ready(state, next);

		if (next->count * 4 < most ||
		    (!needs->is_over && count < next->next_try))
			continue;
		next->next_try = count + count / 4 + 4;
		if (!step_marks_find(next, count, needs, &period)) {
			found(state, next, &period);
			return;
		}
	}
}

static void give_up(struct writer_state *state)
{
	struct step_finder *finder = state->finder;
	struct step_search *search = search_of(state);
	const bool is_deferred = finder->holds;

	finder->holds = false;
	if (!search->is_whole && !state->is_finishing)
		log_say("no period found: %s",
			is_deferred ? "the run is recorded whole"
				    : "everything from here on is recorded");
	steps_give_up(state->session,
		      is_deferred ? search->from_ticks : clock_ticks());
}

static void search_on(struct writer_state *state)
{
	const bool is_whole = search_of(state)->is_whole;
	const struct period_needs needs = {
		.repeats = is_whole ? REPEATS_LATER : REPEATS_SOON,
		.span_ticks = ms_to_ticks(state, is_whole ? SPAN_LATER_MS
							  : SPAN_SOON_MS),
		.short_ticks = ms_to_ticks(state, SHORT_MS),
	};

	try_streams(state, &needs);
	if (!state->finder->of && state->finder->drops > DROPS_MAX)
		give_up(state);
}

bool step_finder_holds(struct writer_state *state)
{
	struct step_finder *finder = state->finder;

	if (!finder || !finder->holds)
		return false;
	if (search_state(search_of(state)) != SEARCH_ON ||
	    writer_state_window(state) ||
	    pool_room(state->session) * 2 < finder->room_at_start)
		finder->holds = false;
	return finder->holds;
}

/* --- steps before the thread counted them itself -------------------------- */

static void draw_step(struct writer_state *state, uint64_t end_ticks,
		      unsigned int flags)
{
	struct step_finder *finder = state->finder;
	struct ring_reader *reader = finder->of->reader;
	const struct event event = {
		.kind = EVENT_STEP,
		.flags = (uint16_t)flags,
		.extra = finder->of->tid,
		.start_ticks = finder->step_ticks,
		.end_ticks = end_ticks,
		.step = {.number = finder->step_number,
			 .outer_at_start = UINT64_MAX},
	};

	if (gpu_is_reader(reader))
		reader = gpu_reader_of(state, event.extra);
	if (finder->step_ticks && reader && reader->thread->tid == event.extra)
		draw_late(state, reader, &event);
}

static void walk(struct writer_state *state, uint64_t until_ticks)
{
	struct step_finder *finder = state->finder;
	const struct period_mark *marks = step_marks(finder->of);
	/* A call's record may begin a little before its callback. */
	const uint64_t near =
		finder->of->family == SEARCH_CALLS && until_ticks != UINT64_MAX
			? min_u64(finder->period.ticks / 4,
				  ms_to_ticks(state, 1) / 50)
			: 0;

	for (; finder->walked < finder->of->count; finder->walked++) {
		const struct period_mark *mark = &marks[finder->walked];

		if (mark->ticks + near >= until_ticks)
			return;
		if (!step_marks_is_hit(finder->of, &finder->period,
				       finder->walked) ||
		    finder->hits++ % finder->divisor)
			continue;
		draw_step(state, mark->ticks, 0);
		finder->step_number += finder->step_ticks != 0;
		finder->step_ticks = mark->ticks;
	}
}

/* When the first hit was that the thread counted: as the record of the call has
 * it, if it was one.  False: calls before it are still to come. */
static bool joined_at(struct writer_state *state, uint64_t *ticks)
{
	struct step_finder *finder = state->finder;
	const struct step_search *search = search_of(state);
	size_t at;

	*ticks = search->joined_ticks;
	if (finder->of->family != SEARCH_CALLS)
		return true;
	at = step_calls_find(finder->of, search->joined_call);
	if (at == finder->of->count)
		return finder->seen_ticks >
		       *ticks + ms_to_ticks(state, CALL_LOST_MS);
	*ticks = step_marks(finder->of)[at].ticks;
	return finder->seen_ticks >= *ticks;
}

/* What the thread did before it said that it counts has been scanned by now,
 * if it had said so before this pass. */
static void number(struct writer_state *state)
{
	struct step_finder *finder = state->finder;
	struct step_search *search = search_of(state);
	uint64_t ticks;

	if (finder->seen_state != SEARCH_JOINED || !joined_at(state, &ticks))
		return;
	search->before = step_marks_count(finder->of, &finder->period, ticks);
	search_move(search, SEARCH_JOINED, SEARCH_LIVE);
}

/* Up to the thread's first step of its own, which must be known; and one pass
 * later, since a region that was around others came after them. */
static void catch_up(struct writer_state *state)
{
	struct step_finder *finder = state->finder;
	const struct step_search *search = search_of(state);
	const uint64_t live =
		load_relaxed(&((struct step_search *)search)->live_ticks);

	if (!live || finder->seen_state != SEARCH_LIVE)
		return;
	if (finder->is_drawn && finder->of->family == SEARCH_CALLS &&
	    finder->seen_ticks < live)
		return;
	if (finder->is_drawn && state->file.is_open) {
		walk(state, live);
		draw_step(state, live, 0);
	}
	step_finder_end(state);
}

void step_finder_run(struct writer_state *state)
{
	struct step_finder *finder = state->finder;
	uint32_t now;

	if (!finder)
		return;
	now = search_state(search_of(state));
	switch (now) {
	case SEARCH_ON: search_on(state); break;
	case SEARCH_FOUND: break;
	case SEARCH_JOINED: number(state); break;
	case SEARCH_LIVE: catch_up(state); break;
	default: step_finder_end(state); break;
	}
	finder->seen_state = now;
	finder->seen_ticks =
		load_relaxed(&state->session->head->gpu.settled_ticks);
}

void step_finder_stop(struct writer_state *state)
{
	struct window_state *windows = &state->session->head->windows;
	struct step_search *search = search_of(state);

	if (search_state(search) != SEARCH_ON || search->is_whole ||
	    load_relaxed(&windows->opened))
		return;
	if (!state->is_live) {
		/* It was killed before; what it held is still there. */
		window_open(windows, search->from_ticks, -1, 0, false);
		search_move(search, SEARCH_ON, SEARCH_OVER);
	} else if (state->finder) {
		give_up(state);
	}
}

void step_finder_draw_rest(struct writer_state *state, uint64_t end_ticks)
{
	const struct period_needs needs = {
		.repeats = REPEATS_SOON,
		.short_ticks = ms_to_ticks(state, SHORT_MS),
		.is_over = true,
	};
	struct window_state *windows = &state->session->head->windows;
	struct step_finder *finder = state->finder;
	uint64_t live;

	if (!finder || !finder->is_drawn)
		return;
	if (search_state(search_of(state)) == SEARCH_ON)
		try_streams(state, &needs);
	if (finder->of) {
		live = load_relaxed(&search_of(state)->live_ticks);
		walk(state, live ? live : UINT64_MAX);
		draw_step(state, live ? live : end_ticks,
			  live ? 0 : EVENT_UNFINISHED);
		if (!live && finder->step_ticks)
			store_relaxed(&windows->steps, finder->step_number + 1);
	}
	step_finder_end(state);
}
