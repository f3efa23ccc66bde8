/* SPDX-License-Identifier: MIT */
/* history.c - keeps, ages and dumps; see history.h. */
#include "writer/flight/history.h"

#include "collector/system/log.h"
#include "collector/session/names.h"
#include "collector/session/pool.h"
#include <errno.h>
#include <string.h>

/* Of the buffer's chunks the history takes at most so many quarters; the rest
 * is for bursts. */
#define QUARTERS    3u
/* Steps that may have begun when a GPU's records are still to come. */
#define STEPS_AHEAD 4096u

static uint64_t ticks_per_second(const struct writer_state *state)
{
	return clock_ticks_per_second(&state->session->head->clock);
}

static uint64_t ns_to_ticks(const struct writer_state *state, uint64_t ns)
{
	return (uint64_t)((double)ns / 1e9 * (double)ticks_per_second(state));
}

int history_start(struct writer_state *state)
{
	const struct session_header *head = state->session->head;
	struct history *history;

	if (!state->is_live || !head->flight.is_on)
		return 0;
	history = arena_alloc(&state->arena, sizeof(*history));
	if (!history)
		return -ENOMEM;
	flight_from_options(&head->options, &history->flight);
	history->room = history->flight.steps + STEPS_AHEAD;
	history->starts = arena_alloc(&state->arena,
				      history->room * sizeof(*history->starts));
	if (!history->starts)
		return -ENOMEM;
	history->trigger.flight = &history->flight;
	history->from = load_relaxed(
		&((struct flight_state *)&head->flight)->from_ticks);
	state->history = history;
	return 0;
}

/* Keeps them in the order of their ends.  False: there is no room. */
static bool add_due(struct history *history, enum flight_reason reason,
		    uint64_t end_ticks, const char *text)
{
	struct history_due *due = history->due;
	unsigned int at = history->due_count;

	if (at == HISTORY_DUE_MAX)
		return false;
	for (; at && due[at - 1].end_ticks > end_ticks; at--)
		due[at] = due[at - 1];
	due[at].end_ticks = end_ticks;
	due[at].newest_ticks =
		min_u64(end_ticks, history->trigger.newest_ticks);
	due[at].reason = reason;
	log_format(due[at].text, sizeof(due[at].text), "%s", text);
	history->due_count++;
	return true;
}

/* A trigger was met: does it still get a file? */
static void take_trigger(struct writer_state *state, uint64_t end_ticks)
{
	const int64_t most = state->session->head->options.flight_dumps;
	struct history *history = state->history;
	struct trigger *trigger = &history->trigger;

	if (!most || history->triggers < (uint64_t)most) {
		history->triggers += add_due(history, trigger->reason,
					     end_ticks, trigger->text);
	} else if (!history->said_enough) {
		history->said_enough = true;
		log_say("the flight recorder's triggers have written %ld files "
			"(TRACEPROF_FLIGHT_DUMPS): no more",
			(long)most);
	}
	trigger->reason = FLIGHT_NONE;
}

static void see(struct writer_state *state, const struct event *event)
{
	struct history *history = state->history;

	trigger_see(&history->trigger, event, ticks_per_second(state));
	if (event->kind == EVENT_STEP && history->flight.steps)
		history->starts[history->steps++ % history->room] =
			event->start_ticks;
	/* The next step begins where this one ends. */
	if (history->trigger.reason)
		take_trigger(state,
			     event->end_ticks + (event->kind != EVENT_STEP));
}

void history_poll(struct writer_state *state)
{
	const struct event *event;

	if (!state->history)
		return;
	for (struct ring_reader *t = state->readers; t; t = t->older) {
		while ((event = drain_peek(state->session, &t->thread->ring,
					   &t->seen, t->limit, NULL,
					   &state->budget))) {
			see(state, event);
			drain_skip(&t->seen, event);
		}
	}
}

/* Until a dump that is due nothing more grows old.  Records of a GPU come late;
 * what they say may be a trigger still. */
