/* SPDX-License-Identifier: MIT */
/*
 * test_step_threads.c - several threads with loops: which one's is the step
 * follows from what they did and when, not from when the writer came by.
 */
#include "tests/unit/sample_session.h"

#include "collector/session/gate.h"
#include "collector/steps/steps.h"
#include "collector/system/log.h"
#include "writer/pass.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define OTHER  4711u
#define THREAD 2u
#define MARKS  60000u
#define SEEDS  2u

static uint64_t random_state;

static uint64_t random_below(uint64_t limit)
{
	random_state =
		random_state * 6364136223846793005u + 1442695040888963407u;
	return (random_state >> 33) % limit;
}

/* What a thread does: regions in no order, then turns of three. */
struct work {
	struct thread *thread;
	uint64_t every; /* ticks from one region to the next */
	unsigned int prelude;
	uint64_t first_site;
	unsigned int done;
};

static uint64_t next_site(struct work *work)
{
	if (work->done < work->prelude)
		return work->first_site + 10 + random_below(9);
	return work->first_site + work->done % 3;
}

static void push(struct sample *sample, struct work *work)
{
	const uint64_t now = work->done * work->every + 1;

	sample_push(sample, work->thread,
		    (struct event){
			    .kind = EVENT_OMP_REGION,
			    .start_ticks = now,
			    .end_ticks = now + work->every / 2,
			    .omp = {.region = now, .code = next_site(work)}});
	work->done++;
}

/* All that both did until then. */
static void work_until(struct sample *sample, struct work *work, uint64_t ticks)
{
	for (unsigned int i = 0; i < THREAD; i++) {
		while (work[i].done < MARKS &&
		       work[i].done * work[i].every + work[i].every / 2 < ticks)
			push(sample, &work[i]);
	}
}

static void set(struct options *options, const char *name, const char *value)
{
	char why[LOG_LINE_BYTES];

	assert_int_equal(options_set(options, name, value, why, sizeof(why)),
			 0);
}

/* The thread whose step is taken, where the writer comes by after so many ticks
 * at most each time. */
static uint32_t found(const struct work *told, uint64_t pause, uint64_t seed)
{
	struct work work[THREAD] = {told[0], told[1]};
	struct writer_state writer;
	struct sample sample;
	struct step_search *search;
	uint32_t tid;
	uint64_t now = 0;

	random_state = 7;
	sample_begin(&sample);
	set(&sample.options, "WAIT", "50");
	set(&sample.options, "ACTIVE", "1");
	set(&sample.options, "REPEAT", "1");
	steps_start(sample_session(&sample), clock_ticks());
	search = &sample.session->head->search;
	work[0].thread =
		sample_thread(&sample, (uint32_t)sample.session->head->pid);
	work[1].thread = sample_thread(&sample, OTHER);
	assert_int_equal(pass_start(&writer, sample.session, true), 0);
	while (search_state(search) == SEARCH_ON &&
	       now < (uint64_t)MARKS * 2000) {
		now += pause / 2 + (seed + now / 1000) * 7919 % pause;
		work_until(&sample, work, now);
		while (clock_ticks() <= sample.zero + now)
			;
		pass_run(&writer);
		pass_run(&writer);
	}
	assert_int_equal(search_state(search), SEARCH_FOUND);
	tid = search->tid;
	pass_end(&writer);
	gate_set(GATE_UNDECIDED);
	steps_forget();
	sample_end(&sample);
	return tid == OTHER ? OTHER : 0;
}

static void expect(const struct work *work, uint32_t tid)
{
	static const uint64_t pauses[] = {700000, 30000000};

	for (uint64_t seed = 0; seed < SEEDS; seed++)
		assert_int_equal(found(work, pauses[seed], seed), tid);
}

/* The other one's was certain before the main thread had begun with its own. */
static void the_first_that_is_certain(void **state)
{
	const struct work work[THREAD] = {
		{.every = 1000, .prelude = 30000, .first_site = 0x1000},
		{.every = 1000, .first_site = 0x2000}};

	(void)state;
	expect(work, OTHER);
}

/* The main thread has one, too, of which less is known. */
static void the_main_threads_goes_before(void **state)
{
	const struct work work[THREAD] = {
		{.every = 2000, .first_site = 0x1000},
		{.every = 1000, .first_site = 0x2000}};

	(void)state;
	expect(work, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_that_is_certain),
		cmocka_unit_test(the_main_threads_goes_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
