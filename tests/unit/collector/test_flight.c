/* SPDX-License-Identifier: MIT */
/* test_flight.c - settings, triggers and history of the flight recorder. */
#include "tests/unit/sample_session.h"
#include "writer/flight/history.h"
#include "writer/pass.h"

#include "collector/system/log.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define MS     UINT64_C(1000000)
#define SECOND (1000 * MS)

static char why[LOG_LINE_BYTES];

static void lengths(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
		uint32_t steps;
	} good[] = {{"10s", 10 * SECOND, 0},
		    {"500ms", 500 * MS, 0},
		    {"20steps", 0, 20},
		    {"1step", 0, 1},
		    {"4096steps", 0, 4096},
		    {"86400s", 86400 * SECOND, 0},
		    {"off", 0, 0}};
	static const char *const bad[] = {
		"",	"10",	  "s",	    "0s",	 "10 s",
		"10m",	"10sec",  "0steps", "4097steps", "86401s",
		"-1s",	"1.5s",	  "steps",  "10step s",	 "99999999999s",
		"1ms ", "1steps,"};
	struct flight flight;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(flight_parse_length(good[i].text, &flight, why,
						     sizeof(why)),
				 0);
		assert_int_equal(flight.length_ns, good[i].ns);
		assert_int_equal(flight.steps, good[i].steps);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(
			flight_parse_length(bad[i], &flight, why, sizeof(why)),
			-EINVAL);
		assert_false(flight.length_ns || flight.steps);
		assert_non_null(strstr(why, "TRACEPROF_FLIGHT="));
	}
}

static void triggers(void **state)
{
	static const char *const bad[] = {
		"",	    "slow",	 "slow:",	"slow:1",
		"slow:1.0", "slow:x",	 "slow:1.2.3",	"slow:1,",
		",slow:2",  "stall",	 "stall:3",	"stall:0s",
		"Signal",   "slow:2001", "none,signal", "cuda-error ",
		"slow:2h",  "slow:0s",	 "slow:1.5s"};
	struct flight flight = {0};

	(void)state;
	assert_int_equal(
		flight_parse_triggers("slow:1.5,stall:30s,cuda-error,signal",
				      &flight, why, sizeof(why)),
		0);
	assert_int_equal(flight.triggers, 1 << FLIGHT_SLOW | 1 << FLIGHT_STALL |
						  1 << FLIGHT_CUDA_ERROR |
						  1 << FLIGHT_SIGNAL);
	assert_int_equal(flight.slow_percent, 150);
	assert_int_equal(flight.stall_ns, 30 * SECOND);
	flight_parse_triggers("slow:2", &flight, why, sizeof(why));
	assert_int_equal(flight.slow_percent, 200);
	flight_parse_triggers("slow:1.057", &flight, why, sizeof(why));
	assert_int_equal(flight.slow_percent, 105);
	assert_int_equal(flight.slow_ns, 0);
	flight_parse_triggers("slow:2s", &flight, why, sizeof(why));
	assert_int_equal(flight.slow_percent, 0);
	assert_int_equal(flight.slow_ns, 2 * SECOND);
	flight_parse_triggers("slow:3,slow:250ms", &flight, why, sizeof(why));
	assert_int_equal(flight.slow_percent, 300);
	assert_int_equal(flight.slow_ns, SECOND / 4);
	assert_int_equal(
		flight_parse_triggers("none", &flight, why, sizeof(why)), 0);
	assert_int_equal(flight.triggers, 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(flight_parse_triggers(bad[i], &flight, why,
						       sizeof(why)),
				 -EINVAL);
		assert_int_equal(flight.triggers, 0);
		assert_non_null(strstr(why, "TRACEPROF_TRIGGER="));
	}
	assert_string_equal(flight_reason_word(FLIGHT_CRASH), "crash");
	assert_string_equal(flight_reason_word(FLIGHT_REASON_COUNT), "unknown");
}

static void step(struct trigger *trigger, int64_t number, uint64_t start,
		 uint64_t end)
{
	const struct event event = {.kind = EVENT_STEP,
				    .start_ticks = start,
				    .end_ticks = end,
				    .step.number = number};

	trigger_see(trigger, &event, SECOND);
}

