/* SPDX-License-Identifier: MIT */
/* cupti_clock.c - from CUPTI's clock to ours; see cupti_clock.h. */
#ifdef HAVE_CUPTI

#include "preload/cuda/cupti_clock.h"
#include "preload/cuda/cupti_share.h"

#include "collector/session/session.h"
#include "collector/system/clock.h"
#include "collector/system/cupti_versions.h"
#include <string.h>

#define PAIRS_MAX  4096u
#define BRACKETS   200
/* A reading is as good as it gets, of a second; or nearly as good as the best
 * one so far. */
#define GOOD_PART  20000000u
#define WORSE_MOST 2u
/* A rate that differs by so much from what it was (1/1000, and 100 us) is no
 * rate: the clock was set. */
#define STEP_SHARE 1000
#define STEP_NS	   100000

struct pair {
	uint64_t ticks;
	uint64_t time;
};

struct line {
	uint32_t count;
	uint32_t near; /* where the last one was found */
	struct pair pair[PAIRS_MAX];
};

static struct {
	_Atomic bool converts;
	uint64_t best_width; /* of a reading, in ticks */
	uint32_t steps;
	/* The newer one, and that before the clock was set. */
	struct line *now, *before;
	struct line lines[2];
} clocks;

static uint64_t CUPTIAPI ticks_now(void)
{
	return clock_ticks();
}

/* How much worse than the best one a reading may be: the longer ago the last
 * one is, the more, since to go on with its slope is no better then. */
static uint64_t worse_most(uint64_t second)
{
	const struct line *line = clocks.now;
	uint64_t age;

	if (!line->count)
		return UINT32_MAX;
	age = clock_ticks() - line->pair[line->count - 1].ticks;
	if (age < second / 4)
		return WORSE_MOST;
	return age < 2 * second ? WORSE_MOST * 4 : UINT32_MAX;
}

/* The tightest of a few brackets; false: CUPTI gives no time, or this thread
 * doesn't get its processor. */
static bool measure(struct pair *best)
{
	const struct session *session = load_relaxed(&session_here);
	const uint64_t second = clock_ticks_per_second(&session->head->clock);
	uint64_t width = UINT64_MAX;

	for (int i = 0; i < BRACKETS && width > second / GOOD_PART &&
			(!clocks.best_width || width > clocks.best_width);
	     i++) {
		const uint64_t before = clock_ticks();
		uint64_t time = 0, after;

		if (cupti.cuptiGetTimestamp(&time) != CUPTI_SUCCESS)
			return false;
		after = clock_ticks();
		if (after - before >= width)
			continue;
		width = after - before;
		best->ticks = before + width / 2;
		best->time = time;
	}
	if (!clocks.best_width || width < clocks.best_width)
		clocks.best_width = width;
	return width <= clocks.best_width * worse_most(second);
}

/* Of the older ones every second is enough. */
static void thin_out(struct line *line)
{
	uint32_t kept = 1;

	if (line->count < PAIRS_MAX)
		return;
	for (uint32_t i = 1; i < PAIRS_MAX; i++) {
		if (i % 2 == 0 || i > PAIRS_MAX / 4 * 3)
			line->pair[kept++] = line->pair[i];
	}
	line->count = kept;
	line->near = 0;
}

/* The clock went as ours does between two pairs, but for a little. */
static bool is_steady(const struct pair *from, const struct pair *to)
{
	const struct session *session = load_relaxed(&session_here);
	const double ns = (double)(to->ticks - from->ticks) * 1e9 /
			  (double)clock_ticks_per_second(&session->head->clock);
	const double off = (double)(int64_t)(to->time - from->time) - ns;
	const double most = ns / STEP_SHARE + STEP_NS;

	return off < most && off > -most;
}

static void begin_line(void)
{
	struct line *const older = clocks.before;

	clocks.before = clocks.now;
	clocks.now = older;
	clocks.now->count = 0;
	clocks.now->near = 0;
	if (!clocks.steps++)
		session_note(
			load_relaxed(&session_here),
			"CUPTI's clock was set: times of the GPU around it "
			"may be wrong");
}

