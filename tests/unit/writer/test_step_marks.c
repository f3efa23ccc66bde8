/* SPDX-License-Identifier: MIT */
/*
 * test_step_marks.c - of scopes and ranges those are marks that a hook counts
 * as steps when they begin; what operators tell of layers, and modules of
 * loops.
 */
#include "tests/unit/sample_session.h"

#include "collector/session/names.h"
#include "writer/steps/step_backward.h"
#include "writer/steps/step_compiled.h"
#include "writer/steps/step_operators.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static bool is_named_mark(struct sample *sample, const char *name,
			  uint16_t kind, uint16_t flags, uint32_t category)
{
	struct event event = {
		.kind = kind,
		.flags = flags,
		.start_ticks = 1000,
		.end_ticks = 2000,
		.name = names_intern(sample->session, name, strlen(name)),
		.scope = {.category = category},
	};
	struct loop_mark mark;
	uint32_t family;

	return step_marks_read(sample->session, &event, &family, &mark) &&
	       family == SEARCH_RANGES;
}

static bool is_mark(struct sample *sample, uint16_t kind, uint16_t flags,
		    uint32_t category)
{
	return is_named_mark(sample, "a name", kind, flags, category);
}

static void test_what_is_a_mark(void **unused)
{
	struct sample sample = {0};

	(void)unused;
	sample_begin(&sample);
	sample_session(&sample);
	/* The program's own, and PyTorch's annotations. */
	assert_true(is_mark(&sample, EVENT_SCOPE, 0, 3));
	assert_true(is_mark(&sample, EVENT_RANGE, 0, 3));
	assert_true(
		is_mark(&sample, EVENT_SCOPE, EVENT_OPERATOR, OPERATOR_USER));
	assert_true(
		is_mark(&sample, EVENT_RANGE, EVENT_OPERATOR, OPERATOR_USER));
	/* Operators, phases, parts of a batch. */
	assert_false(is_mark(&sample, EVENT_SCOPE, EVENT_OPERATOR, 0));
	assert_false(is_mark(&sample, EVENT_RANGE, EVENT_OPERATOR, 0));
	assert_false(is_mark(&sample, EVENT_SCOPE, EVENT_LOOKED_UP, 0));
	/* A library's own, whichever way its name comes. */
	assert_false(is_named_mark(&sample, "dnnl::primitive::execute: reorder",
				   EVENT_SCOPE, 0, 0));
	assert_int_equal(search_name("TSL", "Thunk:#hlo_op=while.6#"), 0);
	assert_int_equal(search_name(NULL, "TSL: XlaPass:#name=dce#"), 0);
	assert_int_equal(search_name(NULL, "jax.jit: compile f, t.py(3)"), 0);
	assert_int_not_equal(search_name(NULL, "TSL: XlaModule:#hlo_module=f#"),
			     0);
	assert_int_not_equal(search_name(NULL, "Thunk: mine"), 0);
	assert_int_equal(search_name("dnnl::primitive::execute", "reorder"), 0);
	assert_true(is_named_mark(&sample, "dnnl", EVENT_SCOPE, 0, 0));
	sample_end(&sample);
}

/* 45 requests of two layers, of which the regions are. */
static void test_operators_that_come_between_layers(void **unused)
{
	static struct step_operators operators;
	struct step_marks stream = {.tid = 7, .count = 900};
	struct loop_level level = {.turns = 90, .length = 10, .mass = 1.0};

	(void)unused;
	for (uint32_t i = 0; i < 180; i++)
		step_operators_add(&operators, 1, 7);
	for (uint32_t i = 0; i < 9; i++)
		step_operators_add(&operators, 2, 7);
	for (uint32_t i = 0; i < 45; i++)
		step_operators_add(&operators, 3, 8);
	/* In each layer; each tenth, a report; another thread's. */
	assert_false(step_operators_tell_layers(&operators, &stream, &level));
	for (uint32_t i = 0; i < 45; i++)
		step_operators_add(&operators, 3, 7);
	assert_true(step_operators_tell_layers(&operators, &stream, &level));
	/* Something else comes, too. */
	stream.count = 911;
	assert_false(step_operators_tell_layers(&operators, &stream, &level));
	/* Two more of them behind the layers, in each request: the last one's
	 * product is one like theirs.  And a bit of another kind. */
	stream.count = 993;
	level.mass = 0.998;
	assert_true(step_operators_tell_layers(&operators, &stream, &level));
	stream.count = 960;
	assert_false(step_operators_tell_layers(&operators, &stream, &level));
	stream.count = 993;
	level.mass = 0.98;
	assert_false(step_operators_tell_layers(&operators, &stream, &level));
	level.mass = 1.0;
	/* Of more than there is room for, those that were there count on. */
	stream.count = 900;
	for (uint32_t i = 100; i < 1100; i++)
		step_operators_add(&operators, i, 7);
	assert_true(step_operators_tell_layers(&operators, &stream, &level));
	step_operators_add(&operators, 3, 7);
	assert_false(step_operators_tell_layers(&operators, &stream, &level));
}

