/* SPDX-License-Identifier: MIT */
/*
 * test_stacks.c - one stack, one id: from many threads, in a table that is
 * full, and in a session that is damaged; and the grammar of the setting.
 */
#include "collector/control/stack_choice.h"
#include "collector/session/names.h"
#include "collector/session/stacks.h"
#include <pthread.h>
#include <string.h>

#include "tests/unit/session_group.h"

#define THREADS 8
#define SHARED	3000

static void test_same_stack_same_id(void **state)
{
	const uint64_t frames[] = {10, 20, 30};
	const uint64_t other[] = {10, 20, 31};
	const struct stack *stack;
	uint32_t id;

	(void)state;
	stacks_start(session);
	id = stacks_put(session, frames, 3);
	assert_int_not_equal(id, 0);
	assert_int_equal(stacks_put(session, frames, 3), id);
	assert_int_not_equal(stacks_put(session, frames, 2), id);
	assert_int_not_equal(stacks_put(session, other, 3), id);
	stack = stacks_find(session, id);
	assert_non_null(stack);
	assert_int_equal(stack->count, 3);
	assert_memory_equal(stack->frame, frames, sizeof(frames));
	assert_int_equal(load_relaxed(&session->head->stacks.count), 3);
}

static void test_without_a_table_is_counted(void **state)
{
	const uint64_t frame = 10;

	(void)state;
	assert_int_equal(stacks_put(session, &frame, 1), 0);
	assert_int_equal(load_relaxed(&session->head->stacks.refused), 1);
}

static void test_full_table_refuses_and_leaves_room_for_events(void **state)
{
	struct stack_table *table = &session->head->stacks;
	uint64_t frames[STACK_DEPTH_MAX] = {0};
	uint64_t stored = 0, refused = 0;

	(void)state;
	stacks_start(session);
	for (uint64_t i = 1; i <= 200000; i++) {
		frames[0] = i;
		if (stacks_put(session, frames, STACK_DEPTH_MAX))
			stored++;
		else
			refused++;
	}
	assert_true(stored > 1000);
	assert_true(refused > 0);
	assert_int_equal(load_relaxed(&table->count), stored);
	assert_int_equal(load_relaxed(&table->refused), refused);
	assert_true(load_relaxed(&session->head->used) <
		    session->head->ceiling_bytes / 2);
	/* What is there is still found. */
	frames[0] = 1;
	assert_int_not_equal(stacks_put(session, frames, STACK_DEPTH_MAX), 0);
}

/* As where PyTorch is loaded: many stacks once, then what the program does. */
static void test_who_it_is_of_is_known_where_the_table_fills(void **state)
{
	struct stack_table *table = &session->head->stacks;
	uint64_t frames[16];
	const struct stack *stack;
	uint32_t one, other;

	(void)state;
	stacks_start(session);
	for (uint64_t i = 0; i < 16; i++)
		frames[i] = 100 + i;
	for (uint64_t i = 1; i <= 200000; i++) {
		frames[12] = i;
		assert_int_not_equal(stacks_put(session, frames, 16), 0);
	}
	assert_true(load_relaxed(&table->shortened) > 0);
	frames[9] = STACK_NAMED | 7;
	frames[10] = STACK_NAMED | 8;
	one = stacks_put(session, frames, 16);
	frames[9] = STACK_NAMED | 9;
	other = stacks_put(session, frames, 16);
	assert_int_not_equal(one, other);
	stack = stacks_find(session, other);
	assert_non_null(stack);
	assert_int_equal(stack->count, 2 * STACK_SHORT);
	assert_true(stack->frame[0] == 100 && stack->frame[2] == 102);
	assert_true(stack->frame[3] == (STACK_NAMED | 9));
	assert_true(stack->frame[4] == (STACK_NAMED | 8));
	assert_int_equal(load_relaxed(&table->refused), 0);
}

/* Constructors of C++, hundreds of thousands of which one line of Python loads,
 * and then each line of a program. */
static void test_lines_of_python_have_room_after_all_else(void **state)
{
	uint64_t frames[16];
	const struct stack *stack;
	uint32_t one, other;

	(void)state;
	stacks_start(session);
	for (uint64_t i = 0; i < 16; i++)
		frames[i] = 100 + i;
	frames[9] = stacks_named(7, 3);
	for (uint64_t i = 1; i <= 600000; i++) {
		frames[1] = 1000 + i;
		frames[10] = stacks_named(9, (uint32_t)i);
		assert_int_not_equal(stacks_put(session, frames, 16), 0);
	}
	frames[9] = stacks_named(8, 15);
	one = stacks_put(session, frames, 16);
	frames[9] = stacks_named(8, 16);
	other = stacks_put(session, frames, 16);
	assert_int_not_equal(one, other);
	stack = stacks_find(session, other);
	assert_non_null(stack);
	assert_true(stack->frame[0] == stacks_named(8, 16));
	assert_int_equal(load_relaxed(&session->head->stacks.refused), 0);
}

