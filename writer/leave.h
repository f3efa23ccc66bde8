/* SPDX-License-Identifier: MIT */
/*
 * leave.h - a process of its own for what is left to write down when the
 * program ends.
 *
 * It is a copy of the program with one thread, the writer: so it has all that
 * the writer knew, and shares the session.  It has a session of processes of
 * its own, init for a parent, no descriptors but those of our files, and calls
 * nothing of the program's.  While it lives it holds the session's lock, as the
 * program did; if it is killed, `traceprof recover` goes on.
 *
 * Not where that might not last or cost much: the session dies with the
 * program, the first process of a container ends with it, or the program is so
 * large that even its page tables take time to copy.
 */
#ifndef WRITER_LEAVE_H
#define WRITER_LEAVE_H

#include "writer/state/writer_state.h"

/* Is so much left, for a program that ends?  Then *left_ns is how long that may
 * take: some of it is written down, and timed. */
bool leave_is_worth_while(struct writer_state *state, uint64_t *left_ns);

/* What the closing lines are to tell and that process couldn't: the step, if it
 * is found in the time that the end may be held up.  *left_ns is less then.
 * True: that process is to look for it. */
bool leave_find_step(struct writer_state *state, uint64_t *left_ns);

/* Starts it: it calls finish(arg) and ends.  0 or -errno.  No signal is sent
 * and no child is left for the program to meet. */
int leave_start(struct writer_state *state, void (*finish)(void *arg),
		void *arg);

#endif