static uint64_t newest_known(const struct writer_state *state)
{
	const struct history *history = state->history;
	struct gpu_state *gpu = &state->session->head->gpu;
	uint64_t newest = history->trigger.newest_ticks;

	for (unsigned int i = 0; i < history->due_count; i++)
		newest = min_u64(newest, history->due[i].newest_ticks);
	if (load_relaxed(&gpu->is_live))
		newest = min_u64(newest, load_relaxed(&gpu->settled_ticks));
	return newest;
}

/* The start of so many steps up to the last one that began before `newest`. */
static uint64_t oldest_step(const struct history *history, uint64_t newest)
{
	const uint64_t first = history->steps > history->room
				       ? history->steps - history->room
				       : 0;
	uint64_t last = history->steps;

	while (last > first &&
	       history->starts[(last - 1) % history->room] >= newest)
		last--;
	return last >= first + history->flight.steps
		       ? history->starts[(last - history->flight.steps) %
					 history->room]
		       : 0;
}

/* Where a history that reaches up to `newest` begins by its length. */
static uint64_t oldest_wanted(const struct writer_state *state, uint64_t newest)
{
	const struct history *history = state->history;
	uint64_t length;

	if (history->flight.steps)
		return oldest_step(history, newest);
	length = ns_to_ticks(state, history->flight.length_ns);
	return newest > length ? newest - length : 0;
}

static void move_from(struct writer_state *state, uint64_t ticks)
{
	struct history *history = state->history;

	if (ticks <= history->from)
		return;
	history->from = ticks;
	store_relaxed(&state->session->head->flight.from_ticks, ticks);
}

static uint64_t end_of(struct window_state *windows, uint64_t index)
{
	return load_relaxed(&windows->window[index % WINDOWS_MAX].end_ticks);
}

uint64_t history_keep(struct writer_state *state)
{
	struct window_state *windows = &state->session->head->windows;

	if (!state->history || state->is_finishing ||
	    writer_state_window(state))
		return UINT64_MAX;
	move_from(state, oldest_wanted(state, newest_known(state)));
	if (state->window)
		move_from(state, end_of(windows, state->window - 1));
	return state->history->from;
}

/* Chunks that hold something, those left out that wait for a checkpoint. */
static uint64_t chunks_used(const struct writer_state *state)
{
	struct session_header *head = state->session->head;
	const uint64_t idle = load_relaxed(&head->free_chunk_count) +
			      (uint64_t)state->spent.count;
	const uint64_t all = load_relaxed(&head->chunk_count);

	return all > idle ? all - idle : 0;
}

static uint64_t chunks_allowed(const struct writer_state *state)
{
	const uint64_t all = chunks_used(state) + state->spent.count +
			     pool_room(state->session);

	return all * QUARTERS / 4;
}

/* What it would take, now that the rate is known. */
static void say_short(struct writer_state *state, uint64_t used)
{
	const struct session_header *head = state->session->head;
	struct history *history = state->history;
	const double seconds =
		(double)(history->trigger.newest_ticks - history->from) /
		(double)ticks_per_second(state);
	const double bytes = (double)used * CHUNK_BYTES * 4 / QUARTERS;
	uint64_t kept = 0;
	double factor;

	for (uint32_t i = 0; i < history->room && i < history->steps; i++)
		kept += history->starts[i] >= history->from;
	if (history->flight.steps)
		factor = kept ? (double)history->flight.steps / (double)kept
			      : (double)history->flight.steps;
	else
		factor = (double)history->flight.length_ns / 1e9 / seconds;
	history->said_short = true;
	log_trouble("TRACEPROF_FLIGHT=%s needs about %lu MB at this rate; "
		    "TRACEPROF_BUFFER_MB=%ld holds the last %.1f s",
		    head->options.flight,
		    (unsigned long)(bytes * factor / 1e6) + 1,
		    (long)head->options.buffer_mb, seconds);
	session_note(state->session,
		     "the flight recorder's %s find no room in %ld MB: the "
		     "oldest events are left out",
		     head->options.flight, (long)head->options.buffer_mb);
}

