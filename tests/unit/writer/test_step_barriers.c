/* SPDX-License-Identifier: MIT */
/*
 * test_step_barriers.c - a loop within one region, by the barriers that the
 * main thread comes to in it.
 */
#include "tests/unit/sample_session.h"

#include "writer/steps/step_barriers.h"
#include <errno.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define REGION	7u
#define INNER	0x1000u
#define LAST	0x2000u
#define RARE	0x3000u
#define TURNS	50u
#define BARRIER 100u /* ticks from its beginning to its end */

struct team {
	struct session_header head;
	struct session session;
	struct thread thread;
	struct ring_reader reader;
	struct step_barriers barriers;
	struct step_marks other;
	uint64_t now;
};

static void begin(struct team *team)
{
	memset(team, 0, sizeof(*team));
	team->session.head = &team->head;
	team->reader.thread = &team->thread;
	team->now = 1000;
}

static void end(struct team *team)
{
	array_free(&team->barriers.marks.marks);
}

static void see(struct team *team, enum event_kind kind, uint64_t region,
		uint32_t from, enum omp_sync sync)
{
	const struct event event = {
		.kind = (uint16_t)kind,
		.start_ticks = team->now,
		.end_ticks = team->now + BARRIER,
		.omp = {.region = region,
			.code = 0x4000,
			.sync = (uint16_t)sync,
			.from = from},
	};

	step_barriers_see(&team->barriers, &team->reader, &event);
	/* Between them as long as it likes. */
	team->now += BARRIER + 1 + (team->now * 7919 >> 3) % 5000;
}

static void barrier(struct team *team, uint64_t region, uint32_t from)
{
	see(team, EVENT_OMP_WAIT, region, from, OMP_SYNC_BARRIER);
}

static void turns(struct team *team, uint64_t region, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		barrier(team, region, INNER);
		see(team, EVENT_OMP_WAIT, region, LAST, OMP_SYNC_LOOP_END);
	}
}

/* The region is over, if it isn't yet. */
static int find(struct team *team, struct loop_nest *nest)
{
	const struct event region = {.kind = EVENT_OMP_REGION,
				     .start_ticks = 300,
				     .end_ticks = team->now,
				     .omp = {.region = team->barriers.region}};

	if (team->barriers.whole.kind == EVENT_NONE)
		step_barriers_see(&team->barriers, &team->reader, &region);
	return step_barriers_find(&team->session, &team->barriers, &team->other,
				  1, nest);
}

static void expect_none(struct team *team)
{
	struct loop_nest nest;

	assert_int_equal(find(team, &nest), -ENOENT);
	end(team);
}

static void a_turn_of_two_barriers_is_a_step(void **state)
{
	struct team team;
	struct loop_nest nest;

	(void)state;
	begin(&team);
	turns(&team, REGION, TURNS);
	assert_int_equal(find(&team, &nest), 0);
	assert_int_equal(nest.level[nest.step].turns, TURNS);
	assert_int_equal(nest.runner_up, nest.count);
	end(&team);
}

static void a_step_begins_where_the_last_barrier_ended(void **state)
{
	struct step_turns way = {.divisor = 1};
	struct team team;
	struct loop_nest nest;
	const struct loop_mark *all;
	size_t at;

	(void)state;
	begin(&team);
	turns(&team, REGION, TURNS);
	assert_int_equal(find(&team, &nest), 0);
	all = step_marks(&team.barriers.marks);
	assert_true(step_turns_next(&team.barriers.marks,
				    &nest.level[nest.step], 2 * TURNS, &way,
				    &at));
	assert_int_equal(at, 0);
	assert_int_equal(way.ticks, 300);
	assert_true(step_turns_next(&team.barriers.marks,
				    &nest.level[nest.step], 2 * TURNS, &way,
				    &at));
	assert_int_equal(at, 2);
	assert_int_equal(way.ticks, all[1].end_ticks);
	end(&team);
}

/* What is thinned has no region in its event, and comes in blocks of four. */
static void what_was_thinned_comes_late(void **state)
{
	struct team team;
	struct loop_nest nest;
	uint64_t start;

	(void)state;
	begin(&team);
	turns(&team, REGION, 20);
	for (unsigned int i = 0; i < 20; i++) {
		start = team.now;
		team.now += 3000;
		barrier(&team, REGION, LAST);
		team.now = start;
		barrier(&team, 0, INNER);
		team.now = start + 20000;
	}
	assert_int_equal(find(&team, &nest), 0);
	assert_int_equal(nest.level[nest.step].turns, 40);
	end(&team);
}

static void waits_of_some_members_are_none(void **state)
{
	struct team team;

	(void)state;
	begin(&team);
	for (unsigned int i = 0; i < TURNS; i++) {
		see(&team, EVENT_OMP_WAIT, REGION, INNER, OMP_SYNC_TASKWAIT);
		see(&team, EVENT_OMP_WAIT, REGION, LAST, OMP_SYNC_CRITICAL);
		see(&team, EVENT_OMP_WAIT, REGION, 0, OMP_SYNC_BARRIER);
	}
	assert_int_equal(team.barriers.marks.count, 0);
	expect_none(&team);
}

