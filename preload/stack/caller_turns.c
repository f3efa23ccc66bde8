/* SPDX-License-Identifier: MIT */
/* caller_turns.c - Python's `for` loops as they turn; see caller_turns.h. */
#include "preload/stack/caller_turns.h"

#include "preload/stack/python_layout.h"
#include <dlfcn.h>
#include <string.h>

/* Loops around a place, and words of what they go through: head, type, and what
 * says how far it is. */
#define LOOPS_MAX 4u
#define WORDS	  5u
enum { WORD_TYPE = 1, WORD_FIRST };

/* A value on a function's stack may be marked by who counts it. */
#define VALUE_MARKS   UINT64_C(7)

/* Since then a loop has a second one, of what has no iterator the index: a
 * number, marked as such. */
#define INDEXED_SINCE 15
#define INDEX_MARKS   UINT64_C(3)
#define INDEX_MARK    UINT64_C(3)

/* What is gone through; so many words change when it goes on. */
static struct counter {
	char name[24]; /* no pointer, which the loader would set */
	uint32_t words;
	uint64_t type;
} counters[] = {
	{"PyRangeIter_Type", 3, 0},   {"PyListIter_Type", 1, 0},
	{"PyTupleIter_Type", 1, 0},   {"PyEnum_Type", 1, 0},
	{"PyDictIterKey_Type", 3, 0}, {"PyDictIterItem_Type", 3, 0},
};

#define COUNTERS (sizeof(counters) / sizeof(counters[0]))

struct turning {
	uint32_t count; /* of loops, 0: they can't be told; outermost first */
	uint32_t frames;
	bool was_seen;
	uint8_t frame[LOOPS_MAX];
	uint32_t value[LOOPS_MAX]; /* bytes from the frame */
	uint64_t state[LOOPS_MAX];
};

static struct turning turnings[SEARCH_PLACES_MAX + 1];

COLD void caller_turns_prepare(void)
{
	const struct python_layout *layout = python_frames_layout();

	if (!layout || !layout->variables)
		return;
	for (size_t i = 0; i < COUNTERS; i++)
		counters[i].type = (uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT,
							      counters[i].name);
}

void caller_turns_forget(void)
{
	memset(turnings, 0, sizeof(turnings));
}

/* Where a function's stack begins: behind its variables. */
static bool find_stack(const struct python_frame *frame, uint32_t *at)
{
	const struct python_layout *layout = python_frames_layout();
	uint32_t variables;

	if (!layout->variables ||
	    !python_frames_peek(frame->code + layout->first_line +
					sizeof(uint32_t),
				&variables, sizeof(variables)) ||
	    variables > UINT16_MAX)
		return false;
	*at = layout->variables + variables * (uint32_t)sizeof(uint64_t);
	return true;
}

/* Those of one function go before what was found of those that it called. */
static bool add_loops(struct turning *turning, uint32_t number,
		      const struct python_frame *frame, uint32_t count)
{
	const uint32_t wide =
		python_frames_layout()->minor >= INDEXED_SINCE ? 2 : 1;
	uint32_t at;

	if (turning->count + count > LOOPS_MAX || !find_stack(frame, &at))
		return false;
	memmove(turning->frame + count, turning->frame,
		turning->count * sizeof(turning->frame[0]));
	memmove(turning->value + count, turning->value,
		turning->count * sizeof(turning->value[0]));
	for (uint32_t i = 0; i < count; i++) {
		turning->frame[i] = (uint8_t)number;
		turning->value[i] = at + i * wide * (uint32_t)sizeof(uint64_t);
	}
	turning->count += count;
	return true;
}

/* From the innermost `for` loop outward all loops must be such.  Where C called
 * a function out there, it may do so in a loop of its own, unless the code says
 * that there are no others. */
static bool find_loops(struct turning *turning,
		       const struct caller_python *python, uint32_t depth)
{
	bool has_other = false;

	for (uint32_t i = 0; i < python->count; i++) {
		const struct python_frame *frame = &python->frames[i];
		struct code_loops loops;

		if (!python_frames_loops(frame, &loops) || loops.is_mixed)
			return false;
		if (turning->count && loops.count > loops.counted)
			return false;
		if (loops.counted &&
		    !add_loops(turning, i, frame, loops.counted))
			return false;
		has_other |= turning->count && frame->ends_run &&
			     i + 1 < python->count;
	}
	return turning->count && (!has_other || turning->count + 1 == depth);
}

void caller_turns_note(uint32_t place, const struct caller_python *python,
		       uint32_t depth)
{
	struct turning *turning = &turnings[place];

	*turning = (struct turning){.frames = python->count};
	if (!python->count || !find_loops(turning, python, depth))
		turning->count = 0;
}

static uint64_t mix(uint64_t sum, uint64_t value)
{
	return (sum ^ value) * UINT64_C(0x9e3779b97f4a7c15);
}

/* How far a loop has come, as a number; 0 it isn't counted. */
static uint64_t read_state(uint64_t value)
{
	uint64_t word[WORDS], pair[2];
	uint64_t at, sum;

	if (!python_frames_peek(value, pair, sizeof(pair)))
		return 0;
	at = pair[0] & ~VALUE_MARKS;
	if (at && python_frames_layout()->minor >= INDEXED_SINCE &&
	    (pair[1] & INDEX_MARKS) == INDEX_MARK)
		return mix(mix(0, at), pair[1]) | 1;
	if (!at || !python_frames_peek(at, word, sizeof(word)))
		return 0;
	for (size_t i = 0; i < COUNTERS; i++) {
		if (!counters[i].type || word[WORD_TYPE] != counters[i].type)
			continue;
		sum = mix(0, at);
		for (uint32_t w = 0; w < counters[i].words; w++)
			sum = mix(sum, word[WORD_FIRST + w]);
		return sum | 1;
	}
	return 0;
}

enum search_turn caller_turns_look(uint32_t place,
				   const struct caller_python *python)
{
	struct turning *turning = &turnings[place];
	enum search_turn turn = SEARCH_TURN_SAME;

	if (!turning->count || turning->frames != python->count)
		return SEARCH_TURN_UNKNOWN;
	for (uint32_t i = 0; i < turning->count; i++) {
		const uint64_t state =
			read_state(python->frames[turning->frame[i]].at +
				   turning->value[i]);

		if (!state) {
			turning->count = 0;
			return SEARCH_TURN_UNKNOWN;
		}
		if (turn == SEARCH_TURN_SAME && state != turning->state[i])
			turn = i + 1 < turning->count ? SEARCH_TURN_ROUND
						      : SEARCH_TURN_NEXT;
		turning->state[i] = state;
	}
	if (!turning->was_seen)
		turn = SEARCH_TURN_ROUND;
	turning->was_seen = true;
	return turn;
}
