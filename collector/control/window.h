/* SPDX-License-Identifier: MIT */
/*
 * window.h - which steps are recorded, and in which file.
 *
 * window_action() is torch.profiler.schedule, to the letter: one pure function
 * of the step number.  Around it, struct window_state keeps the windows that
 * were opened: each is a span of ticks and becomes one file.  The thread that
 * steps opens and closes windows (and moves the gate); the writer reads them
 * and gives each event to the window in which it began.
 *
 *	step k begins with the (k+1)th mark.  Before the first mark nothing has
 *	begun: with a schedule that time is waited through, without one it is
 *	recorded.
 */
#ifndef COLLECTOR_WINDOW_H
#define COLLECTOR_WINDOW_H

#include "collector/system/base.h"

#define WINDOWS_MAX 64u

enum window_action {
	WINDOW_NONE,
	WINDOW_WARMUP,
	WINDOW_RECORD,
	WINDOW_RECORD_AND_SAVE
};

struct schedule {
	bool always; /* no schedule: one window, the whole run */
	int64_t skip_first;
	int64_t skip_first_wait;
	int64_t wait;
	int64_t warmup;
	int64_t active; /* INT64_MAX: to the end */
	int64_t repeat; /* 0: for ever */
};

struct options;
void schedule_from_options(const struct options *options,
			   struct schedule *schedule);

/* The action of step `step` (>= 0). */
enum window_action window_action(const struct schedule *schedule, int64_t step);

/* The cycle that a recorded step belongs to, 0-based; -1 if not recorded. */
int64_t window_cycle(const struct schedule *schedule, int64_t step);

/* The same where the schedule began only after `passed` steps. */
int64_t window_cycle_after(const struct schedule *schedule, int64_t step,
			   uint64_t passed);

/* The least step above `step` where action or cycle may change; INT64_MAX:
 * never. */
int64_t window_next_change(const struct schedule *schedule, int64_t step);

/* Steps that the schedule needs until its first window is whole, or begun where
 * it never ends; 0 without a schedule. */
int64_t window_steps_needed(const struct schedule *schedule);

/* What the hooks of all threads had counted at an edge of a window; of one that
 * was found afterwards that isn't known. */
struct window_counts {
	uint64_t calls, frees, bytes; /* of the heap */
	uint64_t marked_ps;	      /* as in thread_sums */
	bool is_known;
};

struct window {
	uint64_t start_ticks;
	_Atomic uint64_t end_ticks; /* 0: still open */
	int64_t first_step;	    /* -1: not by steps */
	int64_t last_step;	    /* set before end_ticks */
	uint32_t name;		    /* interned: manual windows, else 0 */
	uint32_t cycle;		    /* counts windows */
	uint32_t reason; /* enum flight_reason: of the flight recorder */
	uint32_t dump;	 /* ... and its number, from 1 */
	struct window_counts at_start, at_end; /* the latter as last_step */
};

struct window_state {
	/* Windows opened; window i lies at i % WINDOWS_MAX.  RELEASE by who
	 * opens, ACQUIRE by the writer. */
	_Atomic uint64_t opened;
	_Atomic uint64_t written; /* windows whose file the writer finished */
	_Atomic uint32_t busy;	  /* 1 while somebody opens or closes one */
	_Atomic uint32_t missed; /* windows not opened: all slots were in use */
	_Atomic uint32_t is_open;
	_Atomic uint32_t is_manual;  /* the open one was started by hand */
	_Atomic int64_t armed_steps; /* so many from the next step on; 0 not */
	_Atomic uint32_t armed_name;
	_Atomic int64_t until_step; /* the manual one ends with it; 0 not */
	_Atomic uint64_t until_ns; /* the manual one ends then, CLOCK_MONOTONIC;
				       0 not */
	_Atomic int64_t steps;	   /* steps begun */
	_Atomic uint64_t marks;	   /* marker hits, before the divisor */
	_Atomic uint32_t step_tid; /* thread that steps, 0 none yet */
	uint64_t step_start_ticks; /* of the step that is running */
	_Atomic uint64_t longest_step_ticks; /* of those that are over */
	uint64_t step_outer;		     /* slice around its start */
	struct window window[WINDOWS_MAX];
};

/* Of the files of several windows, why one is what a verdict is about. */
enum window_worth {
	WORTH_STEPS,  /* the newest with the most steps */
	WORTH_EVENTS, /* none has steps: the newest with anything in it */
	WORTH_ASKED,  /* begun by hand, not empty: the newest with most steps */
};

/* Any thread; it may change at once. */
static inline bool window_is_open(const struct window_state *state)
{
	return load_relaxed(&((struct window_state *)state)->is_open);
}

/* Opens a window at `ticks`.  0; -EBUSY one is open or somebody is at it;
 * -EAGAIN the writer is WINDOWS_MAX windows behind. */
int window_open_counted(struct window_state *state, uint64_t ticks,
			int64_t first_step, uint32_t name, bool manual,
			struct window_counts counts);

/* The same where nobody knows what had been counted then. */
int window_open(struct window_state *state, uint64_t ticks, int64_t first_step,
		uint32_t name, bool manual);

/* Adds one that is over already: what the flight recorder holds, from `from` to
 * `to`.  0 or as window_open(). */
int window_add(struct window_state *state, uint64_t from, uint64_t to,
	       uint32_t name, uint32_t reason, uint32_t dump);

/* The same for steps that are over. */
int window_add_steps(struct window_state *state, uint64_t from, uint64_t to,
		     int64_t first_step, int64_t last_step);

/* Closes the open one.  0; -EBUSY; -ENOENT none is open. */
int window_close_counted(struct window_state *state, uint64_t ticks,
			 int64_t last_step, struct window_counts counts);
int window_close(struct window_state *state, uint64_t ticks, int64_t last_step);

#endif
