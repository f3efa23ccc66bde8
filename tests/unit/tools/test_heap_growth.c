/* SPDX-License-Identifier: MIT */
/*
 * test_heap_growth.c - what grows, and how sure that is where blocks are drawn.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "tools/memory/heap_growth.h"

#define POINTS	80
#define MEAN	(512.0 * 1024)
#define KEPT	65536
#define KEPT_AT 16 /* blocks of a step */

/* One memory that keeps a mebibyte a step, of which each block is drawn with
 * this chance; 2: all are there, and nobody draws. */
static struct heap_growth kept(double chance)
{
	static struct heap_log log;
	struct heap_account account = {
		.log = &log, .points = POINTS, .points_are_steps = true};
	struct heap_point points[POINTS];
	struct heap_site site = {.points = points, .point_count = POINTS};
	int64_t live = 0;

	log.sample_bytes = chance > 1 ? 0 : (int64_t)MEAN;
	for (uint32_t step = 0; step < POINTS; step++) {
		for (int i = 0; i < KEPT_AT; i++) {
			if (chance > 1)
				live += KEPT;
			else if (drand48() < chance)
				live += (int64_t)(KEPT / chance);
			site.calls++;
			site.bytes += KEPT;
		}
		points[step] = (struct heap_point){step, live};
	}
	return heap_growth_site(&account, &site);
}

static void all_blocks_leave_no_doubt(void **state)
{
	const struct heap_growth growth = kept(2);

	(void)state;
	assert_true(growth.grows);
	assert_true(growth.low == growth.high);
	assert_true(growth.slope == KEPT * KEPT_AT);
}

/* As C++, Rust and Python do: with the program's end all is freed. */
static void what_is_freed_at_the_end_grew_before(void **state)
{
	static struct heap_log log;
	struct heap_account account = {.log = &log, .points = POINTS};
	struct heap_point points[POINTS];
	struct heap_site site = {.points = points, .point_count = POINTS};
	struct heap_growth growth;

	(void)state;
	for (uint32_t step = 0; step < POINTS; step++)
		points[step] = (struct heap_point){step, step * KEPT};
	points[POINTS - 1].live = 0;
	growth = heap_growth_site(&account, &site);
	assert_true(growth.grows);
	assert_true(growth.slope == KEPT);
}

/* Every third step has a line; what is live stands still between them. */
static void steps_without_a_line_say_nothing(void **state)
{
	int64_t live[POINTS];
	bool told[POINTS];
	struct heap_growth growth;

	(void)state;
	for (int64_t step = 0; step < POINTS; step++) {
		told[step] = step % 3 == 0 && step < 70;
		live[step] = (step < 70 ? step / 3 * 3 : 69) * KEPT;
	}
	growth = heap_growth_of(live, told, POINTS);
	assert_true(growth.grows);
	assert_true(growth.low == KEPT && growth.high == KEPT);
	for (int step = 0; step < 46; step++)
		told[step] = false;
	assert_false(heap_growth_of(live, told, POINTS).is_known);
}

/* 1 - exp(-65536 / 524288): some 75 samples in the half that counts. */
static void the_interval_of_samples_holds_what_is_true(void **state)
{
	const int runs = 300;
	int held = 0;

	(void)state;
	srand48(1);
	for (int run = 0; run < runs; run++) {
		const struct heap_growth growth = kept(0.1175);

		assert_true(growth.is_known);
		held += growth.low <= KEPT * KEPT_AT &&
			growth.high >= KEPT * KEPT_AT;
	}
	assert_in_range(held, runs - 3, runs);
}

#define STEPS 200

enum shape {
	SAW,
	FULL,
	WARM,
	STEADY,
	SAW_AND_LEAK,
	BURSTS,
	LARGE_FIRST,
	NOISY
};

static bool grows(enum shape shape, int period, int phase)
{
	int64_t live[STEPS];

	srand48(1);
	for (int i = 0; i < STEPS; i++) {
		const int saw = (i + phase) % period;

		switch (shape) {
		case SAW: live[i] = saw * KEPT; break;
		case FULL: live[i] = (i < 150 ? i : 150) * KEPT; break;
		case WARM: live[i] = (i < 60 ? i : 60) * KEPT; break;
		case STEADY: live[i] = i * KEPT; break;
		case SAW_AND_LEAK: live[i] = (saw + i) * KEPT; break;
		case BURSTS: live[i] = (i + phase) / period * KEPT; break;
		case LARGE_FIRST: live[i] = (10000 + i) * KEPT; break;
		default: live[i] = i * KEPT + (int64_t)(drand48() * 8 * KEPT);
		}
	}
	return heap_growth_of(live, NULL, STEPS).grows;
}

static void what_is_freed_again_does_not_grow(void **state)
{
	int wrong = 0;

	(void)state;
	for (int period = 5; period <= 66; period++)
		for (int phase = 0; phase < period; phase++)
			wrong += grows(SAW, period, phase);
	assert_int_equal(wrong, 0);
	assert_false(grows(WARM, 1, 0));
}

static void a_cache_that_is_full_does_not_grow(void **state)
{
	(void)state;
	assert_false(grows(FULL, 1, 0));
}

static void leaks_of_every_shape_are_found(void **state)
{
	(void)state;
	assert_true(grows(STEADY, 1, 0));
	assert_true(grows(LARGE_FIRST, 1, 0));
	assert_true(grows(NOISY, 1, 0));
	for (int phase = 0; phase < 20; phase++) {
		assert_true(grows(BURSTS, 20, phase));
		assert_true(grows(SAW_AND_LEAK, 20, phase));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_blocks_leave_no_doubt),
		cmocka_unit_test(what_is_freed_at_the_end_grew_before),
		cmocka_unit_test(steps_without_a_line_say_nothing),
		cmocka_unit_test(the_interval_of_samples_holds_what_is_true),
		cmocka_unit_test(what_is_freed_again_does_not_grow),
		cmocka_unit_test(a_cache_that_is_full_does_not_grow),
		cmocka_unit_test(leaks_of_every_shape_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