static void a_step_is_slow_by_the_median(void **state)
{
	struct flight flight = {.triggers = 1 << FLIGHT_SLOW,
				.slow_percent = 150};
	struct trigger trigger = {.flight = &flight};
	const uint64_t at = SECOND;

	(void)state;
	/* Too few make no median; 100 to 108 do, and theirs is 104. */
	for (uint64_t i = 0; i < 9; i++)
		step(&trigger, (int64_t)i, at, at + (i ? 100 + i : 1000));
	trigger.duration[0] = 100;
	assert_int_equal(trigger.reason, FLIGHT_NONE);
	step(&trigger, 9, at, at + 156);
	assert_int_equal(trigger.reason, FLIGHT_NONE);
	/* With it the upper one of the two in the middle: 105. */
	step(&trigger, 10, at, at + 158);
	assert_int_equal(trigger.reason, FLIGHT_SLOW);
	assert_non_null(strstr(trigger.text, "step 10 took"));
	/* Until it was dealt with the first one counts. */
	step(&trigger, 11, at, at + 1000);
	assert_non_null(strstr(trigger.text, "step 10 took"));
	trigger.reason = FLIGHT_NONE;
	step(&trigger, 12, at, at + 100);
	assert_int_equal(trigger.reason, FLIGHT_NONE);
}

static void a_step_is_slow_by_its_time(void **state)
{
	struct flight flight = {.triggers = 1 << FLIGHT_SLOW,
				.slow_ns = 2 * SECOND};
	struct trigger trigger = {.flight = &flight};

	(void)state;
	step(&trigger, 0, SECOND, 3 * SECOND);
	assert_int_equal(trigger.reason, FLIGHT_NONE);
	/* The first ones, too. */
	step(&trigger, 1, SECOND, 3 * SECOND + 1000);
	assert_int_equal(trigger.reason, FLIGHT_SLOW);
	assert_non_null(strstr(trigger.text, "step 1 took"));
	assert_non_null(strstr(trigger.text, ", more than "));
	/* Others are as long as they may be. */
	trigger.reason = FLIGHT_NONE;
	for (int64_t i = 2; i < 20; i++)
		step(&trigger, i, SECOND, SECOND + 100);
	step(&trigger, 20, SECOND, 2 * SECOND);
	assert_int_equal(trigger.reason, FLIGHT_NONE);
}

static void a_stall_is_told_once(void **state)
{
	struct flight flight = {.triggers = 1 << FLIGHT_STALL,
				.stall_ns = 10 * SECOND};
	struct trigger trigger = {.flight = &flight};
	const struct event mark = {.kind = EVENT_MARK,
				   .end_ticks = 100 * SECOND};

	(void)state;
	trigger_poll(&trigger, 50 * SECOND, SECOND);
	assert_int_equal(trigger.reason, FLIGHT_NONE);
	trigger_see(&trigger, &mark, SECOND);
	trigger_poll(&trigger, 109 * SECOND, SECOND);
	assert_int_equal(trigger.reason, FLIGHT_NONE);
	trigger_poll(&trigger, 110 * SECOND, SECOND);
	assert_int_equal(trigger.reason, FLIGHT_STALL);
	assert_string_equal(trigger.text, "no event for 10000 ms");
	trigger.reason = FLIGHT_NONE;
	trigger_poll(&trigger, 150 * SECOND, SECOND);
	assert_int_equal(trigger.reason, FLIGHT_NONE);
	/* From then on steps count, and other events don't. */
	step(&trigger, 0, 150 * SECOND, 151 * SECOND);
	trigger_see(
		&trigger,
		&(struct event){.kind = EVENT_MARK, .end_ticks = 160 * SECOND},
		SECOND);
	trigger_poll(&trigger, 162 * SECOND, SECOND);
	assert_string_equal(trigger.text, "no step for 11000 ms");
}

static void a_call_fails(void **state)
{
	struct flight flight = {.triggers = 1 << FLIGHT_CUDA_ERROR};
	struct trigger trigger = {.flight = &flight};
	struct event call = {.kind = EVENT_CALL, .call.result = 600};

	(void)state;
	trigger_see(&trigger, &call, SECOND);
	call.call.result = 0;
	trigger_see(&trigger, &call, SECOND);
	call.kind = EVENT_GPU_API;
	call.api.result = 700;
	call.flags = EVENT_MOVED;
	trigger_see(&trigger, &call, SECOND);
	assert_int_equal(trigger.reason, FLIGHT_NONE);
	call.flags = 0;
	trigger_see(&trigger, &call, SECOND);
	assert_int_equal(trigger.reason, FLIGHT_CUDA_ERROR);
	assert_string_equal(trigger.text, "a CUDA call returned error 700");
}

