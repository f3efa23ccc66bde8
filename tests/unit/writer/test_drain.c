/* SPDX-License-Identifier: MIT */
/* test_drain.c - reading a ring that may be damaged. */
#include "tests/unit/sample_session.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reader_follows_the_chunks),
		cmocka_unit_test(an_event_of_two_slots_is_one),
		cmocka_unit_test(a_damaged_chain_ends_the_walk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
