/* SPDX-License-Identifier: MIT */
/*
 * window.c - the schedule's pure function and the table of windows.
 */
#include "collector/control/window.h"

#include "collector/control/options.h"
#include <errno.h>

void schedule_from_options(const struct options *options,
			   struct schedule *schedule)
{
	*schedule = (struct schedule){
		.always = !options_have_schedule(options),
		.skip_first = options->skip_first,
		.skip_first_wait = options->skip_first_wait,
		.wait = options->wait,
		.warmup = options->warmup,
		.active = options_is_set(options, OPTION_AT_active)
				  ? options->active
				  : INT64_MAX,
		.repeat = options->repeat,
	};
}

/* Steps of one cycle; INT64_MAX when it never ends. */
static int64_t cycle_length(const struct schedule *schedule)
{
	if (schedule->active == INT64_MAX)
		return INT64_MAX;
	return schedule->wait + schedule->warmup + schedule->active;
}

/* The step counted as the schedule does; -1 while it is skipped. */
static int64_t schedule_step(const struct schedule *schedule, int64_t step)
{
	if (step < schedule->skip_first)
		return -1;
	step -= schedule->skip_first;
	if (schedule->skip_first_wait)
		step += schedule->wait;
	return step;
}

enum window_action window_action(const struct schedule *schedule, int64_t step)
{
	const int64_t length = cycle_length(schedule);
	int64_t within;

	if (schedule->always)
		return WINDOW_RECORD;
	step = schedule_step(schedule, step);
	if (step < 0)
		return WINDOW_NONE;
	if (schedule->repeat > 0 && step / length >= schedule->repeat)
		return WINDOW_NONE;
	within = step % length;
	if (within < schedule->wait)
		return WINDOW_NONE;
	if (within < schedule->wait + schedule->warmup)
		return WINDOW_WARMUP;
	return within < length - 1 ? WINDOW_RECORD : WINDOW_RECORD_AND_SAVE;
}

int64_t window_cycle(const struct schedule *schedule, int64_t step)
{
	if (window_action(schedule, step) < WINDOW_RECORD)
		return -1;
	if (schedule->always)
		return 0;
	return schedule_step(schedule, step) / cycle_length(schedule);
}

int64_t window_cycle_after(const struct schedule *schedule, int64_t step,
			   uint64_t passed)
{
	return step < (int64_t)passed
		       ? -1
		       : window_cycle(schedule, step - (int64_t)passed);
}

int64_t window_next_change(const struct schedule *schedule, int64_t step)
{
	const int64_t at = schedule_step(schedule, step);
	const int64_t length = cycle_length(schedule);
	const int64_t warm = schedule->wait + schedule->warmup;
	int64_t within;

	if (schedule->always)
		return INT64_MAX;
	if (at < 0)
		return schedule->skip_first;
	if (schedule->repeat > 0 && at / length >= schedule->repeat)
		return INT64_MAX;
	within = at % length;
	if (within < warm)
		return step - within +
		       (within < schedule->wait ? schedule->wait : warm);
	return length == INT64_MAX ? INT64_MAX : step - within + length;
}

int64_t window_steps_needed(const struct schedule *schedule)
{
	int64_t needed =
		schedule->skip_first + schedule->wait + schedule->warmup;

	if (schedule->always)
		return 0;
	if (schedule->skip_first_wait)
		needed -= schedule->wait;
	/* An endless window is begun, never whole. */
	return needed + (schedule->active == INT64_MAX ? 1 : schedule->active);
}

/* One at a time may open or close; nobody waits. */
static bool enter(struct window_state *state)
{
	/* ACQUIRE pairs with RELEASE in leave(). */
	return !atomic_exchange_explicit(&state->busy, 1, memory_order_acquire);
}

static void leave(struct window_state *state)
{
	/* RELEASE pairs with ACQUIRE in enter(). */
	store_release(&state->busy, 0);
}

/* The next free slot of the table, NULL: the writer has not done with it. */
static struct window *next_slot(struct window_state *state)
{
	const uint64_t opened = load_relaxed(&state->opened);

