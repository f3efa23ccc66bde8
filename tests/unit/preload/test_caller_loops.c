/* SPDX-License-Identifier: MIT */
/* test_caller_loops.c - what was read of a place, and other code there. */
#include "tests/unit/cmocka_base.h"

#include "preload/stack/caller_loops.h"
#include <string.h>

#define SITE   UINT64_C(4096)
#define CALLER 1u
#define PLACED 9u

/* A call, and behind it a jump back to it. */
#if defined(__x86_64__)
static const unsigned char loop[] = {0xe8, 0,	 0,    0,    0,
				     0xff, 0xc8, 0x75, 0xf7, 0xc3};
static const unsigned char line[] = {0xe8, 0,	 0,    0,    0,
				     0xff, 0xc8, 0x90, 0x90, 0xc3};
#define CALL_BYTES 5u
#else
static const uint32_t loop[] = {0x94000010, 0xb5ffffe0, 0xd65f03c0};
static const uint32_t line[] = {0x94000010, 0xd503201f, 0xd65f03c0};
#define CALL_BYTES 4u
#endif

static _Alignas(8) unsigned char code[sizeof(loop)];
static const struct caller_python native; /* none of Python's */
static struct step_search search;

static bool find_range(uint64_t at, struct code_range *range)
{
	const uint64_t begin = (uint64_t)(uintptr_t)code;

	if (range->is_end)
		return false;
	*range = (struct code_range){.begin = begin, .bytes = sizeof(code)};
	return at >= begin && at < begin + sizeof(code);
}

/* As a region's hook does; the number of the loop that is known then. */
static unsigned int come_by(void)
{
	const uint64_t codes[] = {(uint64_t)(uintptr_t)code + CALL_BYTES};
	const uint64_t id = search_region(SITE, CALLER);

	if (!caller_loops_has(&search, id))
		caller_loops_note(&search, id, codes, 1, PLACED, &native,
				  find_range);
	return search_loops_of(&search, SITE, CALLER).loop;
}

static int set_up(void **unused)
{
	(void)unused;
	memset(&search, 0, sizeof(search));
	memcpy(code, loop, sizeof(code));
	caller_loops_forget();
	return 0;
}

static void test_a_file_was_closed(void **unused)
{
	(void)unused;
	assert_int_equal(come_by(), 1);
	caller_loops_forget();
	assert_int_equal(come_by(), 1);
	assert_true(caller_loops_has(&search, search_region(SITE, CALLER)));
}

static void test_other_code_lies_there(void **unused)
{
	(void)unused;
	assert_int_equal(come_by(), 1);
	caller_loops_forget();
	memcpy(code, line, sizeof(code));
	assert_int_equal(come_by(), 0);
	/* What the search was told of it is of two places, whatever comes. */
	caller_loops_forget();
	memcpy(code, loop, sizeof(code));
	assert_int_equal(come_by(), 0);
	assert_int_equal(search.loop_count, 1);
}

/* A program that closes files all the time isn't read all the time. */
static void test_it_is_not_done_for_ever(void **unused)
{
	unsigned int reads = 0;

	(void)unused;
	for (unsigned int i = 0; i < 5000; i++) {
		caller_loops_forget();
		reads +=
			!caller_loops_has(&search, search_region(SITE, CALLER));
		come_by();
	}
	assert_in_range(reads, 1, 1100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_a_file_was_closed, set_up),
		cmocka_unit_test_setup(test_other_code_lies_there, set_up),
		cmocka_unit_test_setup(test_it_is_not_done_for_ever, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
