/* SPDX-License-Identifier: MIT */
/*
 * clock.c - anchors and segments.
 *
 * An anchor is the tightest of many brackets counter, CLOCK_MONOTONIC, counter.
 * A new segment starts on the old curve and aims at where CLOCK_MONOTONIC will
 * be when the next one is due, so that the curve is continuous, never runs
 * backwards and stays within some hundred nanoseconds of the system's clock:
 * its slope is as wrong as a bracket, by the length of the period before, and
 * serves for twice that length at most.
 */
#include "collector/system/clock.h"

#include "collector/system/float_state.h"

#include "collector/system/proc.h"
#include <string.h>

#define BRACKETS      64
#define REAL_BRACKETS 16
#define FIRST_SPAN_NS 200000
#define FIRST_WAIT_NS UINT64_C(1000000) /* each one twice the one before */
#define MOST_WAIT_NS  UINT64_C(1000000000)
#define SETTLED	      11u   /* segments: FIRST_WAIT_NS << 10 is above it */
#define SLOPE_RANGE   0.001 /* a segment may run 0.1 % fast or slow */
#define LOST_NS	      INT64_C(500000000) /* more is no drift */

uint32_t clock_uses_counter;

struct anchor {
	uint64_t ticks;
	int64_t ns;
};

static int64_t clock_real_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* CLOCK_REALTIME - CLOCK_MONOTONIC, of the tightest bracket. */
static int64_t take_real_minus_mono(void)
{
	uint64_t best_width = UINT64_MAX;
	int64_t best = 0;

	for (int i = 0; i < REAL_BRACKETS; i++) {
		const uint64_t before = clock_monotonic_ns();
		const int64_t real = clock_real_ns();
		const uint64_t width = clock_monotonic_ns() - before;

		if (width < best_width) {
			best_width = width;
			best = real - (int64_t)(before + width / 2);
		}
	}
	return best;
}

static struct anchor take_anchor(void)
{
	struct anchor best = {0, 0};
	uint64_t best_width = UINT64_MAX;

	for (int i = 0; i < BRACKETS; i++) {
		const uint64_t before = clock_ticks();
		const int64_t ns = (int64_t)clock_monotonic_ns();
		const uint64_t after = clock_ticks();

		if (after - before < best_width) {
			best_width = after - before;
			best.ticks = before + best_width / 2;
			best.ns = ns;
		}
	}
	return best;
}

/* The kernel's own judgement: it keeps time by the counter, and the processor
 * promises that it neither stops nor changes its rate. */
static bool counter_is_invariant(void)
{
#if defined(__x86_64__)
	char text[4096];
	const char *flags;

	if (proc_read("/sys/devices/system/clocksource/clocksource0/"
		      "current_clocksource",
		      text, sizeof(text)) <= 0 ||
	    strncmp(text, "tsc", 3) != 0)
		return false;
	if (proc_read("/proc/cpuinfo", text, sizeof(text)) <= 0)
		return false;
	flags = strstr(text, "\nflags");
	return flags && strstr(flags, " constant_tsc") &&
	       strstr(flags, " nonstop_tsc");
#else
	return true; /* the architecture defines it so */
#endif
}

COLD uint64_t clock_ticks_system(void)
{
	return clock_monotonic_ns();
}

void clock_choose(bool monotonic_only)
{
	clock_uses_counter = !monotonic_only && counter_is_invariant();
}

static void open_segment(struct clock_segments *clock,
			 struct clock_segment next)
{
	const uint64_t count = load_relaxed(&clock->count);

	clock->segment[count % CLOCK_SEGMENTS_MAX] = next;
	/* RELEASE pairs with ACQUIRE in clock_ns_near(). */
	store_release(&clock->count, count + 1);
}

void clock_start(struct clock_segments *clock)
{
	const struct anchor first = take_anchor();
	struct anchor second = first;

	memset(clock, 0, sizeof(*clock));
	clock->uses_counter = clock_uses_counter;
	clock->real_minus_mono_ns = take_real_minus_mono();
	clock->first_ns = first.ns;
	while (clock_uses_counter && second.ns - first.ns < FIRST_SPAN_NS)
		second = take_anchor();

	const double slope =
		clock_uses_counter
			? (double)(second.ns - first.ns) /
				  (double)(second.ticks - first.ticks)
			: 1.0;

	/* From the very beginning, so that no earlier tick lies outside. */
	open_segment(clock, (struct clock_segment){.from_ticks = first.ticks,
						   .from_ns = first.ns,
						   .anchor_ns = first.ns,
						   .ns_per_tick = slope,
						   .real_ns = clock_real_ns()});
}

static int64_t segment_ns(const struct clock_segment *segment, uint64_t ticks)
{
	const int64_t ahead = (int64_t)(ticks - segment->from_ticks);
	const int64_t ns = segment->from_ns +
			   (int64_t)((double)ahead * segment->ns_per_tick);

	return ns;
}

static bool is_lost(int64_t off)
{
	return off > LOST_NS || off < -LOST_NS;
}

/* How long after the last of `count` segments the next one is due. */
static uint64_t wait_ns(uint64_t count)
{
	return count < SETTLED ? FIRST_WAIT_NS << (count - 1) : MOST_WAIT_NS;
}

