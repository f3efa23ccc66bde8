/* SPDX-License-Identifier: MIT */
/*
 * thread.h - the session's record of one program thread.
 *
 * A record starts with the thread's ring, holds its heap counters and the stack
 * of its open slices, so that a kill or a checkpoint can show the call that
 * never returned, and what the writer keeps about it.  Records are pushed on a
 * list and never leave it:
 *
 *	FREE -> LIVE	thread_enter(), compare-and-swap: a new thread takes it
 *	LIVE -> RETIRED	thread_leave(), at the end of the thread
 *	RETIRED -> FREE	the writer, when it has drained the ring
 *
 * Counters (heap, committed, dropped) are never reset on reuse: only sums over
 * all records mean something.
 */
#ifndef COLLECTOR_THREAD_H
#define COLLECTOR_THREAD_H

#include "collector/session/ring.h"
#include "collector/session/session.h"
#include "collector/session/thread_self.h"

#define OPEN_SLICES_MAX	  64u
#define THREAD_NAME_BYTES 32

enum thread_state { THREAD_FREE, THREAD_LIVE, THREAD_RETIRED };

/* A call that has begun and not ended. */
struct open_slice {
	uint64_t start_ticks;
	uint64_t code; /* OpenMP: what names it */
	uint64_t region;
	union {
		struct {
			uint32_t name; /* interned; OpenMP: the event's
					  `extra` */
			uint16_t kind; /* enum event_kind */
			uint16_t sync; /* enum omp_sync */
		};
		uint64_t what;
	};
};

/* The `code` of an open SCOPE that is an operator of PyTorch; that of others
 * says whose they are. */
#define OPEN_OPERATOR 2u

/* Written at once: a processor that is to read in one what it wrote in parts
 * first waits for each write before, also for lines that others have. */
static inline uint64_t open_slice_what(uint32_t name, unsigned int kind,
				       unsigned int sync)
{
	return name | (uint64_t)kind << 32 | (uint64_t)sync << 48;
}

/* A wait at a region's end, which begins where the master's share ended: that
 * is the open slice before it. */
static inline bool open_slice_ends_share(const struct open_slice *slice)
{
	return slice->kind == EVENT_OMP_WAIT &&
	       slice->sync == OMP_SYNC_REGION_END &&
	       slice[-1].kind == EVENT_OMP_IMPLICIT;
}

/* Where on the stack a region's slice was opened, so that one that was left by
 * a long jump is told from one that is still open. */
struct open_frame {
	uint32_t at;	/* address over 16, modulo 64 GiB; 0 not known */
	uint32_t start; /* of start_ticks: whose frame it is */
};

/* A worker's wait at a region's end: begun, its end not known yet.  Kept in
 * the session so that recovery can finish it. */
struct pending_wait {
	uint64_t region; /* 0 none */
	uint64_t code;
	uint64_t start_ticks;
	uint64_t until_ticks; /* the thread's next event, 0 none yet */
};

/* A call site of OpenMP as its thread counts it: see thin.h.  A line each. */
#define THIN_SITES 256u

struct thin_site {
	uint64_t code; /* this and what follows as in the events of its calls */
	union {
		struct {
			uint32_t outlined;
			uint16_t kind; /* enum event_kind; 0: free */
			uint16_t sync;
		};
		uint64_t what;
	};
	uint32_t outer;
	uint32_t mask;	 /* one in mask + 1 is drawn */
	uint32_t calls;	 /* all, modulo 2^32; */
	uint32_t base;	 /* as of the last change of a mask, */
	uint32_t looked; /* and of the last look */
	uint32_t team;	 /* members of the last region drawn; 0: one */
	uint32_t wanted; /* scratch of the look: a mask */
	uint32_t count;	 /* thinned since they were last told of, */
	uint64_t sum;	 /* their ticks, */
	uint32_t above;	 /* UINT32_MAX less the fewest, */
	uint32_t most;	 /* and the most */
};

_Static_assert(sizeof(struct thin_site) == CACHE_LINE, "one site, one line");

/* Where a thread's explicit tasks stand: see thin_tasks.h. */
struct thin_frame {
	uint64_t covered; /* ticks of tasks that were drawn, ever */
	uint64_t bare;	  /* of those that were not, since what is open began */
	uint64_t idle;	  /* of waits that were not drawn, ever */
	int64_t next;	  /* ring.next */
};

