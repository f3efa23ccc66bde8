/* SPDX-License-Identifier: MIT */
/* test_loop_doubt.c - loops that are found, but may be a part of the step. */
#include "tests/unit/loop_marks.h"
static uint32_t state;

static uint32_t random_below(uint32_t limit)
{
	state = state * 1103515245u + 12345u;
	return (state >> 16) % limit;
}

static int set_up(void **unused)
{
	(void)unused;
	count = 0;
	state = 1;
	return 0;
}

/* Steps found; 0 none. */
static size_t steps(void)
{
	struct loop_nest nest;
	const int result = find(&nest);

	return result ? 0 : nest.level[nest.step].turns;
}

/* None is found, but the two between which nothing decides are told. */
static void expect_none_of(size_t inner, size_t outer)
{
	struct loop_nest nest;
	const int result = find(&nest);

	assert_int_not_equal(result, 0);
	assert_int_equal(nest.level[nest.step].turns, inner);
	assert_int_equal(nest.level[nest.runner_up].turns, outer);
}

/* --- a marker that comes in a part of the run ---------------------------- */

/* A search: three sites as it will have it, and a fourth alone now and then. */
static void search(unsigned int most)
{
	for (unsigned int i = 0; i < most; i++) {
		hit(1 + random_below(3));
		if (!random_below(16)) {
			hit(3);
			hit(4);
			hit(1);
		}
	}
}

static void searches(unsigned int turns)
{
	for (unsigned int i = 0; i < turns; i++) {
		search(90 + random_below(20));
		hit(3);
		hit(4);
		hit(4);
		hit(1);
	}
}

static void test_all_of_it_is_found(void **unused)
{
	(void)unused;
	searches(40);
	assert_int_equal(steps(), 40);
}

/* The first 20 searches lack what the marker is told by. */
static void test_more_of_it_before(void **unused)
{
	(void)unused;
	search(20 * 100);
	searches(40);
	assert_int_equal(steps(), 0);
}

static void test_more_of_it_behind(void **unused)
{
	(void)unused;
	searches(40);
	search(20 * 100);
	assert_int_equal(steps(), 0);
}

/* What has but some of the step's sites is another phase. */
static void test_another_phase_before(void **unused)
{
	(void)unused;
	for (unsigned int i = 0; i < 2000; i++)
		hit(1 + random_below(2));
	searches(40);
	assert_int_equal(steps(), 40);
}

/* --- few turns, and much between them ------------------------------------ */

static void turn(unsigned int length)
{
	hit(10);
	hit(11);
	for (unsigned int i = 0; i < length; i++)
		hit(12 + random_below(6));
	hit(12);
}

/* The pieces come after 4, 4, 4, 2 and 1 turns, as an optimisation's steps do
 * of which each needs fewer. */
static void pieces(unsigned int length, unsigned int turns)
{
	for (unsigned int i = 0; i < turns; i++) {
		const bool is_last =
			i == 3 || i == 7 || i == 11 || i == 13 || i == 14;

		turn(is_last ? 145 - length : 145);
		for (unsigned int k = 0; is_last && k < length; k++)
			hit(20 + k % 3);
	}
}

static void test_few_turns_and_large_pieces(void **unused)
{
	(void)unused;
	pieces(78, 18);
	assert_int_equal(steps(), 0);
}

static void test_few_turns_and_small_pieces(void **unused)
{
	(void)unused;
	pieces(9, 18);
	assert_int_equal(steps(), 18);
}

/* --- teams of one --------------------------------------------------------- */

/* An index's layers: those with few nodes are one member's work. */
static void additions(unsigned int turns, unsigned int layers)
{
	for (unsigned int i = 0; i < turns; i++) {
		for (unsigned int layer = 0; layer < layers; layer++) {
			hit(1);
			marks[count - 1].team = 1;
			hit(2);
			marks[count - 1].team =
				layer + 2 + random_below(3) < layers ? 1 : 2;
		}
	}
}

static void test_layers_of_one_and_of_many(void **unused)
{
	(void)unused;
	additions(30, 15);
	assert_int_equal(steps(), 0);
}

