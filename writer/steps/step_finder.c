/* SPDX-License-Identifier: MIT */
/* step_finder.c - the steps in streams of marks; see step_finder.h. */
#include "writer/steps/step_finder.h"

#include "collector/session/gate.h"
#include "collector/system/log.h"
#include "collector/session/pool.h"
#include "collector/steps/steps.h"
#include "writer/steps/step_calls.h"
#include "writer/steps/step_cut.h"
#include "writer/steps/step_lane.h"
#include "writer/steps/step_say.h"

/* Older halves that were dropped: then the search is given up. */
#define DROPS_MAX	    16u
/* After so long a call's record isn't waited for. */
#define CALL_LOST_MS	    3000u

/* Turns after which a step is certain, if it was the same when there were half
 * as many marks: with a schedule, and with the flight recorder. */
#define OUTER_TURNS_CERTAIN 20u
#define TURNS_CERTAIN	    64u
#define TURNS_SOON	    16u
/* Marks behind which nobody looks any more are forgotten by so many. */
#define FORGET_AT	    65536u
/* A run of fewer marks has no step to speak of. */
#define MARKS_SPOKEN	    200u

/* The level that was chosen, and since when. */
struct choice {
	const struct step_marks *of;
	uint64_t key;
	size_t held;
	size_t since; /* marks that there were then */
};

struct step_finder {
	struct step_marks streams[STEP_STREAMS_MAX];
	size_t stream_count;
	unsigned int drops;
	uint64_t divisor;
	bool keeps;		    /* events, while the step isn't known */
	bool is_drawn;		    /* in the one file that there is */
	uint64_t kept_ticks;	    /* what began before it may be gone */
	unsigned int room_at_start; /* chunks */
	struct step_calls calls;
	struct choice choice;

