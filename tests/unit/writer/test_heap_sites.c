/* SPDX-License-Identifier: MIT */
/* test_heap_sites.c - the heap's account by call stack, and its peak. */
#include "tests/unit/sample_session.h"
#include "writer/pass.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

struct heap {
	struct sample sample;
	struct writer_state state;
	struct thread *one, *two;
};

static void begin_in(struct heap *heap, unsigned int mode)
{
	sample_begin(&heap->sample);
	heap->sample.options.malloc = mode;
	sample_session(&heap->sample);
	sample_window(&heap->sample, 0);
	heap->one = sample_thread(&heap->sample, 100);
	heap->two = sample_thread(&heap->sample, 101);
	assert_int_equal(pass_start(&heap->state, heap->sample.session, true),
			 0);
}

static void begin(struct heap *heap)
{
	begin_in(heap, MALLOC_SITES);
}

static void push_spare(struct heap *heap, struct thread *thread,
		       unsigned int kind, uint64_t ticks, uint64_t address,
		       uint64_t bytes, uint64_t spare)
{
	sample_push(&heap->sample, thread,
		    (struct event){.kind = (uint16_t)kind,
				   .start_ticks = ticks,
				   .end_ticks = ticks,
				   .heap = {.address = address,
					    .size_bytes = bytes,
					    .spare_bytes = spare}});
}

static void push(struct heap *heap, struct thread *thread, unsigned int kind,
		 uint64_t ticks, uint64_t address, uint64_t bytes)
{
	push_spare(heap, thread, kind, ticks, address, bytes, 0);
}

static const char *end_at(struct heap *heap, uint64_t ticks)
{
	const char *text;

	assert_int_equal(pass_finish(&heap->state, heap->sample.zero + ticks),
			 0);
	pass_end(&heap->state);
	text = sample_text(&heap->sample);
	sample_assert_json(text);
	return text;
}

static const char *end_any(struct heap *heap)
{
	return end_at(heap, 9000);
}

static const char *end(struct heap *heap)
{
	const char *text = end_any(heap);

	assert_int_equal(sample_count(text, "\"name\":\"[memory]\""), 0);
	return text;
}

/* "calls bytes frees live blocks temporary foreign peak peak_blocks" */
static void rings_are_taken_by_time(void **state)
{
	struct heap heap;
	const char *text;

	(void)state;
	begin(&heap);
	push(&heap, heap.two, EVENT_HEAP_FREE, 300, 4096, 100);
	push(&heap, heap.two, EVENT_HEAP_ALLOC, 400, 8192, 50);
	push(&heap, heap.one, EVENT_HEAP_ALLOC, 200, 4096, 100);
	push(&heap, heap.one, EVENT_HEAP_ALLOC, 500, 4096, 30);
	push(&heap, heap.one, EVENT_HEAP_FREE, 600, 4096, 30);
	text = end(&heap);
	assert_non_null(strstr(text, "\"sums\":\"3 180 2 50 1 1 1 100 1\","));
	assert_null(strstr(text, "unknown_frees"));
	sample_end(&heap.sample);
}

/* A hook took its time before the writer looked, and its event came after. */
static void a_free_may_come_before_its_block(void **state)
{
	struct heap heap;
	const char *text;

	(void)state;
	begin(&heap);
	push(&heap, heap.two, EVENT_HEAP_FREE, 300, 4096, 100);
	pass_run(&heap.state);
	push(&heap, heap.one, EVENT_HEAP_ALLOC, 200, 4096, 100);
	text = end(&heap);
	assert_non_null(strstr(text, "\"sums\":\"1 100 1\""));
	assert_null(strstr(text, "unknown_frees"));
	sample_end(&heap.sample);
}

/* The block is freed that was there then, not the one that is there now. */
static void a_free_may_come_after_the_next_block(void **state)
{
	struct heap heap;
	const char *text;

	(void)state;
	begin(&heap);
	push(&heap, heap.one, EVENT_HEAP_ALLOC, 100, 4096, 100);
	push(&heap, heap.one, EVENT_HEAP_ALLOC, 300, 4096, 40);
	pass_run(&heap.state);
	push(&heap, heap.two, EVENT_HEAP_FREE, 200, 4096, 100);
	text = end(&heap);
	assert_non_null(strstr(text, "\"sums\":\"2 140 1 40 1 0 0 100 1\""));
	sample_end(&heap.sample);
}

