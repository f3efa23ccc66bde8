/* SPDX-License-Identifier: MIT */
/*
 * thin.h - TRACEPROF_MAX_OVERHEAD: what a thread's calls cost it is bounded.
 *
 * Each thread keeps a small table of its call sites of OpenMP: what they are,
 * and how often they came.  Once in THIN_CALLS calls it looks back at how long
 * those took and what recording them cost, by the figures that the writer
 * measured (struct session_cost).  Where that is more than its share, the sites
 * that cost most are thinned: first waits, of which only long ones are drawn
 * any more, then explicit tasks, their creations and what is held likewise
 * (thin_tasks.h), then regions, of which every second is, every fourth, and so
 * on.  A site that comes seldom is left alone, so what a program does once a
 * step stays.
 *
 * A call that is thinned is added to its site's sums: count, total, least and
 * most.  At each look they go into the ring, one event for each site
 * (EVENT_OMP_THINNED), and so they do when another window opens
 * (gate_openings()).  While the writer searches for the step, which is to see
 * each region, and where windows are cut from what is kept, a call leaves a
 * mark of eight bytes instead, its site, start and length, of which four are an
 * event.  So totals are exact, whatever is thinned.
 *
 * Counts decide, and the clock no more than it must: one in 2^n is drawn, and a
 * change takes THIN_OVER looks in a row that are for it, the way back
 * THIN_UNDER with less than half of the share.  All masks change at once and
 * begin to count anew, so the regions that are drawn follow each other.
 *
 * TRACEPROF_MALLOC=all: each time a thread has filled a chunk it looks at its
 * heap calls likewise.  What they cost may run ahead of the share by a second's
 * worth; then one small block in so many is drawn by all threads from then on,
 * chosen by its address, so that its free is too.  Those passed over are
 * counted by their thread, and the next event of the same kind tells how many
 * they were.  It goes back when no thread needed it for a second: what fewer of
 * them would have cost was then less than half of each one's share.  The file
 * says the most that was ever passed over: the blocks that were chosen then are
 * those that were drawn all the time.
 */
#ifndef COLLECTOR_THIN_H
#define COLLECTOR_THIN_H

#include "collector/session/gate.h"
#include "collector/session/thread.h"

#define THIN_CALLS     1024u
#define THIN_OVER      2u
#define THIN_UNDER     8u
/* Of no site is less drawn than one in so many; a mask. */
#define THIN_MOST      1023u
/* A task or a wait is drawn if that many times what its slice costs is within
 * the share: thin_tasks.h. */
#define THIN_LONG      10u
/* Of which window sums are that are not kept. */
#define THIN_NO_WINDOW UINT32_MAX
/* Of waits and tasks what is short never is. */
#define THIN_ALL       UINT32_MAX

/* By which a block is chosen; the file says so (trace-format.md). */
static inline uint32_t thin_heap_number(uint64_t address)
{
	return (uint32_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> 40);
}

/* A chunk is full, or THIN_CALLS of a kind were passed over; not from within a
 * handler of signals. */
void thin_heap_look(struct thread *thread, struct session *session);

/* Where all small blocks are not drawn: is this one passed over? */
static inline bool thin_heap_skips(const void *block)
{
	const struct session *session = load_relaxed(&session_here);

	return session && (thin_heap_number((uint64_t)(uintptr_t)block) &
			   load_relaxed(&session->head->heap_mask));
}

/* A new owner of a record; nothing is thinned. */
void thin_start(struct thread *thread);

/* Owner: the marks and sums that wait go into the ring. */
void thin_flush(struct thread *thread);

/* The cold halves of what follows. */
struct thin_site *thin_site_find(struct thread *thread, uint64_t code,
				 uint64_t what);
void thin_look(struct thread *thread, uint64_t now_ticks);

static inline struct thin_site *thin_sites(const struct thread *thread)
{
	return (struct thin_site *)((char *)thread + thread->thin.sites);
}

static inline uint32_t thin_hash(uint64_t code, uint64_t what)
{
	return (uint32_t)((code ^ what) * UINT64_C(0x9e3779b97f4a7c15) >> 56);
}

_Static_assert(THIN_SITES == 1u << (64 - 56), "all bits of the hash");

/* The site of a region or a wait on this thread; NULL: it is never thinned. */
static inline struct thin_site *thin_site(struct thread *thread,
					  enum event_kind kind, uint64_t code,
					  uint32_t outlined, unsigned int sync)
{
	const uint64_t what =
		outlined | (uint64_t)kind << 32 | (uint64_t)sync << 48;
	struct thin_site *site;

	if (unlikely(thread->thin.is_off))
		return NULL;
	/* Without a table the record lies there, and no code. */
	site = &thin_sites(thread)[thin_hash(code, what)];
	if (likely(site->what == what && site->code == code &&
		   thread->thin.sites))
		return site;
	return thin_site_find(thread, code, what);
}

/* A call of the site: true if it is to leave a mark and nothing else. */
static inline bool thin_skips(struct thread *thread, struct thin_site *site)
{
	if (unlikely(!site))
		return false;
	if (unlikely(!--thread->thin.left))
		thin_look(thread, clock_ticks());
	return (site->calls++ - site->base) & site->mask;
}

/* Adds the call where nothing has to be looked at first: what most are. */
static inline bool thin_add(struct thread *thread, struct thin_site *site,
			    uint64_t start_ticks, uint64_t end_ticks)
{
	struct thin *thin = &thread->thin;
	const uint64_t took = end_ticks - start_ticks;

	if (unlikely(thin->window != gate_openings() || took > UINT32_MAX ||
		     start_ticks < thin->window_ticks))
		return false;
	thread_fill();
	site->count++;
	site->sum += took;
	if (~(uint32_t)took > site->above)
		site->above = ~(uint32_t)took;
	if (took > site->most)
		site->most = (uint32_t)took;
	thin->marked++;
	thread->ring.committed++;
	thread_unbusy(thread);
	return true;
}

/* The same where that said false.  False: it is to be an event after all, since
 * no mark would hold it, or it began in another window. */
bool thin_mark(struct thread *thread, struct thin_site *site,
	       uint64_t start_ticks, uint64_t end_ticks);

/* What waits of a thread's sums, as the event that it will be; `first` is the
 * number of the first call. */
static inline struct event thin_sums(const struct thin *thin,
				     const struct thin_site *sites, uint32_t at,
				     uint64_t first, uint64_t end_ticks)
{
	const struct thin_site *site = &sites[at];

	return (struct event){
		.kind = EVENT_OMP_THINNED,
		.flags = EVENT_IN_SUMS,
		.name = site->count,
		.outlined_offset = at,
		.extra = (uint32_t)first,
		.start_ticks = thin->sums_ticks,
		.end_ticks = end_ticks,
		.words = {[EVENT_SUM_ALL] = site->sum,
			  [EVENT_SUM_LEAST] = ~site->above,
			  [EVENT_SUM_MOST] = site->most},
	};
}

/* The number of the first call whose sum waits. */
uint64_t thin_first(const struct thin *thin, const struct thin_site *sites);

#endif
