/* SPDX-License-Identifier: MIT */
/*
 * cost.c - what one hook of a kind costs on this machine.
 *
 * The writer's first pass runs the hooks' own code on a record that nobody
 * drains, off the program's threads, and leaves the times in the session; the
 * writer multiplies them by what was counted (writer/account.h).  What they
 * stand in front of are functions of our own that do nothing: no allocator and
 * no libgomp is called.
 *
 *	a counted call	its counting, in a row as fast as the processor can and
 *			one apart from the other: the middle of the two
 *	a recorded one	what its hook does
 *	a slice		its two ends
 *	a region	its two ends and all between them that is ours, and two
 *			locks of glibc's malloc that a process of one thread
 *			would be spared: our thread is its second
 *
 * Each is timed in batches of some microseconds, one of each kind in turn, and
 * the least counts: other work on the machine lengthens many batches, but not
 * all of one kind.  They are the times in warm caches: an estimate from below.
 */
#include "preload/cost.h"

#include "preload/gomp/gomp_region.h"
#include "preload/heap/heap.h"
#include <string.h>
#include <sys/mman.h>

#define EVENTS	     96
#define BATCHES	     24
#define RECORD_BYTES 8192
/* A pair may be two events. */
#define BYTES	     (RECORD_BYTES + 2 * EVENTS * sizeof(struct event))

_Static_assert(sizeof(struct thread) <= RECORD_BYTES, "the slots follow");

/* glibc's word before a block, and the block. */
static const uint64_t block[4] = {0, 0x21, 0, 0};

/* Lets all that was begun end: in a program a hook stands between other work,
 * not between hooks that the processor would run at once. */
static inline void settle(void)
{
#if defined(__x86_64__)
	_mm_lfence();
#else
	__asm__ volatile("isb" : : : "memory");
#endif
}

/* Two counted calls as their hooks make them, but for the real functions. */
static __attribute__((noinline)) void *count_alloc(void *ptr)
{
	return heap_is_shut() ? ptr : heap_alloc(ptr);
}

static __attribute__((noinline)) void count_free(void *ptr)
{
	if (!heap_is_shut())
		heap_free(ptr);
}

static void count_pair(struct thread *thread)
{
	(void)thread;
	count_free(count_alloc((void *)(uintptr_t)&block[2]));
}

static void record_call(struct thread *thread)
{
	(void)thread;
	heap_free_all((void *)(uintptr_t)&block[2]);
}

static void record_slice(struct thread *thread)
{
	const struct gomp_detail detail = {0};
	struct gomp_slice slice = {.thread = thread,
				   .kind = EVENT_OMP_REGION,
				   .region = thread_region(thread)};

	gomp_slice_push(&slice, clock_ticks());
	/* The program's own work. */
	settle();
	thread_shut(thread);
	gomp_commit(&slice, clock_ticks(), &detail);
}

/* What stands for libgomp and for the program's part of a region. */
static __attribute__((noinline)) void run_team(gomp_function *function,
					       void *data, unsigned int threads,
					       unsigned int flags)
{
	(void)threads;
	(void)flags;
	function(data);
}

static __attribute__((noinline)) void run_body(void *data)
{
	__asm__ volatile("" : : "r"(data) : "memory");
	settle();
}

static struct gomp_library team = {.parallel = run_team};
static struct gomp_site site = {.library = &team};

static void call_region(struct thread *thread)
{
	(void)thread;
	team.parallel(run_body, NULL, 1, 0);
}

static void record_region(struct thread *thread)
{
	struct gomp_region region;
	uint64_t end;

	gomp_region_enter(&region, thread, &site, run_body, NULL,
			  OMP_SCHEDULE_NONE);
	gomp_library(&site)->parallel(gomp_region_alone, &region, 1, 0);
	end = clock_ticks();
	gomp_last = region.was_last;
	thread_shut(thread);
	gomp_commit(&region.slice, end, &region.detail);
}

static void read_clock(struct thread *thread)
{
	thread->started_ticks = clock_ticks();
}

