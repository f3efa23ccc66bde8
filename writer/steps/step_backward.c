/* SPDX-License-Identifier: MIT */
/* step_backward.c - runs backward, counted; see step_backward.h. */
#include "writer/steps/step_backward.h"

#include "collector/session/names.h"
#include <string.h>

#define NODE	  "autograd::engine::evaluate_function: "
/* Times that a step may have run backward: two losses, batches added up. */
#define EACH_MOST 8u
/* Turns more or less: a region before the loop, the last one's end. */
#define TURNS_OFF 1u

struct backward {
	size_t runs;  /* 0: that isn't known */
	bool is_each; /* something is changed in place in each, */
	bool is_some; /* ... or in some of them */
};

static const char *name_of(const struct session *session,
			   const struct step_operator *seen)
{
	size_t len;
	const char *name = names_text(session, seen->name, &len);

	return name ? name : "";
}

static bool is_among(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!strcmp(name, names[i]))
			return true;
	}
	return false;
}

/* How weights are moved by hand.  Not `add_`, by which gradients are added up,
 * nor what a forward pass does in place, a mean's `div_`. */
static bool is_update(const char *name)
{
	static const char *const updates[] = {
		"aten::sub_", "aten::_foreach_sub_", "aten::_foreach_add_",
		"aten::addcdiv_", "aten::_foreach_addcdiv_"};

	return is_among(name, updates, sizeof(updates) / sizeof(updates[0]));
}

/* ... and gradients begun anew. */
static bool is_reset(const char *name)
{
	static const char *const resets[] = {"aten::zero_",
					     "aten::_foreach_zero_"};

	return is_among(name, resets, sizeof(resets) / sizeof(resets[0]));
}

static size_t calls_of(const struct session *session,
		       const struct step_operators *operators, uint32_t tid,
		       const char *name)
{
	for (size_t i = 0; i < STEP_OPERATORS_MAX; i++) {
		if (operators->of[i].calls && operators->of[i].tid == tid &&
		    !strcmp(name_of(session, &operators->of[i]), name))
			return operators->of[i].calls;
	}
	return 0;
}

static struct backward read(const struct session *session,
			    const struct step_operators *operators,
			    uint32_t tid)
{
	struct backward found = {0};
	const size_t runs =
		calls_of(session, operators, tid, "aten::ones_like");

	if (runs < LOOP_HITS_LEAST)
		return found;
	for (size_t i = 0; i < STEP_OPERATORS_MAX; i++) {
		const struct step_operator *seen = &operators->of[i];
		const char *name;

		if (seen->calls < LOOP_HITS_LEAST || seen->tid != tid)
			continue;
		name = name_of(session, seen);
		/* A loss's own node: it was no call of the program's. */
		if (!strncmp(name, NODE, sizeof(NODE) - 1) &&
		    seen->calls == runs)
			found.runs = runs;
		if (!is_update(name) && !is_reset(name))
			continue;
		found.is_each |= seen->calls % runs == 0;
		found.is_some |= is_update(name) && seen->calls % runs;
	}
	return found;
}

static bool is_as_often(size_t turns, size_t runs)
{
	return turns + TURNS_OFF >= runs && turns <= runs + TURNS_OFF;
}

/* A step may have a few of them: two losses, say. */
static bool may_have_several(size_t turns, size_t runs)
{
	for (size_t each = 2; each <= EACH_MOST; each++) {
		if (runs % each == 0 && is_as_often(turns, runs / each))
			return true;
	}
	return false;
}

static size_t turns_of(const struct loop_level *level)
{
	return level->turns / step_level_every(level);
}

enum step_backward step_backward_compare(const struct session *session,
					 const struct step_operators *operators,
					 const struct step_marks *stream,
					 struct loop_nest *nest)
{
	struct backward backward;
	size_t turns;

	if (stream->family != SEARCH_REGIONS)
		return BACKWARD_UNKNOWN;
	backward = read(session, operators, stream->tid);
	turns = turns_of(&nest->level[nest->step]);
	if (!backward.runs)
		return BACKWARD_UNKNOWN;
	if (backward.is_some && is_as_often(turns, backward.runs))
		return BACKWARD_OTHER;
	if (backward.is_some || !backward.is_each)
		return BACKWARD_UNKNOWN;
	if (is_as_often(turns, backward.runs))
		return BACKWARD_IS_STEP;
	if (may_have_several(turns, backward.runs))
		return BACKWARD_OTHER;
	for (size_t i = 0; i < nest->count; i++) {
		if (is_as_often(turns_of(&nest->level[i]), backward.runs)) {
			nest->step = i;
			nest->outer = 0;
			return BACKWARD_IS_STEP;
		}
	}
	return BACKWARD_OTHER;
}
