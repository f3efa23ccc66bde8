/* SPDX-License-Identifier: MIT */
/*
 * checkpoint.h - what is in the file, and what isn't, agreed with the session.
 *
 * In this order:
 *
 *	1. all texts so far and a tail are on disk,
 *	2. the idle one of the two checkpoints in the session, and of the two
 *	   progress records of each thread, says so,
 *	3. one store makes it the one that counts,
 *	4. the chunks that were read to their end go back to the pool.
 *
 * A kill before 3 leaves the old one: what the file has beyond it is cut off by
 * recovery, and the rings still hold it.  A kill after 3 finds it all.  So no
 * event is lost, and none is there twice.
 */
#ifndef WRITER_CHECKPOINT_H
#define WRITER_CHECKPOINT_H

#include "writer/state/writer_state.h"

/* True when much text or many chunks wait for the next: even in mid-pass. */
bool checkpoint_is_urgent(struct writer_state *state);

/* True when that, or its time has come. */
bool checkpoint_is_due(struct writer_state *state);

/* 0 or -errno (told already; nothing was given back then). */
int checkpoint_make(struct writer_state *state);

#endif
