/* SPDX-License-Identifier: MIT */
/*
 * steps.c - counts marks and moves the windows.
 *
 * Only the stepping thread gets past the check of its tid, so what follows
 * needs no lock; the window table has its own guard against manual windows.
 */
#include "collector/steps/steps.h"

#include "collector/session/gate.h"
#include "collector/session/python_stack.h"
#include "collector/system/log.h"
#include "collector/steps/manual_window.h"
#include <errno.h>
#include <fnmatch.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Steps that the writer may be behind. */
#define STEPS_UNKNOWN_MOST 1000

static struct step_marker marker;
static _Atomic uint32_t source; /* enum step_source */
static struct schedule schedule;
static struct thread *timer_thread; /* the writer's own record, time steps */
static uint64_t timer_next_ns;
/* The running step's calls, and the fullest one's before it: those of the last
 * step are no more (writer/draw/last_step.h). */
static struct {
	uint64_t count, most;
	uint64_t end_ticks;
} work;
_Atomic uint32_t steps_tid;
_Atomic uint32_t steps_ending;
static int64_t missed_cycle; /* its window found no place; -1 none */
static bool is_cut;	     /* the whole run, where the program has windows */
static _Atomic bool is_taken_over; /* just now, by one thread */
static bool says_others;	   /* that their steps are left out */

enum step_source steps_source(void)
{
	return load_relaxed(&source);
}

/* In these steps what takes time to be switched on may be. */
static bool is_warming_up(const struct session *session)
{
	const int64_t step = load_relaxed(&session->head->windows.steps) -
			     (int64_t)session->head->search.passed - 1;

	return !schedule.always && step >= 0 &&
	       window_action(&schedule, step) == WINDOW_WARMUP;
}

bool steps_want_gpu(const struct session *session)
{
	const enum step_source now = steps_source();

	return steps_want_events(session) || steps_want_calls(session) ||
	       now == STEP_KERNEL || now == STEP_CUDA || is_warming_up(session);
}

bool steps_are_over(const struct session *session)
{
	return !schedule.always && schedule.repeat &&
	       load_relaxed(&session->head->windows.opened) >=
		       (uint64_t)schedule.repeat &&
	       !steps_want_gpu(session);
}

bool steps_matches(const char *name)
{
	return marker.glob[0] && !fnmatch(marker.glob, name, 0);
}

static int open_window(struct session *session, uint64_t ticks, int64_t step)
{
	struct window_state *state = &session->head->windows;
	const int rc = window_open_counted(state, ticks, step, 0, false,
					   thread_counts(session));

	if (!rc)
		gate_record(true);
	return rc;
}

/* A call to a GPU's library is itself the first event of its step, and has its
 * time already. */
static bool is_begun_by_call(const struct session *session)
{
	const struct step_search *search = &session->head->search;

	return marker.source == STEP_KERNEL || marker.source == STEP_CUDA ||
	       (search_state(search) == SEARCH_LIVE &&
		search->family == SEARCH_CALLS);
}

/* The same where a step begins, with its window. */
static int open_step_window(struct session *session, uint64_t ticks,
			    int64_t step)
{
	return is_begun_by_call(session) ? open_window(session, ticks, step)
					 : manual_open(session, step, 0, false);
}

static void close_window(struct session *session, uint64_t ticks, int64_t step)
{
	struct window_state *state = &session->head->windows;
	const struct window_counts counts = thread_counts(session);

	gate_record(false);
	if (window_close_counted(state, ticks, step, counts) == -EBUSY) {
		/* Somebody is starting or stopping by hand this instant: they
		 * leave within nanoseconds. */
		for (int i = 0;
		     i < 1000000 &&
		     window_close_counted(state, ticks, step, counts);
		     i++)
			atomic_signal_fence(memory_order_seq_cst);
	}
}

static void start_flight(struct session *session)
{
	struct flight_state *state = &session->head->flight;
	struct flight flight;

	flight_from_options(&session->head->options, &flight);
	state->is_on = flight.is_on;
	store_relaxed(&state->from_ticks, clock_ticks());
	gate_keep(flight.is_on);
}

