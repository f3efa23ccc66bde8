/* SPDX-License-Identifier: MIT */
/* step_finder.c - the steps in streams of marks; see step_finder.h. */
#include "writer/steps/step_finder.h"

#include "collector/session/gate.h"
#include "collector/system/log.h"
#include "collector/session/pool.h"
#include "collector/steps/steps.h"
#include "writer/steps/step_follow.h"
#include "writer/steps/step_log.h"
#include "writer/steps/step_say.h"
#include <errno.h>

/* Older halves that were dropped: then the search is given up. */
#define DROPS_MAX     16u
/* Turns after which a step may be certain: with a schedule, where nothing but
 * it ever came, and with the flight recorder. */
#define TURNS_CERTAIN 64u
#define TURNS_ALONE   4096u
#define TURNS_SOON    16u
/* Of fewer marks a site tells of a loop if it came as often as a step does. */
#define MARKS_SPOKEN  200u

void step_finder_make(struct writer_state *state)
{
	const struct options *options = &state->session->head->options;
	const struct step_search *search = step_search_of(state);
	struct step_marker marker;
	struct step_finder *finder;
	char why[LOG_LINE_BYTES];

	state->finder = NULL;
	finder = arena_alloc(&state->arena, sizeof(*finder));
	if (!finder)
		return;
	steps_parse(options->step, &marker, why, sizeof(why));
	finder->divisor = finder->asked = marker.divisor;
	finder->keeps = !search->is_whole;
	finder->is_drawn =
		search->is_whole && !state->session->head->flight.is_on;
	finder->room_at_start = pool_room(state->session);
	state->finder = finder;
}

void step_finder_start(struct writer_state *state)
{
	state->finder = NULL;
	if (search_state(step_search_of(state)) == SEARCH_ON)
		step_finder_make(state);
}

void step_finder_end(struct writer_state *state)
{
	struct step_finder *finder = state->finder;

	state->finder = NULL;
	for (size_t i = 0; finder && i < finder->stream_count; i++)
		array_free(&finder->streams[i].marks);
	if (!finder)
		return;
	array_free(&finder->barriers.marks.marks);
	array_free(&finder->by_hand.marks.marks);
}

/* --- streams -------------------------------------------------------------- */

/* For a recovery, if the program is killed. */
static void note(struct writer_state *state, uint32_t tid, uint32_t family,
		 const struct loop_mark *mark)
{
	if (state->is_live && !state->session->head->flight.is_on)
		step_log_add(state->session, tid, family, mark);
}

/* A graph's launch likewise.  The log has none of its kernels, which are many:
 * of a run that was killed graphs aren't told apart. */
static void see_graph(struct step_finder *finder, const struct session *session,
		      const struct event *kernel)
{
	for (size_t i = 0; i < finder->stream_count; i++) {
		struct step_marks *stream = &finder->streams[i];

		if (stream->family == SEARCH_CALLS &&
		    step_calls_name_graph(session, stream, kernel))
			return;
	}
	step_calls_keep_graph(&finder->calls, session, kernel);
}

/* The kernel's call is on one of the threads, or still to come. */
static void see_kernel(struct writer_state *state, const struct event *kernel)
{
	struct step_finder *finder = state->finder;

	if (kernel->gpu.graph) {
		see_graph(finder, state->session, kernel);
		return;
	}
	note(state, 0, STEP_LOG_KERNEL,
	     &(struct loop_mark){.id = kernel->name,
				 .note = kernel->gpu.correlation});
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
	default:
		if (!step_marks_read(state->session, event, family, mark))
			return false;
		if (*family == SEARCH_RANGES && !mark->is_jit &&
		    !mark->is_step_like)
			step_named_read(&state->finder->names, state->session,
					mark);
		return true;
	}
}

/* Where a way through the steps goes on.  It may have come by what lies in the
 * hit, which ended before: it goes back for it. */
static size_t move_way(const struct step_finder *finder, size_t way, size_t at)
{
	const struct loop_mark *marks = step_marks(finder->of);

	if (at >= way)
		return way;
	way++;
	if (finder->level.context ||
	    !loop_level_is_hit(&finder->level, marks, at))
		return way;
	for (size_t i = at + 1; i < way; i++) {
		if (loop_level_is_hit(&finder->level, marks, i))
			return way;
	}
	return at;
}

