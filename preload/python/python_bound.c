/* SPDX-License-Identifier: MIT */
/* python_bound.c - measures and counts; see python_bound.h. */
#include "preload/python/python_bound.h"

/* Hooks in a batch; batches of which all are timed, and those after them of
 * which the least counts; one hook in so many is timed then. */
#define BATCH	  64u
#define BATCHES	  64u
#define RECENT	  8u
#define ONE_IN	  32u
/* A call's two hooks, and what the interpreter does for them. */
#define EACH_HOOK 4u

struct python_bound python_bound;

static struct {
	long percent;
	uint32_t timed;	  /* hooks of this batch */
	uint32_t batches; /* so far, of the recent ones since the first */
	uint64_t ticks;	  /* that the hooks of this one took */
	uint64_t least;	  /* of a whole batch */
	bool is_settled;
	uint64_t since; /* the last look */
	double left_ps; /* that calls may still cost */
} bound;

void python_bound_start(long percent)
{
	python_bound.left = percent ? PYTHON_BOUND_CALLS : 0;
	python_bound.until = 1;
	python_bound.imports = PYTHON_BOUND_IMPORTS;
	bound.percent = percent;
	bound.timed = 0;
	bound.batches = 0;
	bound.ticks = 0;
	bound.least = UINT64_MAX;
	bound.is_settled = false;
	bound.since = 0;
}

static double tick_ps(const struct session *session)
{
	return 1e12 /
	       (double)(clock_ticks_per_second(&session->head->clock) + 1);
}

static void set_price(struct session *session)
{
	session->head->cost.python_ps =
		(uint32_t)((double)bound.least * tick_ps(session) / BATCH *
			   EACH_HOOK) +
		1;
}

COLD void python_bound_time(struct session *session, uint64_t ticks)
{
	python_bound.until = bound.is_settled ? ONE_IN : 1;
	bound.ticks += ticks;
	if (++bound.timed < BATCH)
		return;
	if (bound.ticks < bound.least) {
		bound.least = bound.ticks;
		if (!bound.is_settled)
			set_price(session);
	}
	bound.ticks = 0;
	bound.timed = 0;
	if (++bound.batches < (bound.is_settled ? RECENT : BATCHES))
		return;
	set_price(session);
	bound.is_settled = true;
	bound.batches = 0;
	bound.least = UINT64_MAX;
}

COLD bool python_bound_look(struct session *session)
{
	const uint64_t now = clock_ticks();
	const double share = (double)bound.percent / 100;
	const double most = share * 1e12;

	python_bound.left = PYTHON_BOUND_CALLS;
	if (bound.since)
		bound.left_ps +=
			(double)(now - bound.since) * tick_ps(session) * share;
	if (!bound.since || bound.left_ps > most)
		bound.left_ps = most;
	bound.since = now;
	bound.left_ps -= (double)PYTHON_BOUND_CALLS *
			 (double)session->head->cost.python_ps;
	return bound.left_ps < 0;
}
