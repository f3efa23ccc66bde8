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
/* A reading is as good as it gets, of a second. */
#define GOOD_PART  20000000u
/* Two readings are so much longer apart than they took: the line between them
 * is no steeper or flatter by more than that part. */
#define APART	   1000u
/* A rate that differs by so much from what it was (1/1000, and 100 us) is no
 * rate: the clock was set. */
#define STEP_SHARE 1000
#define STEP_NS	   100000

struct pair {
	uint64_t ticks;
	uint64_t time;
};

/* What has been asked for stays as it is: no time that is told later is before
 * one that was told, though it came after it. */
struct line {
	uint32_t count;
	uint32_t near;	  /* where the last one was found */
	double rate;	  /* past the last pair; 0 nobody has asked */
	struct pair told; /* the latest past it */
	struct pair read; /* last reading of both clocks, */
	uint64_t width;	  /* and how long it took */
	struct pair pair[PAIRS_MAX];
};

static struct {
	_Atomic bool converts;
	bool is_own;		     /* so are the records of this buffer */
	_Atomic uint64_t width;	     /* of the last reading, in ticks */
	_Atomic uint64_t best_width; /* of any */
	/* The last reading before CUPTI was another's. */
	_Atomic bool has_left;
	struct pair left;
	uint64_t left_width;
	uint32_t steps;
	/* The newer one, and that before the clock was set. */
	struct line *now, *before;
	struct line lines[2];
} clocks;

static uint64_t CUPTIAPI ticks_now(void)
{
	return clock_ticks();
}

