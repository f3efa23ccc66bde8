/* SPDX-License-Identifier: MIT */
/* history.c - keeps, ages and dumps; see history.h. */
#include "writer/history.h"

#include "collector/log.h"
#include "collector/names.h"
#include "collector/pool.h"
#include <errno.h>

/* Of the buffer's chunks the history takes at most so many quarters; the rest
 * is for bursts. */
#define QUARTERS    3u
/* Steps that may have begun when a GPU's records are still to come. */
#define STEPS_AHEAD 4096u

static uint64_t ticks_per_second(const struct scribe *scribe)
{
	return clock_ticks_per_second(&scribe->session->head->clock);
}

static uint64_t ticks_of(const struct scribe *scribe, uint64_t ns)
{
	return (uint64_t)((double)ns / 1e9 * (double)ticks_per_second(scribe));
}

int history_start(struct scribe *scribe)
{
	const struct session_header *head = scribe->session->head;
	struct history *history;

	if (!scribe->is_live || !head->flight.is_on)
		return 0;
	history = arena_alloc(&scribe->arena, sizeof(*history));
	if (!history)
		return -ENOMEM;
	flight_from_options(&head->options, &history->flight);
	history->room = history->flight.steps + STEPS_AHEAD;
	history->starts = arena_alloc(&scribe->arena,
				      history->room * sizeof(*history->starts));
	if (!history->starts)
		return -ENOMEM;
	history->trigger.flight = &history->flight;
	history->from = load_relaxed(
		&((struct flight_state *)&head->flight)->from_ticks);
	scribe->history = history;
	return 0;
}

static void see(struct scribe *scribe, const struct event *event)
{
	struct history *history = scribe->history;

	trigger_see(&history->trigger, event, ticks_per_second(scribe));
	/* Until the dump that is due nothing more grows old. */
	if (history->is_met || history->wish)
		return;
	history->newest = max_u64(history->newest, event->end_ticks);
	if (event->kind == EVENT_STEP && history->flight.steps)
		history->starts[history->steps++ % history->room] =
			event->start_ticks;
	if (!history->trigger.reason)
		return;
	history->is_met = true;
	history->newest = min_u64(history->newest, event->end_ticks);
}

void history_look(struct scribe *scribe)
{
	const struct event *event;

	if (!scribe->history)
		return;
	for (struct track *t = scribe->tracks; t; t = t->older) {
		while ((event = drain_peek(scribe->session, &t->thread->ring,
					   &t->seen, t->limit, NULL,
					   &scribe->budget))) {
			see(scribe, event);
			drain_skip(&t->seen, event);
		}
	}
}

/* Records of a GPU come late; what they say may be a trigger still. */
static uint64_t newest_known(const struct scribe *scribe)
{
	struct gpu_state *gpu = &scribe->session->head->gpu;

	return load_relaxed(&gpu->is_live)
		       ? min_u64(scribe->history->newest,
				 load_relaxed(&gpu->settled_ticks))
		       : scribe->history->newest;
}

/* The start of so many steps before the last one that began by `newest`. */
static uint64_t oldest_step(const struct history *history, uint64_t newest)
{
	const uint64_t first = history->steps > history->room
				       ? history->steps - history->room
				       : 0;
	uint64_t last = history->steps;

	while (last > first &&
	       history->starts[(last - 1) % history->room] > newest)
		last--;
	return last >= first + history->flight.steps
		       ? history->starts[(last - history->flight.steps) %
					 history->room]
		       : 0;
}

/* Where the history begins by its length. */
static uint64_t oldest_wanted(const struct scribe *scribe)
{
	const struct history *history = scribe->history;
	const uint64_t newest = newest_known(scribe);
	uint64_t length;

	if (history->flight.steps)
		return oldest_step(history, newest);
	length = ticks_of(scribe, history->flight.length_ns);
	return newest > length ? newest - length : 0;
}

static void move_from(struct scribe *scribe, uint64_t ticks)
{
	struct history *history = scribe->history;

	if (ticks <= history->from)
		return;
	history->from = ticks;
	store_relaxed(&scribe->session->head->flight.from_ticks, ticks);
}

uint64_t history_keep(struct scribe *scribe)
{
	struct window_state *state = &scribe->session->head->windows;

	if (!scribe->history || scribe->is_finishing || scribe_window(scribe))
		return UINT64_MAX;
	move_from(scribe, oldest_wanted(scribe));
	if (scribe->window)
		move_from(scribe,
			  load_relaxed(&state->window[(scribe->window - 1) %
						      WINDOWS_MAX]
						.end_ticks));
	return scribe->history->from;
}

/* Chunks that hold something, those left out that wait for a checkpoint. */
static uint64_t chunks_used(const struct scribe *scribe)
{
	struct session_header *head = scribe->session->head;
	const uint64_t idle = load_relaxed(&head->free_chunk_count) +
			      (uint64_t)scribe->spent.count;
	const uint64_t all = load_relaxed(&head->chunk_count);

	return all > idle ? all - idle : 0;
}

static uint64_t chunks_allowed(const struct scribe *scribe)
{
	const uint64_t all = chunks_used(scribe) + scribe->spent.count +
			     pool_room(scribe->session);

	return all * QUARTERS / 4;
}