/* A mark came late, and in between: what stood there or later moved on. */
static void move_places(struct step_finder *finder, size_t at)
{
	finder->level.begin += at <= finder->level.begin;
	finder->level.first += at <= finder->level.first;
	finder->lane.begin += at <= finder->lane.begin;
	finder->lane.turns.at = move_way(finder, finder->lane.turns.at, at);
	finder->cut.turns.at = move_way(finder, finder->cut.turns.at, at);
	finder->cut.seen += at < finder->cut.seen;
}

/* What a GPU's ring was given back for a later window comes by again: calls,
 * and kernels of graphs, which are counted. */
static bool was_seen(const struct event *event)
{
	const bool was = event->flags & EVENT_SCANNED;
	const bool counts =
		event->kind == EVENT_GPU_API ||
		(event->kind == EVENT_GPU_KERNEL && event->gpu.graph);

	if (counts)
		((struct event *)event)->flags |= EVENT_SCANNED;
	return was && counts;
}

/* Regions within a team's are begun by whichever member comes first.  Where any
 * thread has others, enough for a loop, those are passed over: so the same
 * program tells the same each time.  A step that was found before stays. */
static bool is_left_out(struct writer_state *state, struct step_marks *stream,
			const struct loop_mark *mark)
{
	struct step_finder *finder = state->finder;

	if (stream->family != SEARCH_REGIONS || finder->leaves_teams ||
	    mark->is_in_team)
		return mark->is_in_team && finder->leaves_teams;
	if (++stream->outer < LOOP_HITS_LEAST || finder->of ||
	    step_search_of(state)->keeps_teams)
		return false;
	finder->leaves_teams = true;
	for (size_t i = 0; i < finder->stream_count; i++)
		step_marks_leave_teams(&finder->streams[i]);
	return false;
}

bool step_finder_take(struct writer_state *state, struct step_marks *stream,
		      const struct loop_mark *mark)
{
	struct step_finder *finder = state->finder;
	size_t at;

	if (is_left_out(state, stream, mark))
		return false;
	at = step_marks_add(stream, mark);
	if (stream == finder->of)
		move_places(finder, at);
	return true;
}

/* Of a run that was killed most were told of in the file alone. */
static void see_barrier(struct writer_state *state, struct ring_reader *reader,
			const struct event *event)
{
	if (state->is_live && !state->session->head->flight.is_on &&
	    !state->finder->of && reader &&
	    (event->kind != EVENT_OMP_WAIT ||
	     thread_shown_tid(reader->thread) == step_main_tid(state)))
		step_barriers_see(&state->finder->barriers, reader, event);
}

static void see_operator(struct step_finder *finder,
			 const struct ring_reader *reader,
			 const struct event *event)
{
	if (!finder->torch_ticks)
		finder->torch_ticks = event->start_ticks;
	if (reader)
		step_operators_add(&finder->operators, event->name,
				   reader->thread->tid);
}

void step_finder_see(struct writer_state *state, struct ring_reader *reader,
		     const struct event *event)
{
	struct step_finder *finder = state->finder;
	struct step_marks *stream;
	struct loop_mark mark;
	uint32_t family;

	if (finder && event->kind == EVENT_SCOPE && event_is_operator(event))
		see_operator(finder, reader, event);
	if (finder && !finder->is_over && reader &&
	    event->flags & EVENT_OPERATOR &&
	    thread_shown_tid(reader->thread) == step_main_tid(state))
		step_by_hand_see(&finder->by_hand, state->session, reader,
				 event);
	if (finder && !finder->is_over &&
	    (event->kind == EVENT_OMP_WAIT || event->kind == EVENT_OMP_REGION ||
	     event->kind == EVENT_OMP_IMPLICIT))
		see_barrier(state, reader, event);
	if (likely(!finder) || finder->is_over || was_seen(event) ||
	    !read_mark(state, event, &family, &mark) ||
	    (finder->leaves_teams && mark.is_in_team))
		return;
	stream = step_marks_of(finder->streams, &finder->stream_count, reader,
			       family == SEARCH_CALLS
				       ? event->extra
				       : thread_shown_tid(reader->thread),
			       family, step_main_tid(state));
	if (stream)
		stream->comes_in_time |= !event_is_of_program(event);
	if (!stream || (finder->of && stream != finder->of) ||
	    (!state->is_live && step_marks_has(stream, &mark)))
		return;
	if (step_finder_take(state, stream, &mark))
		note(state, stream->tid, family, &mark);
}