/* A session with a flight recorder of one second. */
static struct thread *begin(struct sample *sample,
			    struct writer_state *writer_state)
{
	struct session_header *head;

	sample_begin(sample);
	strcpy(sample->options.flight, "1s");
	head = sample_session(sample)->head;
	head->flight.is_on = 1;
	store_relaxed(&head->flight.from_ticks, sample->zero);
	assert_int_equal(pass_start(writer_state, sample->session, true), 0);
	assert_non_null(writer_state->history);
	return sample_thread(sample, 4711);
}

static void an_event_grows_old_or_is_in_one_file(void **state)
{
	struct session_header *head;
	struct sample sample;
	struct writer_state writer_state;
	struct thread *thread;
	char paths[16][512];
	const char *text;

	(void)state;
	thread = begin(&sample, &writer_state);
	head = sample.session->head;
	/* Times of long ago, so that the dump's end is behind them all. */
	sample.zero -= 100 * SECOND;
	store_relaxed(&head->flight.from_ticks, sample.zero);
	writer_state.history->from = sample.zero;
	for (uint64_t i = 0; i < 40; i++) {
		sample_scope(&sample, thread, "scope", i * 100 * MS,
			     i * 100 * MS + 50 * MS);
		if (i == 34)
			sample_scope(&sample, thread, "around", 1000 * MS,
				     3490 * MS);
	}
	pass_run(&writer_state);
	/* The newest ended at 3950 ms; those that ended before 2950 aged. */
	assert_int_equal(head->flight.aged, 29);
	assert_int_equal(writer_state.counts.cut, 29);
	assert_int_equal(sample_files(&sample, paths), 0);
	history_wish(&writer_state, FLIGHT_DEMAND, "the test \"asked\"");
	/* What begins behind the dump's end is the next history's. */
	sample_scope(&sample, thread, "later", 1000 * SECOND, 1001 * SECOND);
	pass_run(&writer_state);
	assert_int_equal(writer_state.counts.written + writer_state.counts.cut,
			 41);
	assert_int_equal(sample_files(&sample, paths), 1);
	assert_non_null(strstr(paths[0], "_flight1."));
	text = sample_read(&sample, paths[0]);
	sample_assert_json(text);
	/* One began before the window does, and is drawn from there on; one
	 * ended at its very begin. */
	assert_int_equal(sample_number(text, "in_file"), 11);
	assert_int_equal(sample_number(text, "seen"), 41);
	assert_int_equal(sample_number(text, "cut"), 30);
	assert_int_equal(sample_count(text, "\"finished\":\"false\""), 1);
	assert_int_equal(sample_number(text, "aged"), 30);
	assert_non_null(strstr(text, "\"trigger\":{\"reason\":\"demand\","
				     "\"number\":1,\"detail\":\"the test "
				     "\\\"asked\\\"\"}"));
	/* At the end what was not wanted is cut, not written. */
	sample.zero = clock_ticks();
	sample_scope(&sample, thread, "scope", 1, 2);
	pass_run(&writer_state);
	assert_int_equal(pass_finish(&writer_state, clock_ticks()), 0);
	assert_int_equal(sample_files(&sample, paths), 1);
	assert_int_equal(writer_state.counts.written + writer_state.counts.cut,
			 43);
	pass_end(&writer_state);
	sample_end(&sample);
}