	/* ACQUIRE pairs with RELEASE where the writer finishes a file: it has
	 * finished reading the slot. */
	if (opened - load_acquire(&state->written) >= WINDOWS_MAX) {
		add_relaxed(&state->missed, 1);
		return NULL;
	}
	return &state->window[opened % WINDOWS_MAX];
}

static void publish(struct window_state *state, struct window *slot,
		    const struct window *made, uint64_t end_ticks)
{
	const uint64_t opened = load_relaxed(&state->opened);

	*slot = *made;
	slot->cycle = (uint32_t)opened;
	store_relaxed(&slot->end_ticks, end_ticks);
	/* RELEASE pairs with ACQUIRE in the writer's look: the window's
	 * fields. */
	store_release(&state->opened, opened + 1);
}

int window_open_counted(struct window_state *state, uint64_t ticks,
			int64_t first_step, uint32_t name, bool manual,
			struct window_counts counts)
{
	const struct window made = {.start_ticks = ticks,
				    .first_step = first_step,
				    .last_step = -1,
				    .name = name,
				    .at_start = counts};
	struct window *slot;
	int rc = -EBUSY;

	if (!enter(state))
		return -EBUSY;
	if (window_is_open(state))
		goto out;
	rc = -EAGAIN;
	slot = next_slot(state);
	if (!slot)
		goto out;
	store_relaxed(&state->is_open, 1);
	store_relaxed(&state->is_manual, manual);
	publish(state, slot, &made, 0);
	rc = 0;
out:
	leave(state);
	return rc;
}

int window_open(struct window_state *state, uint64_t ticks, int64_t first_step,
		uint32_t name, bool manual)
{
	return window_open_counted(state, ticks, first_step, name, manual,
				   (struct window_counts){0});
}

static int add(struct window_state *state, const struct window *made,
	       uint64_t end_ticks)
{
	struct window *slot;
	int rc = -EBUSY;

	if (!enter(state))
		return -EBUSY;
	if (!window_is_open(state)) {
		slot = next_slot(state);
		rc = slot ? 0 : -EAGAIN;
		if (slot)
			publish(state, slot, made, end_ticks);
	}
	leave(state);
	return rc;
}

int window_add(struct window_state *state, uint64_t from, uint64_t to,
	       uint32_t name, uint32_t reason, uint32_t dump)
{
	const struct window made = {.start_ticks = from,
				    .first_step = -1,
				    .last_step = -1,
				    .name = name,
				    .reason = reason,
				    .dump = dump};

	return add(state, &made, to);
}

int window_add_steps(struct window_state *state, uint64_t from, uint64_t to,
		     int64_t first_step, int64_t last_step)
{
	const struct window made = {.start_ticks = from,
				    .first_step = first_step,
				    .last_step = last_step};

	/* One for which there is no room yet is not missed: it is added later.
	 * Both are the caller's own, who finishes the files. */
	if (load_relaxed(&state->opened) - load_relaxed(&state->written) >=
	    WINDOWS_MAX)
		return -EAGAIN;
	return add(state, &made, to);
}

int window_close_counted(struct window_state *state, uint64_t ticks,
			 int64_t last_step, struct window_counts counts)
{
	struct window *window;
	int rc = -ENOENT;

	if (!enter(state))
		return -EBUSY;
	if (window_is_open(state)) {
		const uint64_t opened = load_relaxed(&state->opened);

		window = &state->window[(opened - 1) % WINDOWS_MAX];
		window->last_step = last_step;
		window->at_end = counts;
		store_relaxed(&state->is_open, 0);
		store_relaxed(&state->is_manual, 0);
		/* RELEASE pairs with ACQUIRE in the writer's look: the last
		 * step. */
		store_release(&window->end_ticks, ticks);
		rc = 0;
	}
	leave(state);
	return rc;
}

int window_close(struct window_state *state, uint64_t ticks, int64_t last_step)
{
	return window_close_counted(state, ticks, last_step,
				    (struct window_counts){0});
}