static struct step_operators operators_of;

static void operators(struct sample *sample, const char *name, size_t calls)
{
	for (size_t i = 0; i < calls; i++)
		step_operators_add(&operators_of,
				   names_intern_string(sample->session, name),
				   7);
}

static enum step_backward compare(struct sample *sample, size_t turns,
				  size_t others, size_t *step)
{
	struct step_marks stream = {.tid = 7, .family = SEARCH_REGIONS};
	struct loop_nest nest = {
		.count = 2, .level = {{.turns = turns}, {.turns = others}}};
	const enum step_backward found = step_backward_compare(
		sample->session, &operators_of, &stream, &nest);

	*step = nest.step;
	return found;
}

/* 48 batches by hand, without an optimizer, of which some are tested or added
 * up. */
static void test_runs_backward_without_an_optimizer(void **unused)
{
	struct sample sample;
	size_t step;

	(void)unused;
	sample_begin(&sample);
	sample_session(&sample);
	/* A model that only answers. */
	operators(&sample, "aten::mm", 192);
	assert_int_equal(compare(&sample, 160, 48, &step), BACKWARD_UNKNOWN);
	operators(&sample, "aten::ones_like", 48);
	operators(&sample, "aten::sub_", 144);
	/* The program calls it for something else. */
	assert_int_equal(compare(&sample, 160, 48, &step), BACKWARD_UNKNOWN);
	assert_int_equal(step, 0);
	operators(&sample, "autograd::engine::evaluate_function: MeanBackward0",
		  48);
	/* As often as that; another level; none. */
	assert_int_equal(compare(&sample, 49, 0, &step), BACKWARD_IS_STEP);
	assert_int_equal(step, 0);
	assert_int_equal(compare(&sample, 57, 48, &step), BACKWARD_IS_STEP);
	assert_int_equal(step, 1);
	assert_int_equal(compare(&sample, 57, 160, &step), BACKWARD_OTHER);
	/* Tested each fourth, or four losses in a step. */
	assert_int_equal(compare(&sample, 11, 48, &step), BACKWARD_OTHER);
	/* Something is changed in each second alone: batches that are added
	 * up, but what a pass does in place is none of the model. */
	operators(&sample, "aten::div_", 120);
	operators(&sample, "aten::add_", 141);
	assert_int_equal(compare(&sample, 48, 0, &step), BACKWARD_IS_STEP);
	operators(&sample, "aten::sub_", 24);
	assert_int_equal(compare(&sample, 48, 0, &step), BACKWARD_OTHER);
	sample_end(&sample);
}

/* Samples, each with as many leaves as it takes, by one call of a function that
 * XLA compiled; and a training in a loop of a set length. */
static void test_loops_that_a_compiler_made(void **unused)
{
	struct sample sample = {0};
	struct step_marks calls = {.family = SEARCH_CALLS};
	struct step_marks ranges = {.family = SEARCH_RANGES};
	struct loop_mark mark = {0};
	struct loop_level level;

	(void)unused;
	sample_begin(&sample);
	sample_session(&sample);
	for (uint32_t i = 0; i < 400; i++) {
		mark.id = i % 4 + 1;
		mark.ticks = 100 + 10 * i;
		mark.end_ticks = mark.ticks + 5;
		step_marks_add(&calls, &mark);
	}
	mark = (struct loop_mark){
		.id = 9,
		.ticks = 50,
		.end_ticks = 5000,
		.note = names_intern_string(
			sample.session,
			"TSL: XlaModule:#hlo_module=jit_collect,id=3#")};
	step_marks_add(&ranges, &mark);
	step_marks_find_site(&calls, 3, &level);
	assert_int_equal(level.turns, 100);
	assert_false(step_is_compiled(sample.session, &calls, &level, &ranges));
	/* One turn has something else in it. */
	step_marks(&calls)[203].id = 7;
	step_marks_find_site(&calls, 3, &level);
	assert_true(step_is_compiled(sample.session, &calls, &level, &ranges));
	/* A module for each of them; another's range. */
	step_marks(&ranges)[0].end_ticks = 3000;
	assert_false(step_is_compiled(sample.session, &calls, &level, &ranges));
	step_marks(&ranges)[0].end_ticks = 5000;
	step_marks(&ranges)[0].note =
		names_intern_string(sample.session, "training");
	assert_false(step_is_compiled(sample.session, &calls, &level, &ranges));
	array_free(&calls.marks);
	array_free(&ranges.marks);
	sample_end(&sample);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_a_mark),
		cmocka_unit_test(test_operators_that_come_between_layers),
		cmocka_unit_test(test_runs_backward_without_an_optimizer),
		cmocka_unit_test(test_loops_that_a_compiler_made),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
