/* SPDX-License-Identifier: MIT */
/*
 * test_caller_turns.c - two `for` loops of one function of Python's, which go
 * through ranges, or the inner one through a list by an index (since 3.15).
 */
#include "tests/unit/cmocka_base.h"

#include "preload/stack/caller_turns.h"
#include "preload/stack/python_layout.h"
#include <string.h>

#define PLACE	  3u
#define DEPTH	  2u
#define VARIABLES 2u /* word of the frame */
#define LOCALS	  3u
#define STACK	  (VARIABLES + LOCALS)

/* Of CPython: a range's iterator, and a list. */
struct object {
	uint64_t count;
	void *type;
	uint64_t word[4];
};

#pragma GCC visibility push(default)
extern char PyRangeIter_Type[8]; /* NOLINT: CPython's name */
char PyRangeIter_Type[8];	 /* NOLINT */
#pragma GCC visibility pop

static struct python_layout layout = {.first_line = 0,
				      .variables = VARIABLES * 8};
static struct object outer, inner;
static uint64_t frame[16];
static uint32_t code[2] = {1, LOCALS};
static struct caller_python python;

const struct python_layout *__wrap_python_frames_layout(void);
bool __wrap_python_frames_peek(uint64_t address, void *to, size_t bytes);
bool __wrap_python_frames_loops(const struct python_frame *in,
				struct code_loops *loops);

const struct python_layout *__wrap_python_frames_layout(void)
{
	return &layout;
}

bool __wrap_python_frames_peek(uint64_t address, void *to, size_t bytes)
{
	if (address < 4096)
		return false;
	memcpy(to, (const void *)(uintptr_t)address, bytes);
	return true;
}

bool __wrap_python_frames_loops(const struct python_frame *in,
				struct code_loops *loops)
{
	(void)in;
	*loops = (struct code_loops){.count = 2, .counted = 2};
	return true;
}

static uint64_t word_of(const void *object)
{
	return (uint64_t)(uintptr_t)object;
}

static void begin(uint16_t minor)
{
	memset(frame, 0, sizeof(frame));
	layout.minor = minor;
	outer = inner = (struct object){.type = PyRangeIter_Type};
	python.count = 1;
	python.frames[0] = (struct python_frame){.code = word_of(code),
						 .at = word_of(frame)};
	caller_turns_forget();
	caller_turns_prepare();
}

static enum search_turn look(void)
{
	return caller_turns_look(PLACE, &python);
}

static void test_iterators_lie_one_behind_the_other(void **unused)
{
	(void)unused;
	begin(14);
	frame[STACK] = word_of(&outer) | 1;
	frame[STACK + 1] = word_of(&inner);
	caller_turns_note(PLACE, &python, DEPTH);
	assert_int_equal(look(), SEARCH_TURN_ROUND);
	assert_int_equal(look(), SEARCH_TURN_SAME);
	inner.word[0]++;
	assert_int_equal(look(), SEARCH_TURN_NEXT);
	outer.word[0]++;
	assert_int_equal(look(), SEARCH_TURN_ROUND);
	/* As a marked index looks. */
	frame[STACK + 1] = 3;
	assert_int_equal(look(), SEARCH_TURN_UNKNOWN);
}

static void test_each_has_an_index_or_nothing_behind_it(void **unused)
{
	static struct object list;

	(void)unused;
	begin(15);
	frame[STACK] = word_of(&outer) | 1;
	frame[STACK + 1] = 1; /* nothing */
	frame[STACK + 2] = word_of(&list) | 1;
	frame[STACK + 3] = 0 << 2 | 3;
	caller_turns_note(PLACE, &python, DEPTH);
	assert_int_equal(look(), SEARCH_TURN_ROUND);
	assert_int_equal(look(), SEARCH_TURN_SAME);
	frame[STACK + 3] = 1 << 2 | 3;
	assert_int_equal(look(), SEARCH_TURN_NEXT);
	outer.word[0]++;
	frame[STACK + 3] = 0 << 2 | 3;
	assert_int_equal(look(), SEARCH_TURN_ROUND);
	/* A list without an index is none that counts. */
	frame[STACK + 3] = 1;
	assert_int_equal(look(), SEARCH_TURN_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_iterators_lie_one_behind_the_other),
		cmocka_unit_test(test_each_has_an_index_or_nothing_behind_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
