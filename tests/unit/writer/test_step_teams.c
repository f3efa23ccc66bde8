/* SPDX-License-Identifier: MIT */
/*
 * test_step_teams.c - regions that a member of a team begins are no part of a
 * loop: the writer passes over them, and so does the thread that counts.
 */
#include "tests/unit/sample_session.h"

#include "collector/session/gate.h"
#include "collector/steps/steps.h"
#include "writer/pass.h"
#include "writer/steps/step_follow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define FIRST  0x1000u
#define MARKER 0x2000u
#define NESTED 0x3000u
#define TURNS  200u

struct teams {
	struct sample sample;
	struct writer_state writer;
	struct thread *thread;
	uint64_t now;
};

static void region(struct teams *teams, uint64_t code, uint32_t place)
{
	sample_push(&teams->sample, teams->thread,
		    (struct event){.kind = EVENT_OMP_REGION,
				   .start_ticks = teams->now,
				   .end_ticks = teams->now + 10,
				   .omp = {.region = teams->now,
					   .code = code,
					   .sync = (uint16_t)place}});
	teams->now += 20;
}

/* What one member has of them: a number that chance says. */
static void turn(struct teams *teams, unsigned int number)
{
	region(teams, FIRST, 0);
	for (unsigned int i = 0; i < number * number % 5; i++)
		region(teams, NESTED, SEARCH_IN_TEAM);
	region(teams, MARKER, 0);
}

static void begin(struct teams *teams)
{
	memset(teams, 0, sizeof(*teams));
	sample_begin(&teams->sample);
	steps_start(sample_session(&teams->sample), clock_ticks());
	teams->thread = sample_thread(&teams->sample, 4711);
	teams->now = 1000;
	assert_int_equal(
		pass_start(&teams->writer, teams->sample.session, true), 0);
}

static void end(struct teams *teams)
{
	pass_finish(&teams->writer, teams->sample.zero + teams->now);
	pass_end(&teams->writer);
	gate_set(GATE_UNDECIDED);
	steps_forget();
	sample_end(&teams->sample);
}

static void the_writer_passes_over_them(void **state)
{
	const struct step_finder *finder;
	struct teams teams;

	(void)state;
	begin(&teams);
	/* They are kept until there are enough others. */
	for (unsigned int i = 0; i < 30; i++)
		region(&teams, NESTED, SEARCH_IN_TEAM);
	pass_run(&teams.writer);
	finder = teams.writer.finder;
	assert_int_equal(finder->streams[0].count, 30);
	for (unsigned int i = 0; i < TURNS; i++)
		turn(&teams, i);
	pass_run(&teams.writer);
	assert_true(finder->leaves_teams);
	assert_int_equal(finder->streams[0].count, 2 * TURNS);
	end(&teams);
}

static void call(struct teams *teams, uint64_t code, uint32_t place)
{
	steps_region(teams->sample.session, teams->thread, code, place);
}

static void the_thread_passes_over_them(void **state)
{
	const uint64_t ids[] = {FIRST, MARKER};
	struct step_search *search;
	struct teams teams;

	(void)state;
	begin(&teams);
	search = &teams.sample.session->head->search;
	search->tid = teams.thread->tid;
	search->family = SEARCH_REGIONS;
	search->context = 1;
	search->id = MARKER;
	search->key = search_key(ids, 1);
	search->leaves_teams = true;
	assert_true(search_move(search, SEARCH_ON, SEARCH_FOUND));
	call(&teams, FIRST, 0);
	call(&teams, NESTED, SEARCH_IN_TEAM);
	call(&teams, MARKER, 0);
	/* A step begins with whatever comes next. */
	call(&teams, NESTED, SEARCH_IN_TEAM);
	assert_int_equal(search_state(search), SEARCH_FOUND);
	call(&teams, FIRST, 0);
	assert_int_equal(search_state(search), SEARCH_JOINED);
	search_move(search, SEARCH_JOINED, SEARCH_OVER);
	end(&teams);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_writer_passes_over_them),
		cmocka_unit_test(the_thread_passes_over_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