static void test_each_turn_with_a_team_of_one(void **unused)
{
	(void)unused;
	additions(450, 1);
	assert_int_equal(steps(), 450);
}

/* The last batch of each epoch is short. */
static void test_a_few_turns_with_a_team_of_one(void **unused)
{
	(void)unused;
	additions(450, 1);
	for (size_t i = 101; i < count; i += 200)
		marks[i].team = 2;
	assert_int_equal(steps(), 450);
}

/* Regions that were thinned. */
static void test_many_turns_of_which_the_team_is_unknown(void **unused)
{
	(void)unused;
	additions(450, 1);
	for (size_t i = 1; i < count; i += 3)
		marks[i].team = 0;
	assert_int_equal(steps(), 450);
}

/* One loop alone by its code. */
static void test_code_that_knows_better_than_teams(void **unused)
{
	(void)unused;
	additions(30, 15);
	for (size_t i = 0; i < count; i++) {
		marks[i].caller = (uint16_t)marks[i].id;
		marks[i].loop = 1;
		marks[i].depth = 2;
	}
	assert_int_equal(steps(), 450);
}

/* --- a few turns around a loop that turns as often as it needs ------------ */

static void solve(unsigned int first, unsigned int sites)
{
	for (unsigned int i = 0; i < first; i++) {
		for (unsigned int s = 0; s < sites; s++)
			hit(1 + s);
	}
}

/* Geometries, each solved in 9 to 12 iterations; `more` sites before those and
 * behind them. */
static void geometries(unsigned int turns, unsigned int more)
{
	for (unsigned int i = 0; i < turns; i++) {
		for (unsigned int s = 0; s < more; s++)
			hit(20 + s);
		solve(9 + random_below(4), 4);
		for (unsigned int s = 0; s < more; s++)
			hit(30 + s);
	}
}

static void test_a_few_turns_around_as_many_as_are_needed(void **unused)
{
	(void)unused;
	geometries(9, 2);
	assert_int_equal(steps(), 9);
}

/* It may be an epoch. */
static void test_little_around_as_many_as_are_needed(void **unused)
{
	(void)unused;
	for (unsigned int i = 0; i < 9; i++) {
		hit(20);
		solve(9 + random_below(4), 9);
		hit(30);
	}
	assert_int_equal(steps(), 0);
}

/* A mesh that is made anew when the flow asks for it, and at the end: as an
 * iteration's end, but that nothing begins one. */
static void test_much_now_and_then(void **unused)
{
	(void)unused;
	for (unsigned int i = 0; i < 8; i++) {
		solve(i % 3 ? 12 : 9, 4);
		for (unsigned int s = 0; s < 4; s++)
			hit(30 + s);
	}
	assert_int_equal(steps(), 0);
}

/* Four trees of many splits: the trees are too few, and a split is no step. */
static void test_less_than_five_turns_around(void **unused)
{
	(void)unused;
	for (unsigned int i = 0; i < 4; i++) {
		for (unsigned int s = 0; s < 3; s++)
			hit(20 + s);
		solve(25 + random_below(10), 6);
		for (unsigned int s = 0; s < 2; s++)
			hit(30 + s);
	}
	assert_int_equal(steps(), 0);
}

/* Epochs that do a little of their own. */
static void test_a_few_epochs(void **unused)
{
	unsigned int turns = 0;

	(void)unused;
	for (unsigned int i = 0; i < 4; i++) {
		hit(20);
		solve(30, 6);
		turns += 30;
		hit(30);
	}
	assert_int_equal(steps(), turns);
}

/* --- another phase -------------------------------------------------------- */

/* Rounds that make a model, and requests that use it, of so many other sites.
 */
static size_t made_and_used(unsigned int rounds, unsigned int requests,
			    uint64_t sites)
{
	count = 0;
	for (unsigned int i = 0; i < rounds; i++) {
		for (unsigned int split = 0; split < 6; split++) {
			for (uint64_t site = 1; site <= 6; site++)
				hit(site);
		}
		for (uint64_t site = 7; site <= 10; site++)
			hit(site);
	}
	for (unsigned int i = 0; i < requests; i++) {
		for (uint64_t site = 0; site < sites; site++)
			hit(11 + site);
	}
	return steps();
}

