/* SPDX-License-Identifier: MIT */
/* step_nest.c - the loops of one stream of marks; see step_marks.h. */
#include "writer/loops/loop_graphs.h"
#include "writer/loops/loop_shell.h"
#include "writer/loops/loop_turns.h"
#include "writer/steps/step_marks.h"

#include <errno.h>

/* Turns from one place to the same again: at most. */
#define PLACES_IN_TURN 64u

static int find(const struct loop_mark *marks, size_t count, uint32_t family,
		struct loop_nest *nest)
{
	struct array room = {0};
	int rc = array_reserve(&room, loop_nest_room(count));

	*nest = (struct loop_nest){0};
	if (!rc)
		rc = loop_nest_find(marks, count, room.base, nest);
	array_free(&room);
	if (!rc && family == SEARCH_RANGES)
		loop_shell_take(marks, count, &nest->level[nest->step]);
	if (rc == -ENOENT && family == SEARCH_CALLS && nest->count &&
	    loop_turns_decide(marks, count, nest))
		rc = 0;
	if (!rc && family == SEARCH_CALLS &&
	    loop_turns_are_doubtful(marks, count, &nest->level[nest->step]))
		rc = -ENOENT;
	return rc;
}

void step_marks_tell_callers(struct step_marks *marks)
{
	struct loop_mark *all = step_marks(marks);

	for (size_t i = 0; i < marks->count; i++)
		all[i].id = marks->family == SEARCH_CALLS
				    ? loop_graphs_id(&all[i])
				    : search_region(all[i].id, all[i].caller);
	marks->is_by_caller = !marks->is_by_caller;
}

static bool are_places_known(const struct step_marks *marks, size_t count)
{
	const struct loop_mark *all = step_marks(marks);

	for (size_t i = 0; i < count; i++) {
		if (!all[i].caller || all[i].caller > SEARCH_CALLERS_TELL)
			return false;
	}
	return marks->family == SEARCH_REGIONS && count;
}

/* The marker comes from several places in turn: its turns are not alike. */
static bool comes_by_turns(const struct step_marks *marks,
			   const struct loop_level *level)
{
	const struct loop_mark *all = step_marks(marks);
	uint16_t place[PLACES_IN_TURN];
	size_t hits = 0, period = 0;
	bool is_one = true;

	for (size_t i = level->first; i <= level->last; i++) {
		if (!loop_level_is_hit(level, all, i))
			continue;
		is_one &= !hits || all[i].caller == place[0];
		/* The first is back after another one. */
		if (!period && !is_one && all[i].caller == place[0])
			period = hits;
		if (period ? all[i].caller != place[hits % period]
			   : hits == PLACES_IN_TURN)
			return false;
		if (!period)
			place[hits] = all[i].caller;
		hits++;
	}
	return period && hits >= LOOP_HITS_LEAST * period;
}

/* By the code it comes once in each turn of a loop, and now and then from other
 * places of that loop. */
static bool comes_besides(const struct step_marks *marks,
			  const struct loop_level *level)
{
	const struct loop_mark *all = step_marks(marks);
	const uint16_t loop = all[level->first].loop;
	uint16_t place = 0;
	size_t hits = 0, votes = 0, at_place = 0;

	/* The majority's place, if there is one. */
	for (size_t i = level->first; i <= level->last; i++) {
		if (!loop_level_is_hit(level, all, i))
			continue;
		if (!loop || all[i].loop != loop)
			return false;
		if (!votes)
			place = all[i].caller;
		if (all[i].caller == place)
			votes++;
		else
			votes--;
		hits++;
	}
	for (size_t i = level->first; i <= level->last; i++)
		at_place += all[i].caller == place &&
			    loop_level_is_hit(level, all, i);
	return at_place < hits && at_place * 2 > hits;
}

