/* SPDX-License-Identifier: MIT */
/*
 * clock.h - the time that hooks read, and the way from it to nanoseconds.
 *
 * Hooks read the processor's counter (ticks): 10 ns against 25 for
 * clock_gettime.  Once a second the writer takes an anchor, the tightest of
 * many (ticks, CLOCK_MONOTONIC) brackets, and opens a new segment there; in the
 * session's first second after 1, 2, 4 ... milliseconds, since the slope that
 * clock_start() can measure is good for no longer.
 *
 * A segment, once opened, never changes, and each begins where the last one
 * ends: so one tick value always gives the same nanoseconds whenever it is
 * asked, the result never runs backwards, and a child slice converted in one
 * pass stays inside its parent converted in the next.  A new segment's slope
 * takes the curve back to CLOCK_MONOTONIC by the time of the next anchor.
 *
 * Without an invariant counter ticks are CLOCK_MONOTONIC nanoseconds.
 */
#ifndef COLLECTOR_CLOCK_H
#define COLLECTOR_CLOCK_H

#include "collector/system/base.h"
#include <time.h>

#define CLOCK_SEGMENTS_MAX 1024u

struct clock_segment {
	uint64_t from_ticks;
	int64_t from_ns;   /* of the curve, which follows CLOCK_MONOTONIC */
	int64_t anchor_ns; /* CLOCK_MONOTONIC itself at from_ticks */
	double ns_per_tick;
	int64_t real_ns; /* CLOCK_REALTIME seen at this anchor */
};

/* In the session.  Segment i lies at i % CLOCK_SEGMENTS_MAX. */
struct clock_segments {
	uint32_t uses_counter; /* 0: ticks are nanoseconds */
	uint32_t pad;
	int64_t real_minus_mono_ns; /* fixed for the session */
	int64_t first_ns;	    /* CLOCK_MONOTONIC at the first segment */
	_Atomic uint64_t count;	    /* segments opened */
	int64_t error_ns;	    /* worst difference seen at an anchor */
	uint64_t steps_back;	    /* anchors at which the counter had gone
				       wrong, and we followed the system */
	struct clock_segment segment[CLOCK_SEGMENTS_MAX];
};

/* 1: hooks read the counter.  clock_choose() sets it before the gate opens. */
extern uint32_t clock_uses_counter __attribute__((visibility("hidden")));

static inline uint64_t clock_monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Processor time of the calling thread; 0 not known. */
static inline uint64_t clock_thread_ns(void)
{
	struct timespec now;

	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now))
		return 0;
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ... that it has used since it had used that much. */
static inline uint64_t clock_thread_since(uint64_t before_ns)
{
	const uint64_t now = clock_thread_ns();

	return now > before_ns ? now - before_ns : 0;
}

static inline uint64_t clock_counter(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc(); /* <x86intrin.h> is 50,000 lines */
#else
	uint64_t value;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
	return value;
#endif
}

/* clock_monotonic_ns() by a call: a hook needs no room for its answer. */
uint64_t clock_ticks_system(void);

/* Ticks now.  Any thread, signal handlers too. */
static inline uint64_t clock_ticks(void)
{
	if (likely(clock_uses_counter))
		return clock_counter();
	return clock_ticks_system();
}

/* Decides which clock hooks read.  `monotonic_only` by option. */
void clock_choose(bool monotonic_only);

/* Opens the first segment: some 0.2 ms of measuring. */
void clock_start(struct clock_segments *clock);

/* Writer: opens the next segment. */
void clock_anchor(struct clock_segments *clock);

/* Nanoseconds until clock_anchor() is due; 0 now; UINT64_MAX never. */
uint64_t clock_due_in(const struct clock_segments *clock);

/* Whether anchors have come to be a second apart. */
bool clock_is_settled(const struct clock_segments *clock);

/* CLOCK_MONOTONIC nanoseconds of a tick value. */
int64_t clock_ns(const struct clock_segments *clock, uint64_t ticks);

/* The same, for ticks that mostly follow each other: `near`, any number at
 * first, keeps where the last one was found. */
int64_t clock_ns_near(const struct clock_segments *clock, uint64_t ticks,
		      uint64_t *near);

/* Ticks in a second, by the newest segment. */
uint64_t clock_ticks_per_second(const struct clock_segments *clock);

#endif
