/* SPDX-License-Identifier: MIT */
/* test_writer_pass.c - from events in rings to a finished file. */
#include "tests/unit/sample_session.h"
#include "writer/pass.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define MS 1000000u

/* The account of the file closes. */
static void assert_account(const char *text, unsigned long written,
			   unsigned long cut, unsigned long dropped)
{
	assert_int_equal(sample_number(text, "written"), written);
	assert_int_equal(sample_number(text, "cut"), cut);
	assert_int_equal(sample_number(text, "dropped"), dropped);
	assert_int_equal(sample_number(text, "seen"), written + cut + dropped);
}

static void finish(struct sample *sample, struct writer_state *writer_state,
		   uint64_t end)
{
	assert_int_equal(pass_finish(writer_state, sample->zero + end), 0);
	pass_end(writer_state);
}

static void one_scope_makes_a_whole_file(void **state)
{
	struct sample sample;
	struct writer_state writer_state;
	struct thread *thread;
	const char *text;

	(void)state;
	sample_begin(&sample);
	sample_session(&sample);
	sample_window(&sample, 0);
	thread = sample_thread(&sample, 4711);
	assert_int_equal(pass_start(&writer_state, sample.session, true), 0);
	sample_scope(&sample, thread, "hello \"w\"\n", 1 * MS, 3 * MS);
	pass_run(&writer_state);
	text = sample_text(&sample);
	sample_assert_json(text);
	assert_non_null(strstr(text, "\"final\":false"));
	finish(&sample, &writer_state, 10 * MS);
	text = sample_text(&sample);
	sample_assert_json(text);
	assert_non_null(strstr(text, "\"final\":true"));
	assert_non_null(strstr(text, "\"rank\": 0"));
	assert_non_null(strstr(text, "\"name\":\"hello \\\"w\\\"\\n\""));
	assert_non_null(strstr(text, "\"dur\":2000.000,"));
	assert_non_null(strstr(text, "\"thread 4711 ("));
	assert_account(text, 1, 0, 0);
	sample_end(&sample);
}

static void push_omp(struct sample *sample, struct thread *thread,
		     unsigned int kind, uint64_t region, unsigned int number,
		     uint64_t start, uint64_t end)
{
	sample_push(sample, thread,
		    (struct event){
			    .kind = (uint16_t)kind,
			    .start_ticks = start,
			    .end_ticks = end,
			    .name = names_intern_string(sample->session, "fit"),
			    .omp = {.region = region,
				    .team = 2,
				    .thread = number,
				    .sync = OMP_SYNC_BARRIER}});
}

/* Finds the slice of a name on a thread and reads its times in ns, counted from
 * the window's start. */
static bool find_slice(const char *text, const char *name, unsigned int tid,
		       uint64_t *start, uint64_t *end)
{
	const char *window = strstr(text, "\"ts\":");
	const double zero = strtod(window + 5, NULL);
	char quoted[128];
	char lane[64];

	snprintf(quoted, sizeof(quoted), "\"name\":\"%s\"", name);
	snprintf(lane, sizeof(lane), "\"tid\":%u,", tid);
	for (const char *at = strstr(text, quoted); at;
	     at = strstr(at + 1, quoted)) {
		const char *line_end = strchr(at, '\n');
		const char *found = strstr(at, lane);
		const char *ts = strstr(at, "\"ts\":");
		const char *dur = strstr(at, "\"dur\":");

		if (!found || found > line_end || !dur || dur > line_end)
			continue;
		*start = (uint64_t)((strtod(ts + 5, NULL) - zero) * 1000 + 0.5);
		*end = *start + (uint64_t)(strtod(dur + 6, NULL) * 1000 + 0.5);
		return true;
	}
	return false;
}

static void assert_slice(const char *text, const char *name, unsigned int tid,
			 uint64_t start, uint64_t end)
{
	uint64_t has_start = 0;
	uint64_t has_end = 0;

	assert_true(find_slice(text, name, tid, &has_start, &has_end));
	/* Microseconds in a double are exact to a nanosecond, and slices of
	 * one lane are kept two apart. */
	assert_in_range(has_start, start > 3 ? start - 3 : 0, start + 3);
	assert_in_range(has_end, end > 3 ? end - 3 : 0, end + 3);
}

