/* SPDX-License-Identifier: MIT */
/*
 * task_sums.h - what the kernel counted of each thread: two counter tracks of
 * its own, and sums over the file.
 *
 * The process's own counts hold what threads did that ended between two rounds.
 */
#ifndef WRITER_TASK_SUMS_H
#define WRITER_TASK_SUMS_H

#include "writer/events/event_json.h"

/* One TASK_COUNTS.  False: it can't be drawn. */
bool task_sums_take(struct writer_state *state, const struct event *event,
		    struct event_span span);

/* A file begins. */
void task_sums_reset(struct writer_state *state);

/* "tasks" of the file's metadata; nothing without samples. */
void task_sums_json(const struct writer_state *state, struct json *json);

#endif
