/* SPDX-License-Identifier: MIT */
/*
 * test_loop_nest.c - streams of marks with loops in them, and without: the
 * level that is found is the step that a person would name, at any speed.
 *
 * tests/steps/streams/ holds streams that were recorded once or drawn at random
 * (tests/steps/), one a line: a name, its true steps (0 none), the number of
 * marks and their sites.
 */
#include "tests/unit/cmocka_base.h"

#include "writer/loops/loop_certain.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define MARKS_MAX 70000u

static struct loop_mark marks[MARKS_MAX];
static size_t count;
static uint64_t state = 1;

static uint64_t random_below(uint64_t limit)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (state >> 33) % limit;
}

static void hit(uint64_t id)
{
	assert_true(count < MARKS_MAX);
	marks[count++].id = id;
}

/* Times as on a machine of this load: now and then all stands still. */
static void take_times(uint64_t load)
{
	uint64_t now = 1000;

	for (size_t i = 0; i < count; i++) {
		marks[i].ticks = now;
		now += 100 + random_below(100 + 900 * load);
		if (load && !random_below(50))
			now += random_below(5000000);
		marks[i].end_ticks = now - 1;
	}
}

static int find(struct loop_nest *nest)
{
	void *room = NULL;
	int rc;

	assert_int_equal(posix_memalign(&room, 64, loop_nest_room(count)), 0);
	memset(room, 0xa5, loop_nest_room(count));
	rc = loop_nest_find(marks, count, room, nest);
	free(room);
	return rc;
}

static void expect_steps(uint64_t id, size_t steps)
{
	const struct loop_level *step;
	struct loop_nest nest;

	take_times(1);
	assert_int_equal(find(&nest), 0);
	step = &nest.level[nest.step];
	assert_int_equal(step->id, id);
	assert_int_equal(step->turns, steps);
}

static void expect_none(void)
{
	struct loop_nest nest;

	take_times(1);
	assert_int_equal(find(&nest), -ENOENT);
}

/* A step's time is its median, whatever a few of them take. */
static void test_a_step_takes_its_median(void **unused)
{
	struct loop_nest nest;
	uint64_t now = 1000;

	(void)unused;
	for (uint64_t i = 0; i < 120; i++) {
		hit(1 + i % 3);
		marks[i].ticks = now;
		now += i / 3 % 10 == 9 ? 700000 : 1000;
		marks[i].end_ticks = now - 1;
	}
	assert_int_equal(find(&nest), 0);
	assert_int_equal(nest.level[nest.step].turns, 40);
	assert_int_equal(nest.level[nest.step].ticks, 3000);
}

static int set_up(void **unused)
{
	(void)unused;
	count = 0;
	return 0;
}

static void train(unsigned int layers)
{
	for (unsigned int i = 0; i < layers; i++) {
		hit(1);
		hit(2);
	}
	hit(3);
	for (unsigned int i = 0; i < layers; i++) {
		hit(4);
		hit(5);
	}
	hit(6);
}

static void evaluate(unsigned int layers)
{
	for (unsigned int i = 0; i < layers; i++) {
		hit(1);
		hit(2);
	}
	hit(7);
}

static void test_where_turns_begin_and_end(void **unused)
{
	struct loop_nest nest;
	const struct loop_level *step;

	(void)unused;
	hit(8);
	hit(9);
	for (int i = 0; i < 20; i++) {
		hit(10);
		hit(20);
		hit(30);
	}
	take_times(0);
	assert_int_equal(find(&nest), 0);
	step = &nest.level[nest.step];
	assert_int_equal(step->id, 30);
	assert_int_equal(step->begin, 2);
	assert_int_equal(step->first, 4);
	assert_int_equal(step->last, 61);
	assert_int_equal(step->turns, 20);
	assert_int_equal(step->length, 3);
	assert_int_equal(step->context, 0);
	assert_int_equal(step->key, search_key(&(uint64_t){30}, 0));
	assert_true(loop_level_is_hit(step, marks, 61));
	assert_false(loop_level_is_hit(step, marks, 60));
	assert_int_equal(loop_level_begin(step, marks, 7, 5), 5);
}

static void test_too_few_turns(void **unused)
{
	(void)unused;
	for (int i = 0; i < 4; i++)
		train(3);
	expect_none();
	train(3);
	expect_steps(6, 5);
}

static void test_layers_are_no_steps(void **unused)
{
	(void)unused;
	for (unsigned int layers = 1; layers <= 40; layers += 3) {
		count = 0;
		for (int i = 0; i < 12; i++)
			train(layers);
		expect_steps(6, 12);
	}
}