static void a_workers_wait_ends_with_the_region(void **state)
{
	struct sample sample;
	struct writer_state writer_state;
	struct thread *master;
	struct thread *worker;
	const char *text;

	(void)state;
	sample_begin(&sample);
	sample_session(&sample);
	sample_window(&sample, 0);
	master = sample_thread(&sample, 100);
	worker = sample_thread(&sample, 101);
	assert_int_equal(pass_start(&writer_state, sample.session, true), 0);
	push_omp(&sample, worker, EVENT_OMP_IMPLICIT, 1, 1, 110, 200);
	pass_run(&writer_state);
	push_omp(&sample, master, EVENT_OMP_IMPLICIT, 1, 0, 100, 500);
	push_omp(&sample, master, EVENT_OMP_REGION, 1, 0, 100, 600);
	/* The second region: the worker runs a task while it waits. */
	push_omp(&sample, worker, EVENT_OMP_IMPLICIT, 2, 1, 710, 720);
	push_omp(&sample, worker, EVENT_OMP_WAIT, 2, 1, 760, 770);
	push_omp(&sample, worker, EVENT_OMP_EXPLICIT, 2, 1, 750, 790);
	push_omp(&sample, master, EVENT_OMP_REGION, 2, 0, 700, 900);
	push_omp(&sample, worker, EVENT_OMP_IMPLICIT, 3, 1, 1000, 1100);
	pass_run(&writer_state);
	finish(&sample, &writer_state, 2000);
	text = sample_text(&sample);
	sample_assert_json(text);
	assert_slice(text, "region end wait", 101, 200, 600);
	text = strstr(text, "\"region\":2");
	assert_non_null(text);
	assert_slice(sample.text, "fit [omp parallel #1]", 100, 101, 500);
	assert_slice(sample.text, "fit [omp task]", 101, 750, 790);
	assert_int_equal(sample_count(sample.text, "region end wait\""), 3 + 1);
	assert_non_null(strstr(sample.text, "\"dur\":0.026,\"args\""));
	assert_account(sample.text, 8, 0, 0);
	sample_end(&sample);
}

/* A region whose end found no room: nobody knows how long its worker waited. */
static void a_wait_without_its_regions_end_is_counted(void **state)
{
	struct sample sample;
	struct writer_state writer_state;
	struct thread *master;
	struct thread *worker;

	(void)state;
	sample_begin(&sample);
	sample_session(&sample);
	sample_window(&sample, 0);
	master = sample_thread(&sample, 100);
	worker = sample_thread(&sample, 101);
	assert_int_equal(pass_start(&writer_state, sample.session, true), 0);
	push_omp(&sample, worker, EVENT_OMP_IMPLICIT, 1, 1, 110, 200);
	push_omp(&sample, worker, EVENT_OMP_IMPLICIT, 2, 1, 710, 720);
	push_omp(&sample, master, EVENT_OMP_REGION, 2, 0, 700, 900);
	pass_run(&writer_state);
	finish(&sample, &writer_state, 2000);
	assert_non_null(strstr(sample_text(&sample),
			       "\"waits\":{\"begun\":2,\"drawn\":1,"
			       "\"outside\":0,\"lost\":1}"));
	sample_end(&sample);
}

