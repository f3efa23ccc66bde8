/* SPDX-License-Identifier: MIT */
/* manual_window.c - opens and closes windows by hand; see manual_window.h. */
#include "collector/steps/manual_window.h"

#include "collector/session/gate.h"
#include "collector/session/names.h"
#include "collector/session/thread.h"
#include <errno.h>

#define MS_NS 1000000

static bool is_armed(struct window_state *state)
{
	return load_relaxed(&state->armed_steps) > 0;
}

static int arm(struct window_state *state, uint32_t name, int64_t steps)
{
	int64_t none = 0;

	if (window_is_open(state))
		return -EBUSY;
	store_relaxed(&state->armed_name, name);
	/* RELEASE pairs with ACQUIRE in manual_step_begins(): the name. */
	return atomic_compare_exchange_strong_explicit(
		       &state->armed_steps, &none, steps, memory_order_release,
		       memory_order_relaxed)
		       ? 0
		       : -EBUSY;
}

int manual_open(struct session *session, int64_t step, uint32_t name,
		bool is_manual)
{
	struct window_state *state = &session->head->windows;
	const bool was_open = gate_bits() & GATE_RECORD_BITS;
	uint64_t ticks;
	int rc;

	gate_record(true);
	/* The open gate is seen by all before the clock is read. */
	atomic_thread_fence(memory_order_seq_cst);
	ticks = clock_ticks();
	rc = window_open_counted(state, ticks, step, name, is_manual,
				 thread_counts(session));
	/* Sums that were begun since the gate opened are of no window. */
	if (!rc)
		gate_turn();
	if (!rc && step >= 0)
		state->step_start_ticks = ticks;
	else if (rc && !was_open && !window_is_open(state))
		gate_record(false);
	return rc;
}

int manual_start(struct session *session, const char *name, int64_t steps,
		 int64_t ms)
{
	struct window_state *state = &session->head->windows;
	const uint32_t id =
		names_intern_string(session, name && *name ? name : "manual");

	if (is_armed(state))
		return -EBUSY;
	if (steps > 0)
		return arm(state, id, steps);
	if (window_is_open(state))
		return -EBUSY;
	store_relaxed(&state->until_step, 0);
	store_relaxed(&state->until_ns,
		      ms > 0 ? clock_monotonic_ns() + (uint64_t)ms * MS_NS : 0);
	return manual_open(session, -1, id, true) ? -EBUSY : 0;
}

/* The step that is running, -1 none, of a window that counts them. */
static int64_t running_step(struct window_state *state)
{
	return load_relaxed(&state->until_step)
		       ? load_relaxed(&state->steps) - 1
		       : -1;
}

int manual_stop(struct session *session)
{
	struct window_state *state = &session->head->windows;

	if (atomic_exchange_explicit(&state->armed_steps, 0,
				     memory_order_relaxed))
		return 0;
	if (!window_is_open(state) || !load_relaxed(&state->is_manual))
		return -ENOENT;
	if (!search_is_on(&session->head->search))
		gate_record(false);
	store_relaxed(&state->until_ns, 0);
	return window_close_counted(state, clock_ticks(), running_step(state),
				    thread_counts(session))
		       ? -ENOENT
		       : 0;
}

void manual_step_ends(struct session *session, int64_t step, uint64_t ticks)
{
	struct window_state *state = &session->head->windows;
	const int64_t until = load_relaxed(&state->until_step);

	if (!until || step < until || !window_is_open(state) ||
	    !load_relaxed(&state->is_manual))
		return;
	gate_record(false);
	window_close_counted(state, ticks, step - 1, thread_counts(session));
}

void manual_step_begins(struct session *session, int64_t step)
{
	struct window_state *state = &session->head->windows;
	int64_t steps;

	if (!is_armed(state) || window_is_open(state))
		return;
	/* ACQUIRE pairs with RELEASE in arm(): the window's name. */
	steps = atomic_exchange_explicit(&state->armed_steps, 0,
					 memory_order_acquire);
	if (steps <= 0)
		return;
	store_relaxed(&state->until_ns, 0);
	store_relaxed(&state->until_step, step + steps);
	manual_open(session, step, load_relaxed(&state->armed_name), true);
}

uint64_t manual_time(struct session *session)
{
	struct window_state *state = &session->head->windows;
	const uint64_t until = load_relaxed(&state->until_ns);
	uint64_t now;

	if (!until || !window_is_open(state) ||
	    !load_relaxed(&state->is_manual))
		return 0;
	now = clock_monotonic_ns();
	if (now < until)
		return until - now;
	manual_stop(session);
	return 0;
}
