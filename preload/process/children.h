/* SPDX-License-Identifier: MIT */
/*
 * children.h - which forked children leave a trace, and which don't.
 *
 * Of a process that is recorded from its start, for samples say, people expect
 * that its children are, too.  A page that parent and children share counts
 * those that were forked, those that are recorded themselves, and those that
 * became another program, which decides for itself.  Who is left of them has no
 * trace, and the parent's end says so, and how many of the others were killed.
 *
 * Of any other process they are counted from the begin of its recording on,
 * and said where much of the work may have been theirs, as a Python pool's is.
 */
#ifndef PRELOAD_CHILDREN_H
#define PRELOAD_CHILDREN_H

#include "collector/session/session.h"

/* In the constructor of a process that is recorded from its start; where
 * another's recording begins. */
void children_watch(bool is_from_start);

/* A child was forked: in that, or in its parent.  No system call. */
void children_born(void);

/* In a forked child: it knows that it is one; then, its recording begins. */
void children_start(void);
void children_traced(void);

/* Its recording ends, by its own doing. */
void children_ended(void);

/* Around an exec in a forked child: it may fail. */
void children_leave(void);
void children_stay(void);

/* At the end of the recording, into its file and on stderr: how many have a
 * trace, how many don't.  Of the process that began to count. */
void children_say(struct session *session);

#endif
