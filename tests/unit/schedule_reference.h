/* SPDX-License-Identifier: MIT */
/*
 * schedule_reference.h - torch.profiler.schedule by writing every step down.
 *
 * The product computes an action from a step's number; this lays the steps out
 * one behind the other, as the words of a schedule are read: skip some, then
 * cycle by cycle wait, warm up, record.  Two ways to the same table.
 */
#ifndef UNIT_SCHEDULE_REFERENCE_H
#define UNIT_SCHEDULE_REFERENCE_H

#include "collector/control/window.h"

#define REFERENCE_STEPS 61

struct schedule_reference {
	enum window_action action[REFERENCE_STEPS];
	int64_t cycle[REFERENCE_STEPS]; /* -1: not recorded */
	int count;
};

static inline void reference_put(struct schedule_reference *reference,
				 int64_t times, enum window_action action,
				 int64_t cycle)
{
	for (; times > 0 && reference->count < REFERENCE_STEPS; times--) {
		reference->action[reference->count] = action;
		reference->cycle[reference->count] = cycle;
		reference->count++;
	}
}

static inline void reference_fill(struct schedule_reference *reference,
				  const struct schedule *schedule)
{
	reference->count = 0;
	reference_put(reference, schedule->skip_first, WINDOW_NONE, -1);
	for (int64_t cycle = 0; reference->count < REFERENCE_STEPS; cycle++) {
		if (schedule->repeat && cycle == schedule->repeat) {
			reference_put(reference, REFERENCE_STEPS, WINDOW_NONE,
				      -1);
			return;
		}
		if (cycle || !schedule->skip_first_wait)
			reference_put(reference, schedule->wait, WINDOW_NONE,
				      -1);
		reference_put(reference, schedule->warmup, WINDOW_WARMUP, -1);
		reference_put(reference, schedule->active - 1, WINDOW_RECORD,
			      cycle);
		reference_put(reference, 1, WINDOW_RECORD_AND_SAVE, cycle);
	}
}

/* Calls visit() for every small schedule: 1152 of them. */
static inline void
reference_each(void (*visit)(const struct schedule *, void *), void *arg)
{
	for (int i = 0; i < 4 * 2 * 4 * 3 * 3 * 4; i++) {
		const struct schedule schedule = {
			.skip_first = i % 4,
			.skip_first_wait = i / 4 % 2,
			.wait = i / 8 % 4,
			.warmup = i / 32 % 3,
			.active = 1 + i / 96 % 3,
			.repeat = i / 288 % 4,
		};

		visit(&schedule, arg);
	}
}

#endif
