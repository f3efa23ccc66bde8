/* SPDX-License-Identifier: MIT */
/*
 * flow_table.h - pairs the ends of arrows with each other and with the slices
 * that they hang on.
 *
 * One record per id: what was seen is counted and summed, so that a launch
 * whose kernel comes a million events later costs nothing more.  Places are
 * compared by sums of hashes of (lane, time): equal numbers of ends and slices
 * with equal sums are the same places.
 */
#ifndef TOOLS_FLOW_TABLE_H
#define TOOLS_FLOW_TABLE_H

#include "tools/check/fault_list.h"

struct flow_table {
	struct flow *flows;
	size_t count;
	size_t slot_count; /* a power of two */
};

/* A launch or GPU slice with args.correlation on a lane. */
void flow_table_slice(struct flow_table *table, const struct trace_event *event,
		      uint32_t lane);

/* An s or f event; the faults of its own are reported here. */
void flow_table_arrow(struct flow_table *table, struct fault_list *faults,
		      const struct trace_event *event, uint32_t lane);

/* What can be said only when everything was seen. */
void flow_table_end(struct flow_table *table, struct fault_list *faults);

void flow_table_free(struct flow_table *table);

#endif