static void test_few_rounds_and_more_requests(void **unused)
{
	(void)unused;
	assert_int_equal(made_and_used(12, 60, 3), 0);
	assert_int_equal(made_and_used(12, 60, 1), 0);
	assert_int_equal(made_and_used(40, 100, 3), 0);
	/* Less than half as many. */
	assert_int_equal(made_and_used(12, 5, 3), 12);
	assert_int_equal(made_and_used(40, 19, 1), 40);
}

/* --- every few turns another way ------------------------------------------ */

/* `most` updates of a critic, and one of what it judges: with less of what the
 * others have and a site of its own, or with more of everything.  Now and then
 * a sample. */
static void critics(unsigned int turns, unsigned int most, bool has_less)
{
	for (unsigned int i = 0; i < turns; i++) {
		for (unsigned int k = 0; k < most; k++) {
			hit(1);
			hit(1);
			hit(2);
			hit(3);
			hit(4);
			hit(3);
			hit(4);
			hit(5);
		}
		hit(1);
		hit(1 + has_less);
		if (!has_less) {
			hit(2);
			hit(3);
			hit(4);
		}
		hit(3);
		hit(4);
		hit(6);
		hit(5);
		hit(1);
		if (i % 15 == 14) {
			hit(2);
			hit(1);
		}
	}
}

static void test_every_third_turn_goes_another_way(void **unused)
{
	(void)unused;
	critics(60, 2, true);
	expect_none_of(180, 60);
}

static void test_every_tenth_turn_goes_another_way(void **unused)
{
	(void)unused;
	critics(60, 9, true);
	expect_none_of(600, 60);
}

static void test_every_third_turn_has_more(void **unused)
{
	(void)unused;
	critics(60, 2, false);
	assert_int_equal(steps(), 180);
}

/* A report that runs what the turn has once more. */
static void test_reports_that_take_a_turn(void **unused)
{
	(void)unused;
	for (unsigned int i = 0; i < 60; i++) {
		hit(1);
		hit(2);
		if (i % 10 == 9) {
			hit(1);
			hit(2);
			hit(3);
		}
	}
	assert_int_equal(steps(), 0);
}

static void folds(unsigned int turns, unsigned int within)
{
	for (unsigned int i = 0; i < turns; i++) {
		for (unsigned int k = 0; k < within; k++) {
			hit(1);
			hit(2);
		}
		hit(3);
	}
}

/* Five folds of 30 iterations and a score, or 200 steps and a picture after
 * each 40: the same as five steps of so many sweeps. */
static void test_few_turns_around_many(void **unused)
{
	(void)unused;
	folds(5, 30);
	expect_none_of(150, 5);
	count = 0;
	folds(5, 40);
	expect_none_of(200, 5);
	/* Epochs of 24 batches. */
	count = 0;
	folds(5, 24);
	expect_none_of(120, 5);
}

static void test_more_turns_around_many(void **unused)
{
	(void)unused;
	folds(20, 30);
	assert_int_equal(steps(), 20);
	count = 0;
	folds(20, 24);
	assert_int_equal(steps(), 20);
	count = 0;
	folds(8, 7);
	assert_int_equal(steps(), 8);
	/* 96 batches and a text after each twelfth, as well. */
	count = 0;
	folds(8, 12);
	expect_none_of(96, 8);
}

/* Stages of transforms there and back, four to a step, and a spectrum each 16
 * steps: 80 steps have nothing of their own, and the spectra are none. */
static void test_reports_of_a_loop_within(void **unused)
{
	(void)unused;
	for (unsigned int stage = 0; stage < 320; stage++) {
		for (uint64_t site = 1; site <= 11; site++)
			hit(site == 4 ? 4 : site == 11 ? 5 : site % 3 + 6);
		for (uint64_t site = 1; site <= 4 && stage % 64 == 63; site++)
			hit(site == 4 ? 10 : site % 3 + 6);
	}
	assert_int_equal(steps(), 0);
}