	struct step_marks *of; /* whose loop it is, NULL not known yet */
	struct loop_level level;
	uint64_t forgotten; /* hits before the first mark that is there */
	struct step_lane lane;
	struct step_cut cut;
	bool is_counted;     /* what came before the thread joined */
	uint64_t windows;    /* those that were cut */
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
	finder->keeps = !search_of(state)->is_whole;
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

static size_t most_marks(const struct step_finder *finder)
{
	return step_marks_most(finder->streams, finder->stream_count);
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
		      uint32_t *family, struct loop_mark *mark)
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

/* A mark came late, and in between: what stood there or later moved on. */
static void move_places(struct step_finder *finder, size_t at)
{
	finder->level.begin += at <= finder->level.begin;
	finder->level.first += at <= finder->level.first;
	finder->lane.begin += at <= finder->lane.begin;
	finder->lane.turns.at += at < finder->lane.turns.at;
	finder->cut.turns.at += at < finder->cut.turns.at;
	finder->cut.seen += at < finder->cut.seen;
}

/* What a GPU's ring was given back for a later window comes by again. */
static bool was_seen(const struct event *event)
{
	const bool was = event->flags & EVENT_SCANNED;

	if (event->kind == EVENT_GPU_API)
		((struct event *)event)->flags |= EVENT_SCANNED;
	return was && event->kind == EVENT_GPU_API;
}

void step_finder_see(struct writer_state *state, struct ring_reader *reader,
		     const struct event *event)
{
	struct step_finder *finder = state->finder;
	struct step_marks *stream;
	struct loop_mark mark;
	uint32_t family;
	size_t at;

	if (likely(!finder) || was_seen(event) ||
	    !read_mark(state, event, &family, &mark))
		return;
	stream = step_marks_of(finder->streams, &finder->stream_count, reader,
			       family == SEARCH_CALLS ? event->extra
						      : reader->thread->tid,
			       family);
	if (!stream || (finder->of && stream != finder->of))
		return;
	at = step_marks_add(stream, &mark);
	if (stream == finder->of)
		move_places(finder, at);
}

/* --- the search ----------------------------------------------------------- */

static uint64_t ms_to_ticks(const struct writer_state *state, uint64_t ms)
{
	return clock_ticks_per_second(&state->session->head->clock) * ms / 1000;
}

/* The thread is told. */
static void hand_marker(struct writer_state *state)
{
	struct step_finder *finder = state->finder;
	struct step_search *search = search_of(state);

	search->tid = finder->of->tid;
	search->family = finder->of->family;
	search->context = finder->level.context;
	search->is_begin = finder->level.is_begin;
	search->id = finder->level.id;
	search->key = finder->level.key;
	store_relaxed(&state->session->head->windows.step_tid, search->tid);
	if (search_move(search, SEARCH_ON, SEARCH_FOUND) &&
	    search->family == SEARCH_REGIONS)
		gate_mark(GATE_OMP_MARK, true);
}

static void found(struct writer_state *state, struct step_marks *stream,
		  const struct loop_nest *nest)
{
	struct step_finder *finder = state->finder;
	struct step_search *search = search_of(state);

	finder->of = stream;
	finder->level = nest->level[nest->step];
	finder->lane = (struct step_lane){
		.of = stream,
		.level = &finder->level,
		.turns = {.divisor = finder->divisor},
	};
	step_say_found(state, stream, nest);
	if (search->is_whole)
		return;
	step_cut_start(&finder->cut, stream, &finder->level,
		       &state->session->head->options, finder->divisor,
		       finder->kept_ticks);
	search->passed = finder->cut.passed;
	if (search->passed)
		step_say_passed(state, search->passed);
}

/* Marks to which nothing is to come any more. */
static size_t ready(const struct writer_state *state,
		    const struct step_marks *stream)
{
	return stream->family == SEARCH_CALLS
		       ? step_marks_before(stream, state->finder->seen_ticks)
		       : stream->count;
}

/* The same level for as long again. */
static bool is_certain(struct writer_state *state,
		       const struct step_marks *stream, size_t count,
		       const struct loop_nest *nest)
{
	const struct loop_level *step = &nest->level[nest->step];
	struct choice *choice = &state->finder->choice;
	struct schedule schedule;
	size_t turns = TURNS_SOON;

	if (!search_of(state)->is_whole) {
		schedule_from_options(&state->session->head->options,
				      &schedule);
		turns = max_u64(TURNS_CERTAIN,
				(uint64_t)window_steps_needed(&schedule) *
					state->finder->divisor);
	}
	if (choice->of != stream || choice->key != step->key ||
	    choice->held != step->held)
		*choice = (struct choice){stream, step->key, step->held, count};
	if (step->turns < turns || count < 2 * choice->since ||
	    (nest->is_open && !search_of(state)->is_whole))
		return false;
	/* A loop around it that has come a few times may yet be the step. */
	if (!search_of(state)->is_whole) {
		const size_t outer = step_marks_interrupted(stream, step);

		return !outer || outer >= OUTER_TURNS_CERTAIN;
	}
	return true;
}

static bool try_names(struct writer_state *state)
{
	struct step_finder *finder = state->finder;
	struct loop_nest nest = {.count = 1, .runner_up = 1};

	for (size_t i = 0; i < finder->stream_count; i++) {
		struct step_marks *stream = &finder->streams[i];

		if (stream->family != SEARCH_RANGES ||
		    !step_marks_find_range(stream, state->session,
					   &nest.level[0]))
			continue;
		found(state, stream, &nest);
		return true;
	}
	return false;
}

/* The level that TRACEPROF_STEP=@FILE names, and no other. */
static void try_wanted(struct writer_state *state)
{
	struct step_finder *finder = state->finder;
	const struct search_wanted *wanted = &search_of(state)->wanted;
	struct loop_nest nest = {.count = 1, .runner_up = 1};
	struct step_marks *next;
	uint32_t looked = 0;

	while ((next = step_marks_next(finder->streams, finder->stream_count,
				       (uint32_t)state->session->head->pid,
				       &looked))) {
		if (next->family != wanted->family ||
		    (!state->is_finishing && next->count < next->next_try))
			continue;
		next->next_try = next->count + next->count / 4 + 4;
		if (step_marks_find_wanted(next, wanted, &state->naming,
					   &nest.level[0])) {
			found(state, next, &nest);
			return;
		}
	}
}

/* Looks at all streams; `is_now`: what is found is taken, as sure as it is. */
static void try_streams(struct writer_state *state, bool is_now)
{
	struct step_finder *finder = state->finder;
	struct step_marks *next;
	struct loop_nest nest;
	uint32_t looked = 0;
	const size_t most = most_marks(finder);

	if (search_of(state)->wanted.count) {
		try_wanted(state);
		return;
	}
	if (try_names(state))
		return;
	while ((next = step_marks_next(finder->streams, finder->stream_count,
				       (uint32_t)state->session->head->pid,
				       &looked))) {
		const size_t count =
			state->is_finishing ? next->count : ready(state, next);

		if (next->count * 4 < most ||
		    (!is_now && count < next->next_try))
			continue;
		next->next_try = count + count / 4 + 4;
		if (step_marks_find(next, count, &nest))
			continue;
		if (is_now || is_certain(state, next, count, &nest)) {
			found(state, next, &nest);
			return;
		}
		/* The streams that are smaller are not asked. */
		break;
	}
}

static void say_none(struct writer_state *state, const char *what)
{
	if (!search_of(state)->is_whole ||
	    most_marks(state->finder) >= MARKS_SPOKEN)
		step_say_none(state, what);
}

static void give_up(struct writer_state *state)
{
	struct step_finder *finder = state->finder;
	struct step_search *search = search_of(state);
	struct schedule schedule;

	if (!search->is_whole) {
		say_none(state, finder->keeps ? ": the run is recorded whole"
					      : ": everything from here on is "
						"recorded");
		schedule_from_options(&state->session->head->options,
				      &schedule);
		add_relaxed(&state->session->head->windows.missed,
			    max_u64(1, (uint64_t)schedule.repeat));
	}
	steps_give_up(state->session,
		      finder->keeps ? search->from_ticks : clock_ticks());
	finder->keeps = false;
}

/* Marks take too much room: the older half of a stream goes. */
static bool make_room(struct step_finder *finder)
{
	bool is_full = false;

	for (size_t i = 0; i < finder->stream_count; i++) {
		struct step_marks *stream = &finder->streams[i];

		if (stream->count < STEP_MARKS_MAX)
			continue;
		is_full = true;
		finder->kept_ticks =
			max_u64(finder->kept_ticks,
				step_marks(stream)[stream->count / 2].ticks);
		step_marks_drop(stream, stream->count / 2);
		finder->drops++;
	}
	return is_full;
}

/* Half of the buffer is taken by what is kept. */
static bool is_pressed(struct writer_state *state)
{
	return state->finder->keeps &&
	       pool_room(state->session) * 2 < state->finder->room_at_start;
}

static void search_on(struct writer_state *state)
{
	struct step_finder *finder = state->finder;
	const bool is_full =
		most_marks(finder) >= STEP_MARKS_MAX || is_pressed(state);

	/* Without a schedule the whole run is known at its end. */
	if (is_full || !finder->is_drawn)
		try_streams(state, is_full);
	if (finder->of) {
		hand_marker(state);
		return;
	}
	if (is_full && finder->keeps && is_pressed(state)) {
		finder->keeps = false;
		finder->kept_ticks = clock_ticks();
	}
	if (make_room(finder) && finder->drops > DROPS_MAX)
		give_up(state);
}

uint64_t step_finder_keep(struct writer_state *state)
{
	struct step_finder *finder = state->finder;
	const struct window *window;

	state->keeps = finder && finder->keeps;
	if (!state->keeps)
		return UINT64_MAX;
	window = writer_state_window(state);
	if (window && finder->of)
		return UINT64_MAX;
	if (window || search_state(search_of(state)) == SEARCH_NONE) {
		/* By hand, or the program marks its steps itself. */
		finder->keeps = false;
		return UINT64_MAX;
	}
	return finder->of ? step_cut_keep(&finder->cut) : 0;
}

/* --- from the writer to the thread ---------------------------------------- */

/* When the first step began that the thread counted: as the record of the call
 * has it, if it was one.  False: calls before it are still to come. */
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
static void count_before(struct writer_state *state)
{
	struct step_finder *finder = state->finder;
	uint64_t ticks;
	size_t last;

	if (finder->is_counted || finder->seen_state != SEARCH_JOINED ||
	    !joined_at(state, &ticks))
		return;
	search_of(state)->before =
		finder->forgotten +
		step_marks_hits(finder->of, &finder->level, ticks, &last);
	finder->is_counted = true;
}

/* Windows as far as they are known, and then the thread's turn. */
static void cut(struct writer_state *state)
{
	struct window_state *windows = &state->session->head->windows;
	struct step_finder *finder = state->finder;
	struct step_search *search = search_of(state);
	const bool is_full = is_pressed(state);
	const bool is_cut =
		step_cut_run(&finder->cut, windows, ready(state, finder->of));

	finder->windows = load_relaxed(&windows->opened);
	if (!is_cut)
		return;
	if (!step_cut_hand_over(&finder->cut, windows, is_full) ||
	    !finder->is_counted)
		return;
	search->known = finder->cut.step;
	search_move(search, SEARCH_JOINED, SEARCH_LIVE);
}

/* Marks before the last windows are of no more use. */
static void forget(struct step_finder *finder)
{
	const size_t count =
		min_u64(finder->lane.begin,
			finder->cut.turns.at > SEARCH_CONTEXT_MAX
				? finder->cut.turns.at - SEARCH_CONTEXT_MAX
				: 0);

	if (!finder->is_counted || count < FORGET_AT)
		return;
	for (size_t i = finder->level.first; i < count; i++)
		finder->forgotten += loop_level_is_hit(
			&finder->level, step_marks(finder->of), i);
	finder->level.first = 0;
	step_marks_drop(finder->of, count);
	finder->lane.begin -= count;
	finder->lane.turns.at -= count;
	finder->cut.turns.at -= count;
	finder->cut.seen -= count;
}

/* The steps up to the first that the thread counted itself. */
static void draw_before(struct writer_state *state, uint64_t live)
{
	struct step_finder *finder = state->finder;
	/* A call's record may begin a little before its callback. */
	const uint64_t near = finder->of->family == SEARCH_CALLS
				      ? min_u64(finder->level.ticks / 4,
						ms_to_ticks(state, 1) / 50)
				      : 0;

	step_lane_draw(state, &finder->lane, finder->of->count,
		       live - near - 1);
	step_lane_end(state, &finder->lane, live);
	finder->lane.ticks = 0;
}

/* The thread counts; what is left is to draw the steps before, in the file that
 * they are in.  One pass later, since a region that was around others came
 * after them. */
static void catch_up(struct writer_state *state)
{
	struct step_finder *finder = state->finder;
	struct step_search *search = search_of(state);
	const uint64_t live = load_relaxed(&search->live_ticks);

	if (!live || finder->seen_state != SEARCH_LIVE)
		return;
	if (!search->is_whole) {
		finder->keeps = false;
		if (state->window >= finder->windows)
			step_finder_end(state);
		return;
	}
	if (finder->is_drawn && finder->of->family == SEARCH_CALLS &&
	    finder->seen_ticks < live)
		return;
	if (finder->is_drawn && state->file.is_open)
		draw_before(state, live);
	step_finder_end(state);
}

static void follow(struct writer_state *state)
{
	struct step_search *search = search_of(state);

	count_before(state);
	if (!search->is_whole) {
		cut(state);
		forget(state->finder);
	} else if (state->finder->is_counted) {
		search_move(search, SEARCH_JOINED, SEARCH_LIVE);
	}
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
	case SEARCH_FOUND:
	case SEARCH_JOINED: follow(state); break;
	case SEARCH_LIVE: catch_up(state); break;
	default: step_finder_end(state); return;
	}
	if (!state->finder)
		return;
	finder->seen_state = now;
	finder->seen_ticks =
		load_relaxed(&state->session->head->gpu.settled_ticks);
}

