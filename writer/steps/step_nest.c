/* SPDX-License-Identifier: MIT */
/* step_nest.c - the loops of one stream of marks; see step_marks.h. */
#include "writer/steps/step_marks.h"

#include <errno.h>

static int find(const struct loop_mark *marks, size_t count,
		struct loop_nest *nest)
{
	struct array room = {0};
	int rc = array_reserve(&room, loop_nest_room(count));

	*nest = (struct loop_nest){0};
	if (!rc)
		rc = loop_nest_find(marks, count, room.base, nest);
	array_free(&room);
	return rc;
}

void step_marks_tell_callers(struct step_marks *marks)
{
	struct loop_mark *all = step_marks(marks);

	for (size_t i = 0; i < marks->count; i++)
		all[i].id = search_region(all[i].id, all[i].caller);
	marks->is_by_caller = !marks->is_by_caller;
}

/* Each call's place is known, and most follow one of the same site. */
static bool may_tell_callers(const struct step_marks *marks, size_t count)
{
	const struct loop_mark *all = step_marks(marks);
	bool has_several = false;
	size_t again = 0;

	if (marks->family != SEARCH_REGIONS || !count || !all[0].caller)
		return false;
	for (size_t i = 1; i < count; i++) {
		if (!all[i].caller)
			return false;
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
		return find(all, look->count, nest);
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
	rc = find(came, count, nest);
	put_back(place, nest);
	array_free(&room);
	return rc;
}

/* Over all of the first marks, or those that had come at a look. */
static int find_either(struct step_marks *marks, size_t count,
		       const struct step_look *look, struct loop_nest *nest)
{
	struct loop_nest other;
	int rc;

	if (marks->is_by_caller)
		step_marks_tell_callers(marks);
	rc = look ? find_at(marks, look, nest)
		  : find(step_marks(marks), count, nest);
	if (rc != -ENOENT || !may_tell_callers(marks, count))
		return rc;
	step_marks_tell_callers(marks);
	rc = look ? find_at(marks, look, &other)
		  : find(step_marks(marks), count, &other);
	if (rc)
		step_marks_tell_callers(marks);
	else
		*nest = other;
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
