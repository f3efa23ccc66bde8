/* SPDX-License-Identifier: MIT */
/*
 * manual_window.h - windows by traceprof_start(), `traceprof ctl`, a signal.
 *
 * One at a time, with a file of its own, and none while the schedule records.
 * A limit ends it by itself: after so many steps, whole ones, so that it begins
 * with the next step (until then it is *armed*); or after so much time.
 *
 * Who starts and stops may be any thread; the stepping thread begins and ends
 * what is counted in steps, the writer what is counted in time.
 */
#ifndef COLLECTOR_MANUAL_WINDOW_H
#define COLLECTOR_MANUAL_WINDOW_H

#include "collector/session/session.h"

/* `name` NULL or "": "manual".  `steps` from the next one on, else `ms` from
 * now, else (both 0) until manual_stop().  0; -EBUSY a window is open or armed.
 */
int manual_start(struct session *session, const char *name, int64_t steps,
		 int64_t ms);

/* Ends it, or disarms it.  0; -ENOENT none was started by hand. */
int manual_stop(struct session *session);

/* Stepping thread, step `step` begins at `ticks`: ends a window that has had
 * its steps.  And, once the schedule has had its turn, begins an armed one. */
void manual_step_ends(struct session *session, int64_t step, uint64_t ticks);
void manual_step_begins(struct session *session, int64_t step);

/* Opens the gate and a window, which begins when the gate is open, not before:
 * what other threads begin in it finds the gate so.  With it begins its step,
 * unless that is -1.  As window_open(). */
int manual_open(struct session *session, int64_t step, uint32_t name,
		bool is_manual);

/* Writer, each pass: ends a window whose time is up.  Returns the nanoseconds
 * that one has left, 0 when none is limited by time. */
uint64_t manual_time(struct session *session);

#endif
