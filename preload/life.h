/* SPDX-License-Identifier: MIT */
/*
 * life.h - what a process is to us, from its first hook to its end.
 *
 *	UNDECIDED   the gate is 0: start, or a forked child
 *	WATCHING    decided; a region, an annotation or two seconds of work on
 *		    the heap make it interesting
 *	BEGINNING   one thread makes the session; the others only forward
 *	RUNNING     events are recorded
 *	ENDED       the file is finished; calls are forwarded
 *	CLOSED      nothing to do with it, or something failed
 *
 * A process owns its state by its pid.  A child that shares our memory (vfork,
 * posix_spawn, clone(CLONE_VM)) has another pid and changes nothing; a forked
 * child has a copy and starts over.
 */
#ifndef PRELOAD_LIFE_H
#define PRELOAD_LIFE_H

#include "collector/gate.h"

/* The gate was 0: decides.  Returns the gate's bits; GATE_UNDECIDED when it is
 * too early even for that (the environment isn't there yet): the caller then
 * forwards, if it can.  Resolves the real functions.  Keeps errno. */
uint32_t life_decide(void);

/* The process is interesting.  The first caller makes the session, whose first
 * note is `reason`, and opens the gate; others return at once, with what the
 * gate is then.  Returns the gate's bits.  Keeps errno. */
uint32_t life_begin(const char *reason);

/* One allocation under GATE_HEAP_WATCH. */
void life_watch(void);

/* A thread has got a record: its end is to be noticed. */
void life_thread_entered(void);

/* The end of the process, by whatever way: finishes the file, prints the
 * closing lines.  Once; a second caller doesn't wait.  Keeps errno. */
void life_end(void);

/* True in the process that decided, false in a child that shares its memory and
 * in a forked one that has not decided yet. */
bool life_is_owner(void);

#endif
