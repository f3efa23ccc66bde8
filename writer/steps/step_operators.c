/* SPDX-License-Identifier: MIT */
/* step_operators.c - counts of operators; see step_operators.h. */
#include "writer/steps/step_operators.h"

/* Of all marks: nothing else comes; hardly anything does. */
#define ALL_MASS  0.9999
#define MOST_MASS 0.99
/* What comes beside the turns may be off by so much of a request. */
#define OFF_PART  8u
/* Each of a training's operators comes by here: no more are looked at. */
#define PROBES	  8u

void step_operators_add(struct step_operators *operators, uint32_t name,
			uint32_t tid)
{
	const uint64_t key = (uint64_t)tid << 32 | name;
	const uint64_t first = key * UINT64_C(0x9e3779b97f4a7c15) >> 32;

	for (unsigned int probe = 0; probe < PROBES; probe++) {
		struct step_operator *operator= &
			operators->of[(first + probe) % STEP_OPERATORS_MAX];

		if (!operator->calls)
			*operator=(struct step_operator){name, tid, 0};
		if (operator->name == name && operator->tid == tid) {
			operator->calls++;
			return;
		}
	}
}

/* Reports come after other numbers, mostly. */
static bool are_layers(size_t number)
{
	return number == 2 || number == 3 || number == 4 || number == 6 ||
	       number == 8 || number == 12;
}

/* Beside the turns nothing comes, or as much in each of so many requests: what
 * a model does before its layers or behind them may be like them, a product of
 * matrices. */
static bool is_all(const struct step_marks *stream,
		   const struct loop_level *level, size_t requests)
{
	const size_t turns = level->turns * level->length;
	const size_t rest = stream->count > turns ? stream->count - turns : 0;
	const size_t off = rest % requests;

	if (level->mass >= ALL_MASS && rest <= level->length)
		return true;
	return level->mass >= MOST_MASS &&
	       min_u64(off, requests - off) * OFF_PART <= requests;
}

bool step_operators_tell_layers(const struct step_operators *operators,
				const struct step_marks *stream,
				const struct loop_level *level)
{
	const size_t turns = level->turns;

	if (stream->family != SEARCH_REGIONS)
		return false;
	for (size_t i = 0; i < STEP_OPERATORS_MAX; i++) {
		const size_t calls = operators->of[i].calls;

		if (operators->of[i].tid == stream->tid &&
		    calls >= LOOP_HITS_LEAST && turns % calls == 0 &&
		    are_layers(turns / calls) && is_all(stream, level, calls))
			return true;
	}
	return false;
}