/* A slice of time grows while nothing comes: what comes then is no less. */
static void each_wait_of_a_large_backlog_is_drawn(void **state)
{
	enum { REGIONS = 100000 };
	struct sample sample;
	struct writer_state writer_state;
	struct thread *master;
	struct thread *worker;

	(void)state;
	sample_begin(&sample);
	sample_session(&sample);
	sample_window(&sample, 0);
	master = sample_thread(&sample, 100);
	worker = sample_thread(&sample, 101);
	assert_int_equal(pass_start(&writer_state, sample.session, true), 0);
	pass_run(&writer_state);
	writer_state.slice_ticks = UINT64_MAX / 8;
	for (uint64_t i = 1; i <= REGIONS; i++) {
		push_omp(&sample, worker, EVENT_OMP_IMPLICIT, i, 1, i * 100,
			 i * 100 + 10);
		push_omp(&sample, master, EVENT_OMP_REGION, i, 0, i * 100,
			 i * 100 + 20);
	}
	finish(&sample, &writer_state, REGIONS * 100 + 200);
	assert_int_equal(sample_number(sample_text(&sample), "begun"), REGIONS);
	assert_int_equal(sample_number(sample.text, "lost"), 0);
	sample_end(&sample);
}

/* It is open at the end, and what it did in it was seen. */
static void a_workers_wait_ends_with_an_open_task(void **state)
{
	struct sample sample;
	struct writer_state writer_state;
	struct thread *worker;

	(void)state;
	sample_begin(&sample);
	sample_session(&sample);
	sample_window(&sample, 0);
	worker = sample_thread(&sample, 101);
	assert_int_equal(pass_start(&writer_state, sample.session, true), 0);
	push_omp(&sample, worker, EVENT_OMP_IMPLICIT, 1, 1, 110, 200);
	thread_open(worker, EVENT_OMP_EXPLICIT, sample.zero + 250, 0, 7, 1, 0);
	push_omp(&sample, worker, EVENT_OMP_WAIT, 1, 1, 300, 400);
	finish(&sample, &writer_state, 2000);
	sample_assert_json(sample_text(&sample));
	assert_slice(sample.text, "region end wait", 101, 200, 250);
	sample_end(&sample);
}

/* A master's region, its share and its wait come as one event; and while they
 * are open the share's end is where the wait began. */
static void a_region_brings_its_masters_share(void **state)
{
	struct sample sample;
	struct writer_state writer_state;
	struct thread *master;
	struct event region = {.kind = EVENT_OMP_REGION,
			       .flags = EVENT_WITH_SHARE,
			       .start_ticks = 100,
			       .end_ticks = 600,
			       .omp = {.region = 1, .code = 7, .team = 2}};

	(void)state;
	sample_begin(&sample);
	sample_session(&sample);
	sample_window(&sample, 0);
	master = sample_thread(&sample, 100);
	assert_int_equal(pass_start(&writer_state, sample.session, true), 0);
	region.name = names_intern_string(sample.session, "fit");
	region.omp.until_share = 20;
	region.omp.waited = 150;
	sample_push(&sample, master, region);
	pass_run(&writer_state);
	thread_open(master, EVENT_OMP_REGION, sample.zero + 700, 0, 7, 2, 0);
	thread_open(master, EVENT_OMP_IMPLICIT, sample.zero + 710, 0, 7, 2, 0);
	thread_open(master, EVENT_OMP_WAIT, sample.zero + 800, 0, 7, 2,
		    OMP_SYNC_REGION_END);
	finish(&sample, &writer_state, 2000);
	sample_assert_json(sample_text(&sample));
	assert_slice(sample.text, "fit [omp parallel #1]", 100, 100, 600);
	assert_int_equal(sample_count(sample.text, "\"share_after_us\":0.020,"
						   "\"share_us\":0.330}"),
			 1);
	assert_slice(sample.text, "region end wait", 100, 450, 600);
	/* What was open: as slices of their own. */
	assert_int_equal(sample_count(sample.text, "\"omp\":\"task\""), 1);
	assert_int_equal(sample_count(sample.text, "\"omp\":\"parallel\""), 2);
	assert_int_equal(sample_count(sample.text, "\"omp\":\"wait\""), 2);
	/* The region and the wait that are cut, not the share. */
	assert_int_equal(sample_count(sample.text, "\"finished\":\"false\""),
			 2);
	assert_non_null(strstr(sample.text, "\"dur\":0.090,\"args\""));
	assert_account(sample.text, 1, 0, 0);
	sample_end(&sample);
}

