/* SPDX-License-Identifier: MIT */
/* step_marks.c - marks, kept in order and looked through; see step_marks.h. */
#include "writer/steps/step_marks.h"

#include "collector/system/log.h"
#include "collector/session/names.h"
#include "writer/steps/step_calls.h"
#include <string.h>

/* Turns of a range that is called like a step; marks that are looked at. */
#define RANGE_TURNS 3u
#define RANGE_LOOKS 64u

bool step_marks_read(const struct session *session, const struct event *event,
		     uint32_t *family, struct period_mark *mark)
{
	size_t len;

	*mark = (struct period_mark){.ticks = event->start_ticks};
	switch (event->kind) {
	case EVENT_OMP_REGION:
		*family = SEARCH_REGIONS;
		mark->id = event->omp.code;
		mark->note =
			(uint64_t)event->outlined_offset << 32 | event->extra;
		return mark->id != 0;
	case EVENT_SCOPE:
	case EVENT_RANGE:
	case EVENT_MARK:
		*family = SEARCH_RANGES;
		mark->id = search_name(NULL,
				       names_text(session, event->name, &len));
		mark->note = event->name;
		return event->name != 0;
	default: return false;
	}
}

size_t step_marks_add(struct step_marks *marks, const struct period_mark *mark)
{
	struct period_mark *all;
	size_t at;

	if (array_reserve(&marks->marks, (marks->count + 1) * sizeof(*mark)))
		return marks->count;
	all = step_marks(marks);
	for (at = marks->count; at && all[at - 1].ticks > mark->ticks; at--)
		;
	memmove(all + at + 1, all + at, (marks->count - at) * sizeof(*mark));
	all[at] = *mark;
	marks->count++;
	return at;
}

void step_marks_halve(struct step_marks *marks)
{
	const size_t half = marks->count / 2;

	marks->count -= half;
	marks->next_try = marks->count + half / 2;
	memmove(step_marks(marks), step_marks(marks) + half,
		marks->count * sizeof(struct period_mark));
}

size_t step_marks_before(const struct step_marks *marks, uint64_t ticks)
{
	const struct period_mark *all = step_marks(marks);
	size_t count = marks->count;

	while (count && all[count - 1].ticks >= ticks)
		count--;
	return count;
}

int step_marks_find(const struct step_marks *marks, size_t count,
		    const struct period_needs *needs, struct period *found)
{
	struct array room = {0};
	int rc = array_reserve(&room, period_room(count));

	if (!rc)
		rc = period_find(step_marks(marks), count, needs, room.base,
				 found);
	array_free(&room);
	return rc;
}

/* All marks of one range. */
static void gather(const struct step_marks *marks, uint64_t id,
		   struct period *found)
{
	const struct period_mark *all = step_marks(marks);
	size_t last = 0;

	*found = (struct period){.id = id, .key = search_key(&id, 0)};
	for (size_t i = 0; i < marks->count; i++) {
		if (all[i].id != id)
			continue;
		if (!found->steps++)
			found->first = i;
		last = i;
	}
	if (found->steps > 1)
		found->ticks = (all[last].ticks - all[found->first].ticks) /
			       (found->steps - 1);
}

bool step_marks_find_range(const struct step_marks *marks,
			   const struct session *session, struct period *found)
{
	const struct period_mark *all = step_marks(marks);
	size_t len;

	for (size_t i = marks->count > RANGE_LOOKS ? marks->count - RANGE_LOOKS
						   : 0;
	     i < marks->count; i++) {
		if (!search_is_step_like(
			    names_text(session, (uint32_t)all[i].note, &len)))
			continue;
		gather(marks, all[i].id, found);
		if (found->steps >= RANGE_TURNS)
			return true;
	}
	return false;
}

bool step_marks_is_hit(const struct step_marks *marks,
		       const struct period *period, size_t at)
{
	const struct period_mark *all = step_marks(marks);
	uint64_t ids[SEARCH_CONTEXT_MAX + 1];

	if (all[at].id != period->id || at < period->context)
		return false;
	for (unsigned int i = 0; i <= period->context; i++)
		ids[i] = all[at - period->context + i].id;
	return search_key(ids, period->context) == period->key;
}

uint64_t step_marks_count(const struct step_marks *marks,
			  const struct period *period, uint64_t ticks)
{
	const struct period_mark *all = step_marks(marks);
	uint64_t hits = 0;

	for (size_t i = period->first; i < marks->count && all[i].ticks < ticks;
	     i++)
		hits += step_marks_is_hit(marks, period, i);
	return hits;
}

static uint64_t moved(uint64_t code, uint64_t distance)
{
	return code + (uint64_t)(int64_t)(int32_t)(uint32_t)distance;
}

void step_marks_describe(const struct step_marks *marks, size_t at,
			 struct naming *naming, char *text, size_t bytes)
{
	const struct period_mark *mark = step_marks(marks) + at;
	const uint64_t outlined = mark->note >> 32;
	size_t len;

	if (marks->family == SEARCH_RANGES)
		log_format(text, bytes, "range \"%s\"",
			   names_text(naming->session, (uint32_t)mark->note,
				      &len));
	else if (marks->family == SEARCH_CALLS)
		step_calls_describe(naming->session, mark, text, bytes);
	else
		log_format(text, bytes, "omp region \"%s\"",
			   naming_find(naming, mark->id,
				       moved(mark->id, mark->note),
				       outlined ? moved(mark->id, outlined) : 0)
				   ->function);
}