static void few_turns_may_be_rounds(void **state)
{
	struct team team;

	(void)state;
	begin(&team);
	turns(&team, REGION, 19);
	expect_none(&team);
}

/* Twelve sweeps in each of 25 time steps, or a loop of 300. */
static void of_one_barrier_alone_only_the_code_tells(void **state)
{
	struct team team;
	struct loop_nest nest;
	struct search_loops *loops;

	(void)state;
	begin(&team);
	for (unsigned int i = 0; i < TURNS; i++)
		barrier(&team, REGION, INNER);
	assert_int_equal(find(&team, &nest), -ENOENT);
	loops = team.head.search.loops;
	*loops =
		(struct search_loops){.id = search_region(search_barrier(INNER),
							  SEARCH_BARRIER_PLACE),
				      .key = 0x4100,
				      .loop = 1,
				      .depth = 2,
				      .is_always = 1};
	team.head.search.loop_count = 1;
	assert_int_equal(find(&team, &nest), 0);
	assert_int_equal(nest.level[nest.step].turns, TURNS);
	loops->depth = 3;
	loops->within = 0x4200;
	expect_none(&team);
}

/* The first regions make something ready: they have too few for a loop. */
static void the_first_region_with_enough_is_the_one(void **state)
{
	struct team team;
	struct loop_nest nest;

	(void)state;
	begin(&team);
	for (unsigned int i = 1; i < 4; i++)
		barrier(&team, i, RARE);
	turns(&team, REGION, TURNS);
	barrier(&team, REGION + 1, RARE);
	assert_int_equal(find(&team, &nest), 0);
	assert_int_equal(nest.level[nest.step].turns, TURNS);
	end(&team);
}

static void two_regions_with_a_loop_are_in_doubt(void **state)
{
	struct team team;

	(void)state;
	begin(&team);
	turns(&team, REGION, TURNS);
	turns(&team, REGION + 1, 20);
	expect_none(&team);
}

/* What was thinned doesn't tell which of them it is in, but when. */
static void what_was_thinned_may_be_in_another(void **state)
{
	struct event region = {.kind = EVENT_OMP_REGION,
			       .start_ticks = 300,
			       .omp = {.region = REGION}};
	struct team team;

	(void)state;
	begin(&team);
	turns(&team, REGION, TURNS);
	region.end_ticks = team.now;
	step_barriers_see(&team.barriers, &team.reader, &region);
	turns(&team, 0, TURNS);
	expect_none(&team);
}

static void a_little_of_another_is_left_out(void **state)
{
	struct team team;
	struct loop_nest nest;

	(void)state;
	begin(&team);
	turns(&team, REGION, TURNS);
	assert_int_equal(find(&team, &nest), 0);
	turns(&team, 0, 2);
	assert_int_equal(find(&team, &nest), 0);
	assert_int_equal(nest.level[nest.step].turns, TURNS);
	assert_int_equal(team.barriers.marks.count, 2 * TURNS);
	end(&team);
}

/* The region itself was thinned, or the program ended within it. */
static void a_region_that_nobody_told_of_has_none(void **state)
{
	struct team team;
	struct loop_nest nest;

	(void)state;
	begin(&team);
	turns(&team, REGION, TURNS);
	assert_int_equal(step_barriers_find(&team.session, &team.barriers,
					    &team.other, 1, &nest),
			 -ENOENT);
	end(&team);
}

static void regions_that_come_again_go_first(void **state)
{
	struct team team;

	(void)state;
	begin(&team);
	turns(&team, REGION, TURNS);
	team.other.count = 2 * TURNS / 4 + 1;
	expect_none(&team);
}

static void too_many_are_forgotten(void **state)
{
	struct team team;

	(void)state;
	begin(&team);
	turns(&team, REGION, 32768);
	assert_false(team.barriers.is_full);
	barrier(&team, REGION, INNER);
	assert_true(team.barriers.is_full);
	assert_int_equal(team.barriers.marks.count, 0);
	turns(&team, REGION, TURNS);
	expect_none(&team);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_turn_of_two_barriers_is_a_step),
		cmocka_unit_test(a_step_begins_where_the_last_barrier_ended),
		cmocka_unit_test(what_was_thinned_comes_late),
		cmocka_unit_test(waits_of_some_members_are_none),
		cmocka_unit_test(few_turns_may_be_rounds),
		cmocka_unit_test(of_one_barrier_alone_only_the_code_tells),
		cmocka_unit_test(the_first_region_with_enough_is_the_one),
		cmocka_unit_test(two_regions_with_a_loop_are_in_doubt),
		cmocka_unit_test(what_was_thinned_may_be_in_another),
		cmocka_unit_test(a_little_of_another_is_left_out),
		cmocka_unit_test(a_region_that_nobody_told_of_has_none),
		cmocka_unit_test(regions_that_come_again_go_first),
		cmocka_unit_test(too_many_are_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
