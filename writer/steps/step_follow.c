/* SPDX-License-Identifier: MIT */
/* step_follow.c - from the writer to the thread; see step_follow.h. */
#include "writer/steps/step_follow.h"

#include "collector/session/gate.h"
#include "collector/steps/steps.h"
#include <string.h>

/* After so long a call's record isn't waited for. */
#define CALL_LOST_MS 3000u
/* Marks behind which nobody looks any more are forgotten by so many. */
#define FORGET_AT    65536u

static uint64_t ms_to_ticks(const struct writer_state *state, uint64_t ms)
{
	return clock_ticks_per_second(&state->session->head->clock) * ms / 1000;
}

/* When the first step began that the thread counted: as the record of the call
 * has it, if it was one.  False: calls before it are still to come. */
static bool joined_at(struct writer_state *state, uint64_t *ticks)
{
	struct step_finder *finder = state->finder;
	const struct step_search *search = step_search_of(state);
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
	step_search_of(state)->before =
		finder->forgotten +
		step_marks_hits(finder->of, &finder->level, ticks, &last);
	finder->is_counted = true;
}

/* The program has gone on to something else: what was found is forgotten, and
 * what is gone of the run is past. */
static void take_back(struct writer_state *state)
{
	struct step_finder *finder = state->finder;
	struct step_search *search = step_search_of(state);

	if (!search_move(search, SEARCH_FOUND, SEARCH_ON) &&
	    !search_move(search, SEARCH_JOINED, SEARCH_ON))
		return;
	gate_mark(GATE_OMP_MARK, false);
	steps_follow_range(0);
	/* The thread's, which counts nothing now. */
	search->was_hit = false;
	memset(search->history, 0, sizeof(search->history));
	finder->kept_ticks =
		max_u64(finder->kept_ticks, step_cut_keep(&finder->cut));
	search->kept_ticks = finder->kept_ticks;
	finder->of->is_settled = false;
	finder->of = NULL;
	finder->is_counted = false;
}

/* No window is there yet: would the same be found now? */
static void think_again(struct writer_state *state)
{
	struct step_finder *finder = state->finder;
	struct step_marks *stream = finder->of;
	const bool is_by_caller = stream->is_by_caller;
	struct step_look look;
	struct loop_nest nest;

	while (!finder->is_sure && step_next_look(state, stream, &look)) {
		stream->is_found = !step_marks_find_at(stream, &look, &nest);
		if (!stream->is_found && stream->is_by_caller != is_by_caller)
			step_marks_tell_callers(stream);
		if (stream->is_found &&
		    nest.level[nest.step].key != finder->level.key) {
			take_back(state);
			return;
		}
		step_marks_looked(stream);
		if (stream->is_found &&
		    (step_is_certain(state, stream, look.count, &nest) ||
		     stream->count >= STEP_MARKS_MAX))
			step_settle(state);
	}
}

/* Windows as far as they are known, and then the thread's turn. */
static void cut(struct writer_state *state)
{
	struct window_state *windows = &state->session->head->windows;
	struct step_finder *finder = state->finder;
	struct step_search *search = step_search_of(state);
	const bool is_full = step_is_pressed(state);
	const bool is_cut = step_cut_run(&finder->cut, windows,
					 step_ready(state, finder->of));

	finder->windows = load_relaxed(&windows->opened);
	if (finder->windows || (is_full && finder->cut.cycle >= 0))
		step_settle(state);
	if (!is_cut || !finder->is_sure)
		return;
	if (!finder->of->comes_in_time) {
		/* No thread counts such steps: all is recorded until the last
		 * window has been cut. */
		if (step_cut_is_over(&finder->cut) &&
		    search_move(search, SEARCH_FOUND, SEARCH_LIVE))
			gate_record(false);
		return;
	}
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

	if (!finder->is_counted || !finder->is_sure || count < FORGET_AT)
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
void step_follow_draw_before(struct writer_state *state, uint64_t live)
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
void step_follow_live(struct writer_state *state)
{
	struct step_finder *finder = state->finder;
	struct step_search *search = step_search_of(state);
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
		step_follow_draw_before(state, live);
	step_finder_end(state);
}

void step_follow(struct writer_state *state)
{
	struct step_search *search = step_search_of(state);

	count_before(state);
	if (!search->is_whole) {
		cut(state);
		forget(state->finder);
		if (!state->finder->is_sure)
			think_again(state);
	} else if (state->finder->is_counted) {
		state->finder->handed_ticks = clock_ticks();
		search_move(search, SEARCH_JOINED, SEARCH_LIVE);
	}
}
