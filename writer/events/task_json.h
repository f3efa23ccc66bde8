/* SPDX-License-Identifier: MIT */
/*
 * task_json.h - what the kernel counts of a thread, as counters of a viewer.
 */
#ifndef WRITER_TASK_JSON_H
#define WRITER_TASK_JSON_H

#include "writer/events/event_json.h"

/* The two counters of a TASK_COUNTS.  False: no room. */
bool task_json(struct writer_state *state, const struct event *event,
	       struct event_span span);

#endif