static void a_free_of_an_unknown_block_is_said(void **state)
{
	struct heap heap;
	const char *text;

	(void)state;
	begin(&heap);
	push(&heap, heap.one, EVENT_HEAP_FREE, 100, 4096, 100);
	push(&heap, heap.one, EVENT_HEAP_ALLOC, 200, 4096, 40);
	text = end(&heap);
	assert_non_null(strstr(text, "\"unknown_frees\":1,"));
	assert_non_null(strstr(text, "\"sums\":\"1 40 0 40 1 0 0 40 1\""));
	sample_end(&heap.sample);
}

/* "bytes live peak peak_blocks": of the peak, by how much that of what was asked
 * for lies below the one of what is held. */
static void what_was_asked_for_has_its_own_peak(void **state)
{
	struct heap heap;
	const char *text;

	(void)state;
	begin(&heap);
	push_spare(&heap, heap.one, EVENT_HEAP_ALLOC, 100, 4096, 24, 20);
	push_spare(&heap, heap.one, EVENT_HEAP_ALLOC, 200, 8192, 24, 20);
	push_spare(&heap, heap.one, EVENT_HEAP_FREE, 300, 4096, 24, 0);
	push_spare(&heap, heap.one, EVENT_HEAP_FREE, 400, 8192, 24, 0);
	push_spare(&heap, heap.one, EVENT_HEAP_ALLOC, 500, 4096, 40, 1);
	text = end(&heap);
	assert_int_equal(sample_count(text, "\"sums\":\"3 88 2 40 1 0 0 48 2\","
					    "\"spare\":\"41 1 9 1\""),
			 2);
	assert_non_null(strstr(text, "\"peak_number\":2,"));
	assert_non_null(strstr(text, "\"asked_peak_number\":3,"));
	sample_end(&heap.sample);
}

/* In some seconds from now: later than any look but the last, which takes all.
 */
static uint64_t later(const struct heap *heap, unsigned int seconds)
{
	return clock_ticks() - heap->sample.zero +
	       seconds * clock_ticks_per_second(
				 &heap->sample.session->head->clock);
}

/* One thread frees what another makes, twice the same block.  The writer has
 * looked at the second one's ring when that was still empty. */
static void what_ended_after_the_look_waits_for_the_next(void **state)
{
	struct heap heap;
	const char *text;
	uint64_t at;

	(void)state;
	begin(&heap);
	at = later(&heap, 5);
	push(&heap, heap.one, EVENT_HEAP_ALLOC, 1, 4096, 100);
	push(&heap, heap.one, EVENT_HEAP_FREE, at, 8192, 100);
	push(&heap, heap.one, EVENT_HEAP_FREE, at + 20, 8192, 100);
	pass_run(&heap.state);
	push(&heap, heap.two, EVENT_HEAP_ALLOC, at - 10, 8192, 100);
	push(&heap, heap.two, EVENT_HEAP_ALLOC, at + 10, 8192, 100);
	pass_run(&heap.state);
	text = end_at(&heap, 2 * at);
	assert_null(strstr(text, "unknown_frees"));
	assert_non_null(strstr(text, "\"sums\":\"2 200 2 0 0 0 2 "));
	sample_end(&heap.sample);
}

static void a_clock_that_went_back_holds_up_nothing(void **state)
{
	struct heap heap;

	(void)state;
	begin(&heap);
	heap.state.counts.last_ticks = heap.sample.zero + later(&heap, 60);
	push(&heap, heap.one, EVENT_HEAP_ALLOC, later(&heap, 30), 4096, 100);
	pass_run(&heap.state);
	assert_int_equal(ring_published(&heap.one->ring),
			 drain_at(&heap.state.readers->older->drain));
	end_at(&heap, later(&heap, 120));
	sample_end(&heap.sample);
}

#define LOADED_NS UINT64_C(20000000000)
#define MARK_NS	  3000000u

/* What is loaded first takes far longer than all steps. */
static void lines_come_by_the_time_of_the_steps(void **state)
{
	struct heap heap;
	const char *text;

	(void)state;
	begin(&heap);
	push(&heap, heap.one, EVENT_HEAP_ALLOC, 1, 4096, 100);
	pass_run(&heap.state);
	for (uint64_t i = 1; i <= 400; i++) {
		push(&heap, heap.one, EVENT_HEAP_ALLOC, LOADED_NS + i * MARK_NS,
		     4096 + 64 * i, 16);
		push(&heap, heap.one, EVENT_STEP, LOADED_NS + i * MARK_NS + 9,
		     0, 0);
		pass_run(&heap.state);
	}
	text = end(&heap);
	assert_in_range(sample_count(text, "\"name\":\"[memory] sites\""), 250,
			400);
	sample_end(&heap.sample);
}

