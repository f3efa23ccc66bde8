/* SPDX-License-Identifier: MIT */
/*
 * life.h - what a process is to us, from its first hook to its end.
 *
 *	UNDECIDED   the gate is 0: start, or a forked child
 *	LEFT	    a tool, or switched off; the gate is closed by its first
 *		    hook, which many a short program never calls
 *	WATCHING    decided; a region, an annotation or two seconds of work on
 *		    the heap begin a recording
 *	BEGINNING   one thread makes the session; the others wait for it, a
 *		    second at most
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

#include "collector/session/gate.h"

/* The gate was 0: decides.  Returns the gate's bits; GATE_UNDECIDED when it is
 * too early even for that (the environment isn't there yet): the caller then
 * forwards, if it can.  Resolves the real functions.  Keeps errno. */
uint32_t life_decide(void);

/* The process is to be recorded.  The first caller makes the session, in whose
 * file `reason` stands, and opens the gate; others wait for that.  Returns the
 * gate's bits.  Keeps errno. */
uint32_t life_begin(const char *reason);
uint32_t life_begin_in_allocation(const char *reason); /* of the program */

/* The gate's bits once no other thread is making the session; keeps errno.  A
 * call that waited in vain is counted as one that isn't recorded. */
uint32_t life_settled(void);

/* The end of the process, by whatever way: finishes the file, prints the
 * closing lines.  Once; a second caller waits for the first.  Keeps errno. */
void life_end(void);

/* While the calling thread holds up the program's end, other threads' exit()
 * waits.  False: another thread does. */
bool life_hold_exit(void);
void life_release_exit(bool is_held);

/* Before the program forbids itself what the end would take: ends now, so that
 * nothing of ours runs from here on.  `by` is noted.  Keeps errno. */
void life_confine(const char *by);

/* The same before an exec that `will_run`; another one only waits for who ends
 * the recording just then.  True if it ended a recording; then
 * life_exec_failed() says so should the exec return after all. */
bool life_exec(bool will_run);
void life_exec_failed(void);

/* In a forked child: starts over.  Nothing of the parent's session is touched
 * from here on. */
void life_forked(void);

/* In a forked child, after all handlers of the fork: what a process is recorded
 * for from its start, it is recorded for too, with TRACEPROF_CHILDREN=all. */
void life_child_begins(void);

/* True while something may still begin a recording. */
bool life_is_watching(void);

/* True while events are recorded, in the process that owns them. */
bool life_is_running(void);

/* True in the process that decided, false in a child that shares its memory and
 * in a forked one that has not decided yet. */
bool life_is_owner(void);

/* The calling thread began for us, in a library that we call: the program's
 * last thread is the last without it.  Until it ends, in whatever way. */
void life_thread_is_background(void);

#endif