/* What it would take, now that the rate is known. */
static void say_short(struct scribe *scribe, uint64_t used)
{
	const struct session_header *head = scribe->session->head;
	struct history *history = scribe->history;
	const double seconds =
		(double)(history->trigger.newest_ticks - history->from) /
		(double)ticks_per_second(scribe);
	const double bytes = (double)used * CHUNK_BYTES * 4 / QUARTERS;
	uint64_t held = 0;
	double factor;

	for (uint32_t i = 0; i < history->room && i < history->steps; i++)
		held += history->starts[i] >= history->from;
	if (history->flight.steps)
		factor = held ? (double)history->flight.steps / (double)held
			      : (double)history->flight.steps;
	else
		factor = (double)history->flight.length_ns / 1e9 / seconds;
	history->said_short = true;
	log_trouble("TRACEPROF_FLIGHT=%s needs about %lu MB at this rate; "
		    "TRACEPROF_BUFFER_MB=%ld holds the last %.1f s",
		    head->options.flight,
		    (unsigned long)(bytes * factor / 1e6) + 1,
		    (long)head->options.buffer_mb, seconds);
	session_note(scribe->session,
		     "the flight recorder's %s find no room in %ld MB: the "
		     "oldest events are left out",
		     head->options.flight, (long)head->options.buffer_mb);
}

bool history_shorten(struct scribe *scribe)
{
	struct history *history = scribe->history;
	const uint64_t used = chunks_used(scribe);
	const uint64_t allowed = chunks_allowed(scribe);
	uint64_t span;

	if (history_keep(scribe) == UINT64_MAX || used <= allowed ||
	    history->trigger.newest_ticks <= history->from)
		return false;
	span = history->trigger.newest_ticks - history->from;
	if (!history->said_short)
		say_short(scribe, used);
	/* As if events came evenly: another round follows if they don't. */
	move_from(scribe,
		  history->from + span / 16 + 1 +
			  (uint64_t)((double)span * (double)(used - allowed) /
				     (double)used));
	return true;
}

uint64_t history_held(struct scribe *scribe)
{
	return history_keep(scribe) == UINT64_MAX ? 0 : chunks_used(scribe);
}

void history_wish(struct scribe *scribe, enum flight_reason reason,
		  const char *text)
{
	struct history *history = scribe->history;

	if (!history || history->wish)
		return;
	history->wish = reason;
	log_format(history->text, sizeof(history->text), "%s", text);
}

/* A trigger was met: does it still get a file? */
static void take_trigger(struct scribe *scribe)
{
	const int64_t most = scribe->session->head->options.flight_dumps;
	struct history *history = scribe->history;
	struct trigger *trigger = &history->trigger;

	trigger_look(trigger, clock_ticks(), ticks_per_second(scribe));
	if (!trigger->reason)
		return;
	if (!most || history->dumps < (uint64_t)most) {
		history_wish(scribe, trigger->reason, trigger->text);
		history->dumps++;
	} else if (!history->said_enough) {
		history->said_enough = true;
		log_say("the flight recorder's triggers have written %ld files "
			"(TRACEPROF_FLIGHT_DUMPS): no more",
			(long)most);
	}
	trigger->reason = FLIGHT_NONE;
	history->is_met = false;
}

bool history_dump(struct scribe *scribe)
{
	struct session_header *head = scribe->session->head;
	struct history *history = scribe->history;
	int rc;

	if (!history || scribe->is_finishing)
		return false;
	take_trigger(scribe);
	if (!history->wish)
		return false;
	/* It is in that window's file, or will be in the next dump. */
	if (scribe_window(scribe) || window_is_open(&head->windows)) {
		session_note(scribe->session, "%s: %s",
			     flight_reason_word(history->wish), history->text);
		history->wish = FLIGHT_NONE;
		return false;
	}
	rc = window_add(&head->windows, history->from, clock_ticks(),
			names_intern_string(scribe->session, history->text),
			history->wish, (uint32_t)head->flight.dumps + 1);
	if (rc)
		return false;
	head->flight.dumps++;
	history->wish = FLIGHT_NONE;
	return true;
}

/* True if any ring holds an event that was not drained. */
static bool any_left(struct scribe *scribe)
{
	for (struct track *t = scribe->tracks; t; t = t->older) {
		struct drain drain = t->drain;

		if (drain_peek(scribe->session, &t->thread->ring, &drain,
			       ring_published(&t->thread->ring), NULL,
			       &scribe->budget))
			return true;
	}
	return false;
}

void history_of_the_dead(struct scribe *scribe, uint64_t end_ticks)
{
	struct session_header *head = scribe->session->head;
	struct window_state *state = &head->windows;
	const uint64_t opened = load_relaxed(&state->opened);
	uint64_t from = load_relaxed(&head->flight.from_ticks);

	if (!head->flight.is_on || window_is_open(state) || !any_left(scribe))
		return;
	if (opened)
		from = max_u64(
			from,
			load_relaxed(&state->window[(opened - 1) % WINDOWS_MAX]
					      .end_ticks));
	/* Who held it is dead. */
	store_relaxed(&state->busy, 0);
	window_add(state, from, max_u64(end_ticks, from + 1), 0, FLIGHT_CRASH,
		   (uint32_t)head->flight.dumps + 1);
}