/* --- what comes before some turns ----------------------------------------- */

static void part(uint64_t from, uint64_t to)
{
	for (uint64_t site = from; site <= to; site++)
		hit(site);
}

/* Gradients of four batches are added up, and some passes evaluate before each
 * so many updates. */
static void updates(unsigned int turns, unsigned int each)
{
	for (unsigned int i = 0; i < turns; i++) {
		for (unsigned int k = 0; k < 3 && i % each == 0; k++)
			part(1, 12);
		hit(21);
		for (unsigned int k = 0; k < 4; k++)
			part(1, 20);
		hit(22);
	}
}

static void test_an_evaluation_before_some_updates(void **unused)
{
	(void)unused;
	updates(25, 5);
	assert_int_equal(steps(), 25);
}

/* Before each it is an epoch's. */
static void test_an_evaluation_before_each(void **unused)
{
	(void)unused;
	updates(25, 1);
	assert_int_equal(steps(), 100);
}

/* --- much behind a few turns ---------------------------------------------- */

/* Geometries whose field takes eight turns, and then forces, with much of the
 * turns' and two sites of their own; the first begins with a guess. */
static void moved_waters(unsigned int sites)
{
	count = 0;
	hit(200);
	for (unsigned int i = 0; i < 15; i++) {
		for (unsigned int turn = 0; turn < (i ? 8 : 9); turn++) {
			for (unsigned int k = 0; k < sites; k++)
				hit(1 + k);
		}
		for (unsigned int k = 0; k < 3 * sites; k++) {
			if (k % sites == 5)
				hit(100);
			hit(1 + k % sites % 20);
		}
		hit(101);
	}
	for (unsigned int k = 0; k < sites / 2; k++)
		hit(1 + k);
}

static void test_waters_that_are_moved(void **unused)
{
	(void)unused;
	moved_waters(30);
	assert_int_equal(steps(), 0);
}

/* --- what is copied back now and then ------------------------------------- */

/* Time steps of some kernels, and a copy back after every so many. */
static void time_steps(unsigned int turns, uint64_t kernels, unsigned int every)
{
	count = 0;
	copied(90);
	for (unsigned int i = 0; i < turns; i++) {
		for (uint64_t k = 1; k <= kernels; k++)
			hit(k);
		hit(2);
		if (i % every == every - 1)
			copied(91);
	}
}

static void test_a_snapshot_each_so_many(void **unused)
{
	(void)unused;
	for (unsigned int every = 10; every <= 64; every++) {
		time_steps(every * 16, 3, every);
		if (every == 12)
			continue; /* layers, it may be */
		assert_int_equal(steps(), every * 16);
		time_steps(every * 6, 5, every);
		assert_int_equal(steps(), every * 6);
	}
}

/* Whole arrays at a time; the sum of a product, and its copy back. */
static void test_an_energy_each_so_many(void **unused)
{
	static const uint8_t turn[] = {1, 1, 1, 1, 2, 1, 1, 2, 1,
				       1, 2, 3, 4, 3, 4, 3, 2};

	(void)unused;
	for (unsigned int every = 5; every <= 50; every += 5) {
		count = 0;
		for (unsigned int i = 0; i < 8 * every; i++) {
			for (size_t k = 0; k < sizeof(turn); k++)
				hit(turn[k]);
			if (i % every == every - 1) {
				hit(3);
				hit(5);
				copied(6);
			}
		}
		assert_int_equal(steps(), 8 * every);
	}
}

/* A batch is copied in each step, a loss back by the same call each tenth. */
static void test_a_loss_by_the_call_that_loads(void **unused)
{
	(void)unused;
	for (unsigned int i = 0; i < 120; i++) {
		copied(9);
		for (uint64_t k = 1; k <= 8; k++)
			hit(k);
		if (i % 10 == 9)
			copied(9);
	}
	assert_int_equal(steps(), 120);
}

