/* SPDX-License-Identifier: MIT */
/* test_writer_parts.c - the writer's parts one by one: rings, lanes, names. */
#include "tests/unit/sample_session.h"
#include "collector/session/modules.h"
#include "writer/state/region_join.h"
#include <sys/resource.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static uint64_t plenty = UINT64_MAX;

/* Reads all that is published; their number. */
static unsigned int read_all(struct sample *sample, struct thread *thread,
			     struct drain *drain, struct drain_spent *spent,
			     uint64_t *next)
{
	const uint64_t limit = ring_published(&thread->ring);
	const struct event *event;
	unsigned int count = 0;

	while ((event = drain_peek(sample->session, &thread->ring, drain, limit,
				   spent, &plenty))) {
		assert_int_equal(event->start_ticks - sample->zero, (*next)++);
		drain_skip(drain, event);
		count++;
	}
	return count;
}

static void push(struct sample *sample, struct thread *thread, uint64_t at)
{
	sample_push(sample, thread,
		    (struct event){.kind = EVENT_MARK,
				   .start_ticks = at,
				   .end_ticks = at});
}

static void a_reader_follows_the_chunks(void **state)
{
	struct sample sample;
	struct thread *thread;
	struct drain drain = {0};
	struct drain_spent spent = {0};
	uint64_t next = 0;
	uint64_t pushed = 0;
	unsigned int seed = 7;

	(void)state;
	sample_begin(&sample);
	sample_session(&sample);
	thread = sample_thread(&sample, 1);
	assert_int_equal(read_all(&sample, thread, &drain, &spent, &next), 0);
	for (int round = 0; round < 50; round++) {
		const unsigned int count = (unsigned int)rand_r(&seed) % 300;

		for (unsigned int i = 0; i < count; i++)
			push(&sample, thread, pushed++);
		assert_int_equal(
			read_all(&sample, thread, &drain, &spent, &next),
			count);
		drain = drain_unpack(drain_pack(&drain));
	}
	assert_int_equal(next, pushed);
	assert_int_equal(spent.count, pushed / 1023);
	assert_false(drain.damaged);
	array_free(&spent.array);
	sample_end(&sample);
}

static void an_event_of_two_slots_is_one(void **state)
{
	struct sample sample;
	struct thread *thread;
	struct drain drain = {0};
	uint64_t next = 0;

	(void)state;
	sample_begin(&sample);
	sample_session(&sample);
	thread = sample_thread(&sample, 1);
	for (uint64_t i = 0; i < 3000; i++) {
		const unsigned int slots = i % 3 ? 1 : 2;
		struct event *event = ring_reserve(&thread->ring, slots);

		assert_non_null(event);
		*event = (struct event){.kind = EVENT_MARK,
					.flags = slots == 2 ? EVENT_TWO_SLOTS
							    : 0,
					.start_ticks = sample.zero + i};
		memset(event + slots - 1, 0xff, slots == 2 ? 64 : 0);
		ring_commit(&thread->ring, slots, 1);
	}
	assert_int_equal(read_all(&sample, thread, &drain, NULL, &next), 3000);
	sample_end(&sample);
}

static void a_damaged_chain_ends_the_walk(void **state)
{
	struct sample sample;
	struct thread *thread;
	struct drain drain = {0};
	struct chunk *chunk;
	uint64_t next = 0;
	uint64_t budget = 5000;
	const struct event *event;

	(void)state;
	sample_begin(&sample);
	sample_session(&sample);
	thread = sample_thread(&sample, 1);
	for (uint64_t i = 0; i < 1500; i++)
		push(&sample, thread, i);
	chunk = session_at(sample.session,
			   atomic_load(&thread->ring.first_chunk));
	/* A ring of chunks: the walk never meets its limit. */
	chunk = session_at(sample.session, atomic_load(&chunk->next));
	atomic_store(&chunk->next, atomic_load(&thread->ring.first_chunk));
	chunk->end = session_offset(sample.session, chunk) + 128;
	while ((event = drain_peek(sample.session, &thread->ring, &drain,
				   ring_published(&thread->ring), NULL,
				   &budget)))
		drain_skip(&drain, event);
	assert_true(drain.damaged);
	/* Out of the mapping. */
	drain = (struct drain){.chunk = sample.session->bytes - 64, .slot = 1};
	assert_int_equal(read_all(&sample, thread, &drain, NULL, &next), 0);
	assert_true(drain.damaged);
	sample_end(&sample);
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

static void symbols_are_shown_as_in_the_source(void **state)
{
	static const char *const names[][2] = {
		{"train_epoch", "train_epoch"},
		{"train_epoch._omp_fn.3", "train_epoch"},
		{"fit.constprop.0.isra.1", "fit"},
		{"fit.cold", "fit"},
#ifdef HAVE_DEMANGLE
		{"_ZN2at6native4gemmEid._omp_fn.0", "at::native::gemm"},
		{"_Z3addIfEvPT_i", "add<float>"},
#endif
		{"_Znot mangled", "_Znot mangled"},
	};
	char text[64];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		assert_int_equal(naming_tidy(names[i][0], strlen(names[i][0]),
					     text, sizeof(text)),
				 strlen(names[i][1]));
		assert_string_equal(text, names[i][1]);
	}
	naming_tidy("a_name_that_does_not_fit", 24, text, 8);
	assert_string_equal(text, "a_name_");
}

