/* SPDX-License-Identifier: MIT */
/*
 * flow_table.c - one record for each flow id.
 *
 * Flows of category ac2g tie a launch to what it started on the GPU and are
 * compared with the slices of the same correlation.  Other flows (fwdbwd) live
 * in a number space of their own and are only paired.
 */
#include "tools/check/flow_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/util/decimal.h"
#include "tools/check/event_check.h"
#include "tools/util/memory.h"

/* One kind of thing seen under an id: how often, where, when first. */
struct sightings {
	uint64_t places; /* sum of hashes */
	int64_t first_ns;
	uint32_t count;
	uint32_t event; /* of the first one */
};

struct flow {
	int64_t id;
	bool used;
	bool is_launch;		       /* category ac2g */
	struct sightings start, end;   /* s and f */
	struct sightings launch, work; /* host and GPU slices */
	bool work_needs_flow;	       /* a kernel, copy or set, not a wait */
};

static uint64_t mix(uint64_t value)
{
	value = (value ^ value >> 31) * 0x9e3779b97f4a7c15u;
	return value ^ value >> 29;
}

static void see(struct sightings *seen, const struct trace_event *event,
		uint32_t lane)
{
	if (!seen->count) {
		seen->event = (uint32_t)event->index;
		seen->first_ns = event->ts_ns;
	}
	if (event->ts_ns < seen->first_ns)
		seen->first_ns = event->ts_ns;
	seen->count++;
	seen->places += mix(mix((uint64_t)event->ts_ns) + lane);
}

static struct flow *slot(struct flow_table *table, int64_t id, bool is_launch)
{
	size_t at = mix((uint64_t)id * 2 + is_launch);

	for (;; at++) {
		struct flow *flow = &table->flows[at & (table->slot_count - 1)];

		if (!flow->used ||
		    (flow->id == id && flow->is_launch == is_launch))
			return flow;
	}
}

static void grow(struct flow_table *table)
{
	struct flow *old = table->flows;
	const size_t old_count = table->slot_count;

	table->slot_count = old_count ? old_count * 2 : 256;
	table->flows = memory_zeroed(table->slot_count, sizeof(*table->flows));
	for (size_t at = 0; at < old_count; at++)
		if (old[at].used)
			*slot(table, old[at].id, old[at].is_launch) = old[at];
	free(old);
}

static struct flow *find(struct flow_table *table, int64_t id, bool is_launch)
{
	struct flow *flow;

	if ((table->count + 1) * 2 > table->slot_count)
		grow(table);
	flow = slot(table, id, is_launch);
	if (!flow->used) {
		*flow = (struct flow){
			.id = id, .is_launch = is_launch, .used = true};
		table->count++;
	}
	return flow;
}

void flow_table_slice(struct flow_table *table, const struct trace_event *event,
		      uint32_t lane)
{
	struct flow *flow;
	int64_t id;

	if (!trace_event_integer(event, "correlation", &id))
		return;
	if (event_check_is_launch(event)) {
		flow = find(table, id, true);
		see(&flow->launch, event, lane);
	} else if (event_check_is_gpu(event)) {
		flow = find(table, id, true);
		see(&flow->work, event, lane);
		if (!trace_value_is(&event->field[FIELD_CAT], "cuda_sync") &&
		    !trace_value_is(&event->field[FIELD_CAT], "cuda_event"))
			flow->work_needs_flow = true;
	}
}

void flow_table_arrow(struct flow_table *table, struct fault_list *faults,
		      const struct trace_event *event, uint32_t lane)
{
	const bool is_start = trace_value_is(&event->field[FIELD_PH], "s");
	const struct trace_value *id_value = &event->field[FIELD_ID];
	struct flow *flow;
	int64_t id;

	if (id_value->type != TRACE_NUMBER ||
	    decimal_to_integer(id_value->text, id_value->len, &id)) {
		fault_add(faults, RULE_FLOW, event,
			  "a flow whose id is not an integer");
		return;
	}
	flow = find(table, id,
		    trace_value_is(&event->field[FIELD_CAT], "ac2g"));
	if (!is_start && flow->is_launch &&
	    !trace_value_is(&event->field[FIELD_BIND], "e"))
		fault_add(faults, RULE_FLOW_END, event,
			  "flow %" PRId64
			  " ends without \"bp\":\"e\" and hangs "
			  "on the next slice",
			  id);
	if (is_start && flow->start.count)
		fault_add(faults, RULE_FLOW, event,
			  "flow %" PRId64 " starts a second time", id);
	see(is_start ? &flow->start : &flow->end, event, lane);
}

static void check_pair(const struct flow *flow, struct fault_list *faults)
{
	if (flow->start.count && !flow->end.count)
		fault_add_at(faults, RULE_FLOW, flow->start.event,
			     "flow %" PRId64 " starts but never ends",
			     flow->id);
	if (flow->end.count && !flow->start.count)
		fault_add_at(faults, RULE_FLOW, flow->end.event,
			     "flow %" PRId64 " ends but never starts",
			     flow->id);
	if (flow->start.count && flow->end.count &&
	    flow->end.first_ns < flow->start.first_ns)
		fault_add_at(faults, RULE_ORDER, flow->end.event,
			     "flow %" PRId64 " ends before it starts",
			     flow->id);
}

/* One end of a flow against the slices with its correlation. */
static void check_end(const struct flow *flow, const struct sightings *end,
		      const struct sightings *slices, const char *what,
		      struct fault_list *faults)
{
	if (!end->count)
		return;
	if (!slices->count)
		fault_add_at(faults, RULE_FLOW, end->event,
			     "flow %" PRId64 ": no %s has this correlation",
			     flow->id, what);
	else if (end->count == slices->count && end->places != slices->places)
		fault_add_at(faults, RULE_FLOW_END, end->event,
			     "flow %" PRId64 ": pid, tid or ts is not that of "
			     "its %s",
			     flow->id, what);
	else if (end->count > slices->count)
		fault_add_at(faults, RULE_FLOW_END, end->event,
			     "flow %" PRId64 ": %u ends on %u slices", flow->id,
			     end->count, slices->count);
}

void flow_table_end(struct flow_table *table, struct fault_list *faults)
{
	for (size_t at = 0; at < table->slot_count; at++) {
		const struct flow *flow = &table->flows[at];

		if (!flow->used)
			continue;
		check_pair(flow, faults);
		if (!flow->is_launch)
			continue;
		check_end(flow, &flow->start, &flow->launch, "launch", faults);
		check_end(flow, &flow->end, &flow->work, "GPU activity",
			  faults);
		if (flow->launch.count && flow->work.count &&
		    flow->work.first_ns < flow->launch.first_ns)
			fault_add_at(faults, RULE_ORDER, flow->work.event,
				     "correlation %" PRId64 " runs before its "
				     "launch",
				     flow->id);
		if (flow->launch.count && flow->work_needs_flow &&
		    !flow->start.count && !flow->end.count)
			fault_add_at(faults, RULE_FLOW, flow->work.event,
				     "correlation %" PRId64
				     ": launch and GPU activity, but no flow",
				     flow->id);
	}
}

void flow_table_free(struct flow_table *table)
{
	free(table->flows);
	memset(table, 0, sizeof(*table));
}
