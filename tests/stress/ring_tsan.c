/* SPDX-License-Identifier: MIT */
/*
 * ring_tsan.c - one producer and one consumer over a real session, to be built
 * with ThreadSanitizer.
 *
 *	ring_tsan [events]
 *
 * The producer fills its ring through the functions that hooks call, with
 * events of one and two slots; the consumer follows the chunks as the writer
 * does and gives each back to the pool once it has read it.  The session is so
 * small that chunks are used again and again.  Order and content of every event
 * are checked.
 *
 * tests/stress/run builds this as it is, where ThreadSanitizer must find
 * nothing, and once for each memory order in ring and pool weakened to relaxed,
 * where it must find a race.
 */
#include "collector/session/pool.h"
#include "collector/session/thread.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct session *session;
static _Atomic uint64_t ring_at; /* session offset, once there is one */
static uint64_t total = 1000000;

static void fail(const char *what, uint64_t number)
{
	fprintf(stderr, "event %llu: %s\n", (unsigned long long)number, what);
	_exit(2);
}

/* Every third event takes two slots. */
static unsigned int slots_of(uint64_t number)
{
	return number % 3 == 2 ? 2 : 1;
}

static void fill(struct event *event, uint64_t number)
{
	const unsigned int slots = slots_of(number);

	event[0].kind = EVENT_MARK;
	event[0].flags = slots == 2 ? EVENT_TWO_SLOTS : 0;
	event[0].start_ticks = number;
	event[0].end_ticks = ~number;
	for (int i = 0; i < 4; i++)
		event[0].words[i] = number * (uint64_t)(i + 3);
	if (slots == 2)
		event[1].start_ticks = number ^ UINT64_C(0x5555555555555555);
}

static void check(const struct event *event, uint64_t number)
{
	if (event[0].kind != EVENT_MARK || event[0].start_ticks != number)
		fail("out of order", number);
	if (event[0].end_ticks != ~number)
		fail("torn", number);
	for (int i = 0; i < 4; i++) {
		if (event[0].words[i] != number * (uint64_t)(i + 3))
			fail("torn payload", number);
	}
	if (slots_of(number) == 2 &&
	    event[1].start_ticks != (number ^ UINT64_C(0x5555555555555555)))
		fail("second slot not there", number);
}

static void *produce(void *arg)
{
	struct thread *thread = thread_here();

	if (!thread)
		fail("no thread record", 0);
	/* Relaxed on purpose: the ring's own orders must do. */
	store_relaxed(&ring_at, thread->ring.at);
	for (uint64_t number = 0; number < total; number++) {
		const unsigned int slots = slots_of(number);
		struct event *event = ring_reserve(&thread->ring, slots);

		if (!event)
			fail("refused, with ON_FULL=wait", number);
		fill(event, number);
		ring_commit(&thread->ring, slots, 1);
	}
	return arg;
}

struct consumer {
	struct ring *ring;
	uint64_t chunk;
	uint64_t at;
	uint64_t number;
	uint64_t chunks;
	bool slow; /* in this pass */
};

/* The first chunk, and its head before anything is published in it. */
static void begin(struct consumer *consumer)
{
	uint64_t at;

	while (!(at = load_relaxed(&ring_at)))
		sched_yield();
	consumer->ring = session_at(session, at);
	/* ACQUIRE pairs with RELEASE in ring_reserve_chunk(). */
	while (!(consumer->chunk = load_acquire(&consumer->ring->first_chunk)))
		sched_yield();
	if (((struct chunk *)session_at(session, consumer->chunk))->owner != at)
		fail("first chunk is not the ring's", 0);
	consumer->at = consumer->chunk + sizeof(struct chunk);
}

/* A writer that is interrupted goes on with a limit that is old, in a chunk
 * that the producer has left meanwhile. */
static void dawdle(const struct consumer *consumer)
{
	struct chunk *chunk = session_at(session, consumer->chunk);

	for (int i = 0; i < 50 && !load_relaxed(&chunk->next); i++)
		nanosleep(&(struct timespec){0, 100000}, NULL);
}

/* Reads on to `limit`, a tail that was seen before. */
static void consume(struct consumer *consumer, uint64_t limit)
{
	while (consumer->at != limit) {
		struct chunk *chunk = session_at(session, consumer->chunk);

		if (consumer->slow && limit - consumer->chunk < CHUNK_BYTES) {
			consumer->slow = false;
			dawdle(consumer);
		}
		/* ACQUIRE pairs with RELEASE in ring_reserve_chunk(). */
		const uint64_t next = load_acquire(&chunk->next);

		if (next && consumer->at == chunk->end) {
			pool_give(session, consumer->chunk);
			consumer->chunk = next;
			consumer->at = next + sizeof(*chunk);
			consumer->chunks++;
			continue;
		}
		check(session_at(session, consumer->at), consumer->number);
		consumer->at +=
			slots_of(consumer->number++) * sizeof(struct event);
	}
}

/* As the writer ends a pass. */
static void end_pass(struct session_header *head)
{
	add_relaxed(&head->writer_passes, 1);
	syscall(SYS_futex, &head->writer_passes, FUTEX_WAKE, INT_MAX, NULL,
		NULL, 0);
}

int main(int count, char **arguments)
{
	struct consumer consumer = {0};
	struct options options;
	unsigned int passes = 0;
	pthread_t producer;

	if (count > 1)
		total = strtoull(arguments[1], NULL, 10);
	options_default(&options);
	options.buffer_mb = 4;
	options.on_full = ON_FULL_WAIT;
	if (session_create(&options, "stress", &session))
		return 3;
	/* Backed whole and without a name: a race found ends us at once. */
	session_grow(session, session->bytes);
	session_unlink(session);
	store_relaxed(&session_here, session);
	pthread_create(&producer, NULL, produce, NULL);
	begin(&consumer);
	while (consumer.number < total) {
		const uint64_t limit = ring_published(consumer.ring);

		consumer.slow = passes++ % 8 == 0;
		if (limit)
			consume(&consumer, limit);
		end_pass(session->head);
	}
	pthread_join(producer, NULL);
	printf("%llu events in order, %llu chunks read, %u in the pool\n",
	       (unsigned long long)consumer.number,
	       (unsigned long long)consumer.chunks,
	       load_relaxed(&session->head->chunk_count));
	return 0;
}