/* --- the end of the run --------------------------------------------------- */

/* No thread steps any more: the writer cuts what is left. */
static void cut_rest(struct writer_state *state)
{
	struct window_state *windows = &state->session->head->windows;
	struct step_finder *finder = state->finder;
	size_t last;
	const uint64_t hits =
		finder->forgotten +
		step_marks_hits(finder->of, &finder->level, UINT64_MAX, &last);
	const int64_t steps = (int64_t)(hits / finder->divisor);

	step_cut_run(&finder->cut, windows, finder->of->count);
	step_cut_end(&finder->cut, windows, steps,
		     step_marks_end(finder->of, &finder->level, last));
	finder->windows = load_relaxed(&windows->opened);
	store_relaxed(&windows->steps, steps);
}

void step_finder_stop(struct writer_state *state)
{
	struct window_state *windows = &state->session->head->windows;
	struct step_search *search = search_of(state);
	const uint32_t now = search_state(search);

	if (search->is_whole || now < SEARCH_ON || now > SEARCH_LIVE)
		return;
	if (!state->is_live) {
		/* It was killed before; what it held is still there. */
		if (now == SEARCH_ON && !load_relaxed(&windows->opened)) {
			window_open(windows, search->from_ticks, -1, 0, false);
			search_move(search, SEARCH_ON, SEARCH_OVER);
		}
		return;
	}
	if (!state->finder || load_relaxed(&search->live_ticks))
		return;
	if (now == SEARCH_ON && !load_relaxed(&windows->opened))
		try_streams(state, true);
	if (state->finder->of)
		cut_rest(state);
	else if (!load_relaxed(&windows->opened))
		give_up(state);
}

