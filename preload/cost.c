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
 *	a counted call	the way from the call through the hook and back, once
 *			apart from the call and once as far at once with it as
 *			the processor can: the middle of the two
 *	a recorded one	what its hook does
 *	a slice		its two ends
 *	a region	its two ends and all between them that is ours, and two
 *			locks of glibc's malloc that a process of one thread
 *			would be spared: our thread is its second
 *
 * They are the times in caches that are warm: an estimate from below.
 */
#include "preload/process/families.h"

#include "preload/gomp/gomp_region.h"
#include "preload/heap/heap.h"
#include <sys/mman.h>

#define EVENTS	     96
#define BATCHES	     12
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

/* Whether a hook and what it stands before run one after the other, or as far
 * at once as the processor can.  In a program it is something between. */
static bool is_apart;

/* What stands for the real functions: they take and give one block. */
static __attribute__((noinline)) void *give_block(size_t size)
{
	(void)size;
	if (is_apart)
		settle();
	return (void *)(uintptr_t)&block[2];
}

static __attribute__((noinline)) void take_block(void *ptr)
{
	__asm__ volatile("" : : "r"(ptr) : "memory");
	if (is_apart)
		settle();
}

static void hooked_pair(struct thread *thread)
{
	(void)thread;
	heap_rehearse_free(heap_rehearse_malloc(16));
}

static void plain_pair(struct thread *thread)
{
	(void)thread;
	take_block(give_block(16));
}

/* Where a pair can't be rehearsed: the counting alone. */
static void count_call(struct thread *thread)
{
	(void)thread;
	heap_free((void *)(uintptr_t)&block[2]);
}

static void record_call(struct thread *thread)
{
	(void)thread;
	heap_died_all((void *)(uintptr_t)&block[2]);
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

/* Ticks that a batch of such calls takes, the best of some. */
static uint64_t batch_of(struct thread *thread,
			 void (*hook)(struct thread *thread))
{
	uint64_t best = UINT64_MAX;

	/* Each is to be called, not to become one with the loop. */
	__asm__ volatile("" : "+r"(hook));
	for (int i = 0; i < BATCHES; i++) {
		uint64_t start;

		rewind_ring(thread);
		start = clock_ticks();
		for (int at = 0; at < EVENTS; at++) {
			settle();
			hook(thread);
		}
		best = min_u64(best, clock_ticks() - start);
	}
	return best;
}

/* Picoseconds of one call of `hook` beyond those of `frame`. */
static uint32_t time_of(struct thread *thread, const struct session *session,
			void (*hook)(struct thread *thread),
			void (*frame)(struct thread *thread))
{
	const uint64_t second =
		clock_ticks_per_second(&session->head->clock) + 1;
	const uint64_t with = batch_of(thread, hook);
	const uint64_t without = batch_of(thread, frame);

	return with > without ? (uint32_t)((double)(with - without) /
					   (double)second * 1e12 / EVENTS)
			      : 0;
}

/* A heap call that is counted: half of a pair of malloc() and free(), and the
 * middle of what it takes apart and at once. */
static uint32_t time_of_counted(struct thread *thread,
				const struct session *session)
{
	const struct heap_rehearsal nothing = {give_block, take_block};
	uint32_t apart;

	if (!heap.fast)
		return time_of(thread, session, count_call, do_nothing);
	heap_rehearse(&nothing);
	is_apart = true;
	apart = time_of(thread, session, hooked_pair, plain_pair);
	is_apart = false;
	return (apart + time_of(thread, session, hooked_pair, plain_pair)) / 4;
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

static void measure(struct session *session, struct thread *thread)
{
	struct session_cost *cost = &session->head->cost;
	struct thread *was = thread_self;

	thread_self = thread;
	cost->counted_ps = time_of_counted(thread, session);
	cost->event_ps = time_of(thread, session, record_call, do_nothing);
	/* A call's duration takes one reading more. */
	if (heap.timed)
		cost->event_ps +=
			time_of(thread, session, read_clock, do_nothing);
	cost->region_ps = time_of(thread, session, record_region, call_region) +
			  time_of(thread, session, lock_twice, do_nothing);
	cost->slice_ps = time_of(thread, session, record_slice, only_settle);
	thread_self = was;
}

void families_cost_poll(void *unused)
{
	struct session *session = load_relaxed(&session_here);
	void *memory;

	(void)unused;
	if (!session || session->head->cost.slice_ps)
		return;
	memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return;
	measure(session, memory);
	munmap(memory, BYTES);
}
