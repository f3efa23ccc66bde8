/* SPDX-License-Identifier: MIT */
/*
 * step_look.c - of several threads, and of one's regions, ranges and calls,
 * where the step is looked for; the same whenever we come by.
 */
#include "writer/steps/step_backward.h"
#include "writer/steps/step_compiled.h"
#include "writer/steps/step_follow.h"
#include "writer/steps/step_jitted.h"
#include "writer/steps/step_optimizer.h"

/* What the search of a whole run takes for an event that is read, of which a
 * team's region has two or more, and for a region, of which a mark tells. */
#define EVENT_NS    100u
#define REGION_NS   460u
#define TEAM_EVENTS 2u

/* All that came before it is here. */
static uint64_t known_until(const struct writer_state *state)
{
	const struct step_finder *finder = state->finder;
	uint64_t until = finder->run_ticks;

	if (state->is_finishing || !state->is_live)
		return UINT64_MAX;
	for (size_t i = 0; i < finder->stream_count; i++) {
		if (finder->streams[i].family == SEARCH_CALLS)
			until = min_u64(until, finder->seen_ticks);
	}
	return until;
}

bool step_next_look(const struct writer_state *state,
		    const struct step_marks *stream, struct step_look *look)
{
	return step_marks_due(stream,
			      state->is_finishing ? stream->count
						  : step_ready(state, stream),
			      known_until(state), look);
}

/* The look that is due next of all: they are taken in the order in which they
 * fell due, so that the same marks have the same answer whenever we come by. */
static struct step_marks *next_look(struct writer_state *state,
				    struct step_look *look)
{
	struct step_finder *finder = state->finder;
	struct step_marks *first = NULL;
	struct step_look other;

	for (size_t i = 0; i < finder->stream_count; i++) {
		if (!step_next_look(state, &finder->streams[i], &other) ||
		    (first && other.ticks >= look->ticks))
			continue;
		first = &finder->streams[i];
		*look = other;
	}
	return first;
}

/* Of what had come by then it is no small part, and none that goes before it
 * may have a step of its own. */
static bool may_be_taken(struct writer_state *state,
			 const struct step_marks *stream, uint64_t ticks)
{
	const struct step_finder *finder = state->finder;
	const size_t count = step_marks_came(stream, ticks);
	size_t came[STEP_STREAMS_MAX];
	size_t most = 0;

	for (size_t i = 0; i < finder->stream_count; i++) {
		came[i] = step_marks_came(&finder->streams[i], ticks);
		most = max_u64(most, came[i]);
	}
	for (size_t i = 0; i < finder->stream_count; i++) {
		const struct step_marks *other = &finder->streams[i];

		if (other != stream && other->is_found && came[i] * 4 >= most &&
		    step_marks_before_other(other, came[i], stream, count,
					    step_main_tid(state)))
			return false;
	}
	return count * 4 >= most;
}

/* In a loop of which the program's code has nothing. */
static bool is_compiled(struct writer_state *state,
			const struct step_marks *stream,
			const struct loop_nest *nest)
{
	const struct step_finder *finder = state->finder;

	if (stream->family != SEARCH_CALLS)
		return false;
	for (size_t i = 0; i < finder->stream_count; i++) {
		const struct step_marks *ranges = &finder->streams[i];

		if (ranges->tid == stream->tid &&
		    ranges->family == SEARCH_RANGES)
			return step_is_compiled(state->session, stream,
						&nest->level[nest->step],
						ranges);
	}
	return false;
}

void step_look_on(struct writer_state *state)
{
	struct step_marks *stream;
	struct step_look look;
	struct loop_nest nest;

	while ((stream = next_look(state, &look))) {
		step_marks_looked(stream);
		stream->is_found =
			!step_jitted_judge(
				state->session, stream, look.count,
				step_marks_find_at(stream, &look, &nest),
				&nest) &&
			!is_compiled(state, stream, &nest);
		if (!stream->is_found ||
		    !step_is_certain(state, stream, look.count, &nest) ||
		    !may_be_taken(state, stream, look.ticks))
			continue;
		if (step_optimizer_find(state, &stream, look.ticks, &nest) ==
		    OPTIMIZER_DOUBT) {
			stream->is_found = false;
			continue;
		}
		step_found(state, stream, &nest, true);
		return;
	}
}

/* There is no later to think again. */
static bool is_final(const struct writer_state *state)
{
	return step_search_of(state)->is_whole || state->is_finishing;
}

