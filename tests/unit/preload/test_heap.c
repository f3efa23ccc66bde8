/* SPDX-License-Identifier: MIT */
/*
 * test_heap.c - sizes of blocks: glibc's header read in place; and what a full
 * buffer leaves of a call.
 */
#include "tests/unit/session_fixture.h"

#include "collector/session/pool.h"
#include "preload/heap/heap.h"
#include <malloc.h>
#include <stdlib.h>

static void header_says_what_libc_says(void **state)
{
	const int head = real_ask_head(malloc_usable_size);

	(void)state;
	assert_in_range(head, 0, 8);
	real_mapped_head = (uint64_t)head;
	for (size_t size = 0; size < 4 << 20; size += 1 + size / 7) {
		void *volatile plain = malloc(size);
		void *volatile aligned =
			aligned_alloc(4096, 4096 + (size & ~4095ul));

		assert_int_equal(heap_size_plain(plain),
				 malloc_usable_size(plain));
		assert_int_equal(heap_size_plain(aligned),
				 malloc_usable_size(aligned));
		free(plain);
		free(aligned);
	}
}

/* --- C libraries that aren't here ----------------------------------------- */

static size_t usable(const void *ptr, size_t head, size_t mapped_head)
{
	const uint64_t *words = ptr;
	const uint64_t bytes = words[-1] & ~7ull;

	if (words[-1] & 2)
		return bytes - mapped_head;
	/* Its neighbour knows whether it is in use. */
	return words[bytes / 8 - 1] & 1 ? bytes - head : 0;
}

static size_t usable_until_2_42(void *ptr)
{
	return usable(ptr, 8, 16);
}

static size_t usable_since_2_43(void *ptr)
{
	return usable(ptr, 8, 8);
}

static size_t usable_otherwise(void *ptr)
{
	return usable(ptr, 16, 16);
}

static size_t usable_otherwise_mapped(void *ptr)
{
	return usable(ptr, 8, 32);
}

/* memcheck's: no block of its own. */
static size_t usable_nothing(void *ptr)
{
	(void)ptr;
	return 0;
}

static void heads_are_asked_for(void **state)
{
	uint64_t words[] = {0, 4096 | 2, 0, 0};

	(void)state;
	assert_int_equal(real_ask_head(usable_until_2_42), 8);
	assert_int_equal(real_ask_head(usable_since_2_43), 0);
	assert_int_equal(real_ask_head(usable_otherwise), -1);
	assert_int_equal(real_ask_head(usable_otherwise_mapped), -1);
	assert_int_equal(real_ask_head(usable_nothing), -1);
	real_mapped_head = 0;
	assert_int_equal(heap_size_plain(&words[2]),
			 usable_since_2_43(&words[2]));
	real_mapped_head = 8;
	assert_int_equal(heap_size_plain(&words[2]),
			 usable_until_2_42(&words[2]));
}

static void a_size_that_is_not_known_has_nothing_spare(void **state)
{
	(void)state;
	assert_int_equal(heap_spare(24, 20), 4);
	assert_int_equal(heap_spare(24, 24), 0);
	assert_int_equal(heap_spare(24, 0), 24);
	assert_int_equal(heap_spare(0, 20), 0);
}

/* --- a full buffer -------------------------------------------------------- */

/* A block of 24 bytes, as glibc would have it. */
static const uint64_t block[4] = {0, 0x21, 0, 0};

static void *a_block(void)
{
	return (void *)(uintptr_t)&block[2];
}

static struct session *begin_full(struct ring **ring)
{
	struct session *session = fixture_begin(4);

	heap = (struct heap_settings){
		.large_bytes = UINT64_MAX, .plain = true, .fast = true};
	gate_set(GATE_CLOSED | GATE_HEAP | GATE_HEAP_ALL);
	*ring = &thread_here()->ring;
	do
		heap_alloc_all(a_block(), 17);
	while (!(*ring)->refused);
	return session;
}

static void end_full(struct session *session)
{
	gate_set(GATE_UNDECIDED);
	heap = (struct heap_settings){.large_bytes = UINT64_MAX};
	fixture_end(session);
}

static void refused_calls_are_counted(void **state)
{
	struct ring *ring;
	struct session *session = begin_full(&ring);
	const uint64_t committed = ring->committed;
	const uint64_t calls = committed + 1;

	(void)state;
	assert_int_equal(ring->heap_allocs, calls);
	for (int i = 0; i < 1000; i++) {
		heap_free_all(a_block());
		assert_ptr_equal(heap_alloc_all(a_block(), 17), a_block());
		assert_ptr_equal(thread_self, ring);
	}
	assert_null(heap_alloc_all(NULL, 17));
	assert_int_equal(ring->committed, committed);
	assert_int_equal(ring->heap_allocs, calls + 1000);
	assert_int_equal(ring->heap_frees, 1000);
	assert_int_equal(ring->heap_alloc_bytes, (calls + 1000) * 24);
	assert_int_equal(thread_self->asked_bytes, (calls + 1000) * 17);
	assert_int_equal(ring->heap_free_bytes, 1000 * 24);
	assert_int_equal(ring->dropped[EVENT_HEAP_ALLOC], 1001);
	assert_int_equal(ring->dropped[EVENT_HEAP_FREE], 1000);
	assert_int_equal(ring->refused, 2001);
	end_full(session);
}

