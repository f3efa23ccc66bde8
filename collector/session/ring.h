/* SPDX-License-Identifier: MIT */
/*
 * ring.h - one-way queue of events from one program thread to the writer.
 *
 * Every recorded thread owns one ring.  The owner is its only producer and the
 * writer its only consumer, so one published position is all the
 * synchronisation there is: no lock, no compare-and-swap, no system call.
 *
 * The storage is a chain of chunks from one pool in the session
 * (collector/session/pool.h): small and in cache while the writer keeps up,
 * deep for bursts.  A chunk starts with a struct chunk; slots of one event
 * follow.
 *
 *	next	where the owner writes its next slot
 *	stop	end of the owner's chunk
 *	tail	everything before it is published; stored by the owner only
 *
 * All three are offsets from the start of the ring's own record, so that the
 * hook needs no base register; the writer turns them into session offsets by
 * adding `at`.  Nothing here is a pointer: another process can drain a ring
 * after its owner is dead.
 *
 * An event of two slots never straddles chunks: the rest of the chunk is left
 * unused and chunk.end says so.
 *
 * When neither the chunk nor the pool has room the event is refused, counted by
 * kind, and the run of refused events becomes one LOSS event at its place in
 * time as soon as there is room again.  A hook that would have to read the
 * clock to be refused does so for the first and then now and then
 * (pool_keeps_out()): so a run ends in the trace a few calls before it did.
 */
#ifndef COLLECTOR_RING_H
#define COLLECTOR_RING_H

#include "collector/session/event.h"

#define CHUNK_BYTES (64 * 1024)

/* What follows a chunk's head.  Owners make slots; the writer puts what is full
 * together (writer/history/pack.h). */
enum chunk_form {
	CHUNK_RAW,     /* slots, as the hooks left them */
	CHUNK_PACKED,  /* groups of packed events */
	CHUNK_SPOOLED, /* places of such groups in a file */
	CHUNK_FORMS
};

struct chunk {
	_Atomic uint64_t next; /* session offset of the next chunk, 0 none yet;
				  in the pool: the next free one; of the
				  writer's forms: bytes used << 40 besides */
	uint64_t end;	/* session offset after the last slot used; valid once
			 `next` is set; of slots */
	uint64_t owner; /* session offset of the thread record, 0 free */
	uint64_t form;	/* enum chunk_form */
	uint64_t pad[4];
};

#define CHUNK_USED_SHIFT 40
#define CHUNK_NEXT_MASK	 ((UINT64_C(1) << CHUNK_USED_SHIFT) - 1)

_Static_assert(sizeof(struct chunk) == sizeof(struct event),
	       "a chunk's head takes one slot");

struct ring {
	/* Owner's line, with the heap counters that each call updates. */
	_Alignas(CACHE_LINE) int64_t next;
	int64_t stop;
	_Atomic int64_t tail; /* 0: nothing was ever published */
	uint64_t committed;   /* events ever published */
	uint64_t heap_allocs; /* calls that returned a block */
	uint64_t heap_frees;  /* calls that freed one */
	uint64_t heap_alloc_bytes;
	uint64_t heap_free_bytes;

	/* Owner's second line: rarely touched. */
	_Alignas(CACHE_LINE) uint64_t at; /* session offset of this ring */
	uint64_t chunk;			  /* session offset, 0 none yet */
	_Atomic uint64_t first_chunk;	  /* where a reader that has read
					     nothing begins; 0 none yet */
	uint64_t refused;		  /* of the present run */
	uint64_t refused_from_ticks;
	uint64_t refused_to_ticks;
	uint64_t never_waits; /* the owner is the writer itself */
	uint64_t shut;	      /* 1: all of the session is handed out, events are
			  dropped, and only a chunk that comes back helps */

	/* Owner adds, anyone reads. */
	uint64_t dropped[EVENT_KIND_COUNT];
};

static inline struct event *ring_slot(struct ring *ring, int64_t offset)
{
	return (struct event *)((char *)ring + offset);
}

/* Cold half of ring_reserve(): takes the next chunk.  NULL when there is none;
 * with ON_FULL=wait it waits for the writer first. */
struct event *ring_reserve_chunk(struct ring *ring, unsigned int slots);

/* Owner: `slots` consecutive free slots to fill in place (1 or 2), or NULL when
 * there is no room; the caller then calls ring_refuse().  Nothing is visible to
 * the writer before ring_commit(). */
static inline struct event *ring_reserve(struct ring *ring, unsigned int slots)
{
	const int64_t next = ring->next;

	if (unlikely(next + (int64_t)(slots * sizeof(struct event)) >
		     ring->stop))
		return ring_reserve_chunk(ring, slots);
	return ring_slot(ring, next);
}

/* Owner: publish the slots last returned by ring_reserve(), holding `events`
 * events (two slots may be one event or two). */
static inline void ring_commit(struct ring *ring, unsigned int slots,
			       unsigned int events)
{
	const int64_t next =
		ring->next + (int64_t)(slots * sizeof(struct event));

	ring->next = next;
	ring->committed += events;
	/* RELEASE pairs with ACQUIRE in ring_published(): whoever sees the new
	 * tail sees the whole event too, in this process or after its death. */
	store_release(&ring->tail, next);
}

/* Owner: count one event that found no room. */
void ring_refuse(struct ring *ring, enum event_kind kind, uint64_t ticks);

/* Owner: the same in the middle of a run, without a look at the clock. */
static inline void ring_refuse_again(struct ring *ring, enum event_kind kind)
{
	ring->refused++;
	ring->dropped[kind]++;
}

/* Writer: the session offset after the last published slot, 0 if none. */
static inline uint64_t ring_published(struct ring *ring)
{
	/* ACQUIRE pairs with RELEASE in ring_commit(). */
	const int64_t tail = load_acquire(&ring->tail);

	return tail ? ring->at + (uint64_t)tail : 0;
}

#endif
