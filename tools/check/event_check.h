/* SPDX-License-Identifier: MIT */
/*
 * event_check.h - the rules that one event can break by itself.
 */
#ifndef TOOLS_EVENT_CHECK_H
#define TOOLS_EVENT_CHECK_H

#include "tools/check/fault_list.h"

/* Checks one event.  Returns true when its place in time is good enough for
 * the rules that compare it with others. */
bool event_check(struct fault_list *faults, const struct trace_event *event);

/* Adds a fault for each flaw of a text (enum text_flaw, TRACE_FLAW_*). */
void event_check_flaws(struct fault_list *faults,
		       const struct trace_event *event, unsigned int flaws,
		       const char *where);

/* Which side of a launch a category stands on. */
bool event_check_is_host(const struct trace_event *event);
bool event_check_is_launch(const struct trace_event *event);
bool event_check_is_gpu(const struct trace_event *event);

#endif
