/* SPDX-License-Identifier: MIT */
/*
 * forward.h - the arrow from an operator to the node that runs it backward.
 *
 * As torch.profiler draws it: both have the same sequence number, and of the
 * operators that have it the one that began last launched the node.
 */
#ifndef WRITER_FORWARD_H
#define WRITER_FORWARD_H

#include "writer/state/writer_state.h"

/* An operator was written at `start_ns`. */
void forward_meet(struct writer_state *state, struct ring_reader *reader,
		  const struct event *event, uint64_t start_ns);

#endif