/* --- the search ----------------------------------------------------------- */

/* Of the range that a level's hits are. */
static uint32_t name_of(const struct step_finder *finder)
{
	return (uint32_t)step_marks(finder->of)[finder->level.first].note;
}

/* The thread is told. */
static void hand_marker(struct writer_state *state)
{
	struct step_finder *finder = state->finder;
	struct step_search *search = step_search_of(state);

	search->tid = finder->of->tid;
	search->family = finder->of->family;
	search->context = finder->level.context;
	search->is_begin = finder->level.is_begin;
	search->is_end = finder->level.is_end;
	search->every = (uint32_t)finder->level.every;
	search->name = finder->level.is_end ? name_of(finder) : 0;
	search->leaves_teams = finder->leaves_teams;
	search->keeps_teams = !finder->leaves_teams;
	search->id = finder->level.id;
	search->key = finder->level.key;
	search->begin_ticks =
		finder->level.is_end
			? finder->level.begin_ticks
			: step_marks(finder->of)[finder->level.begin].ticks;
	search->first_ticks = step_marks(finder->of)[finder->level.first].ticks;
	store_relaxed(&state->session->head->windows.step_tid, search->tid);
	if (!search_move(search, SEARCH_ON, SEARCH_FOUND))
		search->passed = 0; /* the program's own count from 0 */
	else if (search->family == SEARCH_REGIONS)
		gate_mark(GATE_OMP_MARK, true);
	steps_follow_range(search->name);
	gate_mark(GATE_OMP_CALLER, search_is_by_caller(search));
}

void step_found(struct writer_state *state, struct step_marks *stream,
		const struct loop_nest *nest, bool is_sure)
{
	struct step_finder *finder = state->finder;
	struct step_search *search = step_search_of(state);

	finder->of = stream;
	stream->is_settled = true;
	finder->nest = *nest;
	finder->level = nest->level[nest->step];
	finder->divisor = finder->asked * step_level_every(&finder->level);
	if (!finder->level.is_end)
		finder->work = NULL;
	finder->lane = (struct step_lane){
		.of = stream,
		.level = &finder->level,
		.work = finder->work,
		.work_length = finder->work_length,
		.closed_ticks = finder->closed_ticks,
		.turns = {.divisor = finder->divisor},
	};
	if (!search->is_whole) {
		step_cut_start(&finder->cut, stream, &finder->level,
			       &state->session->head->options, finder->divisor,
			       finder->kept_ticks);
		search->passed = finder->cut.passed;
	}
	if (is_sure)
		step_settle(state);
}

void step_settle(struct writer_state *state)
{
	struct step_finder *finder = state->finder;
	const uint64_t passed = step_search_of(state)->passed;

	if (finder->is_sure)
		return;
	finder->is_sure = true;
	step_say_found(state, finder->of, &finder->nest);
	if (passed)
		step_say_passed(state, passed);
}

/* The same level for as long again. */
bool step_is_certain(struct writer_state *state, struct step_marks *stream,
		     size_t count, const struct loop_nest *nest)
{
	struct loop_patience patience = {TURNS_SOON, TURNS_CERTAIN};
	struct schedule schedule;

	if (!step_search_of(state)->is_whole) {
		schedule_from_options(&state->session->head->options,
				      &schedule);
		patience.turns =
			max_u64(TURNS_CERTAIN,
				(uint64_t)window_steps_needed(&schedule) *
					state->finder->divisor);
		patience.alone = TURNS_ALONE;
	}
	/* A function's name told, as a range's would. */
	if (stream->has_jit && nest->count == 1 && nest->level[0].is_begin)
		return nest->level[0].turns >= patience.turns;
	return loop_is_certain(&stream->choice, stream, nest, count, &patience);
}

/* True: there is one, or may be soon. */
static bool try_names(struct writer_state *state, bool is_now)
{
	struct step_finder *finder = state->finder;
	struct loop_nest nest = {.count = 1, .runner_up = 1};
	struct step_marks *stream;
	const enum step_named named =
		step_named_find(&finder->names, state->session, finder->streams,
				finder->stream_count, step_main_tid(state),
				is_now, &stream, &nest.level[0]);

	if (named == NAMED_FOUND)
		step_found(state, stream, &nest, true);
	return named != NAMED_NONE;
}

