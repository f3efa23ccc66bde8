/* SPDX-License-Identifier: MIT */
/*
 * test_writer_losses.c - what a file lacks is counted by its reason, one reason
 * at a time; and what the kernel has too much of isn't in it.
 */
#include "tests/unit/sample_session.h"
#include "writer/account.h"
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

static void round_of(struct thread *thread, uint64_t start, uint64_t ran_ns,
		     uint64_t queued_ns)
{
	sample_push(&sample, thread,
		    (struct event){.kind = EVENT_TASK_COUNTS,
				   .extra = 1,
				   .start_ticks = start,
				   .end_ticks = start + 1000,
				   .task = {.ran_ns = ran_ns,
					    .queued_ns = queued_ns}});
}

/* The kernel counts a wait for a core when it ends, so a round may have what
 * began before it: 300 ns of sleep, then a wait that ends in the second round,
 * 900 ns long; of one of 5000 ns most lies before the window. */
static void no_more_than_there_was_time_for(void **state)
{
	struct thread *thread;
	const char *text;

	(void)state;
	begin();
	store_relaxed(&sample.session->head->sampling.known, TASK_TIMES);
	sample.session->head->sampling.period_ns = 2000000;
	thread = sample_thread(&sample, 1);
	round_of(thread, 1000, 500, 0);
	round_of(thread, 2000, 600, 900);
	round_of(thread, 3000, 500, 5000);
	pass_run(&writer_state);
	assert_int_equal(pass_finish(&writer_state, sample.zero + 100000), 0);
	pass_end(&writer_state);
	text = sample_text(&sample);
	sample_assert_json(text);
	assert_non_null(
		strstr(text, "\"running %\":60,\"ready, no core %\":40"));
	assert_non_null(
		strstr(text, "\"running %\":50,\"ready, no core %\":50"));
	assert_non_null(strstr(text, "\"ran_us\":1.600,\"ready_us\":1.400,"));
	sample_end(&sample);
}

/* A thread that was held up in a hook goes on when the rest was counted. */
static void what_comes_after_the_count(void **state)
{
	struct account account;
	struct thread *thread;

	(void)state;
	begin();
	thread = sample_thread(&sample, 1);
	sample_scope(&sample, thread, "one", 2000, 2010);
	pass_run(&writer_state);
	assert_int_equal(account_unread(&writer_state), 0);
	sample_scope(&sample, thread, "late", 3000, 3010);
	pass_run(&writer_state);
	account_take(&writer_state, true, &account);
	assert_int_equal(account.written, 2);
	assert_int_equal(account.seen, 2);
	end_with("\"events\":{\"seen\":2,\"written\":2,");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_comes_after_the_count),
		cmocka_unit_test(names_that_found_no_place),
		cmocka_unit_test(what_lies_before_its_window),
		cmocka_unit_test(a_wait_of_a_thread_that_has_ended),
		cmocka_unit_test(no_more_than_there_was_time_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