/* A call at `ticks`, after which its thread has `live` bytes. */
static void has(struct heap *heap, struct thread *thread, uint64_t ticks,
		int64_t live)
{
	const int64_t before = (int64_t)thread->ring.heap_alloc_bytes -
			       (int64_t)thread->ring.heap_free_bytes;
	const int64_t bytes = live - before;

	sample_push(
		&heap->sample, thread,
		(struct event){
			.kind = bytes < 0 ? EVENT_HEAP_FREE : EVENT_HEAP_ALLOC,
			.start_ticks = ticks,
			.end_ticks = ticks,
			.heap = {.address = 4096 + 64 * ticks,
				 .size_bytes =
					 (uint64_t)(bytes < 0 ? -bytes : bytes),
				 .thread_live = live}});
	if (bytes < 0)
		thread->ring.heap_free_bytes += (uint64_t)-bytes;
	else
		thread->ring.heap_alloc_bytes += (uint64_t)bytes;
}

static const unsigned int modes[] = {MALLOC_ALL, MALLOC_LARGE, MALLOC_SITES,
				     MALLOC_SAMPLED};

/* Whichever ring is drained first. */
static void expect_peak(bool swaps, const int64_t (*calls)[3], size_t count,
			unsigned long peak)
{
	for (size_t mode = 0; mode < sizeof(modes) / sizeof(*modes); mode++) {
		struct heap heap;

		begin_in(&heap, modes[mode]);
		for (size_t i = 0; i < count; i++)
			has(&heap,
			    (calls[i][0] == 1) != swaps ? heap.one : heap.two,
			    (uint64_t)calls[i][1], calls[i][2]);
		assert_int_equal(sample_number(end_any(&heap), "peak_bytes"),
				 peak);
		sample_end(&heap.sample);
	}
}

/* One gave its block back before the other had one: the rings are drained one
 * after the other, and still both are never live at once. */
static void a_peak_adds_nothing_that_was_never_live_at_once(void **state)
{
	const int64_t calls[][3] = {{1, 200, 100}, {1, 300, 0}, {2, 400, 90}};

	(void)state;
	expect_peak(false, calls, 3, 100);
	expect_peak(true, calls, 3, 100);
}

static void a_peak_is_that_of_all_threads_together(void **state)
{
	const int64_t calls[][3] = {
		{1, 200, 100}, {2, 300, 90}, {2, 400, 0}, {1, 500, 0}};

	(void)state;
	expect_peak(false, calls, 4, 190);
	expect_peak(true, calls, 4, 190);
}

/* Small blocks make no event: when they went nobody knows. */
static void between_two_events_a_thread_has_the_less_of_both(void **state)
{
	struct heap heap;

	(void)state;
	begin_in(&heap, MALLOC_LARGE);
	has(&heap, heap.two, 100, 300);
	has(&heap, heap.one, 500, 280);
	heap.two->ring.heap_free_bytes += 260; /* small ones, sometime */
	has(&heap, heap.two, 900, 30);
	assert_int_equal(sample_number(end_any(&heap), "peak_bytes"), 320);
	sample_end(&heap.sample);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rings_are_taken_by_time),
		cmocka_unit_test(a_free_may_come_before_its_block),
		cmocka_unit_test(what_ended_after_the_look_waits_for_the_next),
		cmocka_unit_test(a_clock_that_went_back_holds_up_nothing),
		cmocka_unit_test(a_free_may_come_after_the_next_block),
		cmocka_unit_test(a_free_of_an_unknown_block_is_said),
		cmocka_unit_test(what_was_asked_for_has_its_own_peak),
		cmocka_unit_test(lines_come_by_the_time_of_the_steps),
		cmocka_unit_test(
			a_peak_adds_nothing_that_was_never_live_at_once),
		cmocka_unit_test(a_peak_is_that_of_all_threads_together),
		cmocka_unit_test(
			between_two_events_a_thread_has_the_less_of_both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