/* The level that TRACEPROF_STEP=@FILE names, and no other. */
static void try_wanted(struct writer_state *state)
{
	struct step_finder *finder = state->finder;
	const struct search_wanted *wanted = &step_search_of(state)->wanted;
	struct loop_nest nest = {.count = 1, .runner_up = 1};
	struct step_marks *next;
	uint32_t looked = 0;

	while ((next = step_marks_next(finder->streams, finder->stream_count,
				       step_main_tid(state), &looked))) {
		if (next->family != wanted->family ||
		    (!state->is_finishing && !next->looks))
			continue;
		next->looks = 0;
		if (step_marks_find_wanted(next, wanted, &state->naming,
					   &nest.level[0])) {
			step_found(state, next, &nest, true);
			return;
		}
	}
}

void step_try_streams(struct writer_state *state, bool is_now)
{
	if (step_search_of(state)->wanted.count) {
		try_wanted(state);
		return;
	}
	if (try_names(state, is_now))
		return;
	if (!step_search_of(state)->is_whole || !is_now)
		step_look_on(state);
	if (is_now && !state->finder->of)
		step_look_now(state);
}

static struct step_marks *largest(struct step_finder *finder)
{
	struct step_marks *best = NULL;

	for (size_t i = 0; i < finder->stream_count; i++) {
		if (!best || finder->streams[i].count > best->count)
			best = &finder->streams[i];
	}
	return best;
}

/* A run of a few regions is asked for no step: nothing in it is a loop's. */
static bool has_turns(const struct step_marks *stream)
{
	struct loop_level site;

	return stream && (stream->count >= MARKS_SPOKEN ||
			  (step_marks_frequent(stream, &site, 1) &&
			   site.turns >= LOOP_HITS_LEAST));
}

void step_tell_none(struct writer_state *state, const char *what)
{
	struct step_marks *stream = largest(state->finder);
	char setting[400];

	if (step_search_of(state)->is_whole && !has_turns(stream))
		return;
	step_look_for_setting(state, stream, setting, sizeof(setting));
	step_say_none(state, stream, setting, what);
}

/* What the schedule asked for. */
static void count_missed(struct writer_state *state)
{
	struct schedule schedule;

	step_tell_none(state,
		       state->finder->keeps
			       ? ": the run is recorded whole"
			       : ": everything from here on is recorded");
	schedule_from_options(&state->session->head->options, &schedule);
	add_relaxed(&state->session->head->windows.missed,
		    max_u64(1, (uint64_t)schedule.repeat));
}

