/* SPDX-License-Identifier: MIT */
/*
 * cost.c - what one hook of a kind costs on this machine.
 *
 * The writer's first pass runs the hooks' own code on a record that nobody
 * drains, off the program's threads, and leaves the times in the session; the
 * writer multiplies them by what was counted (writer/account.h).  What they
 * stand in front of are functions of our own: no allocator and no libgomp is
 * called.  A region's hooks are timed apart from other work.  Those of the heap
 * are short, and a processor does them at once with the allocator's work, which
 * waits for cache misses of its own: a stand-in that has some is around them.
 *
 *	a counted call	its hook, at once with the work around it
 *	a recorded one	the same
 *	a slice		its two ends
 *	a region	its two ends and all between them that is ours, and two
 *			calls of glibc's malloc that lock: a process of one
 *			thread would be spared that, our thread is its second
 *	a thinned one	its two ends, which are added to a sum or are a mark
 *	one of a team	its two ends, those of a share, and the lines that go
 *			from one processor to another: all members wait for
 *			that.  A line that no cache has stands for those
 *
 * Each is timed in batches of some microseconds, one of each kind in turn, and
 * the least counts: other work on the machine lengthens many batches, but not
 * all of one kind.  An event's line is out of the cache, as in a ring; all else
 * is in it: an estimate from below.
 */
#include "preload/cost.h"

#include "preload/cost_least.h"
#include "preload/gomp/gomp_region.h"
#include "preload/heap/heap.h"
#include <string.h>
#include <sys/mman.h>

#define EVENTS	     48
/* Before a batch is timed: the processor has seen other code meanwhile. */
#define WARMING	     16
/* Of one batch of each kind: a millisecond in all. */
#define ROUNDS	     10
/* Of the lines of a batch, prime to their number. */
#define LINE_STRIDE  37u
/* Those that a region waits for: the members read what the master wrote, which
 * it takes back for the next one; and each side's next line of a ring. */
#define TEAM_LINES   4u
/* Instructions with a lock that glibc 2.36 executes more for it (5.4 counted),
 * and stores before each. */
#define LOCKED	     6
#define STORES	     6u
#define RECORD_BYTES 8192
/* A pair may be two events. */
#define BYTES	     (RECORD_BYTES + 2 * EVENTS * sizeof(struct event))
#define SITES_BYTES  (THIN_SITES * sizeof(struct thin_site))
/* Of the stand-in for an allocator. */
#define SLOTS	     512
#define QUEUE	     64
#define BLOCK_WORDS  32

_Static_assert(sizeof(struct thread) <= RECORD_BYTES, "the slots follow");

/* Lets all that was begun end: in a program a hook stands between other work,
 * not between hooks that the processor would run at once. */
static inline void settle(void)
{
#if defined(__x86_64__)
	__builtin_ia32_lfence();
#else
	__asm__ volatile("isb" : : : "memory");
#endif
}

/* A ring's lines are not in the program's cache: the writer has read them on
 * another core meanwhile.  Out of this one's too, then: those that a batch
 * takes, since each is some 100 ns. */
static void cool(struct thread *thread, size_t lines)
{
	char *const slots = (char *)thread + RECORD_BYTES;

	for (size_t at = 0; at < lines * CACHE_LINE; at += CACHE_LINE) {
#if defined(__x86_64__)
		__builtin_ia32_clflush(slots + at);
#else
		__asm__ volatile("dc civac, %0" : : "r"(slots + at) : "memory");
#endif
	}
	atomic_thread_fence(memory_order_seq_cst);
}

/* What stands for an allocator, and for a program that has blocks in all of a
 * second-level cache: how much of a hook a processor does at once with other
 * work depends on that work, and in front of nothing it would be told half. */
static struct heap_stand_in {
	uint32_t random;
	uint32_t given, taken;
	uint64_t *queue[QUEUE]; /* of free blocks */
	uint64_t *slots[SLOTS]; /* blocks in use */
	uint64_t words[(SLOTS + QUEUE) * BLOCK_WORDS];
} * stand_in;

static void stand_in_start(void)
{
	for (int i = 0; i < SLOTS + QUEUE; i++) {
		uint64_t *block = &stand_in->words[i * BLOCK_WORDS + 2];

		/* glibc's word before a block. */
		block[-1] = 0x21;
		if (i < SLOTS)
			stand_in->slots[i] = block;
		else
			stand_in->queue[i - SLOTS] = block;
	}
}

/* What malloc_hooks.c looks at, for hooks that have its shape: they look up as
 * much and call the stand-in. */
static struct heap_model {
	uint32_t bits;
	bool fast;
	void *(*alloc)(size_t size);
	void (*free)(void *ptr);
} model;

static __attribute__((noinline)) void *give_block(size_t size)
{
	uint64_t *block = stand_in->queue[stand_in->given++ % QUEUE];

	block[1] = size;
	return block;
}

static __attribute__((noinline)) void take_block(void *ptr)
{
	uint64_t *block = ptr;

	block[0] = block[1];
	stand_in->queue[stand_in->taken++ % QUEUE] = block;
}