/* Two calls of one function, seen by their return addresses. */
static uint64_t sites[3];

__attribute__((noinline)) static void note_site(int at)
{
	sites[at] = (uint64_t)__builtin_return_address(0);
}

__attribute__((noinline)) static void calling_function(void)
{
	note_site(0);
	note_site(1);
	__asm__ volatile("");
}

static void call_sites_are_numbered_in_their_function(void **state)
{
	struct sample sample;
	struct naming naming;
	struct code_name *first;
	struct code_name *second;

	(void)state;
	sample_begin(&sample);
	sample_session(&sample);
	modules_refresh(sample.session);
	naming_start(&naming, sample.session);
	calling_function();
	/* The later one first: numbers follow the code, not the calls. */
	second = naming_find(&naming, sites[1], sites[1], 0);
	first = naming_find(&naming, sites[0], sites[0], 0);
	assert_string_equal(first->function, "calling_function");
	assert_string_equal(second->function, "calling_function");
	assert_int_equal(naming_ordinal(&naming, second), 2);
	assert_int_equal(naming_ordinal(&naming, first), 1);
	assert_ptr_equal(naming_find(&naming, sites[0], sites[0], 0), first);
	assert_string_equal(naming_find(&naming, 0, 0, 0)->function,
			    "unknown code");
	assert_string_equal(naming_find(&naming, 0x123, 0x123, 0)->function,
			    "code at 0x123");
	naming_end(&naming);
	sample_end(&sample);
}

static void totals_sort_by_their_sums(void **state)
{
	struct sample sample;
	struct naming naming;
	struct totals totals;
	struct label *const *sorted;
	unsigned int seed = 5;
	size_t count;

	(void)state;
	sample_begin(&sample);
	sample_session(&sample);
	naming_start(&naming, sample.session);
	totals_start(&totals, &naming);
	for (unsigned int i = 0; i < 1000; i++) {
		char name[32];
		struct event event = {.kind = EVENT_SCOPE};

		snprintf(name, sizeof(name), "name %u", i % 500);
		event.name = names_intern_string(sample.session, name);
		totals_add(totals_label(&totals, &event),
			   (uint64_t)rand_r(&seed) % 1000);
	}
	count = totals_sort(&totals, false, &sorted);
	assert_int_equal(count, 500);
	for (size_t i = 0; i + 1 < count; i++) {
		assert_int_equal(sorted[i]->run.calls, 2);
		assert_true(sorted[i]->run.sum_ns >= sorted[i + 1]->run.sum_ns);
		assert_true(sorted[i]->run.min_ns <= sorted[i]->run.max_ns);
	}
	totals_reset_run(&totals);
	assert_int_equal(totals_sort(&totals, false, &sorted), 0);
	assert_int_equal(totals_sort(&totals, true, &sorted), 500);
	totals_end(&totals);
	naming_end(&naming);
	sample_end(&sample);
}

static void only_real_steps_are_called_steps(void **state)
{
	struct sample sample;
	struct naming naming;
	struct totals totals;
	struct event event = {.kind = EVENT_SCOPE};

	(void)state;
	sample_begin(&sample);
	sample_session(&sample);
	naming_start(&naming, sample.session);
	totals_start(&totals, &naming);
	event.name = names_intern_string(sample.session, "ProfilerStep by me");
	assert_string_equal(totals_label(&totals, &event)->text,
			    "user ProfilerStep by me");
	totals_end(&totals);
	naming_end(&naming);
	sample_end(&sample);
}

