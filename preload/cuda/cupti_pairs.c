/* SPDX-License-Identifier: MIT */
/* cupti_pairs.c - drops driver calls of runtime calls; see cupti_pairs.h. */
#include "preload/cuda/cupti_pairs.h"

#include <string.h>

#define THREADS 512u
#define RECENT	8u

/* The writer's thread alone. */
static struct pair {
	uint32_t tid;
	uint32_t at;		 /* next place in recent[] */
	uint64_t recent[RECENT]; /* correlations of runtime calls shown */
	bool waits;
	struct event driver;
} pairs[THREADS];

static struct pair *pair_of(uint32_t tid)
{
	for (uint32_t i = 0; i < THREADS; i++) {
		struct pair *pair = &pairs[(tid + i) % THREADS];

		if (!pair->tid)
			pair->tid = tid;
		if (pair->tid == tid)
			return pair;
	}
	return NULL;
}

static bool was_shown(const struct pair *pair, uint64_t correlation)
{
	for (unsigned int i = 0; i < RECENT; i++) {
		if (pair->recent[i] == correlation)
			return true;
	}
	return false;
}

unsigned int cupti_pairs_add(const struct event *event,
			     struct event out[CUPTI_PAIRS_OUT],
			     uint64_t *doubled)
{
	const uint64_t correlation = event->api.correlation;
	struct pair *pair = pair_of(event->extra);
	unsigned int count = 0;

	if (!pair || !correlation) {
		out[0] = *event;
		return 1;
	}
	if (pair->waits && pair->driver.api.correlation != correlation) {
		out[count++] = pair->driver;
		pair->waits = false;
	}
	if (!event->api.is_driver) {
		*doubled += pair->waits;
		pair->waits = false;
		pair->recent[pair->at++ % RECENT] = correlation;
		out[count++] = *event;
	} else if (was_shown(pair, correlation)) {
		/* Its runtime call came first, in another buffer. */
		++*doubled;
	} else if (!pair->waits ||
		   event->start_ticks <= pair->driver.start_ticks) {
		*doubled += pair->waits;
		pair->driver = *event;
		pair->waits = true;
	} else {
		++*doubled;
	}
	return count;
}

bool cupti_pairs_overdue(uint64_t ticks, struct event *out)
{
	for (unsigned int i = 0; i < THREADS; i++) {
		if (pairs[i].waits && pairs[i].driver.end_ticks < ticks) {
			pairs[i].waits = false;
			*out = pairs[i].driver;
			return true;
		}
	}
	return false;
}

uint64_t cupti_pairs_oldest(void)
{
	uint64_t oldest = UINT64_MAX;

	for (unsigned int i = 0; i < THREADS; i++) {
		if (pairs[i].waits)
			oldest = min_u64(oldest, pairs[i].driver.start_ticks);
	}
	return oldest;
}

void cupti_pairs_forget(void)
{
	memset(pairs, 0, sizeof(pairs));
}