static void events_go_to_the_window_they_began_in(void **state)
{
	struct sample sample;
	struct writer_state writer_state;
	struct thread *thread;
	char paths[16][512];
	const char *text;

	(void)state;
	sample_begin(&sample);
	sample_session(&sample);
	thread = sample_thread(&sample, 100);
	assert_int_equal(pass_start(&writer_state, sample.session, true), 0);
	sample_scope(&sample, thread, "early", 10, 20);
	pass_run(&writer_state);
	assert_int_equal(sample_files(&sample, paths), 0);
	sample_window(&sample, 1000);
	sample_scope(&sample, thread, "before", 900, 1100);
	sample_scope(&sample, thread, "first", 1000, 1200);
	thread_open(thread, EVENT_SCOPE, sample.zero + 1300,
		    names_intern_string(sample.session, "open"), 0, 0, 0);
	sample_window_end(&sample, 2000);
	sample_window(&sample, 3000);
	sample_scope(&sample, thread, "between", 2500, 2600);
	sample_scope(&sample, thread, "second", 3100, 3200);
	/* Began in the first window, and lies after an event of the second. */
	sample_scope(&sample, thread, "long", 1900, 3300);
	pass_run(&writer_state);
	thread_shut(thread);
	sample_scope(&sample, thread, "open", 1300, 3400);
	finish(&sample, &writer_state, 4000);
	assert_int_equal(sample_files(&sample, paths), 2);
	text = sample_read(&sample, paths[0]);
	sample_assert_json(text);
	assert_slice(text, "first", 100, 0, 200);
	assert_slice(text, "open", 100, 300, 1000);
	assert_slice(text, "long", 100, 900, 1000);
	assert_int_equal(sample_count(text, "\"finished\":\"false\""), 2);
	assert_null(strstr(text, "\"early\""));
	assert_null(strstr(text, "\"before\""));
	assert_null(strstr(text, "\"second\""));
	assert_int_equal(sample_number(text, "in_file"), 1);
	text = sample_read(&sample, paths[1]);
	sample_assert_json(text);
	assert_slice(text, "second", 100, 100, 200);
	assert_null(strstr(text, "\"between\""));
	assert_null(strstr(text, "\"open\""));
	/* early, before, between, long and open are in no file as events. */
	assert_account(text, 2, 5, 0);
	sample_end(&sample);
}

/* Many more events than chunks: what is refused is counted and drawn. */
static void losses_are_counted_and_drawn(void **state)
{
	struct sample sample;
	struct writer_state writer_state;
	struct thread *thread;
	unsigned long dropped;
	const char *text;
	const unsigned int events = 90000;

	(void)state;
	sample_begin(&sample);
	sample.options.buffer_mb = 4;
	sample_session(&sample);
	sample_window(&sample, 0);
	thread = sample_thread(&sample, 100);
	assert_int_equal(pass_start(&writer_state, sample.session, true), 0);
	for (unsigned int i = 0; i < events; i++)
		sample_scope(&sample, thread, "work", 100 * i, 100 * i + 50);
	assert_true(thread->ring.refused > 0);
	pass_run(&writer_state);
	for (unsigned int i = events; i < events + 10; i++)
		sample_scope(&sample, thread, "work", 100 * i, 100 * i + 50);
	finish(&sample, &writer_state, 100 * (events + 20));
	text = sample_text(&sample);
	sample_assert_json(text);
	dropped = sample_number(text, "dropped");
	assert_true(dropped > 0);
	/* The loss is an event too. */
	assert_account(text, events + 10 + 1 - dropped, 0, dropped);
	assert_int_equal(
		sample_count(text, "\"cname\":\"grey\",\"name\":\"lost "), 1);
	assert_non_null(strstr(text, "\"dropped_by_kind\":{\"scope\":"));
	assert_non_null(strstr(text, "\"dropped_by_thread\":{\"100"));
	sample_end(&sample);
}

