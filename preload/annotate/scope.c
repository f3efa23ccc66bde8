/* SPDX-License-Identifier: MIT */
/*
 * scope.c - pushes and pops; see scope.h.
 *
 * Details of open scopes lie in a small static table, at a place that follows
 * from thread and depth, since few scopes have any.  With the place taken by
 * another thread the scope goes without.
 */
#include "preload/annotate/scope.h"

#include "collector/session/names.h"
#include "collector/session/python_stack.h"
#include "preload/process/life.h"
#include <errno.h>
#include <string.h>

#define DETAILS_MAX 4096u
#define PROBES	    4u

/* What `sync` of an open slice without a kind says. */
enum { HOLE, HIDDEN };

struct detail_place {
	_Atomic uint64_t key; /* thread and depth; 0 free */
	struct scope_details details;
};

static struct detail_place places[DETAILS_MAX];

COLD uint32_t scope_gate_cold(uint32_t open, const char *caller)
{
	if (open == GATE_UNDECIDED)
		open = life_decide();
	if (open & GATE_SCOPE_WATCH)
		open = life_begin(caller);
	return open;
}

uint32_t scope_intern(const char *name)
{
	size_t len = strnlen(name, NAME_BYTES_MAX);

	if (len == NAME_BYTES_MAX) {
		len--;
		while (len && ((unsigned char)name[len] & 0xc0) == 0x80)
			len--;
	}
	return names_intern(load_relaxed(&session_here), name, len);
}

static void record(struct thread *thread, enum event_kind kind, uint32_t name,
		   uint64_t start_ticks, uint64_t end_ticks,
		   const struct scope_details *details)
{
	struct event event = {
		.kind = (uint16_t)kind,
		.name = name,
		.start_ticks = start_ticks,
		.end_ticks = end_ticks,
	};

	if (details) {
		event.extra = details->category_name;
		event.scope.colour = details->colour;
		event.scope.category = details->category;
		event.scope.payload_type = details->payload_type;
		event.scope.payload = details->payload;
		event.scope.domain = details->thread;
		event.scope.range = details->forward;
		event.place = details->place;
		if (details->is_operator) {
			event.flags |= EVENT_OPERATOR;
			event.scope.payload_type = details->line;
		}
		if (details->is_looked_up)
			event.flags |= EVENT_LOOKED_UP;
	}
	thread_record(thread, &event);
}

void scope_record_now(struct thread *thread, enum event_kind kind,
		      uint32_t name, uint64_t start_ticks,
		      const struct scope_details *details)
{
	const uint64_t now = clock_ticks();

	record(thread, kind, name, start_ticks ? start_ticks : now, now,
	       details);
}

/* --- details of what is open ---------------------------------------------- */

/* A record is aligned to its lines, and 32 slices are kept. */
static uint64_t key_of(const struct thread *thread, uint32_t depth)
{
	return (uint64_t)(uintptr_t)thread | depth | UINT64_C(1) << 63;
}

/* One more than the place; 0 there is none. */
static unsigned int keep(const struct thread *thread, uint32_t depth,
			 const struct scope_details *details)
{
	const uint64_t key = key_of(thread, depth);
	const uint64_t first = (key * 0x9e3779b97f4a7c15u) >> 40;

	if (!details || depth >= OPEN_SLICES_MAX)
		return 0;
	for (unsigned int i = 0; i < PROBES; i++) {
		const unsigned int at = (first + i) % DETAILS_MAX;
		uint64_t there = 0;

		/* ACQUIRE pairs with RELEASE in fetch(): it has been read.  One
		 * that a scope left behind which was never popped is ours. */
		if (!atomic_compare_exchange_strong_explicit(
			    &places[at].key, &there, key, memory_order_acquire,
			    memory_order_relaxed) &&
		    there != key)
			continue;
		places[at].details = *details;
		return at + 1;
	}
	return 0;
}

/* Takes the details back. */
static struct scope_details fetch(unsigned int place)
{
	struct scope_details details = {0};

	if (!place || place > DETAILS_MAX)
		return details;
	details = places[place - 1].details;
	/* RELEASE pairs with ACQUIRE in keep(): the place is free. */
	store_release(&places[place - 1].key, 0);
	return details;
}

/* --- pushing and popping -------------------------------------------------- */