void steps_start(struct session *session, uint64_t ticks)
{
	char why[LOG_LINE_BYTES];

	if (steps_parse(session->head->options.step, &marker, why, sizeof(why)))
		log_trouble("%s", why);
	schedule_from_options(&session->head->options, &schedule);
	/* The program's calls begin steps there, too, but no window. */
	schedule.always |= marker.source == STEP_MANUAL;
	timer_thread = NULL;
	timer_next_ns = 0;
	memset(&work, 0, sizeof(work));
	missed_cycle = -1;
	is_cut = false;
	store_relaxed(&source,
		      marker.source == STEP_MANUAL ? STEP_API : marker.source);
	start_flight(session);
	if (session->head->flight.is_on)
		gate_record(true);
	else if (schedule.always && marker.source != STEP_MANUAL)
		open_window(session, ticks, -1);
	if (marker.source == STEP_AUTO) {
		struct step_search *search = &session->head->search;

		search->is_whole =
			schedule.always || session->head->flight.is_on;
		search->wanted = marker.wanted;
		search->from_ticks = clock_ticks();
		search_move(search, SEARCH_NONE, SEARCH_ON);
		gate_record(true);
	}
}

/* When the running step began, 0: none runs.  From now on none does: if the
 * process is killed before the next one begins, what is recorded of this one is
 * all that is drawn of it. */
static uint64_t leave_step(struct window_state *state)
{
	const uint64_t began = state->step_start_ticks;

	state->step_start_ticks = 0;
	atomic_signal_fence(memory_order_seq_cst);
	return began;
}

/* Records step `number`, which ran from `began` to `ticks`. */
static void record_step(struct window_state *state, struct thread *thread,
			int64_t number, uint64_t began, uint64_t ticks,
			uint64_t outer, uint16_t flags)
{
	const struct event event = {
		.kind = EVENT_STEP,
		.flags = flags,
		.extra = load_relaxed(&state->step_tid),
		.start_ticks = began,
		.end_ticks = ticks,
		.step = {.number = number,
			 .outer_at_start = state->step_outer,
			 .outer_at_end = outer,
			 .work_ticks = work.end_ticks},
	};

	thread_record(thread, &event);
}

static int64_t cycle_of(const struct session *session, int64_t step)
{
	return window_cycle_after(&schedule, step,
				  session->head->search.passed);
}

/* From step `step` - 1 to step `step`. */
static void move_window(struct session *session, int64_t step, uint64_t ticks)
{
	struct window_state *state = &session->head->windows;
	const int64_t from = step ? cycle_of(session, step - 1) : -1;
	const int64_t to = cycle_of(session, step);

	manual_step_ends(session, step, ticks);
	if (!schedule.always && !load_relaxed(&state->is_manual)) {
		if (from != to && from >= 0 && window_is_open(state))
			close_window(session, ticks, step - 1);
		/* One that found no place is missed as a whole, unless it has
		 * no end. */
		if (to >= 0 && to != missed_cycle && !window_is_open(state) &&
		    open_step_window(session, ticks, step) == -EAGAIN &&
		    schedule.active != INT64_MAX)
			missed_cycle = to;
	}
	manual_step_begins(session, step);
}

/* Around what a step's ends lie; UINT64_MAX: it is drawn beside its thread.  So
 * are steps by time, which end in the middle of one of the writer's passes, and
 * all steps of a run whose marker was searched for, since those before it was
 * found are. */
static uint64_t outer_of(const struct session *session,
			 const struct thread *thread)
{
	const struct step_search *search = &session->head->search;

	if (marker.source == STEP_TIME)
		return UINT64_MAX;
	return search_state(search) == SEARCH_LIVE ? UINT64_MAX
						   : python_outer(thread);
}

/* The writer draws the step before the first one that is known here. */
static bool is_first_live(struct session *session, uint64_t ticks)
{
	struct step_search *search = &session->head->search;

	if (search_state(search) != SEARCH_LIVE ||
	    load_relaxed(&search->live_ticks))
		return false;
	store_relaxed(&search->live_ticks, ticks);
	return true;
}

/* Hits to a step: as it was asked for, and as it was found. */
static uint64_t divisor_of(const struct session *session)
{
	const struct step_search *search = &session->head->search;

	return steps_source() == STEP_AUTO && search->every
		       ? marker.divisor * search->every
		       : marker.divisor;
}

/* Who has joined it may mark steps before the kernel has forgotten it. */
static bool has_ended(const struct session *session, uint32_t tid)
{
	struct thread *other = NULL;

	while ((other = thread_each(session, other)) && other->tid != tid)
		;
	/* ACQUIRE pairs with RELEASE in thread_leave(): what it recorded. */
	return !other || load_acquire(&other->state) == THREAD_RETIRED ||
	       syscall(SYS_tgkill, getpid(), tid, 0);
}

/* Steps are one thread's.  When it has ended, the next one that marks them has
 * them: its own last one ended with it, nobody knows when. */
