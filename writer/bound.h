/* SPDX-License-Identifier: MIT */
/*
 * bound.h - on which processors the program's threads may run.
 *
 * A program may bind itself to fewer than it was started with.  So each thread
 * that is recorded is asked whenever the file's tail is written, and what any
 * of them may run on counts from then on: one that is over by the end had its
 * say.
 *
 * How long these ran, and how long they could have run but found no processor
 * free, is of those that are there as the tail is written: 256 at most.
 */
#ifndef WRITER_BOUND_H
#define WRITER_BOUND_H

#include "writer/state/writer_state.h"

/* How many processors these are, and how many threads were asked at once at
 * most: "bound_cpus", "bound_threads"; and "threads_ran_ns", "threads_waited_ns",
 * where the kernel tells. */
void bound_write(struct writer_state *state, struct json *json);

#endif