struct thin {
	struct event marks; /* those that are not in the ring yet */
	uint64_t sites;	    /* THIN_SITES of them, from the record; 0 not yet */
	uint64_t marked;    /* calls that were thinned, ever */
	uint64_t marked_ps; /* what those cost up to the last look */
	uint64_t since_ticks;  /* the last look, 0 none */
	uint64_t window_ticks; /* what began before it is in no sum, */
	uint64_t sums_ticks;   /* and in none of those that wait */
	uint32_t window;       /* gate_openings() of the sums */
	uint32_t sums;	       /* 1: they are kept, nobody needs marks */
	uint32_t left;	       /* calls until the next look */
	uint32_t is_off;       /* no bound, or no room */
	uint32_t over, under;  /* looks in a row that would change masks */
	uint32_t used;	       /* sites, which lie at these places */
	uint8_t place[THIN_SITES];

	uint64_t heap_skipped[2]; /* allocations and frees that are no events */
	uint64_t heap_calls;	  /* as of the last look at them, */
	uint64_t heap_since;	  /* its ticks, 0 none yet, */
	int64_t heap_left_ps;	  /* and what they may cost beyond the share */

	struct thin_frame frame;
	uint64_t wait_ticks;  /* the start of a wait that is on no open slice */
	uint64_t long_ticks;  /* what takes that long is drawn all the same */
	uint64_t bare_region; /* of the last one in `frame.bare`, */
	uint64_t bare_code;   /* of the first, 0 there are too many, */
	uint64_t bare_other;  /* and of one that differs */
};

/* What the writer has done with a thread; double like the checkpoint. */
struct thread_progress {
	uint64_t head; /* next slot to read, as drain_pack() makes it */
	struct pending_wait pending;
	uint64_t named_in_file; /* file_index in which its lane is named */
	uint64_t loss_drawn;	/* refused events already drawn */
	int64_t heap_live;	/* last thread_live seen in an event */
	uint64_t marks_taken;	/* of thin.marked */
	uint64_t heap_taken[2]; /* of thin.heap_skipped */
};

struct thread {
	struct ring ring;

	_Alignas(CACHE_LINE) _Atomic uint32_t depth; /* open slices, may
							exceed the array */
	_Atomic uint32_t state;
	uint32_t tid;
	uint32_t beside;	/* no thread, but what XLA says of the one with
				   this tid; 0: a thread */
	uint64_t region;	/* the last one that it began, 0 none */
	_Atomic uint64_t next;	/* session offset of the next older record */
	uint64_t place;		/* in the list: one more than the next's */
	uint64_t started_ticks; /* of the present owner */
	uint64_t generation;	/* owners so far */
	uint64_t is_named;	/* by the program: the writer leaves it */
	uint64_t trains;	/* a model: torch_phases.c */
	uint64_t asked_bytes;	/* for the blocks in ring.heap_alloc_bytes */
	uint64_t sample_at;	/* ring.heap_alloc_bytes with the next sample */
	uint64_t sample_state;	/* of random numbers, 0 none yet */
	uint64_t stack_low;	/* where its stack may be walked, to ... */
	uint64_t stack_high;	/* ... here; 0: nowhere */
	uint64_t has_stack;	/* an event says where it lies */
	uint64_t python_at;	/* its python_stack in the session, 0 none */
	uint64_t gpu_call;	/* that may begin a step: cupti_callbacks.c */
	char name[THREAD_NAME_BYTES]; /* as of the last look */

	struct open_slice open[OPEN_SLICES_MAX];
	struct open_frame frame[OPEN_SLICES_MAX];
	struct thin_frame around[OPEN_SLICES_MAX]; /* of libomp's: as they began
						    */

	_Alignas(CACHE_LINE) struct thin thin;

	_Alignas(CACHE_LINE) struct thread_progress progress[2];
};

_Static_assert(offsetof(struct thread, ring) == 0, "a ring is its thread");

static inline uint32_t thread_shown_tid(const struct thread *thread)
{
	return thread->beside ? thread->beside : thread->tid;
}

/* First event of a thread: a record from the free ones or a new one, set as
 * thread_self.  NULL when none can be had, or this is no time for it: that call
 * is counted. */
struct thread *thread_enter(struct session *session);

/* End of a thread: what it left open is recorded as not finished, its record is
 * retired, thread_self becomes OVER. */
void thread_leave(void);

/* The record of this thread, entering if need be; NULL while busy. */
static inline struct thread *thread_here(void)
{
	struct thread *thread = thread_self;

	if (likely(thread_records(thread)))
		return thread;
	if (thread == THREAD_BUSY)
		return NULL;
	return thread_enter(load_relaxed(&session_here));
}

