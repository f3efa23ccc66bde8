/* SPDX-License-Identifier: MIT */
/*
 * test_loop_around.c - a loop around another one that turns as often as it
 * needs, by the code: one region of its own is enough, none leaves it open;
 * what it does at times in a loop of its own; a round that ends where the run
 * does.  A loop beside is none around, and a function that calls itself is no
 * evaluation; Newton's steps in parts of a load, what is tried again, turns
 * that have nothing but loops, and rounds until nothing changes.
 */
#include "tests/unit/loop_marks.h"
#include <errno.h>

/* Each number of turns is as likely as another. */
static unsigned int luck;

static unsigned int some(unsigned int least, unsigned int most)
{
	luck = luck * 1103515245u + 12345u;
	return least + (luck >> 16) % (most - least + 1);
}

static int set_up(void **state)
{
	(void)state;
	count = 0;
	luck = 1;
	return 0;
}

/* In each turn of a loop that lies in so many others, the next one `within`. */
static void in(uint64_t id, uint16_t loop, uint8_t within, uint16_t others)
{
	hit(id);
	marks[count - 1].caller = (uint16_t)id;
	marks[count - 1].loop = loop;
	marks[count - 1].within = within;
	marks[count - 1].depth = (uint16_t)(others + 2);
	marks[count - 1].is_always = true;
}

/* A region that nobody asked of. */
static void unknown(uint64_t id)
{
	hit(id);
}

/* A field that has to be consistent with where atoms are. */
static void iterate(unsigned int times)
{
	for (unsigned int k = 0; k < times; k++) {
		for (uint64_t id = 1; id <= 4; id++)
			in(id, 1, 2, 1);
	}
}

static void test_one_region_around(void **state)
{
	(void)state;
	/* The first takes long. */
	iterate(32);
	in(9, 2, 0, 0);
	for (unsigned int move = 1; move < 16; move++) {
		iterate(move % 2 ? 1 : 11 + move % 3);
		in(9, 2, 0, 0);
	}
	expect_steps(16);
}

/* They may be restarts. */
static void test_few_turns_of_one_region_around(void **state)
{
	(void)state;
	for (unsigned int move = 0; move < 12; move++) {
		iterate(some(5, 20));
		in(9, 2, 0, 0);
	}
	expect_none();
}

/* A batch's more or less in an epoch. */
static void test_as_many_but_for_a_few(void **state)
{
	(void)state;
	for (unsigned int epoch = 0; epoch < 20; epoch++) {
		iterate(some(20, 30));
		in(9, 2, 0, 0);
	}
	expect_none();
}

/* What is learned from is rich: batches, until it is good enough. */
static void test_a_rich_turn_within(void **state)
{
	(void)state;
	for (unsigned int trial = 0; trial < 20; trial++) {
		const unsigned int batches = some(5, 30);

		for (unsigned int k = 0; k < batches; k++) {
			for (uint64_t id = 1; id <= 9; id++)
				in(id, 1, 2, 1);
		}
		in(10, 2, 0, 0);
	}
	expect_none();
}

/* Three stages in each of 20 time steps, each a system of its own. */
static void test_a_few_times_in_a_larger_turn(void **state)
{
	(void)state;
	for (unsigned int step = 0; step < 20; step++) {
		for (unsigned int stage = 0; stage < 3; stage++) {
			const unsigned int times = some(1, 40);

			for (unsigned int k = 0; k < times; k++) {
				for (uint64_t id = 1; id <= 4; id++)
					in(id, 1, 2, 2);
			}
			in(8, 2, 3, 1);
		}
		in(9, 3, 0, 0);
	}
	expect_steps(20);
}

/* Newton's steps in time steps that have no region of their own; the mass each
 * tenth, of which nobody asked any more. */
static void newton(unsigned int least, unsigned int most, unsigned int every,
		   unsigned int sweeps)
{
	for (unsigned int step = 1; step <= 50; step++) {
		const unsigned int times = some(least, most);

		for (unsigned int k = 0; k < times; k++) {
			in(1, 1, 2, 1);
			in(2, 1, 2, 1);
			for (unsigned int i = 0; i < sweeps; i++) {
				in(3, 3, 1, 2);
				in(4, 3, 1, 2);
				in(5, 3, 1, 2);
			}
			in(6, 1, 2, 1);
		}
		if (every && step % every == 0)
			unknown(7);
	}
}

static void test_no_region_around(void **state)
{
	struct loop_nest nest;

	(void)state;
	newton(1, 8, 10, 7);
	expect_none();
	/* Once was too little, too. */
	for (size_t i = 0; i < count; i++) {
		if (marks[i].id == 7) {
			marks[i].caller = marks[i].loop = 7;
			marks[i].depth = 2;
			break;
		}
	}
	expect_none();
	/* Where it is always after as many they are batches of an epoch. */
	count = 0;
	newton(4, 4, 10, 7);
	expect_steps(200);
	/* Nothing tells of another loop. */
	count = 0;
	newton(1, 8, 0, 7);
	assert_int_equal(find(&nest), 0);
}