/* Each call's place is known, and most follow one of the same site. */
static bool may_tell_callers(const struct step_marks *marks, size_t count)
{
	const struct loop_mark *all = step_marks(marks);
	bool has_several = false;
	size_t again = 0;

	if (!are_places_known(marks, count))
		return false;
	for (size_t i = 1; i < count; i++) {
		again += all[i].id == all[i - 1].id;
		has_several |= all[i].caller != all[i - 1].caller;
	}
	return has_several && again * 2 >= count;
}

/* Where the nest's marks lie among all. */
static void put_back(const uint32_t *place, struct loop_nest *nest)
{
	for (size_t i = 0; i < nest->count; i++) {
		nest->level[i].begin = place[nest->level[i].begin];
		nest->level[i].first = place[nest->level[i].first];
		nest->level[i].last = place[nest->level[i].last];
	}
}

static int find_at(const struct step_marks *marks, const struct step_look *look,
		   struct loop_nest *nest)
{
	const struct loop_mark *all = step_marks(marks);
	struct array room = {0};
	struct loop_mark *came;
	uint32_t *place;
	size_t count = 0;
	int rc;

	if (marks->family == SEARCH_CALLS)
		return find(all, look->count, marks->family, nest);
	/* What was around others then had not come yet. */
	if (array_reserve(&room,
			  look->count * (sizeof(*came) + sizeof(*place))))
		return -ENOMEM;
	came = room.base;
	place = (uint32_t *)(came + look->count);
	for (size_t i = 0; i < marks->count && count < look->count; i++) {
		if (all[i].end_ticks > look->ticks)
			continue;
		came[count] = all[i];
		place[count++] = (uint32_t)i;
	}
	rc = find(came, count, marks->family, nest);
	put_back(place, nest);
	array_free(&room);
	return rc;
}

/* Launches of several graphs among the calls: while the run goes on only what
 * the calls alone tell is taken, since those are what its thread sees. */
static int find_graphs(struct step_marks *marks, size_t count, int rc,
		       struct loop_nest *nest)
{
	struct loop_nest other;
	enum loop_graphs graphs = GRAPHS_SAME;

	step_marks_tell_callers(marks);
	if (!find(step_marks(marks), count, marks->family, &other))
		graphs = loop_graphs_compare(rc ? NULL : nest, &other);
	if (graphs == GRAPHS_OTHER && marks->tells_graphs) {
		*nest = other;
		return 0;
	}
	step_marks_tell_callers(marks);
	return graphs == GRAPHS_SAME ? rc : -ENOENT;
}

/* Over all of the first marks, or those that had come at a look. */
static int find_either(struct step_marks *marks, size_t count,
		       const struct step_look *look, struct loop_nest *nest)
{
	struct loop_nest other;
	int rc, by_places;

	if (marks->is_by_caller)
		step_marks_tell_callers(marks);
	rc = look ? find_at(marks, look, nest)
		  : find(step_marks(marks), count, marks->family, nest);
	if (marks->family == SEARCH_CALLS)
		return (!rc || rc == -ENOENT) &&
				       loop_graphs_are_told(step_marks(marks),
							    count)
			       ? find_graphs(marks, count, rc, nest)
			       : rc;
	if (rc ? rc != -ENOENT || !may_tell_callers(marks, count)
	       : !are_places_known(marks, count) ||
			    (!comes_by_turns(marks, &nest->level[nest->step]) &&
			     !comes_besides(marks, &nest->level[nest->step])))
		return rc;
	step_marks_tell_callers(marks);
	by_places =
		look ? find_at(marks, look, &other)
		     : find(step_marks(marks), count, marks->family, &other);
	if (!by_places && (rc || other.level[other.step].turns <
					 nest->level[nest->step].turns)) {
		*nest = other;
		return 0;
	}
	step_marks_tell_callers(marks);
	return rc;
}

int step_marks_find(struct step_marks *marks, size_t count,
		    struct loop_nest *nest)
{
	return find_either(marks, count, NULL, nest);
}

int step_marks_find_at(struct step_marks *marks, const struct step_look *look,
		       struct loop_nest *nest)
{
	return find_either(marks, look->count, look, nest);
}