bool history_shorten(struct writer_state *state)
{
	struct history *history = state->history;
	const uint64_t used = chunks_used(state);
	const uint64_t allowed = chunks_allowed(state);
	uint64_t span;

	if (history_keep(state) == UINT64_MAX || used <= allowed ||
	    history->trigger.newest_ticks <= history->from)
		return false;
	span = history->trigger.newest_ticks - history->from;
	if (!history->said_short)
		say_short(state, used);
	/* As if events came evenly: another round follows if they don't. */
	move_from(state,
		  history->from + span / 16 + 1 +
			  (uint64_t)((double)span * (double)(used - allowed) /
				     (double)used));
	return true;
}

uint64_t history_chunks(struct writer_state *state)
{
	return history_keep(state) == UINT64_MAX ? 0 : chunks_used(state);
}

uint64_t history_wish(struct writer_state *state, enum flight_reason reason,
		      const char *text)
{
	struct history *history = state->history;

	/* Where there is no room, the last one that is due will do. */
	add_due(history, reason, clock_ticks(), text);
	return load_relaxed(&state->session->head->windows.opened) +
	       history->due_count - 1;
}

/* One dump, after those that were made before.  0; -EALREADY all of it is in
 * another window's file; other -errno: not now. */
static int add_window(struct writer_state *state, const struct history_due *due)
{
	struct session_header *head = state->session->head;
	struct window_state *windows = &head->windows;
	const uint64_t opened = load_relaxed(&windows->opened);
	uint64_t from = max_u64(state->history->from,
				oldest_wanted(state, due->newest_ticks));
	int rc;

	if (window_is_open(windows))
		return -EALREADY;
	if (opened)
		from = max_u64(from, end_of(windows, opened - 1));
	if (from >= due->end_ticks)
		return -EALREADY;
	rc = window_add(windows, from, due->end_ticks,
			names_intern_string(state->session, due->text),
			due->reason, (uint32_t)head->flight.dumps + 1);
	head->flight.dumps += !rc;
	return rc;
}

bool history_dump(struct writer_state *state)
{
	struct history *history = state->history;
	unsigned int done = 0;
	bool is_any = false;

	if (!history || state->is_finishing)
		return false;
	trigger_poll(&history->trigger, clock_ticks(), ticks_per_second(state));
	if (history->trigger.reason)
		take_trigger(state, clock_ticks());
	for (; done < history->due_count; done++) {
		const struct history_due *due = &history->due[done];
		const int rc = add_window(state, due);

		if (rc && rc != -EALREADY)
			break;
		if (rc)
			session_note(state->session, "%s: %s",
				     flight_reason_word(due->reason),
				     due->text);
		is_any |= !rc;
	}
	history->due_count -= done;
	memmove(history->due, history->due + done,
		history->due_count * sizeof(*history->due));
	return is_any;
}

/* True if any ring holds an event that was not drained. */
static bool any_left(struct writer_state *state)
{
	for (struct ring_reader *t = state->readers; t; t = t->older) {
		struct drain drain = t->drain;

		if (drain_peek(state->session, &t->thread->ring, &drain,
			       ring_published(&t->thread->ring), NULL,
			       &state->budget))
			return true;
	}
	return false;
}

void history_recover(struct writer_state *state, uint64_t end_ticks)
{
	struct session_header *head = state->session->head;
	struct window_state *windows = &head->windows;
	const uint64_t opened = load_relaxed(&windows->opened);
	uint64_t from = load_relaxed(&head->flight.from_ticks);

	if (!head->flight.is_on || window_is_open(windows) || !any_left(state))
		return;
	if (opened)
		from = max_u64(
			from,
			load_relaxed(
				&windows->window[(opened - 1) % WINDOWS_MAX]
					 .end_ticks));
	/* Who held it is dead. */
	store_relaxed(&windows->busy, 0);
	window_add(windows, from, max_u64(end_ticks, from + 1), 0, FLIGHT_CRASH,
		   (uint32_t)head->flight.dumps + 1);
}
