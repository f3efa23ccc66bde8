/* SPDX-License-Identifier: MIT */
/* test_lane.c - slices of one lane stay nested, on a coarse clock too. */
#include "tests/unit/cmocka_base.h"
#include "writer/state/lane.h"
#include "writer/state/nest.h"

#include <stdlib.h>

/* Places [start, end] and says where it came to lie. */
static struct nest_slice place(struct nest *nest, int64_t start, int64_t end)
{
	nest_place(nest, &start, &end);
	return (struct nest_slice){.start_ns = start, .end_ns = end};
}

static void neighbours_keep_a_gap(void **state)
{
	struct nest nest = {0};

	(void)state;
	place(&nest, 100, 200);
	const struct nest_slice next = place(&nest, 200, 300);

	assert_int_equal(next.start_ns, 200 + NEST_GAP_NS);
	assert_int_equal(next.end_ns, 300);
}

static void a_parent_encloses_children_with_its_own_ticks(void **state)
{
	struct nest nest = {0};

	(void)state;
	const struct nest_slice child = place(&nest, 100, 200);
	const struct nest_slice parent = place(&nest, 100, 200);

	assert_true(parent.start_ns < child.start_ns);
	assert_int_equal(parent.end_ns, child.end_ns + NEST_GAP_NS);
}

static void slices_that_are_apart_stay_as_they_are(void **state)
{
	struct nest nest = {0};

	(void)state;
	place(&nest, 110, 120);
	place(&nest, 130, 140);
	const struct nest_slice parent = place(&nest, 100, 150);
	const struct nest_slice next = place(&nest, 160, 170);

	assert_int_equal(parent.start_ns, 100);
	assert_int_equal(parent.end_ns, 150);
	assert_int_equal(next.start_ns, 160);
	assert_int_equal(next.end_ns, 170);
}

static void one_that_comes_late_is_left_alone(void **state)
{
	struct nest nest = {0};

	(void)state;
	place(&nest, 1000, 2000);
	const struct nest_slice inside = place(&nest, 1200, 1300);
	const struct nest_slice before = place(&nest, 100, 900);

	assert_int_equal(inside.start_ns, 1200);
	assert_int_equal(inside.end_ns, 1300);
	assert_int_equal(before.start_ns, 100);
	assert_int_equal(before.end_ns, 900);
}

static void a_wait_found_late_fits_between_its_neighbours(void **state)
{
	struct nest nest = {0};

	(void)state;
	place(&nest, 100, 200);
	place(&nest, 300, 400);
	const struct nest_slice wait = place(&nest, 200, 300);

	assert_int_equal(wait.start_ns, 200 + NEST_GAP_NS);
	assert_int_equal(wait.end_ns, 300 - NEST_GAP_NS);
}

#define SLICES 4000

struct tree {
	struct nest nest;
	struct nest_slice made[SLICES];
	unsigned int count;
	int64_t clock;
	unsigned int seed;
};

/* A clock that moves in steps of ten, and often stands still. */
static void tick(struct tree *tree)
{
	tree->clock += rand_r(&tree->seed) % 3 ? 10 : 0;
}

/* A slice with random children. */
static void grow(struct tree *tree, unsigned int depth)
{
	const int64_t start = tree->clock;
	unsigned int children =
		depth ? (unsigned int)rand_r(&tree->seed) % 4 : 0;

	while (children--) {
		tick(tree);
		grow(tree, depth - 1);
	}
	tick(tree);
	if (tree->count < SLICES)
		tree->made[tree->count++] =
			place(&tree->nest, start, tree->clock);
}

static void random_trees_on_a_coarse_clock_never_cross(void **state)
{
	static struct tree tree;

	(void)state;
	tree.seed = 7;
	while (tree.count < SLICES)
		grow(&tree, 5);
	for (unsigned int i = 0; i < SLICES; i++) {
		const struct nest_slice *a = &tree.made[i];

		for (unsigned int j = i + 1; j < SLICES && j < i + 300; j++) {
			const struct nest_slice *b = &tree.made[j];
			const bool apart = a->end_ns < b->start_ns;
			/* Of those without length two may fall together. */
			const bool within = b->start_ns <= a->start_ns &&
					    (a->end_ns < b->end_ns ||
					     (a->start_ns == a->end_ns &&
					      a->end_ns == b->end_ns));

			assert_true(apart || within);
		}
	}
}

static void crossing_spans_get_lanes_where_they_nest(void **state)
{
	struct span {
		uint64_t start, end;
		unsigned int lane;
	} drawn[4000];
	static struct lane_set set;
	unsigned int seed = 3;
	uint64_t end = 100000;

	(void)state;
	for (unsigned int i = 0; i < 4000; i++) {
		uint64_t start;

		end += (uint64_t)rand_r(&seed) % 50;
		start = end - (uint64_t)rand_r(&seed) % (i % 7 ? 60 : 2000);
		drawn[i].lane = lane_place(&set, &start, end);
		drawn[i].start = start;
		drawn[i].end = end;
		assert_in_range(drawn[i].lane, 0, LANE_RANGES - 1);
		assert_true(start <= end);
		for (unsigned int j = 0; j < i; j++) {
			if (drawn[j].lane == drawn[i].lane)
				assert_false(drawn[j].start < start &&
					     start < drawn[j].end);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(neighbours_keep_a_gap),
		cmocka_unit_test(a_parent_encloses_children_with_its_own_ticks),
		cmocka_unit_test(slices_that_are_apart_stay_as_they_are),
		cmocka_unit_test(one_that_comes_late_is_left_alone),
		cmocka_unit_test(a_wait_found_late_fits_between_its_neighbours),
		cmocka_unit_test(random_trees_on_a_coarse_clock_never_cross),
		cmocka_unit_test(crossing_spans_get_lanes_where_they_nest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
