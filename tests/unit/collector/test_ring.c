/* SPDX-License-Identifier: MIT */
/*
 * test_ring.c - events of one and two slots through chunks, and what happens to
 * those that find no room.
 */
#include "tests/unit/session_fixture.h"

#include "collector/session/pool.h"
#include <pthread.h>
#include <unistd.h>
#include <string.h>

#define SLOTS_PER_CHUNK ((int)(CHUNK_BYTES / sizeof(struct event)) - 1)

static struct session *session;
static struct ring *ring;

static int set_up(void **state)
{
	(void)state;
	session = fixture_begin(4);
	ring = &thread_here()->ring;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fixture_end(session);
	return 0;
}

/* One event that carries its number in both slots; 0 when it was refused. */
static int put(uint64_t number, unsigned int slots)
{
	struct event *event = ring_reserve(ring, slots);

	if (!event) {
		ring_refuse(ring, EVENT_MARK, number);
		return 0;
	}
	event[0] = (struct event){.kind = EVENT_MARK,
				  .flags = slots == 2 ? EVENT_TWO_SLOTS : 0,
				  .start_ticks = number};
	if (slots == 2)
		event[1] = (struct event){.start_ticks = ~number};
	ring_commit(ring, slots, 1);
	return 1;
}

static void test_nothing_is_seen_before_the_commit(void **state)
{
	struct ring_walk reader = {0};
	struct event *event;

	(void)state;
	assert_int_equal(ring_published(ring), 0);
	event = ring_reserve(ring, 1);
	assert_non_null(event);
	assert_int_equal((uintptr_t)event % CACHE_LINE, 0);
	event->kind = EVENT_MARK;
	assert_null(ring_walk_next(&reader, session, ring));
	/* Reserved and not committed: the same slot again. */
	assert_ptr_equal(ring_reserve(ring, 1), event);
	ring_commit(ring, 1, 1);
	assert_ptr_equal(ring_walk_next(&reader, session, ring), event);
	assert_null(ring_walk_next(&reader, session, ring));
	assert_int_equal(ring->committed, 1);
}

static void test_events_cross_chunks_in_order(void **state)
{
	struct ring_walk reader = {0};
	const uint64_t count = 10 * (uint64_t)SLOTS_PER_CHUNK + 7;

	(void)state;
	for (uint64_t i = 0; i < count; i++)
		assert_true(put(i, 1));
	for (uint64_t i = 0; i < count; i++) {
		const struct event *event =
			ring_walk_next(&reader, session, ring);

		assert_non_null(event);
		assert_int_equal(event->start_ticks, i);
	}
	assert_null(ring_walk_next(&reader, session, ring));
	assert_int_equal(reader.chunks_left, 10);
	assert_int_equal(ring->committed, count);
	assert_int_equal(load_relaxed(&session->head->chunk_count), 11);
}

static void test_a_reader_at_a_chunks_end_waits_for_the_next(void **state)
{
	struct ring_walk reader = {0};

	(void)state;
	for (int i = 0; i < SLOTS_PER_CHUNK; i++)
		put((uint64_t)i, 1);
	for (int i = 0; i < SLOTS_PER_CHUNK; i++)
		assert_non_null(ring_walk_next(&reader, session, ring));
	assert_null(ring_walk_next(&reader, session, ring));
	assert_non_null(ring_reserve(ring, 1)); /* links, commits nothing */
	assert_null(ring_walk_next(&reader, session, ring));
	put(4711, 1);
	assert_int_equal(ring_walk_next(&reader, session, ring)->start_ticks,
			 4711);
}

