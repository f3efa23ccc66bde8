/* SPDX-License-Identifier: MIT */
/*
 * sample_room.h - the stack that the handler of samples runs on.
 *
 * Code that a compiler makes at run time may keep what it needs below the stack
 * pointer, or have something else in that register: oneDNN's does.  So a thread
 * that has no stack for signals gets one of ours, with a page below it that
 * faults.  A program that asks which one it has is told its own, or none.
 */
#ifndef PRELOAD_SAMPLE_ROOM_H
#define PRELOAD_SAMPLE_ROOM_H

#include "collector/system/base.h"
#include <signal.h>

/* With less left of one of the program's the handler goes on to ours; where
 * there is none it walks no stack and reads nothing of Python's. */
#define SAMPLE_WALK_BYTES  (32u << 10)
/* What it takes to leave for ours, and a sample without a walk: with less there
 * is none, since below the stack may lie anything of the program's. */
#define SAMPLE_LEAVE_BYTES 640u
#define SAMPLE_LEAST_BYTES (3u << 10)

/* What is left, from `here` down, of the stack for signals that a handler runs
 * on; UINT64_MAX: it runs on none. */
static inline uint64_t sample_room_left(const stack_t *stack, uint64_t here)
{
	const uint64_t left = here - (uint64_t)(uintptr_t)stack->ss_sp;

	return stack->ss_flags & SS_DISABLE || left >= stack->ss_size
		       ? UINT64_MAX
		       : left;
}

/* Never freed; 0: there is no memory. */
uintptr_t sample_room_make(void);

stack_t sample_room_stack(uintptr_t room);
bool sample_room_is(const stack_t *stack);

/* A thread is in the program's handler on a stack that has no room for a second
 * frame of the kernel's: the kernel would end the program by our signal. */
bool sample_room_is_small(const stack_t *stack);

/* Calls a function on that stack, which nobody is on. */
void sample_room_run(uintptr_t room, void (*run)(void *), void *arg);

/* The real sigaltstack(). */
int sample_room_set(const stack_t *wanted, stack_t *before);

/* On this thread, unless it has one already. */
void sample_room_enter(uintptr_t room);

#endif
