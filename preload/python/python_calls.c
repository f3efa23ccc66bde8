/* SPDX-License-Identifier: MIT */
/* python_calls.c - a thread's open calls, and their events; see
 * python_calls.h. */
#include "preload/python/python_calls.h"

/* All calls are counted together, under the GIL. */
static _Atomic uint64_t calls;
static uint64_t least; /* that is drawn inside of an import */
static uint64_t gap;   /* between ends, so that the writer moves none */

/* So many calls that a slice was opened in have ends of their own before it. */
#define CUTS_MAX  8u
#define GAPS_EACH 25000u /* of what is drawn inside of an import: 4 ns */

void python_calls_start(uint64_t least_ticks)
{
	least = least_ticks;
	gap = least_ticks / GAPS_EACH + 1;
}

/* What another window left open and its writer had no time to draw. */
static void leave_old(struct python_stack *stack)
{
	const uint32_t depth = load_relaxed(&stack->depth);

	if (depth && load_relaxed(&stack->drawn) != stack->window)
		hook_unfollowed();
	/* RELEASE pairs with ACQUIRE in draw.c: the calls are gone. */
	store_release(&stack->depth, 0);
	stack->beyond = 0;
	stack->imports = 0;
}

COLD struct python_stack *python_calls_prepare(struct thread *thread,
					       uint32_t window)
{
	struct session *session = load_relaxed(&session_here);
	struct python_stack *stack;

	if (!thread->python_at)
		thread->python_at =
			session_alloc(session, sizeof(struct python_stack));
	if (!thread->python_at) {
		hook_unfollowed();
		return NULL;
	}
	stack = session_at(session, thread->python_at);
	if (stack->window != window) {
		leave_old(stack);
		stack->window = window;
	}
	return stack;
}

void python_calls_thread_entered(struct thread *thread)
{
	struct python_stack *stack = python_stack(thread);

	if (stack)
		leave_old(stack);
}

void python_call_begins(struct python_stack *stack, uint32_t code,
			uint32_t name, bool is_import, const void *frame)
{
	const uint32_t depth = load_relaxed(&stack->depth);

	if (unlikely(depth >= PYTHON_DEPTH_MAX)) {
		if (!stack->beyond++)
			hook_unfollowed();
		return;
	}
	store_relaxed(&calls, load_relaxed(&calls) + 1);
	stack->call[depth] = (struct python_call){
		.start_ticks = clock_ticks(),
		.name = name,
		.code = code,
		.number = (uint32_t)load_relaxed(&calls),
		.is_import = is_import,
		.frame = (uintptr_t)frame,
	};
	stack->imports += is_import;
	/* RELEASE pairs with ACQUIRE in draw.c: the call. */
	store_release(&stack->depth, depth + 1);
}

/* A slice that was opened in it and goes on, by __enter__ say, would cross it:
 * it ends before that begins, and before its caller does. */
static uint64_t end_of(const struct thread *thread, struct python_stack *stack,
		       const struct python_call *call, uint64_t now)
{
	uint32_t depth = min_u32(load_relaxed(&thread->depth), OPEN_SLICES_MAX);
	uint64_t cut = now, room;

	while (depth && thread->open[depth - 1].start_ticks > call->start_ticks)
		cut = thread->open[--depth].start_ticks;
	if (likely(cut == now))
		return now;
	if (stack->cut_ticks != cut)
		stack->cuts = 0;
	stack->cut_ticks = cut;
	room = stack->cuts < CUTS_MAX ? (CUTS_MAX - stack->cuts++) * gap : 0;
	return cut - room > call->start_ticks ? cut - room : call->start_ticks;
}

static void record(struct thread *thread, struct python_stack *stack,
		   uint32_t at, uint64_t now, unsigned int flags)
{
	const struct python_call *call = &stack->call[at];
	struct event event = python_call_event(
		call, at ? call - 1 : NULL, end_of(thread, stack, call, now));

	event.flags = (uint16_t)flags;
	thread_record(thread, &event);
}

/* The innermost that is open. */
static inline void end_one(struct thread *thread, struct python_stack *stack,
			   uint32_t at, uint64_t now, unsigned int flags)
{
	const struct python_call *call = &stack->call[at];

	/* The event first: between the two the writer finds the call open, and
	 * strikes it. */
	stack->imports -= call->is_import;
	if (likely(!stack->imports) || now - call->start_ticks >= least)
		record(thread, stack, at, now, flags);
	/* RELEASE pairs with ACQUIRE in draw.c: the call is gone. */
	store_release(&stack->depth, at);
}

static void end_down_to(struct thread *thread, struct python_stack *stack,
			uint32_t depth, unsigned int flags)
{
	const uint64_t now = clock_ticks();
	uint32_t at = load_relaxed(&stack->depth);

	while (at-- > depth)
		end_one(thread, stack, at, now,
			at > depth ? EVENT_UNFINISHED : flags);
}

void python_call_ends(struct thread *thread, struct python_stack *stack,
		      uint32_t code)
{
	uint32_t at = load_relaxed(&stack->depth);

	if (unlikely(stack->beyond)) {
		stack->beyond--;
		return;
	}
	if (likely(at && stack->call[at - 1].code == code)) {
		end_one(thread, stack, at - 1, clock_ticks(), 0);
		return;
	}
	while (at && stack->call[at - 1].code != code)
		at--;
	/* One that began before we looked isn't there. */
	if (at)
		end_down_to(thread, stack, at - 1, 0);
}

bool python_calls_keep(struct thread *thread, struct python_stack *stack,
		       const void *frame)
{
	const uint32_t depth = load_relaxed(&stack->depth);
	uint32_t at = frame ? depth : 0;

	while (at && stack->call[at - 1].frame != (uintptr_t)frame)
		at--;
	if (at < depth)
		end_down_to(thread, stack, at, EVENT_UNFINISHED);
	return at || !frame;
}

void python_calls_end(struct thread *thread)
{
	struct python_stack *stack = python_stack(thread);

	if (stack)
		end_down_to(thread, stack, 0, EVENT_UNFINISHED);
}

unsigned int python_calls_leave(struct session *session)
{
	unsigned int left = 0;
	struct thread *thread = NULL;

	while ((thread = thread_each(session, thread))) {
		struct python_stack *stack = python_stack_of(session, thread);
		const uint32_t depth = stack ? load_relaxed(&stack->depth) : 0;

		if (!depth || thread == thread_self)
			continue;
		left += depth;
		/* RELEASE pairs with ACQUIRE in draw.c: the calls are gone. */
		store_release(&stack->depth, 0);
	}
	return left;
}
