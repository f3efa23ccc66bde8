/* SPDX-License-Identifier: MIT */
/*
 * sim_clock.c - two clocks and the line between them.
 *
 * The line goes through every moment at which both clocks were read and never
 * changes where it has been drawn: what ends before another begins does so in
 * the client's time too, however long this thread was off its processor
 * between the two readings.
 */
#include "tests/fake_gpu/sim_clock.h"

#include "tests/fake_gpu/sim_knobs.h"
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum {
	BRACKETS = 5,
	MOST_ANCHORS = 1 << 16,
	SPOILT_AFTER_REGISTRATION = 3,
	SPOILT_BY_NS = 1000000,
	MILLION = 1000000,
	JITTERS_FROM_NS = 1000000,
	WOBBLE_PERIOD_NS = 50000000,
	SET_PERIOD_NS = 200000000,
};

struct anchor {
	int64_t device;
	uint64_t client;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t (*_Atomic client_clock)(void);
static struct anchor anchors[MOST_ANCHORS];
static size_t anchor_count;
static int registrations, spoilt;

static int64_t read_clock(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The GPU's counter runs at a rate of its own. */
static int64_t drifted(int64_t ns)
{
	return ns + ns / MILLION * sim_knobs()->drift_ppm;
}

static int64_t undrifted(int64_t device_ns)
{
	return device_ns / (MILLION + sim_knobs()->drift_ppm) * MILLION +
	       device_ns % (MILLION + sim_knobs()->drift_ppm);
}

int64_t clock_device_now(void)
{
	return drifted(read_clock(CLOCK_MONOTONIC));
}

int clock_is_clients(void)
{
	return client_clock != NULL;
}

/* The system's time, as if nobody set it meanwhile: a machine that runs the
 * tests may be one whose time is put right by jumps. */
static int64_t system_now(void)
{
	static _Atomic int64_t since_start;
	int64_t ahead = since_start, none = 0;

	if (!ahead) {
		ahead = read_clock(CLOCK_REALTIME) -
			read_clock(CLOCK_MONOTONIC);
		if (!atomic_compare_exchange_strong(&since_start, &none, ahead))
			ahead = none;
	}
	return read_clock(CLOCK_MONOTONIC) + ahead;
}

/* It is set right by going faster and slower. */
static int64_t wobbled(int64_t ns)
{
	const int64_t phase = ns % WOBBLE_PERIOD_NS;
	const int64_t part =
		phase < WOBBLE_PERIOD_NS / 2 ? phase : WOBBLE_PERIOD_NS - phase;

	return ns + part * sim_knobs()->wobble_ns / (WOBBLE_PERIOD_NS / 2);
}

/* Somebody sets it forward, and back again. */
static int64_t set_by(int64_t ns)
{
	return ns % SET_PERIOD_NS < SET_PERIOD_NS / 2 ? 0 : sim_knobs()->set_ns;
}

uint64_t clock_client_now(void)
{
	uint64_t (*callback)(void) = client_clock;
	int64_t now;

	if (callback)
		return callback();
	now = system_now();
	return (uint64_t)(wobbled(now) + set_by(now));
}

/* The tightest of a few brackets. */
static struct anchor measure(void)
{
	struct anchor best = {0, 0};
	int64_t width = INT64_MAX;

	for (int i = 0; i < BRACKETS; i++) {
		const int64_t before = clock_device_now();
		const uint64_t client = clock_client_now();
		const int64_t after = clock_device_now();

		if (after - before >= width)
			continue;
		width = after - before;
		best.device = before + width / 2;
		best.client = client;
	}
	return best;
}

/* `lock` is held: of +-JITTER_NS. */
static int64_t jitter(void)
{
	static uint32_t random = 12345;
	const int64_t most = sim_knobs()->jitter_ns;

	random = random * 1664525 + 1013904223;
	return most ? (int64_t)(random >> 8) % (2 * most + 1) - most : 0;
}

/* `lock` is held. */
static void add_anchor(struct anchor anchor)
{
	if (anchor_count &&
	    (anchor.device <= anchors[anchor_count - 1].device ||
	     anchor.client <= anchors[anchor_count - 1].client))
		return;
	/* A reading is never exact; over a short time this would be a slope of
	 * its own. */
	if (anchor_count &&
	    anchor.device - anchors[anchor_count - 1].device >= JITTERS_FROM_NS)
		anchor.device += jitter();
	if (anchor_count == MOST_ANCHORS)
		for (anchor_count = 0; anchor_count < MOST_ANCHORS / 2;
		     anchor_count++)
			anchors[anchor_count] = anchors[2 * anchor_count];
	anchors[anchor_count++] = anchor;
}

void clock_register(uint64_t (*callback)(void))
{
	pthread_mutex_lock(&lock);
	client_clock = callback;
	anchor_count = 0;
	add_anchor(measure());
	if (registrations++)
		spoilt = SPOILT_AFTER_REGISTRATION;
	pthread_mutex_unlock(&lock);
}

void clock_anchor(void)
{
	pthread_mutex_lock(&lock);
	add_anchor(measure());
	pthread_mutex_unlock(&lock);
}

int64_t clock_error(void)
{
	int64_t error = 0;

	pthread_mutex_lock(&lock);
	if (spoilt > 0) {
		spoilt--;
		error = -SPOILT_BY_NS;
	}
	pthread_mutex_unlock(&lock);
	return error;
}

/* `lock` is held: how fast the client's clock goes between two readings. */
static double slope(const struct anchor *from, const struct anchor *to)
{
	if (to->device <= from->device)
		return 1;
	return (double)(to->client - from->client) /
	       (double)(to->device - from->device);
}

/* The last reading at or before a moment, or the first of all. */
static const struct anchor *anchor_before(int64_t device_ns)
{
	size_t low = 0, high = anchor_count;

	while (high - low > 1) {
		const size_t middle = low + (high - low) / 2;

		if (anchors[middle].device <= device_ns)
			low = middle;
		else
			high = middle;
	}
	return &anchors[low];
}

uint64_t clock_convert(int64_t device_ns)
{
	static double skew_slope;

	pthread_mutex_lock(&lock);
	if (!anchor_count)
		add_anchor(measure());
	const struct anchor *last = &anchors[anchor_count - 1];
	const struct anchor *from = anchor_before(device_ns);
	const int is_between = from != last && device_ns >= from->device;
	const double rate =
		is_between ? slope(from, from + 1) : slope(&anchors[0], last);

	if (skew_slope == 0)
		skew_slope = slope(&anchors[0], last);
	const uint64_t client =
		from->client +
		(uint64_t)(int64_t)((double)(device_ns - from->device) * rate +
				    (double)sim_knobs()->skew_ns * skew_slope);
	pthread_mutex_unlock(&lock);
	return client;
}

void clock_sleep_until(int64_t device_ns)
{
	const int64_t ns = undrifted(device_ns) + 1;
	const struct timespec until = {
		.tv_sec = ns / 1000000000,
		.tv_nsec = ns % 1000000000,
	};

	if (device_ns <= clock_device_now())
		return;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL))
		;
}
