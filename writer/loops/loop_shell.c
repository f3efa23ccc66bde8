/* SPDX-License-Identifier: MIT */
/* loop_shell.c - what is around all of a turn; see loop_shell.h. */
#include "writer/loops/loop_shell.h"

#include "writer/loops/loop_level.h"

/* Of so many turns one may have something outside. */
#define OUTSIDE_OF 20u

static bool is_within(const struct loop_mark *mark,
		      const struct loop_mark *around)
{
	return mark->ticks >= around->ticks &&
	       mark->end_ticks <= around->end_ticks;
}

/* What lies between turns, of each `every`th. */
struct apart {
	uint64_t ticks[LOOP_SAMPLES];
	size_t count;
	size_t every;
};

static void take_turn(struct loop_level *shell, const struct loop_mark *marks,
		      size_t at, struct apart *apart)
{
	if (!shell->turns)
		shell->first = at;
	else if ((shell->turns - 1) % apart->every == 0 &&
		 apart->count < LOOP_SAMPLES)
		apart->ticks[apart->count++] =
			marks[at].ticks - marks[shell->last].ticks;
	shell->turns++;
	shell->last = at;
}

/* All hits of a site as turns, if each is around one turn of the level's and
 * all else lies in them, too. */
static bool is_shell(const struct loop_mark *marks, size_t count, uint64_t id,
		     const struct loop_level *level, struct loop_level *shell)
{
	const struct loop_mark *around = NULL;
	struct apart apart = {.every = level->turns / LOOP_SAMPLES + 1};
	size_t outside = 0, since = 0, hits = 0;

	*shell = (struct loop_level){.id = id};
	for (size_t i = 0; i < count; i++) {
		if (around && is_within(&marks[i], around)) {
			if (loop_level_is_hit(level, marks, i) && ++hits > 1)
				return false;
		} else if (marks[i].id == id) {
			take_turn(shell, marks, i, &apart);
			around = &marks[i];
			outside += since;
			since = hits = 0;
		} else {
			since += around != NULL;
		}
	}
	if (shell->turns < LOOP_HITS_LEAST)
		return false;
	shell->ticks = loop_median(apart.ticks, apart.count);
	return shell->turns <= level->turns + 1 &&
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
		level->ticks = shell.ticks;
		level->is_begin = true;
		return;
	}
}
