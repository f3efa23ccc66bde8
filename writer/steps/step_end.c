/* SPDX-License-Identifier: MIT */
/* step_end.c - the steps of a file that ends, or of a run; see step_finder.h.
 */
#include "writer/steps/step_follow.h"

/* What follows the last turn begins another one, of which no part knew that it
 * would have no hit: the last step is in the part that was closed then. */
static bool is_followed(const struct step_lane *lane)
{
	struct step_turns turns = lane->turns;
	size_t begin;

	return step_turns_next(lane->of, lane->level, lane->of->count, &turns,
			       &begin) &&
	       turns.ticks <= lane->closed_ticks;
}

/* The run is over: the last step ends with its turn. */
static void draw_last(struct writer_state *state, uint64_t end_ticks)
{
	struct step_finder *finder = state->finder;
	struct step_lane *lane = &finder->lane;
	int64_t turns;
	size_t last;
	const uint64_t hits =
		finder->forgotten +
		step_marks_hits(finder->of, &finder->level, UINT64_MAX, &last);

	turns = (int64_t)(hits / finder->divisor);
	/* Where a hit's end is a turn's none begins with the last one's. */
	step_lane_draw(state, lane, last + !finder->level.is_end, end_ticks);
	store_relaxed(&state->session->head->windows.steps,
		      lane->number < turns ? lane->number + 1 : turns);
	if (lane->late)
		session_note(state->session,
			     "%lu {step lies|steps lie} in parts that were "
			     "closed before%s",
			     (unsigned long)lane->late,
			     state->is_live ? " the step was known, and are "
					      "not drawn"
					    : "");
	/* Of a turn's marks that come when no other follows it may have been
	 * drawn, before that was known, that a step begins there. */
	if (lane->number + 1 == turns) {
		if (!state->is_live && !is_followed(lane))
			lane->closed_ticks = 0;
		step_lane_end(state, lane,
			      step_marks_end(finder->of, &finder->level, last));
	}
	if (lane->number + 1 >= turns)
		lane->ticks = 0;
}

/* In the run as a whole. */
static void find(struct writer_state *state)
{
	struct step_finder *finder = state->finder;

	if (finder->is_over || finder->of || !step_search_of(state)->is_whole ||
	    search_state(step_search_of(state)) != SEARCH_ON)
		return;
	/* All calls of its window have come, whatever was known at the end of
	 * the last pass. */
	finder->seen_ticks = UINT64_MAX;
	finder->has_ended = true;
	if (state->is_live || !step_search_of(state)->part.is_known ||
	    !step_recall_level(state))
		step_try_streams(state, true);
	if (!finder->of)
		step_tell_none(state, "");
}

/* What is recovered has the same steps. */
static void note_part(struct writer_state *state)
{
	const struct step_finder *finder = state->finder;
	const struct loop_level *level = &finder->level;
	const bool has_begin = !level->is_end;

	step_search_of(state)->part = (struct search_part){
		.is_known = 1,
		.tid = finder->of->tid,
		.family = finder->of->family,
		.context = level->context,
		.is_begin = level->is_begin,
		.is_end = level->is_end,
		.every = (uint32_t)level->every,
		.leaves_teams = finder->leaves_teams,
		.id = level->id,
		.key = level->key,
		.begin_ticks =
			has_begin ? step_marks(finder->of)[level->begin].ticks
				  : level->begin_ticks,
		.first_ticks = step_marks(finder->of)[level->first].ticks,
	};
}

void step_finder_part(struct writer_state *state)
{
	const struct step_search *search = step_search_of(state);
	const uint64_t live = load_relaxed(&search->live_ticks);
	const uint64_t now = state->counts.last_ticks;
	struct step_finder *finder = state->finder;

	if (!finder || !finder->is_drawn || !state->is_live)
		return;
	if (!finder->of && !finder->is_over &&
	    search_state(search) == SEARCH_ON)
		step_try_streams(state, true);
	if (!finder->of) {
		finder->closed_ticks = now;
		return;
	}
	note_part(state);
	if (live && live <= now)
		step_follow_draw_before(state, live);
	else
		step_lane_draw(state, &finder->lane, finder->of->count,
			       search_state(search) == SEARCH_LIVE && !live
				       ? min_u64(now, finder->handed_ticks - 1)
				       : now);
}

void step_finder_find(struct writer_state *state)
{
	if (!state->finder)
		return;
	find(state);
	state->finder->is_over = true;
}

/* Those of a window that ended before the program marked its own. */
static void draw_before_own(struct writer_state *state, uint64_t end_ticks)
{
	step_stand_back(state);
	if (state->finder && state->finder->of)
		step_lane_draw(
			state, &state->finder->lane, state->finder->of->count,
			min_u64(end_ticks, step_search_of(state)->own_ticks));
}

void step_finder_draw(struct writer_state *state, uint64_t end_ticks)
{
	struct step_finder *finder = state->finder;
	uint64_t live;

	if (!finder)
		return;
	if (search_state(step_search_of(state)) == SEARCH_NONE) {
		/* Between two passes it may have come so far. */
		draw_before_own(state, end_ticks);
		return;
	}
	live = load_relaxed(&step_search_of(state)->live_ticks);
	if (step_search_of(state)->is_whole && !finder->is_drawn)
		return;
	find(state);
	if (!finder->of)
		return;
	if (finder->of == &finder->barriers.marks)
		step_barriers_draw(state, &finder->barriers, end_ticks);
	if (live && live < end_ticks)
		step_follow_draw_before(state, live);
	/* The window of a whole run ends with it, and the writer may see that
	 * before it is told to finish. */
	else if (state->is_finishing || step_search_of(state)->is_whole)
		draw_last(state, end_ticks);
	else
		step_lane_draw(state, &finder->lane, finder->of->count,
			       end_ticks);
}