/* The tightest of a few brackets; its width, 0: CUPTI gives no time. */
static uint64_t measure(struct pair *best)
{
	const struct session *session = load_relaxed(&session_here);
	const uint64_t second = clock_ticks_per_second(&session->head->clock);
	const uint64_t best_width = load_relaxed(&clocks.best_width);
	uint64_t width = UINT64_MAX;

	for (int i = 0;
	     i < BRACKETS && width > second / GOOD_PART && width > best_width;
	     i++) {
		const uint64_t before = clock_ticks();
		uint64_t time = 0, after;

		if (cupti.cuptiGetTimestamp(&time) != CUPTI_SUCCESS)
			return 0;
		after = clock_ticks();
		if (after - before >= width)
			continue;
		width = max_u64(after - before, 1);
		best->ticks = before + width / 2;
		best->time = time;
	}
	if (!best_width || width < best_width)
		store_relaxed(&clocks.best_width, width);
	return width;
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
static bool is_steady(const struct pair *from, const struct pair *to,
		      uint64_t width)
{
	const struct session *session = load_relaxed(&session_here);
	const double per_tick =
		1e9 / (double)clock_ticks_per_second(&session->head->clock);
	const double ns = (double)(int64_t)(to->ticks - from->ticks) * per_tick;
	const double off = (double)(int64_t)(to->time - from->time) - ns;
	const double most =
		ns / STEP_SHARE + STEP_NS + (double)width * per_tick;

	return off < most && off > -most;
}

static void tell_set(void)
{
	if (!clocks.steps++)
		session_note(
			load_relaxed(&session_here),
			"CUPTI's clock was set: times of the GPU around it "
			"may be wrong");
}

static void begin_line(void)
{
	struct line *const older = clocks.before;

	clocks.before = clocks.now;
	clocks.now = older;
	clocks.now->count = 0;
	clocks.now->near = 0;
	clocks.now->rate = 0;
	tell_set();
}

static void append(struct line *line, const struct pair *pair)
{
	thin_out(line);
	line->pair[line->count++] = *pair;
	line->rate = 0;
}

/* It comes after all that was told. */
static bool is_next(const struct line *line, const struct pair *pair)
{
	const struct pair *last =
		line->rate > 0 ? &line->told : &line->pair[line->count - 1];

	return pair->ticks > last->ticks && pair->time > last->time;
}

static void add(struct pair pair, uint64_t width)
{
	struct line *line = clocks.now;

	if (line->count && pair.ticks <= line->read.ticks)
		return;
	if (line->count &&
	    !is_steady(&line->read, &pair, line->width + width)) {
		begin_line();
		line = clocks.now;
	} else if (line->count && (!is_next(line, &pair) ||
				   (pair.ticks - line->read.ticks) / APART <
					   line->width + width)) {
		return;
	}
	/* The line goes on where it was told to be. */
	if (line->rate > 0 &&
	    line->told.time > line->pair[line->count - 1].time)
		append(line, &line->told);
	append(line, &pair);
	line->read = pair;
	line->width = width;
	store_relaxed(&clocks.width, width);
}

int cupti_clock_start(void)
{
	struct pair pair;
	uint64_t width;

	clocks.now = &clocks.lines[0];
	clocks.before = &clocks.lines[1];
	const bool converts = cupti_share_is_on() ||
			      cupti_has(CUPTI_DEFECT_CLOCK_CALLBACK) ||
			      !cupti.cuptiActivityRegisterTimestampCallback;

	store_relaxed(&clocks.converts, converts);
	clocks.is_own = converts;
	/* Once in a process: doing so again spoils the next kernels' times. */
	if (!converts)
		return (int)cupti.cuptiActivityRegisterTimestampCallback(
			ticks_now);
	width = measure(&pair);
	if (!width)
		return (int)CUPTI_ERROR_UNKNOWN;
	add(pair, width);
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

void cupti_clock_pair(bool (*is_ours)(void))
{
	struct pair pair;
	uint64_t width;

	/* ACQUIRE pairs with RELEASE in cupti_clock_leave(): the reading. */
	if (load_acquire(&clocks.has_left)) {
		add(clocks.left, clocks.left_width);
		store_relaxed(&clocks.has_left, false);
	}
	if (!load_relaxed(&clocks.converts) || !is_ours())
		return;
	width = measure(&pair);
	/* Not taken from us meanwhile. */
	if (width && is_ours())
		add(pair, width);
}

void cupti_clock_leave(bool (*is_ours)(void))
{
	if (!load_relaxed(&clocks.converts) || load_relaxed(&clocks.has_left))
		return;
	clocks.left_width = measure(&clocks.left);
	/* RELEASE pairs with ACQUIRE in cupti_clock_pair(). */
	if (clocks.left_width && is_ours())
		store_release(&clocks.has_left, true);
}

bool cupti_clock_is_own(void)
{
	return load_relaxed(&clocks.converts);
}

void cupti_clock_of(bool is_own)
{
	clocks.is_own = is_own;
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

/* Past the last pair: as from the first to the last, or by what is known of
 * our own clock, which is known better later. */
static double rate_of(const struct line *line)
{
	const struct session *session = load_relaxed(&session_here);
	const struct pair *first = &line->pair[0];
	const struct pair *last = &line->pair[line->count - 1];

	if (line->count < 2)
		return (double)clock_ticks_per_second(&session->head->clock) /
		       1e9;
	return (double)(last->ticks - first->ticks) /
	       (double)(last->time - first->time);
}

static uint64_t from_on(const struct pair *from, double rate, uint64_t time)
{
	return from->ticks +
	       (uint64_t)(int64_t)((double)(int64_t)(time - from->time) * rate);
}

static uint64_t past_last(struct line *line, uint64_t time)
{
	uint64_t ticks;

	if (!(line->rate > 0)) {
		line->rate = rate_of(line);
		line->told = line->pair[line->count - 1];
	}
	ticks = from_on(&line->pair[line->count - 1], line->rate, time);
	/* What lies ahead is another's time. */
	if (time > line->told.time && ticks <= clock_ticks())
		line->told = (struct pair){ticks, time};
	return ticks;
}

static uint64_t on_line(struct line *line, uint64_t time)
{
	const struct pair *from;

	if (time > line->pair[line->count - 1].time)
		return past_last(line, time);
	if (line->count < 2)
		return from_on(&line->pair[0], rate_of(line), time);
	from = pair_before(line, time);
	return from_on(from,
		       (double)(from[1].ticks - from->ticks) /
			       (double)(from[1].time - from->time),
		       time);
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

	if (!clocks.is_own || !time)
		return time;
	ticks = on_line(clocks.now, time);
	/* From before the clock was set. */
	if (clocks.before->count &&
	    (ticks < clocks.now->pair[0].ticks || ticks > clock_ticks()))
		return on_line(clocks.before, time);
	return ticks;
}

bool cupti_clock_was_set(void)
{
	return clocks.steps;
}

void cupti_clock_seen_set(void)
{
	if (clocks.is_own)
		tell_set();
}

uint64_t cupti_clock_error(void)
{
	return load_relaxed(&clocks.width);
}

void cupti_clock_forget(void)
{
	memset(&clocks, 0, sizeof(clocks));
}

#endif