/* The record is empty again: nothing of it is ever read. */
static void rewind_ring(struct thread *thread)
{
	thread->ring.next = RECORD_BYTES;
	thread->ring.stop = (int64_t)BYTES;
}

static void do_nothing(struct thread *thread)
{
	thread->started_ticks = 0;
}

static void only_settle(struct thread *thread)
{
	settle();
	thread->started_ticks = 0;
}

/* Our thread makes the process one of several, where glibc's malloc locks: for
 * each region of one thread libgomp takes a block and gives it back. */
static void lock_twice(struct thread *thread)
{
	static _Atomic uint32_t word;

	(void)thread;
	for (int i = 0; i < 4; i++)
		add_relaxed(&word, 1);
}

/* What is timed: the hooks, and what of such a batch is not theirs. */
enum timed {
	COUNTED_IN_A_ROW,
	COUNTED_APART,
	RECORDED,
	CLOCK,
	LOCKS,
	SLICE,
	REGION,
	NOTHING,
	SETTLING,
	CALLING,
	TIMED
};

static void (*const hooks[TIMED])(struct thread *thread) = {
	[COUNTED_IN_A_ROW] = count_pair,
	[COUNTED_APART] = count_pair,
	[RECORDED] = record_call,
	[CLOCK] = read_clock,
	[LOCKS] = lock_twice,
	[SLICE] = record_slice,
	[REGION] = record_region,
	[NOTHING] = do_nothing,
	[SETTLING] = only_settle,
	[CALLING] = call_region,
};

/* Ticks that a batch takes. */
static uint64_t batch_of(struct thread *thread, enum timed what)
{
	void (*hook)(struct thread * thread) = hooks[what];
	uint64_t start;

	/* Each is to be called, not to become one with the loop. */
	__asm__ volatile("" : "+r"(hook));
	rewind_ring(thread);
	start = clock_ticks();
	for (int at = 0; at < EVENTS; at++) {
		if (what != COUNTED_IN_A_ROW)
			settle();
		hook(thread);
	}
	return clock_ticks() - start;
}

/* Picoseconds of one call of `what` beyond those of `frame`. */
static uint32_t beyond(const uint64_t *least, enum timed what, enum timed frame,
		       double tick_ps)
{
	return least[what] > least[frame]
		       ? (uint32_t)((double)(least[what] - least[frame]) *
				    tick_ps / EVENTS)
		       : 0;
}

static void measure(struct session *session, struct thread *thread)
{
	struct session_cost *cost = &session->head->cost;
	const double tick_ps =
		1e12 /
		(double)(clock_ticks_per_second(&session->head->clock) + 1);
	struct thread *was = thread_self;
	uint64_t least[TIMED];
	uint32_t row, apart;

	memset(least, 0xff, sizeof(least));
	thread_self = thread;
	for (int i = 0; i < BATCHES; i++) {
		for (int what = 0; what < TIMED; what++)
			least[what] =
				min_u64(least[what],
					batch_of(thread, (enum timed)what));
	}
	thread_self = was;
	/* Of this batch nothing is taken away, so it is never 0. */
	row = (uint32_t)((double)least[COUNTED_IN_A_ROW] * tick_ps / EVENTS);
	apart = beyond(least, COUNTED_APART, NOTHING, tick_ps);
	cost->counted_ps = (row + (apart > row ? apart : row)) / 4;
	cost->event_ps = beyond(least, RECORDED, NOTHING, tick_ps);
	/* A call's duration takes one reading more. */
	if (heap.timed)
		cost->event_ps += beyond(least, CLOCK, NOTHING, tick_ps);
	cost->region_ps = beyond(least, REGION, CALLING, tick_ps) +
			  beyond(least, LOCKS, NOTHING, tick_ps);
	cost->slice_ps = beyond(least, SLICE, SETTLING, tick_ps);
}

void cost_measure(struct session *session)
{
	void *memory;

	if (session->head->cost.slice_ps)
		return;
	memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return;
	measure(session, memory);
	munmap(memory, BYTES);
}
