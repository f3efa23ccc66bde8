/* SPDX-License-Identifier: MIT */
/*
 * steps.h - what begins a step, and what a step does to the recording.
 *
 * A marker (traceprof_step(), a region whose function matches, the writer's
 * timer) calls steps_mark().  That counts, divides, asks the schedule, opens
 * or closes the window and the gate, and records the step that has just ended.
 * Steps belong to the first thread that hit the marker.
 */
#ifndef COLLECTOR_STEPS_H
#define COLLECTOR_STEPS_H

#include "collector/session/thread.h"

enum step_source {
	STEP_AUTO, /* found by the writer, until the program says */
	STEP_API,
	STEP_MANUAL, /* as STEP_API, windows by traceprof_start() alone */
	STEP_TIME,
	STEP_OMP,
	STEP_NVTX,   /* a range or mark, by its name */
	STEP_KERNEL, /* a kernel's launch, by its symbol */
	STEP_CUDA,   /* a call of the CUDA API */
};

struct step_marker {
	enum step_source source;
	uint64_t divisor;   /* every Nth mark begins a step, from the first */
	uint64_t period_ns; /* STEP_TIME */
	char glob[OPTION_TEXT_BYTES];
	struct search_wanted wanted; /* STEP_AUTO, from a file */
};

/* Parses TRACEPROF_STEP.  0; -EINVAL with one line in `why`. */
int steps_parse(const char *text, struct step_marker *marker, char *why,
		size_t why_bytes);

/* Reads the session's options; to be called once, before the gate opens.
 * Without a schedule opens the window that is the whole run, from `ticks`. */
void steps_start(struct session *session, uint64_t ticks);

/* Something is recorded now: a window is open, or the flight recorder is on. */
static inline bool steps_are_recorded(const struct session *session)
{
	return window_is_open(&session->head->windows) ||
	       session->head->flight.is_on;
}

/* The same, or they are looked at to find the step. */
static inline bool steps_want_events(const struct session *session)
{
	return steps_are_recorded(session) ||
	       search_state(&session->head->search) == SEARCH_ON;
}

/* The marker that was found is a call of CUDA's. */
static inline bool steps_want_calls(const struct session *session)
{
	const uint32_t state = search_state(&session->head->search);

	return state >= SEARCH_FOUND && state <= SEARCH_LIVE &&
	       session->head->search.family == SEARCH_CALLS;
}

/* CUPTI is to record.  What steps inside its callbacks can't switch it on when
 * a window opens, so that it stays on. */
bool steps_want_gpu(const struct session *session);

/* No window of the schedule is to come any more. */
bool steps_are_over(const struct session *session);

/* The source in force. */
enum step_source steps_source(void);

/* True if a function's (demangled) name is the marker's. */
bool steps_matches(const char *name);

/* The marker was hit at `ticks` by the thread of this record (its gate has been
 * looked at already).  Before the slice that it begins is opened. */
void steps_mark(struct session *session, struct thread *thread, uint64_t ticks);

/* STEP_AUTO, each region or range: it may be the marker that was found.
 * `caller`: the number of the place that it is called from, 0 unknown.
 * `prefix` as in search_name(). */
void steps_region(struct session *session, struct thread *thread, uint64_t code,
		  uint32_t caller);
void steps_range(struct session *session, struct thread *thread,
		 const char *prefix, const char *name);

/* The same for one that TRACEPROF_STEP=range: may name. */
void steps_scope(struct session *session, struct thread *thread,
		 const char *prefix, const char *name);

/* From now on the end of a range of this name may be the marker's; 0: none's.
 * Whoever ends one calls steps_range_ended(), the step begins at `ticks`. */
extern _Atomic uint32_t steps_ending __attribute__((visibility("hidden")));
void steps_follow_range(uint32_t name);
void steps_range_ended(struct session *session, struct thread *thread,
		       uint64_t ticks);

/* Ranges are asked for between windows, too: one may be the marker. */
bool steps_want_ranges(const struct session *session);

/* The same for a call of CUDA's that put work on a GPU, which began at `ticks`;
 * and whether this thread's are asked for. */
bool steps_follow_calls(const struct session *session,
			const struct thread *thread);
void steps_call(struct session *session, struct thread *thread, uint64_t id,
		uint64_t ticks, uint64_t correlation);

/* The thread whose steps are under way, by its number; 0 none are. */
extern _Atomic uint32_t steps_tid __attribute__((visibility("hidden")));

/* STEP_KERNEL and STEP_CUDA: in that thread a call that put work on a GPU is
 * over. */
void steps_work(uint64_t ticks);

/* A step call of the program's: from now on it is what begins steps, unless
 * another source was asked for.  False: so it is. */
bool steps_own_call(struct session *session, struct thread *thread);

/* A window of the program's own, as manual_start() and manual_stop().  A run
 * that is recorded as a whole without being asked is cut there: what comes
 * before and after has files of its own.  `thread`: the caller's record, NULL
 * it has none; where it is the one that steps, its step ends in that file. */
int steps_start_window(struct session *session, struct thread *thread,
		       const char *name);
int steps_stop_window(struct session *session, struct thread *thread);

/* Writer: the search is over without a period.  With a schedule all from
 * `from_ticks` on is recorded, unless windows were opened by hand. */
void steps_give_up(struct session *session, uint64_t from_ticks);

/* Writer, each pass: time steps. */
void steps_time(struct session *session);

/* The end of the run: the last step and the open window end here. */
void steps_end(struct session *session, struct thread *thread, uint64_t ticks);

/* In a forked child: forget all. */
void steps_forget(void);

#endif
