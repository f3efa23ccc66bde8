/* SPDX-License-Identifier: MIT */
/* step_compiled.c - turns within one run of a module; see step_compiled.h. */
#include "writer/steps/step_compiled.h"

#include "collector/session/names.h"
#include <string.h>

#define MODULE	   "XlaModule:#"
/* Of so many hits one may lie outside. */
#define OUTSIDE_OF 10u

static bool are_alike(const struct step_marks *calls,
		      const struct loop_level *level)
{
	const struct loop_mark *all = step_marks(calls);
	size_t before = level->first;

	for (size_t i = before + 1; i <= level->last; i++) {
		if (!loop_level_is_hit(level, all, i))
			continue;
		if (i - before != level->length)
			return false;
		before = i;
	}
	return true;
}

static size_t hits_in(const struct step_marks *calls,
		      const struct loop_level *level,
		      const struct loop_mark *range)
{
	const struct loop_mark *all = step_marks(calls);
	size_t at =
		max_u64(level->first, step_marks_before(calls, range->ticks));
	size_t hits = 0;

	for (; at <= level->last && all[at].ticks < range->end_ticks; at++)
		hits += loop_level_is_hit(level, all, at);
	return hits;
}

bool step_is_compiled(const struct session *session,
		      const struct step_marks *calls,
		      const struct loop_level *level,
		      const struct step_marks *ranges)
{
	size_t len;

	for (size_t i = 0; i < ranges->count; i++) {
		const struct loop_mark *range = &step_marks(ranges)[i];
		const char *name =
			names_text(session, (uint32_t)range->note, &len);

		if (strstr(name, MODULE) &&
		    hits_in(calls, level, range) * OUTSIDE_OF >=
			    level->turns * step_level_every(level) *
				    (OUTSIDE_OF - 1))
			return !are_alike(calls, level);
	}
	return false;
}
