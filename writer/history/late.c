/* SPDX-License-Identifier: MIT */
/* late.c - now or later; see late.h. */
#include "writer/history/late.h"

#include "collector/session/pool.h"
#include "writer/history/pack.h"
#include "writer/history/room.h"
#include "writer/history/spill.h"
#include "writer/steps/step_finder.h"
#include <errno.h>

/* The clock's segments reach back twice as far. */
#define LONGEST_NS   UINT64_C(500000000000)
/* Threads that are over and wait to be given back. */
#define RETIRED_MOST 64u

int late_start(struct writer_state *state)
{
	const struct session_header *head = state->session->head;

	if (!state->is_live || head->options.encode == ENCODE_LIVE)
		return 0;
	state->room = arena_alloc(&state->arena, sizeof(*state->room));
	if (!state->room)
		return -ENOMEM;
	state->spare_chunk = pool_take(state->session);
	return 0;
}

bool late_waits_for_end(struct writer_state *state)
{
	return state->late_since_ns && load_relaxed(&state->is_ending);
}

/* A program that was quicker than our start, say, has filled every chunk.  To
 * pack them frees most of them long before they could be written down. */
static bool is_full(struct writer_state *state)
{
	if (pool_room(state->session))
		return false;
	if (state->readers || !writer_state_find_readers(state))
		pack_rings(state);
	return !pool_room(state->session);
}

/* A thread that is over keeps its record, and a chunk that nobody may pack, as
 * long as its events wait.  They are to be few; new threads find a record, and
 * hooks a chunk. */
static bool is_short(struct writer_state *state)
{
	return state->retired > RETIRED_MOST ||
	       state->retired > spill_limit(state) ||
	       (state->retired && pool_is_spent(state->session)) ||
	       is_full(state);
}

/* Nobody needs them now, and there is a place for them. */
static bool can_wait(struct writer_state *state)
{
	const struct window *window = writer_state_window(state);
	const struct gpu_state *gpu = &state->session->head->gpu;

	if (state->is_finishing || state->is_asked || state->history ||
	    step_finder_waits(state) || !window)
		return false;
	/* ACQUIRE pairs with RELEASE in window_close(). */
	if (load_acquire(&((struct window *)window)->end_ticks) &&
	    !late_waits_for_end(state))
		return false;
	if (load_relaxed(&((struct gpu_state *)gpu)->source) ==
	    GPU_SOURCE_CUPTI)
		return false;
	return !is_short(state) && pack_has_room(state) &&
	       (!state->late_since_ns ||
		clock_monotonic_ns() - state->late_since_ns < LONGEST_NS);
}

bool late_is_now(struct writer_state *state)
{
	if (!state->room || !can_wait(state))
		return false;
	return state->session->head->options.encode == ENCODE_LATE ||
	       late_waits_for_end(state) || !room_look(state->room);
}

void late_begin(struct writer_state *state)
{
	state->late_passes++;
	if (!state->late_since_ns)
		state->late_since_ns = clock_monotonic_ns();
}

void late_is_over(struct writer_state *state)
{
	state->late_since_ns = 0;
}