/* It isn't known whether what comes after 20 sweeps is a report: so it may be
 * the step, and not what is one of its reports, or an epoch. */
static void test_a_report_of_what_may_be_the_step(void **state)
{
	(void)state;
	newton(4, 4, 10, 20);
	expect_none();
}

/* Topics: two regions in each sweep, and parameters that are fitted in some of
 * them, as long as it takes. */
static void sweeps(bool is_known)
{
	for (unsigned int sweep = 0; sweep < 70; sweep++) {
		in(1, 1, 0, 0);
		in(2, 1, 0, 0);
		if (sweep % 10 == 0 && sweep >= 20) {
			for (unsigned int k = 0; k < 20; k++)
				in(3, 2, is_known, 1);
		}
	}
}

static void test_what_is_fitted_at_times(void **state)
{
	(void)state;
	sweeps(true);
	expect_steps(70);
	/* Unless it is known to lie in the sweep's loop. */
	count = 0;
	sweeps(false);
	expect_none();
}

/* Sentences of any length, word by word, there and back; in epochs, with a text
 * behind each. */
static void sentences(unsigned int epochs, unsigned int batches)
{
	for (unsigned int epoch = 0; epoch < epochs; epoch++) {
		for (unsigned int batch = 0; batch < batches; batch++) {
			const unsigned int words = some(5, 40);

			for (unsigned int t = 0; t < words; t++)
				in(1, 1, 3, 2);
			for (unsigned int t = 0; t < words; t++)
				in(2, 2, 3, 2);
			in(3, 3, 5, 1);
		}
		for (unsigned int t = 0; t < 20; t++)
			in(4, 4, 5, 1);
	}
}

static void test_turns_of_any_length(void **state)
{
	(void)state;
	sentences(4, 20);
	expect_steps(80);
	/* Few may be anything. */
	count = 0;
	sentences(1, 12);
	expect_none();
	/* Nothing tells where nobody knows of the loop. */
	count = 0;
	sentences(4, 20);
	for (size_t i = 0; i < count; i++)
		marks[i].is_always = false;
	expect_none();
}

/* From three places outward, as far as it goes from each: no steps. */
static void search_from(unsigned int places, unsigned int (*levels)(void))
{
	for (unsigned int place = 0; place < places; place++) {
		const unsigned int far = levels();

		in(1, 4, 0, 0);
		for (unsigned int level = 0; level < far; level++) {
			for (unsigned int k = some(1, 9); k; k--)
				in(2, 1, 3, 2);
			in(3, 3, 4, 1);
		}
	}
}

static unsigned int any_level(void)
{
	return some(4, 18);
}

static unsigned int twelve_levels(void)
{
	return 12;
}

static void test_a_search_from_a_few_places(void **state)
{
	(void)state;
	search_from(3, any_level);
	assert_true(count > 40);
	expect_none();
	/* An epoch has always as many. */
	count = 0;
	search_from(3, twelve_levels);
	expect_steps(36);
}

/* Four boosters, a round of each, and then what each of them is worth; the
 * first round is a little different. */
static void rounds(unsigned int turns, bool is_whole)
{
	for (unsigned int round = 0; round < turns; round++) {
		for (unsigned int booster = 0; booster < 4; booster++) {
			hit(1);
			hit(2);
			hit(3);
			for (unsigned int k = some(4, 6); k; k--) {
				hit(4);
				hit(5);
			}
			hit(6);
			if (!round)
				hit(7);
		}
		for (unsigned int booster = 0;
		     booster < 4 && (is_whole || round + 1 < turns); booster++)
			hit(8);
	}
}

static void test_rounds_of_boosters(void **state)
{
	struct loop_nest nest;

	(void)state;
	rounds(40, true);
	assert_int_equal(find(&nest), 0);
	assert_in_range(nest.level[nest.step].turns, 39, 40);
	/* They are what comes before each fourth turn but the first. */
	count = 0;
	rounds(40, false);
	expect_steps(160);
}

/* From one place in a loop that lies in so many others, the next one `within`;
 * `is_always` in each of its turns. */
static void from(uint64_t id, uint16_t place, uint16_t loop, uint8_t within,
		 uint16_t others, bool is_always)
{
	hit(id);
	marks[count - 1].caller = place;
	marks[count - 1].loop = loop;
	marks[count - 1].within = within;
	marks[count - 1].depth = (uint8_t)(others + 2);
	marks[count - 1].is_always = is_always;
}

/* The same, so many times. */
static void times(unsigned int many, uint64_t id, uint16_t loop, uint8_t within,
		  uint16_t others)
{
	for (unsigned int i = 0; i < many; i++)
		in(id, loop, within, others);
}