static bool takes_over(struct session *session, struct thread *thread,
		       uint32_t owner, uint64_t ticks)
{
	struct window_state *state = &session->head->windows;
	const int64_t steps = load_relaxed(&state->steps);

	if (steps_source() != STEP_API || atomic_exchange(&is_taken_over, true))
		return false;
	if (!has_ended(session, owner)) {
		if (!says_others)
			session_note(session,
				     "traceprof_step() of other threads than "
				     "the first is left out while that lives");
		says_others = true;
	} else {
		const uint64_t began = leave_step(state);

		if (steps && began && steps_are_recorded(session))
			record_step(state, thread, steps - 1, began, ticks,
				    UINT64_MAX, EVENT_UNFINISHED);
		store_relaxed(&state->step_tid, thread->tid);
	}
	atomic_store(&is_taken_over, false);
	return load_relaxed(&state->step_tid) == thread->tid;
}

void steps_mark(struct session *session, struct thread *thread, uint64_t ticks)
{
	struct window_state *state = &session->head->windows;
	uint32_t owner = load_relaxed(&state->step_tid);
	uint64_t marks, outer, began;
	int64_t step;

	if (!owner) {
		if (atomic_compare_exchange_strong_explicit(
			    &state->step_tid, &owner, thread->tid,
			    memory_order_relaxed, memory_order_relaxed))
			owner = thread->tid;
	}
	if (owner != thread->tid && !takes_over(session, thread, owner, ticks))
		return;
	marks = load_relaxed(&state->marks);
	store_relaxed(&state->marks, marks + 1);
	if (marks % divisor_of(session))
		return;
	step = load_relaxed(&state->steps);
	thread_drop_left(thread, __builtin_frame_address(0));
	outer = outer_of(session, thread);
	began = leave_step(state);
	if (!is_first_live(session, ticks) && step && began &&
	    steps_are_recorded(session))
		record_step(state, thread, step - 1, began, ticks, outer, 0);
	/* 0: the writer knew of the steps before, or it has ended already. */
	if (step && began &&
	    ticks - began > load_relaxed(&state->longest_step_ticks))
		store_relaxed(&state->longest_step_ticks, ticks - began);
	state->step_outer = python_outer(thread);
	/* Before the first step is what comes before the loop. */
	if (step)
		work.most = max_u64(work.most, work.count);
	work.count = work.end_ticks = 0;
	store_relaxed(&steps_tid, thread->tid);
	store_relaxed(&state->steps, step + 1);
	atomic_signal_fence(memory_order_seq_cst);
	state->step_start_ticks = ticks;
	move_window(session, step, ticks);
}

/* With a schedule: nothing was to be opened or closed since the step up to
 * which the writer did it. */
static bool may_take_over(const struct session *session, int64_t step)
{
	const int64_t known = session->head->search.known;

	if (session->head->search.is_whole)
		return true;
	for (int64_t i = known + 1; i <= step; i++) {
		if (i - known > STEPS_UNKNOWN_MOST ||
		    cycle_of(session, i) != cycle_of(session, known))
			return false;
	}
	return true;
}

/* The thread knows by now how many steps there were before this one. */
static bool go_live(struct session *session)
{
	struct window_state *state = &session->head->windows;
	struct step_search *search = &session->head->search;
	const uint64_t hits = search->before + search->since;
	const uint64_t divisor = divisor_of(session);
	const uint64_t steps = (hits + divisor - 1) / divisor;

	if (!may_take_over(session, (int64_t)steps)) {
		search->since++;
		search_move(search, SEARCH_LIVE, SEARCH_JOINED);
		return false;
	}
	search->since = 0;
	if (!schedule.always && !window_is_open(state))
		gate_record(false);
	store_relaxed(&state->marks, hits);
	store_relaxed(&state->steps, (int64_t)steps);
	state->step_start_ticks = 0;
	return true;
}

/* By the marker that was found, a step begins. */
static void found_mark(struct session *session, struct thread *thread,
		       uint64_t ticks, uint64_t call)
{
	struct step_search *search = &session->head->search;

	switch (search_state(search)) {
	case SEARCH_FOUND:
		search->since = 1;
		search->joined_ticks = ticks;
		search->joined_call = call;
		search_move(search, SEARCH_FOUND, SEARCH_JOINED);
		break;
	case SEARCH_JOINED: search->since++; break;
	case SEARCH_LIVE:
		if (!search->since || go_live(session))
			steps_mark(session, thread, ticks);
		break;
	default: break;
	}
}

