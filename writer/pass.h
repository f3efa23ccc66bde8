/* SPDX-License-Identifier: MIT */
/*
 * pass.h - one round over all rings.
 *
 * The published ends of all rings are read twice before the drain.  A region's
 * end is drained only if it was published at the first look: then the shares of
 * its team, committed before it, were published at the second, so one pass
 * brings them all and a checkpoint never parts them.
 */
#ifndef WRITER_PASS_H
#define WRITER_PASS_H

#include "writer/state/writer_state.h"

/* Begins the writing of a session: by the traced process itself, or by another
 * that recovers what it left.  0 or -ENOMEM. */
int pass_start(struct writer_state *state, struct session *session,
	       bool is_live);

/* Frees everything; an open file is left as it is. */
void pass_end(struct writer_state *state);

/* Drains what is published, opens and finishes files as windows demand, makes
 * checkpoints when due.  Returns the events that were read; look at
 * state->error. */
uint64_t pass_run(struct writer_state *state);

/* The same of an open window for about `most_ns`, whether there is room or not,
 * and finishes nothing: how long the rest may take.  What it draws is coded. */
uint64_t pass_part(struct writer_state *state, uint64_t most_ns);

/* The run is over: looks for its step before it is written down. */
void pass_find_step(struct writer_state *state);

/* The run is over: ends the window that is still open at `end_ticks`, drains
 * all, finishes the last file and makes the last checkpoint.  0 or -errno. */
int pass_finish(struct writer_state *state, uint64_t end_ticks);

#endif