/* Five parts of the data, seven epochs each, and what is held out behind them:
 * its loop lies in the parts' loop, but no batch in it. */
static void test_a_validation_in_a_loop_beside(void **state)
{
	(void)state;
	for (unsigned int fold = 0; fold < 5; fold++) {
		for (unsigned int batch = 0; batch < 63; batch++) {
			times(3, 1, 1, 2, 3);
			in(2, 2, 0, 2);
			times(3, 3, 6, 2, 3);
		}
		for (unsigned int batch = 0; batch < 3; batch++) {
			times(3, 4, 7, 8, 2);
			in(5, 8, 0, 1);
		}
	}
	expect_steps(315);
}

/* Grids that are coarser and coarser, two of each for one of the finer; each
 * call comes from a place of its own. */
static void calls(unsigned int many, uint64_t id, uint16_t call)
{
	for (unsigned int i = 0; i < many; i++)
		from(id, (uint16_t)(10 * call + id), 1, 79, 1, false);
}

static void cycle(unsigned int level, uint16_t call)
{
	calls(1, 1, call);
	if (level == 4) {
		calls(8, 2, call);
		return;
	}
	calls(1, 3, call);
	cycle(level + 1, (uint16_t)(2 * call));
	cycle(level + 1, (uint16_t)(2 * call + 1));
	calls(1, 4, call);
	calls(1, 5, call);
}

static void test_a_function_that_calls_itself(void **state)
{
	(void)state;
	for (unsigned int turn = 0; turn < 26; turn++) {
		cycle(0, 1);
		in(9, 79, 0, 0);
	}
	expect_steps(26);
}

/* A load in 20 parts, each in a few of Newton's steps, each of which solves as
 * long as it takes, if it has to. */
static void test_newton_in_parts(void **state)
{
	static const unsigned int newtons[] = {3, 5, 2, 3, 4, 6, 3};
	static const unsigned int turns[] = {90, 3, 0, 90, 21, 0, 0, 62, 8, 90};
	unsigned int newton = 0;

	(void)state;
	for (unsigned int part = 0; part < 20; part++) {
		in(1, 1, 0, 0);
		for (unsigned int k = 0; k < newtons[part % 7]; k++) {
			in(2, 2, 1, 1);
			in(3, 2, 1, 1);
			for (unsigned int i = 0; i < turns[newton % 10]; i++) {
				in(4, 4, 2, 2);
				in(5, 4, 2, 2);
			}
			newton++;
			in(6, 2, 1, 1);
		}
		in(7, 1, 0, 0);
		in(8, 1, 0, 0);
	}
	expect_steps(20);
}

/* Some steps are tried again, in a loop of their own. */
static void test_what_is_tried_again(void **state)
{
	(void)state;
	for (unsigned int step = 0; step < 40; step++) {
		const unsigned int tries = 1 + !(step % 4) + !(step % 9);

		in(1, 1, 0, 0);
		for (unsigned int k = 0; k < tries; k++) {
			in(2, 2, 1, 1);
			in(3, 2, 1, 1);
			times(90, 4, 4, 2, 2);
			in(5, 2, 1, 1);
		}
		in(6, 1, 0, 0);
	}
	expect_steps(40);
}

/* Rounds of nothing but loops: clients of any size, and then two layers that
 * are added up and six that are tried. */
static void test_rounds_of_loops_alone(void **state)
{
	(void)state;
	for (unsigned int round = 0; round < 18; round++) {
		const unsigned int batches = 60 + round * 7 % 30;

		for (unsigned int batch = 0; batch < batches; batch++) {
			times(2, 1, 1, 0, 4);
			times(2, 2, 4, 0, 4);
		}
		times(2, 3, 5, 0, 1);
		times(6, 4, 6, 0, 2);
	}
	expect_steps(18);
}

static void forget(size_t from)
{
	for (size_t i = from; i < count; i++) {
		marks[i].caller = marks[i].loop = 0;
		marks[i].within = marks[i].depth = 0;
		marks[i].is_always = false;
	}
}

/* A load in parts, of which the first ones alone were asked: some of Newton's
 * steps have nothing to solve. */
static void parts(unsigned int asked)
{
	for (unsigned int part = 0; part < 20; part++) {
		const unsigned int newtons = some(2, 5);
		const size_t from = count;

		in(1, 1, 0, 0);
		for (unsigned int k = 0; k < newtons; k++) {
			in(2, 2, 1, 1);
			in(3, 2, 1, 1);
			times(k ? some(20, 60) : 0, 4, 4, 2, 2);
			in(5, 2, 1, 1);
		}
		in(6, 1, 0, 0);
		in(7, 1, 0, 0);
		if (part >= asked)
			forget(from);
	}
}