static void give_up(struct writer_state *state)
{
	struct step_finder *finder = state->finder;
	struct step_search *search = step_search_of(state);

	gate_mark(GATE_OMP_CALLER, false);
	if (!search->is_whole)
		count_missed(state);
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

static void search_on(struct writer_state *state)
{
	struct step_finder *finder = state->finder;
	const bool is_full = step_most_marks(finder) >= STEP_MARKS_MAX ||
			     step_is_pressed(state);

	/* Without a schedule the whole run is known at its end. */
	if (!finder->of && (is_full || !finder->is_drawn))
		step_try_streams(state, is_full);
	/* Decided on when a part was full: its marks tell, while they may. */
	if (finder->of && finder->is_drawn && !is_full)
		return;
	if (finder->of) {
		hand_marker(state);
		return;
	}
	if (is_full && finder->keeps && step_is_pressed(state)) {
		finder->keeps = false;
		finder->kept_ticks = clock_ticks();
		step_search_of(state)->kept_ticks = finder->kept_ticks;
	}
	if (make_room(finder) && finder->drops > DROPS_MAX)
		give_up(state);
}

bool step_finder_waits(const struct writer_state *state)
{
	const struct step_finder *finder = state->finder;

	/* Decided on when a part was full it is as patient as before. */
	return finder && (!finder->is_drawn ||
			  (finder->of &&
			   search_state(step_search_of(state)) != SEARCH_ON));
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
	if (window || search_state(step_search_of(state)) == SEARCH_NONE) {
		/* By hand, or the program marks its steps itself. */
		finder->keeps = false;
		return UINT64_MAX;
	}
	return finder->of ? step_cut_keep(&finder->cut) : 0;
}

/* The program marks its steps itself, and no window of steps that were found is
 * left to be written. */
static bool is_past(const struct writer_state *state)
{
	return search_state(step_search_of(state)) == SEARCH_NONE &&
	       state->window >= state->finder->windows;
}

int64_t step_finder_steps(const struct writer_state *state)
{
	const struct step_finder *finder = state->finder;
	const int64_t steps =
		load_relaxed(&state->session->head->windows.steps);

	/* The writer cuts windows of steps that the thread doesn't count. */
	if (finder && finder->of && finder->cut.of && !is_past(state) &&
	    steps <= finder->cut.step)
		return finder->cut.step + 1;
	return steps;
}

void step_stand_back(struct writer_state *state)
{
	struct step_search *search = step_search_of(state);

	if (search->tid && (!state->finder || state->finder->is_sure))
		step_say_own(state, load_relaxed(&search->live_ticks));
	search->tid = 0;
	if (state->finder && is_past(state))
		step_finder_end(state);
}

void step_finder_run(struct writer_state *state)
{
	struct step_finder *finder = state->finder;
	uint32_t now;

	if (!finder)
		return;
	now = search_state(step_search_of(state));
	switch (now) {
	case SEARCH_ON: search_on(state); break;
	case SEARCH_FOUND:
	case SEARCH_JOINED: step_follow(state); break;
	case SEARCH_LIVE: step_follow_live(state); break;
	case SEARCH_NONE: step_stand_back(state); return;
	default: step_finder_end(state); return;
	}
	if (!state->finder)
		return;
	finder->seen_state = now;
	finder->seen_ticks =
		load_relaxed(&state->session->head->gpu.settled_ticks);
	finder->run_ticks = clock_ticks();
}

/* --- the end of the run --------------------------------------------------- */

/* No thread steps any more: the writer cuts what is left. */
bool step_finder_cut(struct writer_state *state)
{
	struct window_state *windows = &state->session->head->windows;
	struct step_finder *finder = state->finder;
	size_t last;
	const uint64_t hits =
		finder->forgotten +
		step_marks_hits(finder->of, &finder->level, UINT64_MAX, &last);
	const int64_t steps = (int64_t)(hits / finder->divisor);
	bool is_cut;

	step_settle(state);
	is_cut = step_cut_run(&finder->cut, windows, finder->of->count) &&
		 step_cut_end(&finder->cut, windows, steps,
			      step_marks_end(finder->of, &finder->level, last));
	finder->windows = load_relaxed(&windows->opened);
	store_relaxed(&windows->steps, steps);
	return is_cut;
}

/* It was killed before; what it held is still there. */
static bool stop_dead(struct writer_state *state, uint32_t now)
{
	struct window_state *windows = &state->session->head->windows;
	struct step_search *search = step_search_of(state);

	if (state->finder && now != SEARCH_ON)
		step_recall_level(state);
	else if (state->finder && !load_relaxed(&windows->opened))
		step_try_streams(state, true);
	if (state->finder && state->finder->of)
		return step_finder_cut(state);
	if (now == SEARCH_ON && !load_relaxed(&windows->opened)) {
		if (state->finder)
			count_missed(state);
		window_open(windows, search->from_ticks, -1, 0, false);
		search_move(search, SEARCH_ON, SEARCH_OVER);
	}
	return true;
}

bool step_finder_stop(struct writer_state *state)
{
	struct window_state *windows = &state->session->head->windows;
	struct step_search *search = step_search_of(state);
	const uint32_t now = search_state(search);

	if (now == SEARCH_NONE)
		step_stand_back(state);
	if (search->is_whole || now < SEARCH_ON || now > SEARCH_LIVE)
		return true;
	if (load_relaxed(&search->live_ticks))
		return true;
	if (!state->is_live)
		return stop_dead(state, now);
	if (!state->finder)
		return true;
	if (now == SEARCH_ON && !load_relaxed(&windows->opened))
		step_try_streams(state, true);
	if (state->finder->of)
		return step_finder_cut(state);
	if (!load_relaxed(&windows->opened))
		give_up(state);
	return true;
}
