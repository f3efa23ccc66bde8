/* SPDX-License-Identifier: MIT */
/*
 * test_writer_losses.c - what a file lacks is counted by its reason, one reason
 * at a time.
 */
#include "tests/unit/sample_session.h"
#include "writer/pass.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static struct sample sample;
static struct writer_state writer_state;

static void begin(void)
{
	sample_begin(&sample);
	sample_session(&sample);
	sample_window(&sample, 1000);
	assert_int_equal(pass_start(&writer_state, sample.session, true), 0);
}

/* Finishes the file, which has these words. */
static void end_with(const char *words)
{
	const char *text;

	pass_run(&writer_state);
	assert_int_equal(pass_finish(&writer_state, sample.zero + 100000), 0);
	pass_end(&writer_state);
	text = sample_text(&sample);
	sample_assert_json(text);
	if (!strstr(text, words))
		fail_msg("%s is not in %.300s", words,
			 strstr(text, "\"events\":{"));
	sample_end(&sample);
}

static void names_that_found_no_place(void **state)
{
	struct thread *thread;

	(void)state;
	begin();
	thread = sample_thread(&sample, 1);
	sample_scope(&sample, thread, "named", 2000, 2010);
	for (uint64_t i = 0; i < 7; i++)
		sample_push(&sample, thread,
			    (struct event){.kind = EVENT_SCOPE,
					   .name = NAME_REFUSED,
					   .start_ticks = 3000 + 20 * i,
					   .end_ticks = 3010 + 20 * i});
	end_with("\"unnamed\":7");
}

static void what_lies_before_its_window(void **state)
{
	struct thread *thread;

	(void)state;
	begin();
	thread = sample_thread(&sample, 1);
	for (uint64_t i = 0; i < 7; i++)
		sample_scope(&sample, thread, "early", 10 * i, 10 * i + 5);
	sample_scope(&sample, thread, "inside", 2000, 2010);
	end_with("\"events\":{\"seen\":8,\"written\":1,\"cut\":7,"
		 "\"outside\":7,\"past_max\":0,");
}

/* Its record goes to another thread: the region's end won't find it. */
static void a_wait_of_a_thread_that_has_ended(void **state)
{
	struct thread *thread;

	(void)state;
	begin();
	thread = sample_thread(&sample, 1);
	sample_push(&sample, thread,
		    (struct event){.kind = EVENT_OMP_IMPLICIT,
				   .start_ticks = 2000,
				   .end_ticks = 2010,
				   .omp = {.region = 1,
					   .team = 2,
					   .thread = 1,
					   .sync = OMP_SYNC_BARRIER}});
	thread_self = thread;
	thread_leave();
	thread_self = NULL;
	/* It is waited for, some passes long. */
	for (int i = 0;
	     i < 10000 && load_relaxed(&thread->state) != THREAD_FREE; i++) {
		writer_state.checkpoint_ns = 0;
		pass_run(&writer_state);
	}
	end_with(
		"\"waits\":{\"begun\":1,\"drawn\":0,\"outside\":0,\"lost\":1}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_that_found_no_place),
		cmocka_unit_test(what_lies_before_its_window),
		cmocka_unit_test(a_wait_of_a_thread_that_has_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