static void test_half_of_the_parts_were_asked(void **state)
{
	(void)state;
	parts(20);
	expect_steps(20);
	set_up(state);
	parts(11);
	expect_steps(20);
	set_up(state);
	parts(7);
	expect_none();
}

/* Time steps of more turns than an epoch has batches. */
static void diffuse(unsigned int sites, unsigned int asked)
{
	for (unsigned int step = 0; step < 20; step++) {
		const unsigned int turns =
			step % 3 ? some(30, 60) : some(150, 240);
		size_t from;

		in(20, 1, 0, 0);
		from = count;
		for (unsigned int k = 0; k < turns; k++) {
			for (uint64_t id = 1; id <= sites; id++)
				in(id, 2, 1, 1);
		}
		if (step >= asked)
			forget(from);
		in(21, 1, 0, 0);
		marks[from - 1].is_late = step >= asked;
		marks[count - 1].is_late = step >= asked;
	}
}

static void test_more_turns_than_batches(void **state)
{
	(void)state;
	diffuse(3, 20);
	expect_steps(20);
	set_up(state);
	diffuse(3, 2);
	expect_steps(20);
	/* Rich ones may be batches. */
	set_up(state);
	diffuse(9, 1);
	expect_none();
}

/* A report each tenth turn; only those were asked for long. */
static void test_what_was_asked_late_tells_nothing_of_the_others(void **state)
{
	(void)state;
	for (unsigned int turn = 1; turn <= 300; turn++) {
		const size_t from = count;

		in(1, 1, 0, 0);
		in(2, 1, 0, 0);
		if (turn > 17)
			forget(from);
		if (turn % 10)
			continue;
		in(3, 1, 0, 0);
		in(4, 1, 0, 0);
		in(5, 1, 0, 0);
		for (size_t i = count - 3; i < count; i++) {
			marks[i].is_always = false;
			marks[i].is_late = turn > 17;
		}
		if (turn > 160)
			forget(count - 3);
	}
	expect_steps(300);
}

/* A graph's cores: rounds of two regions, as many as each takes.  No region
 * lies between them, and `is_needed` says that nothing counts them. */
static void peel(bool is_needed, bool has_own)
{
	for (unsigned int core = 0; core < 57; core++) {
		const unsigned int times = some(1, 6);
		const size_t from = count;

		for (unsigned int k = 0; k < times; k++) {
			in(1, 1, 2, 1);
			in(2, 1, 2, 1);
		}
		for (size_t i = from; i < count; i++)
			marks[i].is_needed = is_needed;
		if (has_own && core % 20 == 0)
			in(3, 2, 0, 0);
	}
}

static void test_rounds_until_nothing_changes(void **state)
{
	(void)state;
	peel(true, false);
	expect_none();
}

/* Batches of any number in epochs; and three settings, of which that loop's
 * regions tell. */
static void test_rounds_that_are_counted(void **state)
{
	struct loop_nest nest;

	(void)state;
	peel(false, false);
	assert_int_equal(find(&nest), 0);
	set_up(state);
	peel(true, true);
	assert_int_equal(find(&nest), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_one_region_around, set_up),
		cmocka_unit_test_setup(test_few_turns_of_one_region_around,
				       set_up),
		cmocka_unit_test_setup(test_as_many_but_for_a_few, set_up),
		cmocka_unit_test_setup(test_a_rich_turn_within, set_up),
		cmocka_unit_test_setup(test_a_few_times_in_a_larger_turn,
				       set_up),
		cmocka_unit_test_setup(test_no_region_around, set_up),
		cmocka_unit_test_setup(test_a_report_of_what_may_be_the_step,
				       set_up),
		cmocka_unit_test_setup(test_what_is_fitted_at_times, set_up),
		cmocka_unit_test_setup(test_rounds_of_boosters, set_up),
		cmocka_unit_test_setup(test_turns_of_any_length, set_up),
		cmocka_unit_test_setup(test_a_search_from_a_few_places, set_up),
		cmocka_unit_test_setup(test_a_validation_in_a_loop_beside,
				       set_up),
		cmocka_unit_test_setup(test_a_function_that_calls_itself,
				       set_up),
		cmocka_unit_test_setup(test_newton_in_parts, set_up),
		cmocka_unit_test_setup(test_what_is_tried_again, set_up),
		cmocka_unit_test_setup(test_rounds_of_loops_alone, set_up),
		cmocka_unit_test_setup(test_half_of_the_parts_were_asked,
				       set_up),
		cmocka_unit_test_setup(test_more_turns_than_batches, set_up),
		cmocka_unit_test_setup(
			test_what_was_asked_late_tells_nothing_of_the_others,
			set_up),
		cmocka_unit_test_setup(test_rounds_until_nothing_changes,
				       set_up),
		cmocka_unit_test_setup(test_rounds_that_are_counted, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