static void add(struct pair pair)
{
	struct line *line = clocks.now;
	const struct pair *last = &line->pair[line->count - 1];

	if (line->count && !is_steady(last, &pair)) {
		begin_line();
		line = clocks.now;
	} else if (line->count &&
		   (pair.ticks <= last->ticks || pair.time <= last->time)) {
		return;
	}
	thin_out(line);
	line->pair[line->count++] = pair;
}

int cupti_clock_start(void)
{
	struct pair pair;

	clocks.now = &clocks.lines[0];
	clocks.before = &clocks.lines[1];
	const bool converts = cupti_share_is_on() ||
			      cupti_has(CUPTI_DEFECT_CLOCK_CALLBACK) ||
			      !cupti.cuptiActivityRegisterTimestampCallback;

	store_relaxed(&clocks.converts, converts);
	/* Once in a process: doing so again spoils the next kernels' times. */
	if (!converts)
		return (int)cupti.cuptiActivityRegisterTimestampCallback(
			ticks_now);
	if (!measure(&pair))
		return (int)CUPTI_ERROR_UNKNOWN;
	add(pair);
	return (int)CUPTI_SUCCESS;
}

int cupti_clock_again(void)
{
	/* Nobody can have had another clock. */
	if (!cupti.cuptiActivityRegisterTimestampCallback)
		return clocks.now ? 0 : cupti_clock_start();
	store_relaxed(&clocks.converts, false);
	return (int)cupti.cuptiActivityRegisterTimestampCallback(ticks_now);
}

void cupti_clock_pair(bool is_ours)
{
	struct pair pair;

	if (load_relaxed(&clocks.converts) && is_ours && measure(&pair))
		add(pair);
}

/* The pair before a time, so that another follows; the first or the last but
 * one where there is none. */
static const struct pair *pair_before(struct line *line, uint64_t time)
{
	uint32_t low = line->near, high = line->count - 1;

	if (line->pair[low].time > time)
		low = 0;
	else if (low + 1 < high && line->pair[low + 1].time > time)
		return &line->pair[low];
	while (high - low > 1) {
		const uint32_t middle = low + (high - low) / 2;

		if (line->pair[middle].time <= time)
			low = middle;
		else
			high = middle;
	}
	line->near = low;
	return &line->pair[low];
}

static uint64_t on_line(struct line *line, uint64_t time)
{
	const struct session *session = load_relaxed(&session_here);
	const struct pair *from = &line->pair[0];
	double rate;

	if (line->count < 2) {
		rate = (double)clock_ticks_per_second(&session->head->clock) /
		       1e9;
	} else {
		from = pair_before(line, time);
		rate = (double)(from[1].ticks - from->ticks) /
		       (double)(from[1].time - from->time);
	}
	return from->ticks +
	       (uint64_t)(int64_t)((double)(int64_t)(time - from->time) * rate);
}

uint64_t cupti_clock_now(void)
{
	uint64_t time = 0;

	if (!load_relaxed(&clocks.converts))
		return clock_ticks();
	return cupti.cuptiGetTimestamp(&time) == CUPTI_SUCCESS ? time : 0;
}

uint64_t cupti_clock_second(void)
{
	const struct session *session = load_relaxed(&session_here);

	return load_relaxed(&clocks.converts)
		       ? UINT64_C(1000000000)
		       : clock_ticks_per_second(&session->head->clock);
}

uint64_t cupti_clock_ticks(uint64_t time)
{
	uint64_t ticks;

	if (!load_relaxed(&clocks.converts) || !time)
		return time;
	ticks = on_line(clocks.now, time);
	/* From before the clock was set. */
	if (clocks.before->count &&
	    (ticks < clocks.now->pair[0].ticks || ticks > clock_ticks()))
		return on_line(clocks.before, time);
	return ticks;
}

uint64_t cupti_clock_error(void)
{
	return clocks.best_width;
}

void cupti_clock_forget(void)
{
	memset(&clocks, 0, sizeof(clocks));
}

#endif