static void time_is_unix_time_from_a_quarters_start(void **state)
{
	struct sample sample;
	struct timeline line;
	uint64_t last = 0;

	(void)state;
	sample_begin(&sample);
	sample_session(&sample);
	timeline_start(&line, sample.session);
	assert_int_equal(line.base_ns % INT64_C(7889238000000000), 0);
	for (uint64_t i = 0; i < 100; i++) {
		const uint64_t ns = timeline_ns(&line, sample.zero + i);

		assert_true(ns >= last);
		last = ns;
	}
	assert_in_range(timeline_unix_ns(&line, sample.zero) / 1000000000,
			time(NULL) - 5, time(NULL) + 5);
	sample_end(&sample);
}

/* A run of weeks that is killed: recovery goes on in a file whose base is that
 * of the start, whatever the segments still hold. */
static void a_long_run_keeps_its_base(void **state)
{
	struct sample sample;
	struct timeline line;
	struct clock_segments *clock;
	int64_t base_ns;

	(void)state;
	sample_begin(&sample);
	sample_session(&sample);
	timeline_start(&line, sample.session);
	base_ns = line.base_ns;
	clock = &sample.session->head->clock;
	clock->segment[0].from_ns += INT64_C(7889238000000000);
	timeline_start(&line, sample.session);
	assert_int_equal(line.base_ns, base_ns);
	sample_end(&sample);
}

static void regions_of_many_threads_are_kept_apart(void **state)
{
	struct region_join join;
	unsigned int kept = 0;

	(void)state;
	region_join_start(&join);
	for (uint64_t i = 1; i <= 1000; i++) {
		for (uint64_t t = 0; t < 8; t++)
			region_join_add(&join, t << 32 | i, i * 10 + t, false);
	}
	for (uint64_t i = 1; i <= 1000; i++) {
		for (uint64_t t = 0; t < 8; t++) {
			const struct region_end *end =
				region_join_find(&join, t << 32 | i);

			assert_true(!end || end->end_ticks == i * 10 + t);
			kept += end != NULL;
		}
	}
	/* Where two share a place the later one stays. */
	assert_in_range(kept, 7000, 8000);
	for (uint64_t i = 990; i <= 1000; i++)
		assert_non_null(region_join_find(&join, i));
	region_join_end(&join);
}

/* A fault of the writer's may interrupt the program's threads. */
static void the_table_of_regions_takes_its_faults_at_once(void **state)
{
	struct region_join join;
	struct rusage before, after;

	(void)state;
	region_join_start(&join);
	assert_null(region_join_find(&join, 1));
	region_join_add(&join, 1, 100, false);
	getrusage(RUSAGE_SELF, &before);
	for (uint64_t i = 2; i <= 100000; i++) {
		assert_null(region_join_find(&join, i));
		region_join_add(&join, i, 100 + i, false);
	}
	getrusage(RUSAGE_SELF, &after);
	assert_in_range(after.ru_minflt - before.ru_minflt, 0, 5);
	region_join_end(&join);
}

static void the_drain_does_not_take_back_what_the_scan_found(void **state)
{
	struct region_join join;
	uint64_t late = 0;

	(void)state;
	region_join_start(&join);
	region_join_add(&join, 1, 100, false);
	/* Some later region has the same place. */
	for (uint64_t i = 2; !late; i++) {
		region_join_add(&join, i, 100 + i, false);
		if (!region_join_find(&join, 1))
			late = i;
	}
	region_join_add(&join, 1, 100, true);
	assert_null(region_join_find(&join, 1));
	assert_false(region_join_find(&join, late)->is_drained);
	region_join_add(&join, late, 100 + late, true);
	assert_true(region_join_find(&join, late)->is_drained);
	region_join_end(&join);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reader_follows_the_chunks),
		cmocka_unit_test(an_event_of_two_slots_is_one),
		cmocka_unit_test(a_damaged_chain_ends_the_walk),
		cmocka_unit_test(crossing_spans_get_lanes_where_they_nest),
		cmocka_unit_test(symbols_are_shown_as_in_the_source),
		cmocka_unit_test(call_sites_are_numbered_in_their_function),
		cmocka_unit_test(totals_sort_by_their_sums),
		cmocka_unit_test(only_real_steps_are_called_steps),
		cmocka_unit_test(time_is_unix_time_from_a_quarters_start),
		cmocka_unit_test(a_long_run_keeps_its_base),
		cmocka_unit_test(regions_of_many_threads_are_kept_apart),
		cmocka_unit_test(the_table_of_regions_takes_its_faults_at_once),
		cmocka_unit_test(
			the_drain_does_not_take_back_what_the_scan_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
