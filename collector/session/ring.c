/* SPDX-License-Identifier: MIT */
/*
 * ring.c - the cold half of a ring: next chunk, refusal, loss.
 *
 * A chunk change publishes in this order: the old chunk's end, then its link to
 * the new one, then (by the next commit) a tail inside the new chunk.  A reader
 * that sees the tail elsewhere therefore finds the way there.
 */
#include "collector/session/pool.h"

#include "collector/session/thread_self.h"
#include "collector/system/futex.h"
#include <errno.h>

/* Longest single wait for the writer under ON_FULL=wait, and all of them. */
#define WAIT_NS	   20000000
#define LONGEST_NS UINT64_C(5000000000)

static void wake_writer(struct session *session)
{
	struct session_header *head = session->head;
	const uint32_t sleeps = load_relaxed(&head->writer_sleeps);

	if (sleeps == WRITER_RESTS &&
	    pool_room(session) >= load_relaxed(&head->writer_wakes_below))
		return;
	if (sleeps &&
	    atomic_exchange_explicit(&head->writer_sleeps, WRITER_AWAKE,
				     memory_order_relaxed))
		futex_wake(&head->writer_sleeps);
}

/* A thread has waited in vain, and nobody does again until there was room: the
 * writer's disk may never answer, or its passes find nothing to give back. */
static _Atomic bool gave_up;

static uint64_t wait_for_chunk(struct session *session)
{
	struct session_header *head = session->head;
	const uint64_t end = clock_monotonic_ns() + LONGEST_NS;
	uint64_t at;

	do {
		const uint32_t passes = load_relaxed(&head->writer_passes);

		wake_writer(session);
		futex_wait(&head->writer_passes, passes, WAIT_NS);
		at = pool_take(session);
	} while (!at && clock_monotonic_ns() < end);
	return at;
}

/* A chunk from the pool; under ON_FULL=wait it lets the writer make room. */
static uint64_t take_chunk(struct session *session, const struct ring *ring)
{
	uint64_t at = pool_take(session);

	wake_writer(session);
	if (session->head->options.on_full != ON_FULL_WAIT)
		return at;
	if (unlikely(!at) && !ring->never_waits && !load_relaxed(&gave_up))
		at = wait_for_chunk(session);
	if (!ring->never_waits && load_relaxed(&gave_up) != !at)
		store_relaxed(&gave_up, !at);
	return at;
}

/* Draws the refused run at its place, now that there is room. */
static void commit_loss(struct ring *ring)
{
	struct event *event = ring_slot(ring, ring->next);

	*event = (struct event){.kind = EVENT_LOSS,
				.start_ticks = ring->refused_from_ticks,
				.end_ticks = ring->refused_to_ticks,
				.loss.count = ring->refused};
	ring->refused = 0;
	ring_commit(ring, 1, 1);
}

COLD struct event *ring_reserve_chunk(struct ring *ring, unsigned int slots)
{
	struct session *session = load_relaxed(&session_here);

	if (pool_is_shut(ring))
		return NULL;

	const int saved = errno;
	struct thread *was = thread_fill();
	uint64_t at = 0;

	if (session)
		at = take_chunk(session, ring);
	thread_unbusy(was);
	errno = saved;
	ring->shut = !at && session && pool_is_spent(session) &&
		     session->head->options.on_full != ON_FULL_WAIT;
	if (!at)
		return NULL;

	struct chunk *chunk = session_at(session, at);
	const uint64_t first = at + sizeof(*chunk);

	store_relaxed(&chunk->next, 0);
	chunk->end = 0;
	chunk->owner = ring->at;
	if (ring->chunk) {
		struct chunk *old = session_at(session, ring->chunk);

		old->end = ring->at + (uint64_t)ring->next;
		/* RELEASE pairs with ACQUIRE in the drain's step to the next
		 * chunk: it sees the end of the old one. */
		store_release(&old->next, at);
	} else {
		/* RELEASE pairs with ACQUIRE in the drain's first look. */
		store_release(&ring->first_chunk, at);
	}
	ring->chunk = at;
	ring->next = (int64_t)(first - ring->at);
	ring->stop = (int64_t)(at + CHUNK_BYTES - ring->at);
	if (unlikely(ring->refused))
		commit_loss(ring);
	(void)slots; /* a fresh chunk has room for any event */
	return ring_slot(ring, ring->next);
}

COLD void ring_refuse(struct ring *ring, enum event_kind kind, uint64_t ticks)
{
	if (!ring->refused++)
		ring->refused_from_ticks = ticks;
	ring->refused_to_ticks = ticks;
	ring->dropped[kind]++;
}