static __attribute__((noinline)) void *alloc_counted(size_t size)
{
	const uint32_t open = model.bits;

	if (unlikely(!(open & GATE_HEAP) || !model.fast))
		return NULL;
	if (open & GATE_HEAP_ALL)
		return heap_alloc_all(model.alloc(size), size);
	return heap_alloc(model.alloc(size), size);
}

static __attribute__((noinline)) void *alloc(size_t size)
{
	if (likely(model.bits == GATE_CLOSED))
		return model.alloc(size);
	return alloc_counted(size);
}

static __attribute__((noinline)) void free_counted(void *ptr)
{
	const uint32_t open = model.bits;

	if (unlikely(!(open & GATE_HEAP) || !model.fast || !ptr))
		return;
	if (open & GATE_HEAP_ALL)
		heap_free_all(ptr);
	else
		heap_free(ptr);
	model.free(ptr);
}

static __attribute__((noinline)) void release(void *ptr)
{
	if (likely(model.bits == GATE_CLOSED))
		model.free(ptr);
	else
		free_counted(ptr);
}

static uint64_t **next_slot(void)
{
	stand_in->random = stand_in->random * 1664525u + 1013904223u;
	return &stand_in->slots[stand_in->random >> 16 & (SLOTS - 1)];
}

static void set_model(uint32_t bits)
{
	model = (struct heap_model){.bits = GATE_CLOSED | bits,
				    .fast = true,
				    .alloc = give_block,
				    .free = take_block};
	/* The gate and the rest are not to be known when this is compiled. */
	__asm__ volatile("" : "+m"(model));
}

static void count_pair(struct thread *thread)
{
	uint64_t **slot = next_slot();

	(void)thread;
	release(*slot);
	*slot = alloc(16);
}

static void record_pair(struct thread *thread)
{
	count_pair(thread);
}

/* As the program would call the allocator without us. */
static void pass_pair(struct thread *thread)
{
	uint64_t **slot = next_slot();

	(void)thread;
	model.free(*slot);
	*slot = model.alloc(16);
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
			  OMP_SCHEDULE_NONE, 0);
	gomp_library(&site)->parallel(gomp_region_alone, &region, 1, 0);
	end = clock_ticks();
	gomp_last = region.was_last;
	thread_shut(thread);
	gomp_commit(&region.slice, end, &region.detail);
}

static void record_thinned(struct thread *thread)
{
	struct gomp_region region;

	if (gomp_region_thins(&region, thread, &site, run_body,
			      OMP_SCHEDULE_NONE, 0)) {
		gomp_library(&site)->parallel(run_body, NULL, 1, 0);
		thin_add(thread, region.site, region.slice.start_ticks,
			 clock_ticks());
	}
}

static void record_marked(struct thread *thread)
{
	struct gomp_region region;

	if (gomp_region_thins(&region, thread, &site, run_body,
			      OMP_SCHEDULE_NONE, 0)) {
		gomp_library(&site)->parallel(run_body, NULL, 1, 0);
		thin_mark(thread, region.site, region.slice.start_ticks,
			  clock_ticks());
	}
}

/* All calls of its only site but one. */
static void thin_all(struct thread *thread)
{
	struct gomp_region region;

	thread->thin.sites = BYTES;
	thread->thin.left = UINT32_MAX;
	gomp_region_thins(&region, thread, &site, run_body, OMP_SCHEDULE_NONE,
			  0);
	region.site->mask = THIN_ALL;
}

/* The master's part, which is the longest. */
static void record_team(struct thread *thread)
{
	struct gomp_region region;
	struct gomp_slice share;
	uint64_t end;

	gomp_region_enter(&region, thread, &site, run_body, NULL,
			  OMP_SCHEDULE_NONE, 0);
	share = region.slice;
	share.kind = EVENT_OMP_IMPLICIT;
	share = gomp_slice_pushed(share, clock_ticks());
	gomp_library(&site)->parallel(run_body, NULL, 2, 0);
	region.wait_start = gomp_share_end(&share, clock_ticks());
	end = clock_ticks();
	gomp_last = region.was_last;
	store_relaxed(&thread->depth, 0);
	gomp_commit(&region.slice, end, &region.detail);
}

/* One line after the other, in no order that a processor would guess, and none
 * beside another: those come in pairs. */
static void read_line(struct thread *thread)
{
	const char *const slots = (char *)thread + RECORD_BYTES;
	const volatile uint64_t *line;

	thread->place = (thread->place + LINE_STRIDE) % EVENTS;
	line = (const uint64_t *)(slots + thread->place * 2 * CACHE_LINE);
	__asm__ volatile("" : : "r"(*line));
	settle();
}

static void read_clock(struct thread *thread)
{
	thread->started_ticks = clock_ticks();
}

