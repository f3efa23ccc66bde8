/* SPDX-License-Identifier: MIT */
/* loop_shell.c - what is around all of a turn; see loop_shell.h. */
#include "writer/loops/loop_shell.h"

/* Of so many turns one may have something outside. */
#define OUTSIDE_OF 20u

static bool is_within(const struct loop_mark *mark,
		      const struct loop_mark *around)
{
	return mark->ticks >= around->ticks &&
	       mark->end_ticks <= around->end_ticks;
}

/* All hits of a site as turns, if each is around one turn of the level's and
 * all else lies in them, too. */
static bool is_shell(const struct loop_mark *marks, size_t count, uint64_t id,
		     const struct loop_level *level, struct loop_level *shell)
{
	const struct loop_mark *around = NULL;
	size_t outside = 0, since = 0, hits = 0;

	*shell = (struct loop_level){.id = id};
	for (size_t i = 0; i < count; i++) {
		if (around && is_within(&marks[i], around)) {
			if (loop_level_is_hit(level, marks, i) && ++hits > 1)
				return false;
		} else if (marks[i].id == id) {
			if (!shell->turns++)
				shell->first = i;
			around = &marks[i];
			shell->last = i;
			outside += since;
			since = hits = 0;
		} else {
			since += around != NULL;
		}
	}
	return shell->turns >= LOOP_HITS_LEAST &&
	       shell->turns <= level->turns + 1 &&
	       shell->turns + 1 >= level->turns &&
	       outside * OUTSIDE_OF <= shell->turns;
}

void loop_shell_take(const struct loop_mark *marks, size_t count,
		     struct loop_level *level)
{
	const size_t far = 2 * level->length + 1;
	const size_t from = level->first > far ? level->first - far : 0;
	struct loop_level shell;

	for (size_t i = from; i < level->first; i++) {
		if (!is_within(&marks[level->first], &marks[i]) ||
		    !is_shell(marks, count, marks[i].id, level, &shell))
			continue;
		level->id = shell.id;
		level->context = 0;
		level->key = search_key(&shell.id, 0);
		level->begin = level->first = shell.first;
		level->last = shell.last;
		level->turns = shell.turns;
		level->is_begin = true;
		return;
	}
}
