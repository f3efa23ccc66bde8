/* SPDX-License-Identifier: MIT */
/*
 * python_stack.h - the calls of Python that a thread is in.
 *
 * Python nests deeper than slices that hooks open (thread.h), so its calls have
 * a stack of their own, in the session like those: the writer draws what is
 * open at the end of a window, and recovery what was open at a kill.  A call is
 * one event when it ends.
 */
#ifndef COLLECTOR_PYTHON_STACK_H
#define COLLECTOR_PYTHON_STACK_H

#include "collector/session/session.h"
#include "collector/session/thread.h"

#define PYTHON_DEPTH_MAX 1024u

struct python_call {
	uint64_t start_ticks;
	uint32_t name;	 /* as it is drawn */
	uint32_t code;	 /* what its end is told by */
	uint32_t number; /* among all calls, from 1 */
	uint32_t is_import;
	uint64_t frame; /* its own or, in C, its caller's; 0 not known */
};

struct python_stack {
	_Atomic uint32_t depth;
	uint32_t beyond;	/* calls deeper than there is room for */
	uint32_t imports;	/* of the calls, those that import a module */
	uint32_t window;	/* in which it was begun, as its owner counts */
	_Atomic uint32_t drawn; /* the last such whose end the writer drew */
	uint32_t cuts;		/* calls that were ended where that began: */
	uint64_t cut_ticks;	/* a slice which was opened in them */
	struct python_call call[PYTHON_DEPTH_MAX];
};

/* The thread's stack; NULL: it has none, or the session is damaged. */
static inline struct python_stack *
python_stack_of(const struct session *session, const struct thread *thread)
{
	return thread->python_at
		       ? session_at_checked(session, thread->python_at,
					    sizeof(struct python_stack))
		       : NULL;
}

/* This thread's own; NULL while it has none. */
static inline struct python_stack *python_stack(const struct thread *thread)
{
	return thread->python_at ? session_at(load_relaxed(&session_here),
					      thread->python_at)
				 : NULL;
}

/* Calls have cost too much: none is recorded until another window opens.  Under
 * the GIL. */
static inline void python_ends(struct session_header *head, uint64_t now)
{
	const uint32_t at = load_relaxed(&head->python_ends);
	struct python_end *end = &head->python_end[at % WINDOWS_MAX];

	store_relaxed(&end->to_ticks, 0);
	store_relaxed(&end->from_ticks, now);
	/* RELEASE pairs with ACQUIRE in python_json.c: the times. */
	store_release(&head->python_ends, at + 1);
}

/* Another window opens.  Any thread. */
static inline void python_goes_on(struct session_header *head, uint64_t now)
{
	const uint32_t count = load_relaxed(&head->python_ends);
	struct python_end *end =
		&head->python_end[(count + WINDOWS_MAX - 1) % WINDOWS_MAX];

	if (count && !load_relaxed(&end->to_ticks))
		store_relaxed(&end->to_ticks, now);
}

/* As thread_outer(), with the calls of Python that it is in. */
static inline uint64_t python_outer(const struct thread *thread)
{
	const struct python_stack *stack = python_stack(thread);
	const uint32_t depth = stack ? load_relaxed(&stack->depth) : 0;
	const uint64_t outer = thread_outer(thread);

	return depth && stack->call[depth - 1].start_ticks > outer
		       ? stack->call[depth - 1].start_ticks
		       : outer;
}

/* A slice of this thread's that began at `start_ticks` has ended now.  A call
 * that it made and that goes on, of __exit__ say, would cross it: it begins
 * here. */
static inline void python_scope_ended(const struct thread *thread,
				      uint64_t start_ticks, uint64_t now)
{
	struct python_stack *stack = python_stack(thread);
	uint32_t depth = stack ? load_relaxed(&stack->depth) : 0;

	while (depth && stack->call[depth - 1].start_ticks > start_ticks)
		stack->call[--depth].start_ticks = now;
}

/* A call as an event, from its parent (NULL none), up to `end_ticks`. */
static inline struct event python_call_event(const struct python_call *call,
					     const struct python_call *parent,
					     uint64_t end_ticks)
{
	return (struct event){
		.kind = EVENT_PYTHON,
		.name = call->name,
		.start_ticks = call->start_ticks,
		.end_ticks = end_ticks,
		.python = {.number = call->number,
			   .parent = parent ? parent->number : 0}};
}

#endif