/* The record is empty again: nothing of it is ever read. */
static void rewind_ring(struct thread *thread)
{
	thread->ring.next = RECORD_BYTES;
	thread->thin.window = gate_openings();
	thread->thin.marks.name = 0;
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

/* Stores that are still under way when a lock is taken, as in an allocator: it
 * waits for them. */
static void store_some(struct thread *thread)
{
	volatile uint64_t *const slots =
		(uint64_t *)((char *)thread + RECORD_BYTES);

	for (size_t at = 0; at < STORES; at++)
		slots[at * CACHE_LINE / sizeof(*slots)] = at;
}

static void only_store(struct thread *thread)
{
	for (int i = 0; i < LOCKED; i++)
		store_some(thread);
}

/* Our thread makes the process one of several, where glibc's malloc locks: for
 * each region of one thread libgomp takes a block and gives it back. */
static void store_and_lock(struct thread *thread)
{
	static _Atomic uint32_t word;

	for (int i = 0; i < LOCKED; i++) {
		store_some(thread);
		add_relaxed(&word, 1);
	}
}

/* What is timed: the hooks, and what of such a batch is not theirs. */
enum timed {
	COUNTED,
	PASSED,
	RECORDED,
	CLOCK,
	LOCKS,
	STORING,
	LINES,
	SLICE,
	REGION,
	THINNED,
	MARKED,
	TEAM,
	NOTHING,
	SETTLING,
	CALLING,
	TIMED
};

static struct kind {
	void (*hook)(struct thread *thread);
	unsigned int lines; /* that it takes */
} kinds[TIMED];

/* No table of pointers, which would be relocated in each process. */
static void set_kinds(void)
{
	kinds[COUNTED] = (struct kind){count_pair, 0};
	kinds[PASSED] = (struct kind){pass_pair, 0};
	kinds[RECORDED] = (struct kind){record_pair, 2};
	kinds[CLOCK] = (struct kind){read_clock, 0};
	kinds[LOCKS] = (struct kind){store_and_lock, 0};
	kinds[STORING] = (struct kind){only_store, 0};
	kinds[LINES] = (struct kind){read_line, 2};
	kinds[SLICE] = (struct kind){record_slice, 1};
	kinds[REGION] = (struct kind){record_region, 1};
	kinds[THINNED] = (struct kind){record_thinned, 0};
	kinds[MARKED] = (struct kind){record_marked, 1};
	kinds[TEAM] = (struct kind){record_team, 1};
	kinds[NOTHING] = (struct kind){do_nothing, 0};
	kinds[SETTLING] = (struct kind){only_settle, 0};
	kinds[CALLING] = (struct kind){call_region, 0};
}

/* Ticks that a batch takes. */
static uint64_t batch_of(void *record, int what)
{
	struct thread *thread = record;
	void (*hook)(struct thread * thread) = kinds[what].hook;
	/* With the stand-in's work. */
	const bool is_at_once =
		what == COUNTED || what == PASSED || what == RECORDED;
	uint64_t start;

	/* Each is to be called, not to become one with the loop. */
	__asm__ volatile("" : "+r"(hook));
	set_model(what == RECORDED ? GATE_HEAP | GATE_HEAP_ALL : GATE_HEAP);
	rewind_ring(thread);
	for (int at = 0; at < WARMING; at++)
		hook(thread);
	rewind_ring(thread);
	cool(thread, (size_t)kinds[what].lines * EVENTS);
	start = clock_ticks();
	for (int at = 0; at < EVENTS; at++) {
		if (!is_at_once)
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

	thread_self = thread;
	thin_all(thread);
	set_kinds();
	cost_least(least, TIMED, ROUNDS, batch_of, thread);
	thread_self = was;
	/* A pair is two calls. */
	cost->counted_ps = beyond(least, COUNTED, PASSED, tick_ps) / 2 + 1;
	cost->event_ps = beyond(least, RECORDED, PASSED, tick_ps) / 2;
	/* A call's duration takes one reading more. */
	if (heap.timed)
		cost->event_ps += beyond(least, CLOCK, NOTHING, tick_ps);
	cost->locks_ps = beyond(least, LOCKS, STORING, tick_ps);
	cost->region_ps =
		beyond(least, REGION, CALLING, tick_ps) + cost->locks_ps;
	cost->thinned_ps = beyond(least, THINNED, CALLING, tick_ps);
	cost->marked_ps = beyond(least, MARKED, CALLING, tick_ps);
	cost->member_ps = beyond(least, TEAM, CALLING, tick_ps) +
			  TEAM_LINES * beyond(least, LINES, SETTLING, tick_ps);
	cost->slice_ps = beyond(least, SLICE, SETTLING, tick_ps);
}

void cost_measure(struct session *session)
{
	void *memory;

	if (session->head->cost.slice_ps)
		return;
	memory = mmap(NULL, BYTES + SITES_BYTES + sizeof(*stand_in),
		      PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	if (memory == MAP_FAILED)
		return;
	stand_in = (void *)((char *)memory + BYTES + SITES_BYTES);
	stand_in_start();
	measure(session, memory);
	munmap(memory, BYTES + SITES_BYTES + sizeof(*stand_in));
}