static void detail_ends_at_max_mb(void **state)
{
	struct sample sample;
	struct writer_state writer_state;
	struct thread *thread;
	const char *text;
	const unsigned int events = 20000;

	(void)state;
	sample_begin(&sample);
	sample.options.max_mb = 1;
	sample.options.max_parts = 1;
	sample_session(&sample);
	sample_window(&sample, 0);
	thread = sample_thread(&sample, 100);
	assert_int_equal(pass_start(&writer_state, sample.session, true), 0);
	for (unsigned int i = 0; i < events; i++)
		sample_scope(&sample, thread, "work", 100 * i, 100 * i + 50);
	sample_push(&sample, thread,
		    (struct event){
			    .kind = EVENT_COUNTER,
			    .name = names_intern_string(sample.session, "loss"),
			    .start_ticks = 100 * events,
			    .end_ticks = 100 * events,
			    .counter.value = 0.25});
	finish(&sample, &writer_state, 100 * (events + 20));
	text = sample_text(&sample);
	sample_assert_json(text);
	assert_in_range(strlen(text), 1u << 20, (1u << 20) + 16384);
	assert_non_null(strstr(text, "\"value\":0.25"));
	assert_null(strstr(text, "\"detail_ended\":null"));
	assert_non_null(strstr(text,
			       "\"name\":\"work\",\"cat\":\"user_annotation"
			       "\",\"calls\":20000,"));
	assert_int_equal(sample_number(text, "seen"), events + 1);
	assert_true(sample_number(text, "cut") > 0);
	assert_int_equal(sample_number(text, "past_max"),
			 sample_number(text, "cut"));
	sample_end(&sample);
}

static void heap_events_carry_the_processs_total(void **state)
{
	struct sample sample;
	struct writer_state writer_state;
	struct thread *one;
	struct thread *two;
	const char *text;

	(void)state;
	sample_begin(&sample);
	sample.options.malloc = MALLOC_ALL;
	sample_session(&sample);
	sample.session->head->heap_base_bytes = 1000;
	sample_window(&sample, 0);
	one = sample_thread(&sample, 100);
	two = sample_thread(&sample, 101);
	assert_int_equal(pass_start(&writer_state, sample.session, true), 0);
	for (uint64_t i = 1; i <= 3; i++)
		sample_push(
			&sample, i & 1 ? one : two,
			(struct event){
				.kind = EVENT_HEAP_ALLOC,
				.start_ticks = i * 30000000,
				.end_ticks = i * 30000000,
				.heap = {.address = 4096 * i,
					 .size_bytes = 100 * i,
					 .thread_live =
						 i == 3 ? 400
							: (int64_t)(100 * i)}});
	sample_push(&sample, two,
		    (struct event){.kind = EVENT_HEAP_FREE,
				   .start_ticks = 200000000,
				   .end_ticks = 200000000,
				   .heap = {.address = 8192,
					    .size_bytes = 200,
					    .thread_live = 0}});
	finish(&sample, &writer_state, 300000000);
	text = sample_text(&sample);
	sample_assert_json(text);
	assert_int_equal(sample_count(text, "\"name\":\"[memory]\",\"pid\""),
			 4);
	assert_non_null(strstr(
		text,
		"\"Total Allocated\":1100,\"Device Id\":-1,\"Bytes\":100,"));
	assert_non_null(strstr(
		text,
		"\"Total Allocated\":1300,\"Device Id\":-1,\"Bytes\":200,"));
	assert_non_null(strstr(
		text,
		"\"Total Allocated\":1600,\"Device Id\":-1,\"Bytes\":300,"));
	assert_non_null(strstr(text, "\"args\":{\"Bytes\":-200,"));
	assert_non_null(strstr(text, "\"args\":{\"live_bytes\":1600}"));
	assert_account(text, 4, 0, 0);
	sample_end(&sample);
}