static bool is_hole(const struct open_slice *slice)
{
	return slice->kind == EVENT_NONE && slice->sync == HOLE;
}

static bool is_scope_of(const struct open_slice *slice, uint64_t owner)
{
	return (slice->kind == EVENT_SCOPE ||
		(slice->kind == EVENT_NONE && slice->sync == HIDDEN)) &&
	       slice->code == owner;
}

/* The depth without holes on top. */
static uint32_t without_holes(const struct thread *thread, uint32_t depth)
{
	while (depth && is_hole(&thread->open[depth - 1]))
		depth--;
	return depth;
}

unsigned int scope_depth(const struct thread *thread, uint64_t owner)
{
	const uint32_t depth = load_relaxed(&thread->depth);
	unsigned int count =
		depth > OPEN_SLICES_MAX ? depth - OPEN_SLICES_MAX : 0;

	for (uint32_t i = 0; i < depth && i < OPEN_SLICES_MAX; i++)
		count += is_scope_of(&thread->open[i], owner);
	return count;
}

uint64_t scope_innermost(const struct thread *thread, const uint64_t owners[],
			 unsigned int count)
{
	uint32_t at = min_u32(load_relaxed(&thread->depth), OPEN_SLICES_MAX);

	while (at--)
		for (unsigned int i = 0; i < count; i++)
			if (is_scope_of(&thread->open[at], owners[i]))
				return owners[i];
	return 0;
}

struct scope_details *scope_details_here(const struct thread *thread,
					 uint64_t owner)
{
	const uint32_t depth = load_relaxed(&thread->depth);
	const struct open_slice *slice;

	if (!depth || depth > OPEN_SLICES_MAX)
		return NULL;
	slice = &thread->open[depth - 1];
	if (!is_scope_of(slice, owner) || slice->kind != EVENT_SCOPE ||
	    !slice->sync || slice->sync > DETAILS_MAX)
		return NULL;
	return &places[slice->sync - 1].details;
}

void scope_push(struct thread *thread, uint64_t owner, bool is_shown,
		uint32_t name, const struct scope_details *details)
{
	uint32_t depth;

	thread_drop_left(thread, __builtin_frame_address(0));
	depth = load_relaxed(&thread->depth);
	if (depth <= OPEN_SLICES_MAX) {
		depth = without_holes(thread, depth);
		store_relaxed(&thread->depth, depth);
	}
	if (is_shown)
		thread_open(thread, EVENT_SCOPE, clock_ticks(), name, owner, 0,
			    keep(thread, depth, details));
	else
		thread_open(thread, EVENT_NONE, 0, name, owner, 0, HIDDEN);
}

/* What was popped ended then, and with it perhaps a step. */
static void end_step(struct thread *thread, const struct open_slice *slice,
		     uint64_t ticks)
{
	if (unlikely(slice->name && slice->name == load_relaxed(&steps_ending)))
		steps_range_ended(load_relaxed(&session_here), thread, ticks);
}

bool scope_pop(struct thread *thread, uint64_t owner)
{
	struct scope_details details;
	uint64_t now;
	struct open_slice slice;
	uint32_t depth;
	uint32_t at;

	thread_drop_left(thread, __builtin_frame_address(0));
	depth = load_relaxed(&thread->depth);
	if (unlikely(depth > OPEN_SLICES_MAX)) {
		thread_shut(thread);
		hook_unfollowed();
		return true;
	}
	depth = without_holes(thread, depth);
	for (at = depth; at && !is_scope_of(&thread->open[at - 1], owner); at--)
		;
	if (!at)
		return false;
	slice = thread->open[at - 1];
	thread->open[at - 1].kind = EVENT_NONE;
	thread->open[at - 1].sync = HOLE;
	/* RELEASE pairs with ACQUIRE in the writer's look at open slices. */
	store_release(&thread->depth, without_holes(thread, depth));
	now = clock_ticks();
	if (slice.kind != EVENT_SCOPE) {
		end_step(thread, &slice, now);
		return true;
	}
	details = fetch(slice.sync);
	if (at == depth)
		python_scope_ended(thread, slice.start_ticks, now);
	/* Also behind the end of its window: it is clipped there. */
	record(thread, at == depth ? EVENT_SCOPE : EVENT_RANGE, slice.name,
	       slice.start_ticks, now, &details);
	end_step(thread, &slice, now);
	return true;
}