/* Layers, of which nothing else tells that they are some. */
static void test_layers_and_a_copy(void **unused)
{
	static const unsigned int layers[] = {2, 3, 4, 6, 8, 12};

	(void)unused;
	for (size_t n = 0; n < sizeof(layers) / sizeof(layers[0]); n++) {
		time_steps(40 * layers[n], 2, layers[n]);
		assert_int_equal(steps(), 40);
	}
}

/* What is copied in before ten layers, and out of the last: batches. */
static void test_layers_between_two_copies(void **unused)
{
	(void)unused;
	for (unsigned int i = 0; i < 30; i++) {
		copied(8);
		for (unsigned int k = 0; k < 10; k++) {
			hit(1);
			hit(2);
			hit(3);
		}
		copied(8);
	}
	assert_int_not_equal(steps(), 300);
}

/* A kernel more is a step's, it may be. */
static void test_kernels_and_a_copy(void **unused)
{
	(void)unused;
	for (unsigned int i = 0; i < 300; i++) {
		hit(1);
		hit(2);
		hit(3);
		if (i % 10 == 9) {
			hit(4);
			copied(8);
		}
	}
	assert_int_equal(steps(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_all_of_it_is_found, set_up),
		cmocka_unit_test_setup(test_more_of_it_before, set_up),
		cmocka_unit_test_setup(test_more_of_it_behind, set_up),
		cmocka_unit_test_setup(test_another_phase_before, set_up),
		cmocka_unit_test_setup(test_few_turns_and_large_pieces, set_up),
		cmocka_unit_test_setup(test_few_turns_and_small_pieces, set_up),
		cmocka_unit_test_setup(test_layers_of_one_and_of_many, set_up),
		cmocka_unit_test_setup(test_each_turn_with_a_team_of_one,
				       set_up),
		cmocka_unit_test_setup(test_a_few_turns_with_a_team_of_one,
				       set_up),
		cmocka_unit_test_setup(
			test_many_turns_of_which_the_team_is_unknown, set_up),
		cmocka_unit_test_setup(test_code_that_knows_better_than_teams,
				       set_up),
		cmocka_unit_test_setup(
			test_a_few_turns_around_as_many_as_are_needed, set_up),
		cmocka_unit_test_setup(test_little_around_as_many_as_are_needed,
				       set_up),
		cmocka_unit_test_setup(test_much_now_and_then, set_up),
		cmocka_unit_test_setup(test_less_than_five_turns_around,
				       set_up),
		cmocka_unit_test_setup(test_a_few_epochs, set_up),
		cmocka_unit_test_setup(test_few_rounds_and_more_requests,
				       set_up),
		cmocka_unit_test_setup(test_every_third_turn_goes_another_way,
				       set_up),
		cmocka_unit_test_setup(test_every_tenth_turn_goes_another_way,
				       set_up),
		cmocka_unit_test_setup(test_every_third_turn_has_more, set_up),
		cmocka_unit_test_setup(test_reports_that_take_a_turn, set_up),
		cmocka_unit_test_setup(test_few_turns_around_many, set_up),
		cmocka_unit_test_setup(test_reports_of_a_loop_within, set_up),
		cmocka_unit_test_setup(test_more_turns_around_many, set_up),
		cmocka_unit_test_setup(test_an_evaluation_before_some_updates,
				       set_up),
		cmocka_unit_test_setup(test_an_evaluation_before_each, set_up),
		cmocka_unit_test_setup(test_waters_that_are_moved, set_up),
		cmocka_unit_test_setup(test_a_snapshot_each_so_many, set_up),
		cmocka_unit_test_setup(test_an_energy_each_so_many, set_up),
		cmocka_unit_test_setup(test_a_loss_by_the_call_that_loads,
				       set_up),
		cmocka_unit_test_setup(test_layers_and_a_copy, set_up),
		cmocka_unit_test_setup(test_layers_between_two_copies, set_up),
		cmocka_unit_test_setup(test_kernels_and_a_copy, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