static void test_evaluations_are_no_steps_and_epochs_neither(void **unused)
{
	struct loop_nest nest;

	(void)unused;
	for (int epoch = 0; epoch < 40; epoch++) {
		for (int i = 0; i < 8; i++)
			train(3);
		evaluate(3);
	}
	expect_steps(6, 320);
	assert_int_equal(find(&nest), 0);
	assert_int_equal(nest.outer, 8);
}

/* Forward passes alone are a perfect loop, until the training comes. */
static void test_a_validation_before_the_training(void **unused)
{
	(void)unused;
	for (int i = 0; i < 30; i++)
		evaluate(12);
	expect_steps(7, 30);
	for (int i = 0; i < 60; i++)
		train(12);
	expect_steps(6, 60);
}

static void pass(void)
{
	for (int layer = 0; layer < 4; layer++) {
		hit(1);
		hit(2);
	}
	hit(3);
}

/* As a transformer is trained: a validation first and every 10 steps, some text
 * every 20 steps and at the end. */
static void transformer(int first, int steps, int tokens, bool is_validated)
{
	count = 0;
	for (int i = 0; i < first; i++)
		pass();
	for (int step = 0; step < steps; step++) {
		for (int i = 0; is_validated && step % 10 == 0 && i < 5; i++)
			pass();
		for (int i = 0; is_validated && step % 20 == 19 && i < 20; i++)
			evaluate(4);
		train(4);
	}
	for (int i = 0; i < tokens; i++)
		evaluate(4);
}

static void test_a_validation_as_long_as_the_training(void **unused)
{
	(void)unused;
	transformer(2000, 2000, 0, false);
	expect_steps(6, 2000);
	transformer(1000, 2000, 0, false);
	expect_steps(6, 2000);
	transformer(100, 100, 20, true);
	expect_steps(6, 100);
	transformer(10, 1000, 500, true);
	expect_steps(6, 1000);
	transformer(10, 1000, 0, false);
	expect_steps(6, 1000);
	transformer(0, 500, 50, true);
	expect_steps(6, 500);
	transformer(10, 20, 50, true);
	expect_steps(6, 20);
}

/* Nobody knows what it is for. */
static void test_much_more_validation_than_training(void **unused)
{
	(void)unused;
	transformer(1500, 40, 0, true);
	expect_none();
	transformer(0, 40, 1500, true);
	expect_none();
	transformer(1500, 40, 1500, false);
	expect_none();
}

static void test_trees_of_several_classes(void **unused)
{
	(void)unused;
	for (int i = 0; i < 40; i++) {
		hit(1);
		for (int class = 0; class < 8; class ++) {
			hit(2);
			for (int split = 0; split < 30; split++) {
				hit(3);
				hit(4);
				hit(5);
			}
			hit(6);
		}
	}
	expect_steps(1, 40);
}

static void test_something_every_20_steps(void **unused)
{
	(void)unused;
	for (int i = 0; i <= 200; i++) {
		if (i % 20 == 0)
			hit(9);
		hit(1);
		hit(2);
		hit(3);
		if (i % 10 == 0)
			hit(8);
	}
	expect_steps(3, 201);
}

/* Each turn takes one of three ways: what isn't in every turn can't be around
 * several. */
static void test_branches(void **unused)
{
	(void)unused;
	for (int i = 0; i < 80; i++) {
		const uint64_t way = 10 * (1 + random_below(3));

		for (uint64_t site = 1; site <= 4; site++)
			hit(site);
		hit(way);
		hit(way + 1);
		hit(5);
	}
	expect_steps(5, 80);
}

/* Steps that repeat more and more of one part, as DART's dropped trees. */
static void test_turns_that_grow(void **unused)
{
	(void)unused;
	for (int i = 0; i < 50; i++) {
		hit(1);
		for (int split = 0; split < 6; split++) {
			for (uint64_t site = 2; site <= 5; site++)
				hit(site);
		}
		hit(6);
		for (int tree = 0; tree < i; tree++) {
			hit(7);
			hit(8);
		}
	}
	expect_steps(6, 50);
}

/* Before the loop and behind it a part of its body, as Hartree-Fock does. */
static void test_short_turns_at_both_ends(void **unused)
{
	(void)unused;
	hit(1);
	hit(2);
	for (int i = 0; i < 10; i++) {
		hit(1);
		hit(2);
		for (int part = 0; part < 4; part++)
			hit(3);
	}
	for (int i = 0; i < 2; i++) {
		hit(1);
		hit(2);
	}
	expect_steps(2, 12);
}

/* The run was stopped in its last step: what ends each is no report. */
static void test_the_last_turn_is_not_complete(void **unused)
{
	(void)unused;
	for (int i = 0; i < 41; i++) {
		for (int kernel = 0; kernel < 16; kernel++) {
			hit(1);
			hit(2);
			hit(3);
			if (i == 40 && kernel == 7) {
				count--;
				expect_none();
				return;
			}
		}
		hit(4);
		if (i == 39)
			expect_steps(4, 40);
	}
}