static void test_a_line_has_its_functions_name(void **state)
{
	const char text[] = "a b.py\0work";
	const uint32_t id = names_intern(session, text, sizeof(text) - 1);
	char name[STACK_NAME_BYTES];

	(void)state;
	assert_int_equal(stacks_name(session, stacks_named(id, 12), name), 16);
	assert_string_equal(name, "a b.py(12): work");
	stacks_name(session, stacks_named(NAME_REFUSED, 12), name);
	assert_string_equal(name, "(name table full)");
	stacks_name(session, stacks_named(77, UINT32_MAX), name);
	assert_string_equal(name, "(unknown name)");
}

static void *put_shared(void *arg)
{
	uint32_t *ids = arg;

	for (uint64_t i = 0; i < SHARED; i++) {
		const uint64_t frames[] = {i * 7, i, 5};

		ids[i] = stacks_put(session, frames, 3);
	}
	return NULL;
}

static void test_many_threads_get_the_same_ids(void **state)
{
	static uint32_t ids[THREADS][SHARED];
	pthread_t threads[THREADS];

	(void)state;
	stacks_start(session);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, put_shared, ids[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 1; i < THREADS; i++)
		assert_memory_equal(ids[i], ids[0], sizeof(ids[0]));
	assert_int_equal(load_relaxed(&session->head->stacks.count), SHARED);
}

static void test_damaged_stacks_are_none(void **state)
{
	const uint64_t frame = 10;
	struct stack *stack;
	uint32_t id;

	(void)state;
	stacks_start(session);
	id = stacks_put(session, &frame, 1);
	assert_null(stacks_find(session, 0));
	assert_null(stacks_find(session, UINT32_MAX));
	assert_null(stacks_find(session, 1));
	stack = session_at(session, (uint64_t)id << 3);
	stack->count = STACK_DEPTH_MAX + 1;
	assert_null(stacks_find(session, id));
	stack->count = 0;
	assert_null(stacks_find(session, id));
}

static void test_choices(void **state)
{
	static const struct {
		const char *text;
		uint32_t families, depth;
	} good[] = {
		{"off", 0, 16},
		{"heap", STACK_HEAP, 16},
		{"heap:64", STACK_HEAP, 64},
		{"cuda,omp:3", STACK_CUDA | STACK_OMP, 3},
		{"all", STACK_HEAP | STACK_CUDA | STACK_OMP | STACK_BLAS, 16},
	};
	static const char *const bad[] = {
		"",	    "heap:",	       "heap:0",
		"heap:65",  "heap,",	       ",heap",
		":5",	    "heap:5x",	       "heaps",
		"heap;omp", "heap:99999999999"};
	struct stack_choice choice;
	char why[256];

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(stack_choice_parse(good[i].text, &choice, why,
						    sizeof(why)),
				 0);
		assert_int_equal(choice.families, good[i].families);
		assert_int_equal(choice.depth, good[i].depth);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_true(stack_choice_parse(bad[i], &choice, why,
					       sizeof(why)) < 0);
}

/* Each 64th is timed, for all: 42,000 of 1 us were 388 ms of a run of 421. */
static void test_who_loses_its_core_took_no_longer(void **state)
{
	const uint64_t us =
		clock_ticks_per_second(&session->head->clock) / 1000000;
	struct stack_table *table = &session->head->stacks;

	(void)state;
	for (int at = 0; at < 600; at++)
		stacks_timed(session, (at % 100 == 50 ? 10000 : 1) * us);
	assert_int_equal(load_relaxed(&table->timed), 600);
	assert_true(load_relaxed(&table->timed_ticks) < 600 * us * 5 / 4);
	assert_true(load_relaxed(&table->timed_ticks) > 600 * us);
	/* The first one. */
	store_relaxed(&table->timed, 0);
	store_relaxed(&table->timed_ticks, 0);
	for (int at = 0; at < 600; at++)
		stacks_timed(session, (at ? 1 : 10000) * us);
	assert_true(load_relaxed(&table->timed_ticks) < 600 * us * 3 / 2);
}

#define STACKS_TEST(name)                                                      \
	cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STACKS_TEST(test_same_stack_same_id),
		STACKS_TEST(test_without_a_table_is_counted),
		STACKS_TEST(test_full_table_refuses_and_leaves_room_for_events),
		STACKS_TEST(test_who_it_is_of_is_known_where_the_table_fills),
		STACKS_TEST(test_lines_of_python_have_room_after_all_else),
		STACKS_TEST(test_a_line_has_its_functions_name),
		STACKS_TEST(test_many_threads_get_the_same_ids),
		STACKS_TEST(test_damaged_stacks_are_none),
		STACKS_TEST(test_who_loses_its_core_took_no_longer),
		STACKS_TEST(test_choices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
