/* SPDX-License-Identifier: MIT */
/*
 * heap_sites.h - TRACEPROF_MALLOC=sites: sums for each call stack, in place of
 * a line for each block.
 *
 * Each call is an event in its ring as in mode all, and is put to its stack's
 * account here, by the order of time over all rings: calls, bytes, what is live
 * and what was at the peak.  What changed of a stack since its last line is a
 * line of its own, at each checkpoint, so that a kill loses none, and for what
 * grows where a step ends.  Steps that nobody marked are found when all is
 * over, so where any mark ends by which they may be, too; and at any time where
 * that may be a GPU's calls, which come to us too late.
 *
 * What is live lies here alone: after a kill, the frees of what was allocated
 * before the last checkpoint are known by their number only.
 */
#ifndef WRITER_HEAP_SITES_H
#define WRITER_HEAP_SITES_H

#include "writer/state/writer_state.h"

static inline bool heap_sites_are_kept(const struct writer_state *state)
{
	return state->session->head->options.malloc == MALLOC_SITES;
}

/* HEAP_ALLOC or HEAP_FREE.  False: there is no memory for it. */
bool heap_sites_take(struct writer_state *state, struct ring_reader *reader,
		     const struct event *event);

/* A step has ended then, or what may turn out to mark one. */
void heap_sites_step(struct writer_state *state, uint64_t ticks);

/* All rings were drained up to some time: accounts for what was taken. */
void heap_sites_settle(struct writer_state *state);

/* Writes what changed. */
void heap_sites_flush(struct writer_state *state);

/* Another file, or window: what is live stands in it again, or is unknown. */
void heap_sites_next_file(struct writer_state *state);
void heap_sites_next_window(struct writer_state *state);

void heap_sites_end(struct writer_state *state);

#endif
