/* SPDX-License-Identifier: MIT */
/*
 * sim_clock.c - two clocks and the line between them.
 */
#include "tests/fake_gpu/sim_clock.h"

#include "tests/fake_gpu/sim_knobs.h"
#include <pthread.h>
#include <time.h>

enum { BRACKETS = 5, SPOILT_AFTER_REGISTRATION = 3, SPOILT_BY_NS = 1000000 };

struct anchor {
	int64_t device;
	uint64_t client;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t (*_Atomic client_clock)(void);
static struct anchor first, last;
static int registrations, spoilt;

static int64_t read_clock(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t clock_device_now(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t clock_client_now(void)
{
	uint64_t (*callback)(void) = client_clock;

	return callback ? callback() : (uint64_t)read_clock(CLOCK_REALTIME);
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

void clock_register(uint64_t (*callback)(void))
{
	pthread_mutex_lock(&lock);
	client_clock = callback;
	first = last = measure();
	if (registrations++)
		spoilt = SPOILT_AFTER_REGISTRATION;
	pthread_mutex_unlock(&lock);
}

void clock_anchor(void)
{
	pthread_mutex_lock(&lock);
	last = measure();
	if (!first.device)
		first = last;
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

uint64_t clock_convert(int64_t device_ns)
{
	double slope = 1;
	double time = (double)sim_knobs()->skew_ns;

	pthread_mutex_lock(&lock);
	if (last.device > first.device)
		slope = (double)(last.client - first.client) /
			(double)(last.device - first.device);
	time += (double)(device_ns - first.device);
	const uint64_t client =
		first.client + (uint64_t)(int64_t)(time * slope);
	pthread_mutex_unlock(&lock);
	return client;
}

void clock_sleep_until(int64_t device_ns)
{
	const struct timespec until = {
		.tv_sec = device_ns / 1000000000,
		.tv_nsec = device_ns % 1000000000,
	};

	if (device_ns <= clock_device_now())
		return;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL))
		;
}
