/* SPDX-License-Identifier: MIT */
/*
 * loop_marks.h - a stream of regions, one after the other and all alike, and
 * the loop that is found in it.
 */
#ifndef TESTS_UNIT_LOOP_MARKS_H
#define TESTS_UNIT_LOOP_MARKS_H

#include "tests/unit/cmocka_base.h"

#include "writer/loops/loop_nest.h"
#include <errno.h>
#include <stdlib.h>

#define MARKS_MAX 20000u

static struct loop_mark marks[MARKS_MAX];
static size_t count;

static inline void hit(uint64_t id)
{
	assert_in_range(count, 0, MARKS_MAX - 1);
	marks[count] = (struct loop_mark){
		.id = id, .ticks = 10 * count, .end_ticks = 10 * count + 5};
	count++;
}

/* A call that copies from a GPU, or to it. */
static inline void copied(uint64_t id)
{
	hit(id);
	marks[count - 1].is_copy = true;
}

/* As loop_nest_find(). */
static inline int find(struct loop_nest *nest)
{
	void *room = aligned_alloc(64, align_up(loop_nest_room(count), 64));
	const int result = loop_nest_find(marks, count, room, nest);

	free(room);
	return result;
}

/* So many turns are found. */
static inline void expect_steps(size_t steps)
{
	struct loop_nest nest;

	assert_int_equal(find(&nest), 0);
	assert_int_equal(nest.level[nest.step].turns, steps);
}

static inline void expect_none(void)
{
	struct loop_nest nest;

	assert_int_equal(find(&nest), -ENOENT);
}

#endif