/* The run is over: the last step ends with its turn. */
static void draw_last(struct writer_state *state, uint64_t end_ticks)
{
	struct step_finder *finder = state->finder;
	struct step_lane *lane = &finder->lane;
	size_t last;
	const uint64_t hits =
		finder->forgotten +
		step_marks_hits(finder->of, &finder->level, UINT64_MAX, &last);

	step_lane_draw(state, lane, last + finder->level.is_begin, end_ticks);
	store_relaxed(&state->session->head->windows.steps, lane->number + 1);
	if (lane->number + 1 < (int64_t)(hits / finder->divisor))
		return;
	step_lane_end(state, lane,
		      step_marks_end(finder->of, &finder->level, last));
	lane->ticks = 0;
}

void step_finder_draw(struct writer_state *state, uint64_t end_ticks)
{
	struct step_finder *finder = state->finder;
	uint64_t live;

	if (!finder)
		return;
	live = load_relaxed(&search_of(state)->live_ticks);
	if (search_of(state)->is_whole && !finder->is_drawn)
		return;
	if (search_of(state)->is_whole &&
	    search_state(search_of(state)) == SEARCH_ON) {
		try_streams(state, true);
		if (!finder->of)
			say_none(state, "");
	}
	if (!finder->of)
		return;
	if (live && live < end_ticks)
		draw_before(state, live);
	/* The window of a whole run ends with it, and the writer may see that
	 * before it is told to finish. */
	else if (state->is_finishing || search_of(state)->is_whole)
		draw_last(state, end_ticks);
	else
		step_lane_draw(state, &finder->lane, finder->of->count,
			       end_ticks);
}