static void what_may_cross_gets_a_side_lane(void **state)
{
	struct sample sample;
	struct writer_state writer_state;
	struct thread *thread;
	const char *text;

	(void)state;
	sample_begin(&sample);
	sample_session(&sample);
	sample_window(&sample, 0);
	thread = sample_thread(&sample, 100);
	assert_int_equal(pass_start(&writer_state, sample.session, true), 0);
	for (uint64_t i = 0; i < 3; i++)
		sample_push(
			&sample, thread,
			(struct event){.kind = EVENT_RANGE,
				       .name = names_intern_string(
					       sample.session, i == 0	? "r0"
							       : i == 1 ? "r1"
									: "r2"),
				       .start_ticks = 100 + 50 * i,
				       .end_ticks = 200 + 50 * i});
	sample_push(&sample, thread,
		    (struct event){.kind = EVENT_STEP,
				   .start_ticks = 50,
				   .end_ticks = 400,
				   .step = {.number = 7,
					    .outer_at_start = 5,
					    .outer_at_end = 6}});
	finish(&sample, &writer_state, 1000);
	text = sample_text(&sample);
	sample_assert_json(text);
	assert_slice(text, "r0", 100 + LANE_STEP * LANE_FIRST_RANGE, 100, 200);
	assert_slice(text, "r1", 100 + LANE_STEP * (LANE_FIRST_RANGE + 1), 150,
		     250);
	assert_slice(text, "r2", 100 + LANE_STEP * LANE_FIRST_RANGE, 200, 300);
	assert_slice(text, "ProfilerStep#7", 100 + LANE_STEP * LANE_STEPS, 50,
		     400);
	sample_end(&sample);
}

/* Retired records are free again only once a checkpoint holds what they had. */
static void records_of_ended_threads_are_given_back(void **state)
{
	struct sample sample;
	struct writer_state writer_state;
	struct thread *thread;
	const char *text;

	(void)state;
	sample_begin(&sample);
	sample_session(&sample);
	sample_window(&sample, 0);
	assert_int_equal(pass_start(&writer_state, sample.session, true), 0);
	pass_run(&writer_state);
	for (uint32_t i = 0; i < 20; i++) {
		thread = sample_thread(&sample, 100 + i);
		sample_scope(&sample, thread, "life", 100 * i, 100 * i + 10);
		thread_self = thread;
		thread_leave();
		thread_self = NULL;
		writer_state.checkpoint_ns = 0;
		pass_run(&writer_state);
		assert_int_equal(load_relaxed(&thread->state), THREAD_FREE);
	}
	assert_int_equal(load_relaxed(&sample.session->head->thread_count), 1);
	finish(&sample, &writer_state, 10000);
	text = sample_text(&sample);
	sample_assert_json(text);
	assert_slice(text, "life", 100, 0, 10);
	assert_slice(text, "life", 119, 1900, 1910);
	assert_int_equal(sample_count(text, "\"thread_name\""), 20);
	assert_account(text, 20, 0, 0);
	sample_end(&sample);
}

/* A window that opens while a pass runs has no file yet. */
static void no_event_is_written_before_its_file(void **state)
{
	struct sample sample;
	struct writer_state writer_state;

	(void)state;
	sample_begin(&sample);
	sample_session(&sample);
	assert_int_equal(pass_start(&writer_state, sample.session, true), 0);
	pass_run(&writer_state);
	sample_window(&sample, 1000);
	assert_int_equal(writer_state_place(&writer_state, sample.zero + 500),
			 PLACE_SKIP);
	assert_int_equal(writer_state_place(&writer_state, sample.zero + 1500),
			 PLACE_DEFER);
	pass_run(&writer_state);
	assert_int_equal(writer_state_place(&writer_state, sample.zero + 1500),
			 PLACE_WRITE);
	finish(&sample, &writer_state, 2000);
	sample_end(&sample);
}