/* ... and all marks are here, in the process itself: what no thread could
 * count, barriers and runs backward, is looked at then alone. */
static bool is_over(const struct writer_state *state)
{
	return state->is_live &&
	       (state->finder->has_ended || state->is_finishing);
}

/* A level that turns more often than weights are moved by hand is a part of a
 * step, or has tests that look like one; unless PyTorch was asked too late to
 * know of all. */
static bool turns_more_often(struct writer_state *state,
			     const struct step_marks *stream,
			     const struct loop_level *level)
{
	struct step_finder *finder = state->finder;
	size_t steps;

	if (!is_over(state) || stream->family != SEARCH_REGIONS ||
	    stream->tid != step_main_tid(state) ||
	    finder->torch_ticks > step_marks(stream)[level->first].ticks)
		return false;
	steps = step_by_hand_steps(&finder->by_hand, finder->streams,
				   finder->stream_count);
	return steps && level->turns / step_level_every(level) > steps + 1;
}

/* Without an optimizer: what was found is a layer, or doesn't turn as often as
 * the loss is run backward, of which no layer has one. */
static bool operators_tell_another(struct writer_state *state,
				   const struct step_marks *stream,
				   struct loop_nest *nest)
{
	const struct step_operators *operators = &state->finder->operators;
	const enum step_backward told =
		step_backward_compare(state->session, operators, stream, nest);
	const struct loop_level *level = &nest->level[nest->step];

	if (turns_more_often(state, stream, level))
		return true;
	switch (told) {
	case BACKWARD_IS_STEP: return false;
	case BACKWARD_OTHER: return true;
	default:
		return step_operators_tell_layers(operators, stream,
						  &nest->level[nest->step]);
	}
}

void step_look_now(struct writer_state *state)
{
	struct step_finder *finder = state->finder;
	const size_t most = step_most_marks(finder);
	enum step_optimizer told;
	struct step_marks *next;
	struct loop_nest nest;
	uint32_t looked = 0, doubted = 0;

	while ((next = step_marks_next(finder->streams, finder->stream_count,
				       step_main_tid(state), &looked))) {
		const size_t count = state->is_finishing
					     ? next->count
					     : step_ready(state, next);

		next->tells_graphs = finder->has_ended;
		/* What works for a thread in doubt doesn't know better. */
		if ((doubted && next->tid != doubted) ||
		    next->count * 4 < most ||
		    step_jitted_judge(state->session, next, count,
				      step_marks_find(next, count, &nest),
				      &nest) ||
		    is_compiled(state, next, &nest) ||
		    (!is_final(state) && !loop_is_likely(&nest)))
			continue;
		told = step_optimizer_find(state, &next, UINT64_MAX, &nest);
		if (told == OPTIMIZER_DOUBT &&
		    next->tid == step_main_tid(state))
			doubted = next->tid;
		if (told == OPTIMIZER_DOUBT ||
		    (told == OPTIMIZER_NONE &&
		     operators_tell_another(state, next, &nest)))
			continue;
		step_found(state, next, &nest, is_final(state));
		return;
	}
	next = is_final(state) ? step_optimizer_alone(state, &nest) : NULL;
	if (!next && !doubted && is_over(state) &&
	    !step_by_hand_find(&finder->by_hand, finder->streams,
			       finder->stream_count, &nest))
		next = &finder->by_hand.marks;
	if (!next && !doubted && is_over(state) &&
	    !step_barriers_find(state->session, &finder->barriers,
				finder->streams, finder->stream_count, &nest))
		next = &finder->barriers.marks;
	if (next)
		step_found(state, next, &nest, true);
}

void step_look_for_setting(struct writer_state *state,
			   const struct step_marks *stream, char *text,
			   size_t bytes)
{
	step_optimizer_setting(state, stream, text, bytes);
	if (!text[0])
		step_jitted_setting(stream, &state->naming, text, bytes);
}

uint64_t step_finder_takes_ns(const struct writer_state *state, uint64_t events)
{
	const struct step_finder *finder = state->finder;
	uint64_t thinned = 0, told;

	if (!finder || finder->is_over || finder->of)
		return 0;
	/* Some threads are in the same regions. */
	for (struct ring_reader *t = state->readers; t; t = t->older)
		thinned = max_u64(thinned,
				  t->thread->thin.marked - t->marks_taken);
	told = events - min_u64(events, thinned / EVENT_MARKS);
	return events * EVENT_NS +
	       (step_most_marks(finder) + thinned + told / TEAM_EVENTS) *
		       REGION_NS;
}