/* What a sweep does, and what is measured after every tenth, to the end. */
static void test_a_report_that_may_be_a_step(void **unused)
{
	(void)unused;
	for (int i = 0; i < 90; i++) {
		hit(1);
		hit(2);
		if (i % 10 == 9)
			hit(3);
	}
	expect_none();
}

/* Seven of eight pictures tell of what moved, the eighth is whole: cut at any
 * site, those are no training with evaluations. */
static void test_a_loop_that_takes_one_of_two_ways(void **unused)
{
	(void)unused;
	for (unsigned int every = 3; every <= 9; every++) {
		for (unsigned int first = 0; first < 2; first++) {
			count = 0;
			for (uint64_t i = 0; first && i < 5; i++)
				hit(8 + i % 2);
			for (unsigned int i = 0; i < 71; i++) {
				hit(1);
				if ((i + first) % every == 0) {
					hit(2);
				} else {
					hit(3);
					hit(4);
					hit(4);
				}
				hit(5);
				hit(6);
			}
			expect_none();
		}
	}
}

/* What samples begins after ten rounds, in the middle of each. */
static void test_a_part_that_begins_later(void **unused)
{
	(void)unused;
	for (int i = 0; i < 50; i++) {
		hit(1);
		if (i >= 10) {
			hit(2);
			hit(3);
		}
		hit(4);
		for (int split = 0; split < 9; split++) {
			for (uint64_t site = 5; site <= 8; site++)
				hit(site);
		}
		hit(9);
	}
	expect_none();
}

static void test_no_order(void **unused)
{
	(void)unused;
	for (int i = 0; i < 3000; i++)
		hit(random_below(7));
	expect_none();
}

/* --- recorded and drawn streams ------------------------------------------- */

struct tally {
	unsigned int right, near, none, wrong;
};

/* The next word of a file; false: there is none. */
static bool read_word(gzFile file, char *word, size_t bytes)
{
	size_t len = 0;
	int c;

	while ((c = gzgetc(file)) != -1 && (c == ' ' || c == '\n'))
		;
	for (; c != -1 && c != ' ' && c != '\n'; c = gzgetc(file)) {
		if (len + 1 < bytes)
			word[len++] = (char)c;
	}
	word[len] = '\0';
	return len;
}

static bool read_stream(gzFile file, char *name, size_t bytes, size_t *steps)
{
	char word[32];
	size_t many;

	if (!read_word(file, name, bytes) ||
	    !read_word(file, word, sizeof(word)))
		return false;
	*steps = strtoul(word, NULL, 10);
	assert_true(read_word(file, word, sizeof(word)));
	many = strtoul(word, NULL, 10);
	count = 0;
	for (size_t i = 0; i < many; i++) {
		assert_true(read_word(file, word, sizeof(word)));
		hit(strtoul(word, NULL, 10) + 1);
	}
	return true;
}

/* The same at any load; the steps found, 0 none. */
static size_t replay(const char *name)
{
	struct loop_nest first, nest;
	size_t steps;

	take_times(0);
	steps = find(&first) ? 0 : first.level[first.step].turns;
	for (uint64_t load = 1; load <= 3; load++) {
		take_times(load * load);
		assert_int_equal(find(&nest) ? 0 : nest.level[nest.step].turns,
				 steps);
		if (steps &&
		    nest.level[nest.step].key != first.level[first.step].key)
			fail_msg("%s: another step at load %lu", name,
				 (unsigned long)load);
	}
	return steps;
}

/* As a schedule's run is looked at while it goes on, first at `next` marks:
 * hits in the whole run of what was certain first, 0 none. */
static size_t follow(size_t next)
{
	const struct loop_patience patience = {64, 4096};
	const size_t all = count;
	struct loop_choice choice = {0};
	struct loop_nest nest;
	size_t hits = 0;
	bool is_found = false;

	for (count = 0; !is_found && count < all; next += next / 4 + 4) {
		count = min_u64(all, next);
		is_found =
			!find(&nest) &&
			(count == all || loop_is_certain(&choice, marks, &nest,
							 count, &patience));
	}
	count = all;
	for (size_t i = nest.level[nest.step].first; is_found && i < all; i++)
		hits += loop_level_is_hit(&nest.level[nest.step], marks, i);
	return hits;
}

static size_t cuts;
static unsigned int mistaken;

/* The run ends somewhere within its last turn, at so many places: that is the
 * same step, of which two may lack something, or it is in doubt. */