/* One event, copied into the ring; counted as refused at its end where there
 * is no room.  A hook that runs meanwhile, in a signal handler, only forwards.
 * Hooks of malloc and libgomp fill the slot in place instead. */
void thread_record(struct thread *thread, const struct event *event);

static inline bool open_slice_is(const struct open_slice *slice,
				 const struct open_slice *made)
{
	return slice->start_ticks == made->start_ticks &&
	       slice->code == made->code && slice->region == made->region &&
	       slice->what == made->what;
}

/* Open slices: plain stores in the order that a kill may cut anywhere. */
static inline void thread_open(struct thread *thread, enum event_kind kind,
			       uint64_t start_ticks, uint32_t name,
			       uint64_t code, uint64_t region,
			       unsigned int sync)
{
	const uint32_t depth = load_relaxed(&thread->depth);
	const struct open_slice made = {
		.start_ticks = start_ticks,
		.code = code,
		.region = region,
		.what = open_slice_what(name, kind, sync)};
	struct open_slice *slice =
		&thread->open[depth < OPEN_SLICES_MAX ? depth : 0];

	do {
		if (likely(depth < OPEN_SLICES_MAX))
			*slice = made;
		/* RELEASE pairs with ACQUIRE in the writer's look at open
		 * slices. */
		store_release(&thread->depth, depth + 1);
		/* A signal handler before that had this place for its own. */
		atomic_signal_fence(memory_order_seq_cst);
	} while (likely(depth < OPEN_SLICES_MAX) &&
		 unlikely(!open_slice_is(slice, &made)));
}

static inline void thread_shut(struct thread *thread)
{
	const uint32_t depth = load_relaxed(&thread->depth);

	/* RELEASE pairs with ACQUIRE in the writer's look at open slices. */
	if (likely(depth))
		store_release(&thread->depth, depth - 1);
}

/* The slice just opened belongs to this frame; NULL: to none. */
static inline void thread_open_in(struct thread *thread, const void *frame)
{
	const uint32_t at = load_relaxed(&thread->depth) - 1;

	if (likely(at < OPEN_SLICES_MAX)) {
		thread->frame[at].at = (uint32_t)((uintptr_t)frame >> 4);
		thread->frame[at].start =
			(uint32_t)thread->open[at].start_ticks;
	}
}

/* Drops the slices that were opened in frames which are gone: what lies at
 * `frame` or below it, on the same stack, was left by longjmp() or an
 * exception.  They are recorded as slices that were not finished. */
void thread_drop_gone(struct thread *thread, const void *frame);

/* The same where nothing is open most of the time. */
static inline void thread_drop_left(struct thread *thread, const void *frame)
{
	if (unlikely(load_relaxed(&thread->depth)))
		thread_drop_gone(thread, frame);
}

/* A number for an OpenMP region that this thread begins: unique in the session,
 * without another thread's cache line.  2^32 for each record. */
static inline uint64_t thread_region(struct thread *thread)
{
	return ++thread->region;
}

/* Start of the innermost open slice, 0 none: what a step's ends lie in. */
static inline uint64_t thread_outer(const struct thread *thread)
{
	const uint32_t depth = load_relaxed(&thread->depth);

	if (!depth)
		return 0;
	return depth > OPEN_SLICES_MAX ? 1
				       : thread->open[depth - 1].start_ticks;
}

/* Iterates all records, newest first, of this process's or another's session;
 * checked, bounded.  Start with NULL. */
struct thread *thread_each(const struct session *session, struct thread *last);

/* Sums over all records. */
struct thread_sums {
	uint64_t committed;
	uint64_t thinned; /* of these; without a window as well */
	uint64_t dropped;
	uint64_t dropped_by_kind[EVENT_KIND_COUNT];
	uint64_t marked_ps; /* what those of OpenMP cost, as far as known */
	uint64_t heap_allocs, heap_frees;
	uint64_t heap_alloc_bytes, heap_free_bytes, heap_asked_bytes;
};
void thread_sum(const struct session *session, struct thread_sums *sums);

/* Events refused on a thread of this number. */
struct thread_loss {
	uint32_t tid;
	uint64_t dropped;
};

/* The same, and whose these losses are: of the first `room` numbers that lost
 * any, together all of sums->dropped if there are no more.  A record may have
 * had several owners; its losses go to the last.  Returns how many. */
unsigned int thread_sum_losses(const struct session *session,
			       struct thread_sums *sums,
			       struct thread_loss *losses, unsigned int room);

/* Those that an edge of a window is told with. */
struct window_counts thread_counts(const struct session *session);

#endif