static bool is_searched(const struct step_search *search,
			const struct thread *thread, uint32_t family)
{
	const uint32_t state = search_state(search);

	return state >= SEARCH_FOUND && state <= SEARCH_LIVE &&
	       search->tid == thread->tid && search->family == family;
}

void steps_region(struct session *session, struct thread *thread, uint64_t code,
		  uint32_t caller)
{
	struct step_search *search = &session->head->search;

	if (!is_searched(search, thread, SEARCH_REGIONS) ||
	    (search->leaves_teams && caller & SEARCH_IN_TEAM))
		return;
	caller &= SEARCH_CALLER;
	if (search_step(search,
			search_region(code, search_is_by_caller(search) ? caller
									: 0)))
		found_mark(session, thread, clock_ticks(), 0);
}

void steps_range(struct session *session, struct thread *thread,
		 const char *prefix, const char *name)
{
	struct step_search *search = &session->head->search;
	uint64_t id;

	if (!is_searched(search, thread, SEARCH_RANGES))
		return;
	id = search_name(prefix, name);
	if (id && search_step(search, id))
		found_mark(session, thread, clock_ticks(), 0);
}

void steps_follow_range(uint32_t name)
{
	store_relaxed(&steps_ending, name);
}

void steps_range_ended(struct session *session, struct thread *thread,
		       uint64_t ticks)
{
	if (is_searched(&session->head->search, thread, SEARCH_RANGES))
		found_mark(session, thread, ticks, 0);
}

bool steps_want_ranges(const struct session *session)
{
	const struct step_search *search = &session->head->search;
	const uint32_t state = search_state(search);

	return steps_source() == STEP_NVTX ||
	       (steps_source() == STEP_AUTO && state >= SEARCH_FOUND &&
		state <= SEARCH_LIVE && search->family == SEARCH_RANGES);
}

void steps_scope(struct session *session, struct thread *thread,
		 const char *prefix, const char *name)
{
	if (steps_source() == STEP_NVTX && steps_matches(name))
		steps_mark(session, thread, clock_ticks());
	else if (steps_source() == STEP_AUTO)
		steps_range(session, thread, prefix, name);
}

bool steps_follow_calls(const struct session *session,
			const struct thread *thread)
{
	return is_searched(&session->head->search, thread, SEARCH_CALLS);
}

void steps_call(struct session *session, struct thread *thread, uint64_t id,
		uint64_t ticks, uint64_t correlation)
{
	struct step_search *search = &session->head->search;

	if (is_searched(search, thread, SEARCH_CALLS) &&
	    search_step(search, id))
		found_mark(session, thread, ticks, correlation);
}

void steps_work(uint64_t ticks)
{
	if (++work.count <= work.most || !work.most)
		work.end_ticks = ticks;
}

/* The program marks its steps itself: nothing is searched any more. */
static void end_search(struct step_search *search)
{
	uint32_t was = search_state(search);

	search->own_ticks = clock_ticks();
	while (was != SEARCH_OVER && !search_move(search, was, SEARCH_NONE))
		was = search_state(search);
	/* The schedule is begun anew, unless the thread has counted. */
	if (!load_relaxed(&search->live_ticks))
		search->passed = 0;
	gate_mark(GATE_OMP_MARK | GATE_OMP_CALLER, false);
	store_relaxed(&steps_ending, 0);
}

static bool becomes_own(uint32_t *was)
{
	*was = STEP_AUTO;
	return atomic_compare_exchange_strong_explicit(&source, was, STEP_API,
						       memory_order_relaxed,
						       memory_order_relaxed);
}

bool steps_own_call(struct session *session, struct thread *thread)
{
	struct window_state *state = &session->head->windows;
	uint32_t was;

	if (!becomes_own(&was))
		return was == STEP_API;
	end_search(&session->head->search);
	store_relaxed(&state->step_tid, thread->tid);
	if (!schedule.always && !window_is_open(state))
		gate_record(false);
	return true;
}

/* The whole run is recorded because nothing else was asked for. */
static bool may_be_cut(const struct session *session)
{
	const struct window_state *state = &session->head->windows;

	return schedule.always && !session->head->flight.is_on &&
	       window_is_open(state) &&
	       !load_relaxed(&((struct window_state *)state)->is_manual) &&
	       !options_is_set(&session->head->options, OPTION_AT_step);
}

/* For the window and what comes after it: else nothing would be recorded from
 * here on, because the writer is behind. */
static bool has_places(struct window_state *state)
{
	if (load_relaxed(&state->opened) - load_relaxed(&state->written) <=
	    WINDOWS_MAX - 2)
		return true;
	add_relaxed(&state->missed, 1);
	return false;
}

