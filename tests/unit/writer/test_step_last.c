/* SPDX-License-Identifier: MIT */
/*
 * test_step_last.c - the last regions of a run were thinned, and their marks
 * wait in their thread's record: the search for the step sees them once,
 * whenever the writer comes by.
 */
#include "tests/unit/sample_session.h"

#include "collector/session/gate.h"
#include "collector/session/thin.h"
#include "collector/steps/steps.h"
#include "writer/pass.h"
#include "writer/steps/step_follow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define TURNS 30u
#define EACH  1000u
#define SITES 3u

struct last {
	struct sample sample;
	struct writer_state writer;
	struct thread *thread;
	uint64_t now;
};

static void make_sites(struct last *last)
{
	struct thread *thread = last->thread;
	const uint64_t at = session_alloc(
		last->sample.session, THIN_SITES * sizeof(struct thin_site));

	assert_true(at != 0);
	thread->thin.sites = at - thread->ring.at;
	thread->thin.used = SITES;
	for (uint32_t i = 0; i < SITES; i++) {
		thread->thin.place[i] = (uint8_t)i;
		thin_sites(thread)[i] = (struct thin_site){
			.code = 0x1000 * (i + 1), .kind = EVENT_OMP_REGION};
	}
}

static void begin(struct last *last)
{
	memset(last, 0, sizeof(*last));
	sample_begin(&last->sample);
	steps_start(sample_session(&last->sample), last->sample.zero);
	last->thread = sample_thread(&last->sample, 4711);
	make_sites(last);
	assert_int_equal(pass_start(&last->writer, last->sample.session, true),
			 0);
}

static void turns(struct last *last, unsigned int count)
{
	for (unsigned int i = 0; i < count * SITES; i++) {
		sample_push(&last->sample, last->thread,
			    (struct event){
				    .kind = EVENT_OMP_REGION,
				    .start_ticks = last->now,
				    .end_ticks = last->now + EACH / 2,
				    .omp = {.region = last->now + 1,
					    .code = 0x1000 * (i % SITES + 1)}});
		last->now += EACH;
	}
}

/* One more turn, which has left marks and nothing else. */
static void thinned_turn(struct last *last)
{
	struct thin *thin = &last->thread->thin;
	const uint64_t start = last->sample.zero + last->now;

	thin->marks = (struct event){.kind = EVENT_OMP_THINNED,
				     .name = SITES,
				     .start_ticks = start,
				     .extra = (uint32_t)thin->marked};
	for (uint32_t i = 0; i < SITES; i++)
		thin->marks.words[i] = event_mark(i, i * EACH, EACH / 2);
	last->now += SITES * EACH;
	thin->marks.end_ticks = last->sample.zero + last->now;
	thin->marked += SITES;
	last->thread->ring.committed += SITES;
}

/* The file has so many steps. */
static void expect_last(struct last *last, unsigned int steps)
{
	const char *text = sample_text(&last->sample);
	char name[64];

	snprintf(name, sizeof(name), "\"ProfilerStep#%u\"", steps - 1);
	assert_int_equal(sample_count(text, name), 1);
	snprintf(name, sizeof(name), "\"ProfilerStep#%u\"", steps);
	assert_int_equal(sample_count(text, name), 0);
}

static void finish(struct last *last)
{
	pass_end(&last->writer);
	gate_set(GATE_UNDECIDED);
	steps_forget();
	sample_end(&last->sample);
}

static void end(struct last *last, unsigned int steps)
{
	assert_int_equal(
		pass_finish(&last->writer, last->sample.zero + last->now), 0);
	expect_last(last, steps);
	finish(last);
}

static void the_writer_is_told_that_it_is_the_last(void **state)
{
	struct last last;

	(void)state;
	begin(&last);
	turns(&last, TURNS);
	thinned_turn(&last);
	end(&last, TURNS + 1);
}

/* The window has ended, and the writer comes by before it is told more. */
static void a_pass_after_the_window(void **state)
{
	struct last last;

	(void)state;
	begin(&last);
	turns(&last, TURNS);
	thinned_turn(&last);
	steps_end(last.sample.session, NULL, last.sample.zero + last.now);
	pass_run(&last.writer);
	end(&last, TURNS + 1);
}

/* The program begins another file: the marks come by in the ring, too. */
static void marks_that_come_by_again(void **state)
{
	struct window_state *windows;
	struct last last;
	struct event marks;

	(void)state;
	begin(&last);
	turns(&last, TURNS);
	thinned_turn(&last);
	windows = &last.sample.session->head->windows;
	assert_int_equal(window_close(windows, last.sample.zero + last.now, -1),
			 0);
	pass_run(&last.writer);
	assert_int_equal(
		window_open(windows, last.sample.zero + last.now, -1, 0, false),
		0);
	marks = last.thread->thin.marks;
	last.thread->thin.marks.name = 0;
	*ring_reserve(&last.thread->ring, 1) = marks;
	ring_commit(&last.thread->ring, 1, 0);
	turns(&last, TURNS);
	pass_run(&last.writer);
	assert_int_equal(last.writer.finder->of->count,
			 (2 * TURNS + 1) * SITES);
	assert_int_equal(pass_finish(&last.writer, last.sample.zero + last.now),
			 0);
	finish(&last);
}

/* What a hook had in hand never comes. */
static void hooks_that_still_record(void **state)
{
	struct last last;

	(void)state;
	begin(&last);
	turns(&last, TURNS);
	thinned_turn(&last);
	last.thread->ring.committed++;
	end(&last, TURNS + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_writer_is_told_that_it_is_the_last),
		cmocka_unit_test(a_pass_after_the_window),
		cmocka_unit_test(marks_that_come_by_again),
		cmocka_unit_test(hooks_that_still_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
