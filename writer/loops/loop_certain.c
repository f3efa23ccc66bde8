/* SPDX-License-Identifier: MIT */
/* loop_certain.c - not yet, or for good; see loop_certain.h. */
#include "writer/loops/loop_certain.h"

/* So often has come what comes now and then: of fewer turns nearly all must be
 * as long as each other, and an evaluation before some hides those of a loop
 * around it. */
#define TIMES_SELDOM 25u
/* Of what lies between its turns so much is at sites of each. */
#define MASS_LIKELY  0.9
/* So many marks of one loop alone are as good as any number of turns. */
#define MARKS_ALONE  131072u

/* A loop around it that holds more has turned too seldom to be weighed. */
static bool may_be_within(const struct loop_nest *nest)
{
	const struct loop_level *step = &nest->level[nest->step];

	for (size_t i = 0; i < nest->count; i++) {
		if (nest->level[i].turns < TIMES_SELDOM &&
		    nest->level[i].held > step->held)
			return true;
	}
	return false;
}

bool loop_is_likely(const struct loop_nest *nest)
{
	return nest->level[nest->step].mass >= MASS_LIKELY;
}

bool loop_is_certain(struct loop_choice *choice, const void *of,
		     const struct loop_nest *nest, size_t count,
		     const struct loop_patience *patience)
{
	const struct loop_level *step = &nest->level[nest->step];

	if (choice->of != of || choice->key != step->key ||
	    choice->held != step->held)
		*choice =
			(struct loop_choice){of, step->key, step->held, count};
	if (step->turns < patience->turns || count < 2 * choice->since ||
	    !loop_is_likely(nest) || nest->is_open || may_be_within(nest))
		return false;
	if (nest->seldom)
		return nest->seldom >= TIMES_SELDOM;
	return step->turns >= patience->alone || count >= MARKS_ALONE;
}