/* A file that ends here by hand holds the step that is running, up to here,
 * where the thread that steps says so: it may be whole before the next one
 * begins.  What is kept for the flight recorder has all of it. */
static void end_running_step(struct session *session, struct thread *thread,
			     uint64_t least_ticks)
{
	struct window_state *state = &session->head->windows;
	const int64_t steps = load_relaxed(&state->steps);
	const uint64_t now = clock_ticks();
	uint64_t began;

	if (!steps || !state->step_start_ticks || !thread ||
	    thread->tid != load_relaxed(&state->step_tid) ||
	    !window_is_open(state) || session->head->flight.is_on)
		return;
	began = leave_step(state);
	/* Of steps that the program doesn't mark nobody said that one ends. */
	if (now - began >= least_ticks)
		record_step(state, thread, steps - 1, began, now,
			    outer_of(session, thread),
			    steps_source() == STEP_API ? 0 : EVENT_UNFINISHED);
}

/* A window that begins sooner after a step did begins with it, so to say: no
 * step of so little lies before it. */
static uint64_t barely_begun(const struct session *session)
{
	const uint64_t longest =
		load_relaxed(&session->head->windows.longest_step_ticks);

	return min_u64(longest / 16,
		       clock_ticks_per_second(&session->head->clock) / 20000);
}

int steps_start_window(struct session *session, struct thread *thread,
		       const char *name)
{
	struct window_state *state = &session->head->windows;
	const bool cuts = may_be_cut(session);
	uint32_t was;
	int rc;

	if (cuts && !has_places(state))
		return -EAGAIN;
	if (cuts) {
		if (becomes_own(&was))
			end_search(&session->head->search);
		is_cut = true;
		end_running_step(session, thread, barely_begun(session));
		close_window(session, clock_ticks(),
			     load_relaxed(&state->steps) - 1);
	}
	rc = manual_start(session, name, 0, 0);
	if (rc && cuts)
		open_window(session, clock_ticks(), -1);
	return rc;
}

int steps_stop_window(struct session *session, struct thread *thread)
{
	int rc;

	if (load_relaxed(&session->head->windows.is_manual))
		end_running_step(session, thread, 0);
	rc = manual_stop(session);
	if (!rc && is_cut)
		open_window(session, clock_ticks(), -1);
	return rc;
}

void steps_give_up(struct session *session, uint64_t from_ticks)
{
	const struct window_state *state = &session->head->windows;

	if (!search_move(&session->head->search, SEARCH_ON, SEARCH_OVER) ||
	    session->head->search.is_whole)
		return;
	if (load_relaxed(&((struct window_state *)state)->opened)) {
		if (!window_is_open(state))
			gate_record(false);
		return;
	}
	schedule.always = true;
	open_window(session, from_ticks, -1);
}

void steps_time(struct session *session)
{
	uint64_t now;

	if (steps_source() != STEP_TIME)
		return;
	now = clock_monotonic_ns();
	if (now < timer_next_ns)
		return;
	if (!timer_thread) {
		timer_thread = thread_enter(session);
		thread_self = THREAD_BUSY;
		timer_next_ns = now;
	}
	if (!timer_thread)
		return;
	/* A late pass begins one step, not a burst of them. */
	timer_next_ns += marker.period_ns;
	if (timer_next_ns <= now)
		timer_next_ns = now + marker.period_ns;
	steps_mark(session, timer_thread, clock_ticks());
}

void steps_end(struct session *session, struct thread *thread, uint64_t ticks)
{
	struct window_state *state = &session->head->windows;
	const int64_t steps = load_relaxed(&state->steps);
	uint64_t began;

	if (!window_is_open(state))
		return;
	began = leave_step(state);
	/* The step that the run's end cuts off; drawn on its own thread's lane
	 * if we are it, else beside it. */
	if (steps && thread && began)
		record_step(state, thread, steps - 1, began, ticks,
			    thread->tid == load_relaxed(&state->step_tid)
				    ? outer_of(session, thread)
				    : UINT64_MAX,
			    EVENT_UNFINISHED);
	close_window(session, ticks, steps - 1);
}

void steps_forget(void)
{
	memset(&marker, 0, sizeof(marker));
	memset(&work, 0, sizeof(work));
	marker.divisor = 1;
	store_relaxed(&source, STEP_API);
	store_relaxed(&steps_ending, 0);
	timer_thread = NULL;
	says_others = false;
	atomic_store(&is_taken_over, false);
	gate_keep(false);
}