static void test_two_slots_never_straddle_chunks(void **state)
{
	struct ring_walk reader = {0};
	const struct event *event;

	(void)state;
	/* An odd number of slots: one is left over. */
	for (int i = 0; i < SLOTS_PER_CHUNK - 1; i++)
		put((uint64_t)i, 1);
	assert_true(put(5000, 2));
	assert_true(put(5001, 1));
	for (int i = 0; i < SLOTS_PER_CHUNK - 1; i++)
		assert_non_null(ring_walk_next(&reader, session, ring));
	event = ring_walk_next(&reader, session, ring);
	assert_int_equal(event[0].start_ticks, 5000);
	assert_int_equal(event[1].start_ticks, ~UINT64_C(5000));
	assert_int_equal((session_offset(session, event) - reader.chunk),
			 sizeof(struct chunk));
	assert_int_equal(ring_walk_next(&reader, session, ring)->start_ticks,
			 5001);
	assert_int_equal(ring->committed, SLOTS_PER_CHUNK + 1);
}

static void test_two_slots_fill_a_chunk_to_its_end(void **state)
{
	struct ring_walk reader = {0};

	(void)state;
	put(0, 1);
	for (int i = 1; i <= SLOTS_PER_CHUNK / 2; i++)
		assert_true(put((uint64_t)i, 2));
	assert_int_equal(ring->next, ring->stop);
	assert_true(put(999, 2));
	for (int i = 0; i <= SLOTS_PER_CHUNK / 2; i++) {
		const struct event *event =
			ring_walk_next(&reader, session, ring);

		assert_int_equal(event->start_ticks, i);
	}
	assert_int_equal(ring_walk_next(&reader, session, ring)->start_ticks,
			 999);
}

static uint64_t fill(void)
{
	uint64_t count = 0;

	while (ring_reserve(ring, 1)) {
		put(count, 1);
		count++;
	}
	return count;
}

static void test_a_full_ring_refuses_and_counts_by_kind(void **state)
{
	const uint64_t count = fill();

	(void)state;
	assert_int_equal(count % (uint64_t)SLOTS_PER_CHUNK, 0);
	assert_in_range(count * sizeof(struct event), 4 << 20, 6 << 20);
	assert_int_equal(pool_room(session), 0);
	for (int i = 0; i < 5; i++)
		assert_null(ring_reserve(ring, 1));
	ring_refuse(ring, EVENT_MARK, 1);
	ring_refuse(ring, EVENT_OMP_WAIT, 2);
	ring_refuse(ring, EVENT_MARK, 3);
	assert_int_equal(ring->dropped[EVENT_MARK], 2);
	assert_int_equal(ring->dropped[EVENT_OMP_WAIT], 1);
	assert_int_equal(ring->dropped[EVENT_SCOPE], 0);
	assert_int_equal(ring->committed, count);
}

static void test_a_loss_is_drawn_at_its_place(void **state)
{
	struct ring_walk reader = {0};
	const uint64_t count = fill();
	const uint64_t first = load_relaxed(&ring->first_chunk);
	const struct event *event;

	(void)state;
	put(7000, 1);
	put(7001, 2);
	put(7002, 1);
	for (int i = 0; i < SLOTS_PER_CHUNK; i++)
		assert_non_null(ring_walk_next(&reader, session, ring));
	/* The reader leaves the first chunk, and it goes back to the pool. */
	assert_int_equal(ring_walk_next(&reader, session, ring)->start_ticks,
			 SLOTS_PER_CHUNK);
	pool_give(session, first);
	assert_true(put(8000, 2));
	for (uint64_t i = (uint64_t)SLOTS_PER_CHUNK + 1; i < count; i++)
		assert_int_equal(
			ring_walk_next(&reader, session, ring)->start_ticks, i);
	event = ring_walk_next(&reader, session, ring);
	assert_int_equal(event->kind, EVENT_LOSS);
	assert_int_equal(event->start_ticks, 7000);
	assert_int_equal(event->end_ticks, 7002);
	assert_int_equal(event->loss.count, 3);
	event = ring_walk_next(&reader, session, ring);
	assert_int_equal(event->start_ticks, 8000);
	assert_null(ring_walk_next(&reader, session, ring));
	assert_int_equal(reader.chunk, first);
	/* Drawn once: the next run begins at 0. */
	assert_int_equal(ring->refused, 0);
	assert_int_equal(ring->dropped[EVENT_MARK], 3);
	assert_int_equal(ring->committed, count + 2);
}

