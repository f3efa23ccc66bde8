/* SPDX-License-Identifier: MIT */
/*
 * test_step_own.c - a program marks its steps itself after windows of steps
 * that were found: each file has its own steps alone, whenever the writer comes
 * by.
 */
#include "tests/unit/sample_session.h"

#include "collector/session/gate.h"
#include "collector/system/log.h"
#include "collector/steps/steps.h"
#include "writer/pass.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define TURN   1000u
#define TURNS  5000u
#define LATER  6000u
#define OWN    77

#define CALLER 1

struct own {
	struct sample sample;
	struct writer_state writer;
	struct thread *thread;
	uint64_t now;
};

static void region(struct own *own, uint64_t code)
{
	sample_push(&own->sample, own->thread,
		    (struct event){.kind = EVENT_OMP_REGION,
				   .start_ticks = own->now,
				   .end_ticks = own->now + TURN / 4,
				   .omp = {.region = own->now,
					   .code = code,
					   .sync = CALLER}});
	own->now += TURN / 2;
}

static void turn(struct own *own)
{
	region(own, 0x1000);
	region(own, 0x2000);
}

static void set(struct options *options, const char *name, const char *value)
{
	char why[LOG_LINE_BYTES];

	assert_int_equal(options_set(options, name, value, why, sizeof(why)),
			 0);
}

/* The code has one loop: else so many turns of two regions are in doubt. */
static void tell_loop(struct step_search *search, unsigned int at, uint64_t id)
{
	search->loops[at] = (struct search_loops){
		.id = search_region(id, CALLER), .loop = 1, .depth = 2};
	store_release(&search->loop_count, at + 1);
}

/* A run of so many turns with a schedule of two steps in a thousand, as far as
 * the writer follows it. */
static void begin(struct own *own)
{
	memset(own, 0, sizeof(*own));
	sample_begin(&own->sample);
	set(&own->sample.options, "WAIT", "1000");
	set(&own->sample.options, "ACTIVE", "2");
	steps_start(sample_session(&own->sample), clock_ticks());
	tell_loop(&own->sample.session->head->search, 0, 0x1000);
	tell_loop(&own->sample.session->head->search, 1, 0x2000);
	own->thread = sample_thread(&own->sample, 4711);
	own->now = TURN;
	assert_int_equal(pass_start(&own->writer, own->sample.session, true),
			 0);
	while (own->now < (uint64_t)TURNS * TURN)
		turn(own);
}

/* The program's own call, and the window that comes of it much later. */
static void go_on(struct own *own)
{
	struct window_state *windows = &own->sample.session->head->windows;

	assert_true(steps_own_call(own->sample.session, own->thread));
	own->sample.session->head->search.own_ticks =
		own->sample.zero + own->now;
	own->now = (uint64_t)LATER * TURN;
	assert_int_equal(window_open(windows, own->sample.zero + own->now, OWN,
				     0, false),
			 0);
	for (int64_t i = OWN; i < OWN + 2; i++) {
		turn(own);
		sample_push(&own->sample, own->thread,
			    (struct event){.kind = EVENT_STEP,
					   .extra = 4711,
					   .start_ticks = own->now - TURN,
					   .end_ticks = own->now,
					   .step.number = i});
	}
	assert_int_equal(
		window_close(windows, own->sample.zero + own->now, OWN + 1), 0);
	store_relaxed(&windows->steps, OWN + 2);
}

/* Each file has these two steps and no other. */
static void expect_steps(struct own *own, const int *first, int files)
{
	char paths[16][512];

	assert_int_equal(sample_files(&own->sample, paths), files);
	for (int i = 0; i < files; i++) {
		const char *text = sample_read(&own->sample, paths[i]);
		char name[64];

		/* And their sum. */
		assert_int_equal(sample_count(text, "\"ProfilerStep#"), 3);
		for (int step = first[i]; step < first[i] + 2; step++) {
			snprintf(name, sizeof(name), "\"ProfilerStep#%d\"",
				 step);
			assert_int_equal(sample_count(text, name), 1);
		}
	}
}

static const int first_steps[] = {1000, 2002, 3004, 4006, OWN};

static void end(struct own *own)
{
	assert_int_equal(pass_finish(&own->writer, own->sample.zero + own->now),
			 0);
	expect_steps(own, first_steps, 5);
	pass_end(&own->writer);
	gate_set(GATE_UNDECIDED);
	steps_forget();
	sample_end(&own->sample);
}

/* The windows that were found are cut, but not written. */
static void cut(struct own *own)
{
	struct window_state *windows = &own->sample.session->head->windows;

	/* What is looked at was over before the last pass. */
	while (clock_ticks() <= own->sample.zero + own->now)
		;
	for (int i = 0; i < 4 && load_relaxed(&windows->opened) < 4; i++)
		pass_run(&own->writer);
	assert_int_equal(load_relaxed(&windows->opened), 4);
	assert_int_equal(load_relaxed(&windows->written), 0);
}

static void between_two_passes(void **state)
{
	struct own own;

	(void)state;
	begin(&own);
	cut(&own);
	pass_run(&own.writer);
	assert_int_equal(
		load_relaxed(&own.sample.session->head->windows.written), 4);
	go_on(&own);
	pass_run(&own.writer);
	end(&own);
}

static void before_the_found_ones_are_written(void **state)
{
	struct own own;

	(void)state;
	begin(&own);
	cut(&own);
	go_on(&own);
	pass_run(&own.writer);
	end(&own);
}

static void at_the_end_of_the_run(void **state)
{
	struct own own;

	(void)state;
	begin(&own);
	cut(&own);
	go_on(&own);
	end(&own);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(between_two_passes),
		cmocka_unit_test(before_the_found_ones_are_written),
		cmocka_unit_test(at_the_end_of_the_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