/* However late the writer looks: each slow step ends a dump of its own. */
static void each_slow_step_is_in_its_own_dump(void **state)
{
	struct sample sample;
	struct writer_state writer_state;
	struct thread *thread;
	char paths[16][512];
	uint64_t at = 0;

	(void)state;
	sample_begin(&sample);
	strcpy(sample.options.flight, "5steps");
	strcpy(sample.options.trigger, "slow:3");
	sample_session(&sample)->head->flight.is_on = 1;
	assert_int_equal(pass_start(&writer_state, sample.session, true), 0);
	thread = sample_thread(&sample, 1);
	sample.zero -= 100 * SECOND;
	writer_state.history->from = sample.zero;
	for (int i = 0; i < 60; i++) {
		const uint64_t took = i == 30 || i == 33 ? 100 * MS : 10 * MS;

		sample_push(&sample, thread,
			    (struct event){.kind = EVENT_STEP,
					   .extra = 1,
					   .start_ticks = at,
					   .end_ticks = at + took,
					   .step.number = i});
		at += took;
	}
	pass_run(&writer_state);
	assert_int_equal(sample_files(&sample, paths), 2);
	for (int i = 0; i < 60; i++) {
		char name[32];

		snprintf(name, sizeof(name), "\"ProfilerStep#%d\"", i);
		assert_int_equal(
			sample_count(sample_read(&sample, paths[0]), name),
			i >= 26 && i <= 30);
		assert_int_equal(
			sample_count(sample_read(&sample, paths[1]), name),
			i >= 31 && i <= 33);
	}
	assert_non_null(strstr(sample.text, "step 33 took 100.0 ms, the median "
					    "is 10.0 ms"));
	pass_end(&writer_state);
	sample_end(&sample);
}

/* A call that fails ends the dump that it causes, also one that took no time
 * that the clock could tell. */
static void a_call_that_fails_is_in_its_dump(void **state)
{
	struct sample sample;
	struct writer_state writer_state;
	struct thread *thread;
	char paths[16][512];

	(void)state;
	sample_begin(&sample);
	strcpy(sample.options.flight, "5s");
	strcpy(sample.options.trigger, "cuda-error");
	sample_session(&sample)->head->flight.is_on = 1;
	assert_int_equal(pass_start(&writer_state, sample.session, true), 0);
	thread = sample_thread(&sample, 1);
	sample.zero -= 100 * SECOND;
	writer_state.history->from = sample.zero;
	sample_push(&sample, thread,
		    (struct event){.kind = EVENT_CALL,
				   .name = names_intern_string(sample.session,
							       "fails"),
				   .start_ticks = MS,
				   .end_ticks = MS,
				   .call.result = 700});
	pass_run(&writer_state);
	assert_int_equal(sample_files(&sample, paths), 1);
	assert_int_equal(sample_count(sample_read(&sample, paths[0]),
				      "{\"ph\":\"X\",\"cat\":\"cuda_runtime\""),
			 1);
	pass_end(&writer_state);
	sample_end(&sample);
}

static void a_history_is_shortened_before_events_are_dropped(void **state)
{
	struct sample sample;
	struct writer_state writer_state;
	struct thread *thread;
	struct thread_sums sums;
	const uint64_t total = 3000000;

	(void)state;
	sample_begin(&sample);
	strcpy(sample.options.flight, "1000s");
	sample.options.buffer_mb = 4;
	sample_session(&sample)->head->flight.is_on = 1;
	assert_int_equal(pass_start(&writer_state, sample.session, true), 0);
	thread = sample_thread(&sample, 1);
	writer_state.history->from = sample.zero;
	for (uint64_t i = 0; i < total; i++) {
		sample_scope(&sample, thread, "scope", 2 * i, 2 * i + 1);
		if (i % 10000 == 9999)
			pass_run(&writer_state);
	}
	thread_sum(sample.session, &sums);
	assert_int_equal(sums.dropped, 0);
	assert_true(writer_state.history->said_short);
	assert_in_range(writer_state.counts.cut, total / 2, total - 20000);
	assert_int_equal(sample.session->head->flight.aged,
			 writer_state.counts.cut);
	pass_end(&writer_state);
	sample_end(&sample);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lengths),
		cmocka_unit_test(triggers),
		cmocka_unit_test(a_step_is_slow_by_the_median),
		cmocka_unit_test(a_step_is_slow_by_its_time),
		cmocka_unit_test(a_stall_is_told_once),
		cmocka_unit_test(a_call_fails),
		cmocka_unit_test(an_event_grows_old_or_is_in_one_file),
		cmocka_unit_test(each_slow_step_is_in_its_own_dump),
		cmocka_unit_test(a_call_that_fails_is_in_its_dump),
		cmocka_unit_test(
			a_history_is_shortened_before_events_are_dropped),
	};

	return cmocka_run_group_tests_name("flight", tests, NULL, NULL);
}