static size_t cut(const char *name)
{
	struct loop_nest whole, nest;
	const struct loop_level *step = whole.level;
	size_t turns, found;

	take_times(0);
	if (find(&whole))
		return 0;
	step += whole.step;
	turns = step->turns;
	for (size_t i = 0; i < cuts; i++) {
		count = step->last + 1 - step->length * i / cuts;
		found = find(&nest) ? turns : nest.level[nest.step].turns;
		if (found <= turns + 1 && found + 2 >= turns)
			continue;
		print_message("%s, cut: %lu of %lu\n", name,
			      (unsigned long)found, (unsigned long)turns);
		mistaken++;
	}
	return turns;
}

static size_t follow_from_8(const char *name)
{
	(void)name;
	return follow(8);
}

static size_t follow_from_38(const char *name)
{
	(void)name;
	return follow(38);
}

static void replay_file(const char *path, size_t (*run)(const char *),
			struct tally *tally)
{
	gzFile file = gzopen(path, "rb");
	size_t wanted, found;
	char name[128];

	assert_non_null(file);
	*tally = (struct tally){0};
	while (read_stream(file, name, sizeof(name), &wanted)) {
		found = run(name);
		if (found == wanted ||
		    (wanted && found && found <= wanted + 1 &&
		     found + 1 >= wanted)) {
			tally->right++;
		} else {
			print_message("%s: %lu of %lu\n", name,
				      (unsigned long)found,
				      (unsigned long)wanted);
			/* Its computation runs outside of the loop, too. */
			if (wanted && found > wanted &&
			    (found - wanted) * 50 <= wanted)
				tally->near++;
			else if (found)
				tally->wrong++;
			else
				tally->none++;
		}
	}
	gzclose(file);
}

static void test_random_nests(void **unused)
{
	struct tally tally;

	(void)unused;
	replay_file("tests/steps/streams/generated.gz", replay, &tally);
	assert_in_range(tally.right, 189, 1000);
	assert_int_equal(tally.wrong, 0);
}

static void test_programs(void **unused)
{
	struct tally tally;

	(void)unused;
	replay_file("tests/steps/streams/programs.gz", replay, &tally);
	assert_in_range(tally.right, 82, 1000);
	assert_in_range(tally.near, 0, 2);
	assert_int_equal(tally.wrong, 0);
}

static void test_runs_that_are_cut(void **unused)
{
	struct tally tally;

	(void)unused;
	cuts = 20;
	replay_file("tests/steps/streams/programs.gz", cut, &tally);
	assert_in_range(tally.right, 82, 1000);
	assert_int_equal(mistaken, 0);
	cuts = 5;
	replay_file("tests/steps/streams/generated.gz", cut, &tally);
	assert_in_range(tally.right, 189, 1000);
	assert_int_equal(mistaken, 0);
}

static void test_while_the_run_goes_on(void **unused)
{
	struct tally tally;

	(void)unused;
	replay_file("tests/steps/streams/programs.gz", follow_from_8, &tally);
	assert_int_equal(tally.wrong, 0);
	replay_file("tests/steps/streams/programs.gz", follow_from_38, &tally);
	assert_int_equal(tally.wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_where_turns_begin_and_end, set_up),
		cmocka_unit_test_setup(test_too_few_turns, set_up),
		cmocka_unit_test_setup(test_a_step_takes_its_median, set_up),
		cmocka_unit_test_setup(test_layers_are_no_steps, set_up),
		cmocka_unit_test_setup(
			test_evaluations_are_no_steps_and_epochs_neither,
			set_up),
		cmocka_unit_test_setup(test_a_validation_before_the_training,
				       set_up),
		cmocka_unit_test_setup(
			test_a_validation_as_long_as_the_training, set_up),
		cmocka_unit_test_setup(test_much_more_validation_than_training,
				       set_up),
		cmocka_unit_test_setup(test_trees_of_several_classes, set_up),
		cmocka_unit_test_setup(test_something_every_20_steps, set_up),
		cmocka_unit_test_setup(test_branches, set_up),
		cmocka_unit_test_setup(test_turns_that_grow, set_up),
		cmocka_unit_test_setup(test_short_turns_at_both_ends, set_up),
		cmocka_unit_test_setup(test_the_last_turn_is_not_complete,
				       set_up),
		cmocka_unit_test_setup(test_a_report_that_may_be_a_step,
				       set_up),
		cmocka_unit_test_setup(test_a_loop_that_takes_one_of_two_ways,
				       set_up),
		cmocka_unit_test_setup(test_a_part_that_begins_later, set_up),
		cmocka_unit_test_setup(test_no_order, set_up),
		cmocka_unit_test_setup(test_random_nests, set_up),
		cmocka_unit_test_setup(test_programs, set_up),
		cmocka_unit_test_setup(test_runs_that_are_cut, set_up),
		cmocka_unit_test_setup(test_while_the_run_goes_on, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