/* Processes 0 to 15 are GPUs in this format. */
static void a_small_pid_is_moved(void **state)
{
	struct sample sample;
	struct writer_state writer_state;
	const char *text;

	(void)state;
	sample_begin(&sample);
	sample_session(&sample);
	sample.session->head->pid = 7;
	sample_window(&sample, 0);
	assert_int_equal(pass_start(&writer_state, sample.session, true), 0);
	sample_scope(&sample, sample_thread(&sample, 7), "main", 1, 2);
	sample_scope(&sample, sample_thread(&sample, 8), "other", 1, 2);
	finish(&sample, &writer_state, 1000);
	text = sample_text(&sample);
	assert_slice(text, "main", 100007, 1, 2);
	assert_slice(text, "other", 8, 1, 2);
	assert_null(strstr(text, "\"pid\":7,"));
	sample_end(&sample);
}

/* Between the last window's close and writer_stop() the writer may come by. */
static void what_waits_waits_for_the_end(void **state)
{
	struct sample sample;
	struct writer_state writer_state;
	struct thread *thread;

	(void)state;
	for (int ends = 0; ends <= 1; ends++) {
		sample_begin(&sample);
		sample.options.encode = ENCODE_LATE;
		sample_session(&sample);
		sample_window(&sample, 0);
		thread = sample_thread(&sample, 4711);
		assert_int_equal(
			pass_start(&writer_state, sample.session, true), 0);
		sample_scope(&sample, thread, "early", 1 * MS, 3 * MS);
		pass_run(&writer_state);
		assert_true(writer_state.late_since_ns);
		atomic_store(&writer_state.is_ending, ends);
		sample_window_end(&sample, 10 * MS);
		pass_run(&writer_state);
		assert_int_equal(writer_state.counts.written, !ends);
		assert_int_equal(!writer_state.late_since_ns, !ends);
		finish(&sample, &writer_state, 20 * MS);
		assert_account(sample_text(&sample), 1, 0, 0);
		sample_end(&sample);
	}
}

/* Steps by time are the writer's thread's, on a lane of their own. */
static void a_writer_that_only_begins_steps_has_no_other_lane(void **state)
{
	struct sample sample;
	struct writer_state writer_state;
	struct thread *thread;

	(void)state;
	for (int draws = 0; draws <= 1; draws++) {
		sample_begin(&sample);
		sample_session(&sample);
		sample_window(&sample, 0);
		thread = sample_thread(&sample, 4711);
		assert_int_equal(
			pass_start(&writer_state, sample.session, true), 0);
		writer_state.writer_tid = thread->tid;
		sample_push(&sample, thread,
			    (struct event){.kind = EVENT_STEP,
					   .start_ticks = 1 * MS,
					   .end_ticks = 3 * MS,
					   .step = {.outer_at_start = 5,
						    .outer_at_end = 6}});
		if (draws)
			sample_scope(&sample, thread, "own", 4 * MS, 5 * MS);
		finish(&sample, &writer_state, 10 * MS);
		sample_text(&sample);
		assert_int_equal(sample_count(sample.text, " steps\"}"), 1);
		assert_int_equal(
			sample_count(sample.text, "\"traceprof writer ("),
			draws);
		sample_end(&sample);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_scope_makes_a_whole_file),
		cmocka_unit_test(a_workers_wait_ends_with_the_region),
		cmocka_unit_test(each_wait_of_a_large_backlog_is_drawn),
		cmocka_unit_test(a_workers_wait_ends_with_an_open_task),
		cmocka_unit_test(a_region_brings_its_masters_share),
		cmocka_unit_test(a_wait_without_its_regions_end_is_counted),
		cmocka_unit_test(events_go_to_the_window_they_began_in),
		cmocka_unit_test(losses_are_counted_and_drawn),
		cmocka_unit_test(detail_ends_at_max_mb),
		cmocka_unit_test(heap_events_carry_the_processs_total),
		cmocka_unit_test(what_may_cross_gets_a_side_lane),
		cmocka_unit_test(records_of_ended_threads_are_given_back),
		cmocka_unit_test(no_event_is_written_before_its_file),
		cmocka_unit_test(a_small_pid_is_moved),
		cmocka_unit_test(what_waits_waits_for_the_end),
		cmocka_unit_test(
			a_writer_that_only_begins_steps_has_no_other_lane),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