/* The slope that reaches the system's clock, `off` away, in `ahead_ns`. */
static double slope_towards(double rate, int64_t off, uint64_t ahead_ns)
{
	const double share = (double)off / (double)ahead_ns;

	if (share < -SLOPE_RANGE)
		return rate * (1.0 - SLOPE_RANGE);
	if (share > SLOPE_RANGE)
		return rate * (1.0 + SLOPE_RANGE);
	return rate * (1.0 + share);
}

void clock_anchor(struct clock_segments *clock)
{
	const uint64_t count = load_relaxed(&clock->count);
	struct clock_segment *last;
	struct anchor now;
	int64_t period_ns;
	int64_t shown;
	int64_t off;
	double rate;

	if (!clock->uses_counter || !count)
		return;
	now = take_anchor();
	last = &clock->segment[(count - 1) % CLOCK_SEGMENTS_MAX];
	if (now.ticks <= last->from_ticks || now.ns <= last->anchor_ns)
		return;
	period_ns = now.ns - last->anchor_ns;
	shown = segment_ns(last, now.ticks);
	off = now.ns - shown;
	/* A period with a jump in it says nothing about the rate. */
	rate = is_lost(off - (last->anchor_ns - last->from_ns))
		       ? last->ns_per_tick
		       : (double)period_ns /
				 (double)(now.ticks - last->from_ticks);
	if (is_lost(off)) {
		clock->steps_back++;
	} else if (count > 1) {
		/* The first one is coarse by design. */
		clock->error_ns =
			(int64_t)max_u64((uint64_t)clock->error_ns,
					 (uint64_t)(off < 0 ? -off : off));
	}
	if (off > LOST_NS) {
		shown = now.ns; /* a jump ahead can be followed */
		off = 0;
	}
	open_segment(clock, (struct clock_segment){
				    .from_ticks = now.ticks,
				    .from_ns = shown,
				    .anchor_ns = now.ns,
				    .ns_per_tick = slope_towards(
					    rate, off, wait_ns(count + 1)),
				    .real_ns = clock_real_ns()});
}

uint64_t clock_due_in(const struct clock_segments *clock)
{
	const uint64_t count =
		load_relaxed(&((struct clock_segments *)clock)->count);
	uint64_t due_ns;
	uint64_t now_ns;

	if (!clock->uses_counter || !count)
		return UINT64_MAX;
	due_ns = (uint64_t)clock->segment[(count - 1) % CLOCK_SEGMENTS_MAX]
			 .anchor_ns +
		 wait_ns(count);
	now_ns = clock_monotonic_ns();
	return now_ns < due_ns ? due_ns - now_ns : 0;
}

bool clock_is_settled(const struct clock_segments *clock)
{
	return !clock->uses_counter ||
	       load_relaxed(&((struct clock_segments *)clock)->count) >=
		       SETTLED;
}

/* Is it in segment `at`, of `count` that there are? */
static bool is_in(const struct clock_segments *clock, uint64_t ticks,
		  uint64_t at, uint64_t count)
{
	const struct clock_segment *segment = clock->segment;

	/* The newest slot may be overwritten while we read the oldest: leave
	 * that one out. */
	if (at >= count || count - at >= CLOCK_SEGMENTS_MAX ||
	    ticks < segment[at % CLOCK_SEGMENTS_MAX].from_ticks)
		return false;
	return at + 1 == count ||
	       ticks < segment[(at + 1) % CLOCK_SEGMENTS_MAX].from_ticks;
}

/* The last segment that begins at or before `ticks`, or the oldest. */
static uint64_t find_segment(const struct clock_segments *clock, uint64_t ticks,
			     uint64_t count)
{
	uint64_t low = count > CLOCK_SEGMENTS_MAX - 1
			       ? count - CLOCK_SEGMENTS_MAX + 1
			       : 0;
	uint64_t high = count;

	while (high - low > 1) {
		const uint64_t middle = low + (high - low) / 2;

		if (clock->segment[middle % CLOCK_SEGMENTS_MAX].from_ticks <=
		    ticks)
			low = middle;
		else
			high = middle;
	}
	return low;
}

int64_t clock_ns_near(const struct clock_segments *clock, uint64_t ticks,
		      uint64_t *near)
{
	/* ACQUIRE pairs with RELEASE in open_segment(). */
	const uint64_t count =
		load_acquire(&((struct clock_segments *)clock)->count);

	if (!clock->uses_counter)
		return (int64_t)ticks;
	if (!count)
		return 0;
	if (unlikely(!is_in(clock, ticks, *near, count)))
		*near = find_segment(clock, ticks, count);
	return segment_ns(&clock->segment[*near % CLOCK_SEGMENTS_MAX], ticks);
}

int64_t clock_ns(const struct clock_segments *clock, uint64_t ticks)
{
	uint64_t near = 0;

	return clock_ns_near(clock, ticks, &near);
}

uint64_t clock_ticks_per_second(const struct clock_segments *clock)
{
	const uint64_t count =
		load_relaxed(&((struct clock_segments *)clock)->count);
	struct float_state was;

	if (!clock->uses_counter || !count)
		return 1000000000;
	was = float_state_leave();
	return float_state_return_with(
		&was,
		(uint64_t)(1e9 /
			   clock->segment[(count - 1) % CLOCK_SEGMENTS_MAX]
				   .ns_per_tick));
}