/* The clock is read once for so many refused calls. */
static void refused_calls_are_timed_now_and_then(void **state)
{
	struct ring *ring;
	struct session *session = begin_full(&ring);
	const uint64_t begun = ring->refused_from_ticks;
	uint64_t timed = 0, last = begun;

	(void)state;
	for (unsigned int i = 0; i < 10 * POOL_UNTIMED; i++) {
		heap_free_all(a_block());
		assert_true(ring->refused_to_ticks >= last);
		timed += ring->refused_to_ticks != last;
		last = ring->refused_to_ticks;
	}
	assert_in_range(timed, 9, 11);
	assert_int_equal(ring->refused_from_ticks, begun);
	end_full(session);
}

/* The first call after a chunk came back is recorded, behind the loss. */
static void recording_resumes_at_once(void **state)
{
	struct ring *ring;
	struct session *session = begin_full(&ring);
	struct ring_walk reader = {0};
	const struct event *event;
	uint64_t resumed_at;

	(void)state;
	for (int i = 0; i < 5; i++)
		heap_free_all(a_block());
	for (uint64_t i = 0; i < ring->committed; i++)
		assert_non_null(ring_walk_next(&reader, session, ring));
	pool_give(session, load_relaxed(&ring->first_chunk));
	heap_alloc_all(a_block(), 17);
	event = ring_walk_next(&reader, session, ring);
	assert_non_null(event);
	assert_int_equal(event->kind, EVENT_LOSS);
	assert_int_equal(event->loss.count, 6);
	event = ring_walk_next(&reader, session, ring);
	assert_non_null(event);
	assert_int_equal(event->kind, EVENT_HEAP_ALLOC);
	assert_int_equal(ring->refused, 0);
	resumed_at = event->start_ticks;
	/* The next run is one of its own. */
	while (!ring->refused)
		heap_free_all(a_block());
	heap_free_all(a_block());
	assert_int_equal(ring->refused, 2);
	assert_true(ring->refused_from_ticks > resumed_at);
	end_full(session);
}

/* A writer that sleeps is woken, whatever the run. */
static void refused_calls_wake_the_writer(void **state)
{
	struct ring *ring;
	struct session *session = begin_full(&ring);

	(void)state;
	store_relaxed(&session->head->writer_sleeps, 1);
	heap_free_all(a_block());
	assert_int_equal(load_relaxed(&session->head->writer_sleeps), 0);
	end_full(session);
}

/* --- samples -------------------------------------------------------------- */

/* More blocks live than the table has places: each such sample is counted, and
 * none once a place is free. */
static void samples_without_a_place_are_counted(void **state)
{
	struct session *session = fixture_begin(4);
	uintptr_t other = 16;
	struct ring *ring;

	(void)state;
	assert_true(samples_start());
	heap = (struct heap_settings){.large_bytes = UINT64_MAX,
				      .plain = true,
				      .sampled = true,
				      .sampled_fast = true,
				      .sample_mean = 1};
	gate_set(GATE_CLOSED | GATE_HEAP | GATE_HEAP_ALL);
	ring = &thread_here()->ring;
	heap_alloc_sampled(a_block(), 17);
	assert_int_equal(load_relaxed(&session->head->samples_refused), 0);
	assert_true(samples_take(a_block()));
	/* Its neighbours take its place, and all where it might go. */
	while (samples_add((void *)other))
		other += 16;
	for (uintptr_t end = other + (1 << 24); other < end; other += 16)
		samples_add((void *)other);
	for (int i = 0; i < 7; i++) {
		thread_self->sample_at = 1;
		heap_alloc_sampled(a_block(), 17);
	}
	assert_int_equal(load_relaxed(&session->head->samples_refused), 7);
	assert_int_equal(ring->heap_allocs, 8);
	assert_true(samples_start());
	end_full(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(header_says_what_libc_says),
		cmocka_unit_test(heads_are_asked_for),
		cmocka_unit_test(a_size_that_is_not_known_has_nothing_spare),
		cmocka_unit_test(refused_calls_are_counted),
		cmocka_unit_test(refused_calls_are_timed_now_and_then),
		cmocka_unit_test(recording_resumes_at_once),
		cmocka_unit_test(refused_calls_wake_the_writer),
		cmocka_unit_test(samples_without_a_place_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