/* Stands for the writer under ON_FULL=wait: gives one chunk back, late. */
static void *give_later(void *arg)
{
	const struct timespec moment = {0, 30000000};

	nanosleep(&moment, NULL);
	pool_give(session, *(uint64_t *)arg);
	add_relaxed(&session->head->writer_passes, 1);
	return NULL;
}

static void test_on_full_wait_waits_for_the_writer(void **state)
{
	uint64_t first;
	pthread_t id;

	(void)state;
	fill();
	first = load_relaxed(&ring->first_chunk);
	session->head->options.on_full = ON_FULL_WAIT;
	pthread_create(&id, NULL, give_later, &first);
	assert_true(put(1, 1));
	pthread_join(id, NULL);
	assert_int_equal(ring->dropped[EVENT_MARK], 0);
	assert_int_equal(ring->chunk, first);
}

/* A writer that makes no pass is waited for once, not at each event. */
static void test_on_full_wait_does_not_wait_for_ever(void **state)
{
	(void)state;
	fill();
	session->head->options.on_full = ON_FULL_WAIT;
	alarm(60);
	for (int i = 0; i < 200; i++)
		assert_false(put(1, 1));
	alarm(0);
	assert_int_equal(ring->dropped[EVENT_MARK], 200);
}

/* Nor is one whose passes give nothing back, as while events wait for a core;
 * and it is waited for again once it has. */
static void test_on_full_wait_needs_more_than_passes(void **state)
{
	struct chunk *chunk;
	uint64_t first, second;
	pthread_t id;

	(void)state;
	fill();
	first = load_relaxed(&ring->first_chunk);
	chunk = session_at(session, first);
	second = load_relaxed(&chunk->next);
	session->head->options.on_full = ON_FULL_WAIT;
	alarm(60);
	for (int i = 0; i < 200; i++) {
		assert_false(put(1, 1));
		add_relaxed(&session->head->writer_passes, 1);
	}
	alarm(0);
	pool_give(session, first);
	for (int i = 0; i < SLOTS_PER_CHUNK - 1; i++)
		assert_true(put(1, 1)); /* behind the loss */
	pthread_create(&id, NULL, give_later, &second);
	assert_true(put(1, 1));
	pthread_join(id, NULL);
}

static void test_taking_a_chunk_wakes_the_writer(void **state)
{
	(void)state;
	store_relaxed(&session->head->writer_sleeps, 1);
	put(1, 1);
	assert_int_equal(load_relaxed(&session->head->writer_sleeps), 0);
	store_relaxed(&session->head->writer_sleeps, 1);
	put(2, 1); /* within the chunk: nobody is woken */
	assert_int_equal(load_relaxed(&session->head->writer_sleeps), 1);
}

static void test_a_record_stays_its_threads_after_a_chunk_change(void **state)
{
	struct thread *thread = thread_self;

	(void)state;
	put(1, 1);
	assert_ptr_equal(thread_self, thread);
	assert_int_equal(
		((struct chunk *)session_at(session, ring->chunk))->owner,
		ring->at);
}

#define RING_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RING_TEST(test_nothing_is_seen_before_the_commit),
		RING_TEST(test_events_cross_chunks_in_order),
		RING_TEST(test_a_reader_at_a_chunks_end_waits_for_the_next),
		RING_TEST(test_two_slots_never_straddle_chunks),
		RING_TEST(test_two_slots_fill_a_chunk_to_its_end),
		RING_TEST(test_a_full_ring_refuses_and_counts_by_kind),
		RING_TEST(test_a_loss_is_drawn_at_its_place),
		RING_TEST(test_on_full_wait_waits_for_the_writer),
		RING_TEST(test_on_full_wait_does_not_wait_for_ever),
		RING_TEST(test_on_full_wait_needs_more_than_passes),
		RING_TEST(test_taking_a_chunk_wakes_the_writer),
		RING_TEST(test_a_record_stays_its_threads_after_a_chunk_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
