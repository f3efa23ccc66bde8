/* SPDX-License-Identifier: MIT */
/*
 * check_flows.c - pairs the ends of arrows with each other and with the slices
 * that they hang on.
 *
 * One record per id: what was seen is counted and summed, so that a launch
 * whose kernel comes a million events later costs nothing more.  Places are
 * compared by sums of hashes of (lane, time): equal numbers of ends and slices
 * with equal sums are the same places.
 *
 * Flows of category ac2g tie a launch to what it started on the GPU and are
 * compared with the slices of the same correlation.  Other flows (fwdbwd) live
 * in a number space of their own and are only paired.
 */
#include "tools/check/check.h"

#include <inttypes.h>
#include <string.h>

#include "tools/util/numbers.h"

/* One kind of thing seen under an id: how often, where, when first. */
struct sightings {
	uint64_t places; /* sum of hashes */
	int64_t first_ns;
	uint32_t count;
	uint32_t event; /* of the first one */
};

struct flow {
	int64_t id;
	bool is_launch;		       /* category ac2g */
	struct sightings start, end;   /* s and f */
	struct sightings launch, work; /* host and GPU slices */
	bool work_needs_flow;	       /* a kernel, copy or set, not a wait */
	bool has_kernel;
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

static struct flow *find(struct key_table *flows, int64_t id, bool is_launch)
{
	const int64_t key[2] = {id, is_launch};
	struct flow *flow;

	flows->row_bytes = sizeof(*flow);
	flow = key_table_row(flows, key_table_number(flows, key, sizeof(key)));

	flow->id = id;
	flow->is_launch = is_launch;
	return flow;
}

void check_flows_slice(struct key_table *flows, const struct trace_event *event,
		       uint32_t lane)
{
	struct flow *flow;
	int64_t id;

	if (!trace_event_integer(event, "correlation", &id))
		return;
	if (event_is_launch(event)) {
		flow = find(flows, id, true);
		see(&flow->launch, event, lane);
	} else if (event_is_gpu(event)) {
		flow = find(flows, id, true);
		see(&flow->work, event, lane);
		if (!trace_value_is(&event->field[FIELD_CAT], "cuda_sync") &&
		    !trace_value_is(&event->field[FIELD_CAT], "cuda_event"))
			flow->work_needs_flow = true;
		flow->has_kernel |=
			trace_value_is(&event->field[FIELD_CAT], "kernel");
	}
}

void check_flows_arrow(struct key_table *flows, struct fault_list *faults,
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
	flow = find(flows, id,
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

uint64_t check_flows_kernels(const struct key_table *flows)
{
	uint64_t count = 0;

	for (size_t at = 0; at < flows->count; at++) {
		const struct flow *flow = key_table_row(flows, at);

		count += flow->launch.count && flow->has_kernel;
	}
	return count;
}

static void check_pair(const struct flow *flow, struct fault_list *faults)
{
	if (flow->start.count && !flow->end.count)
		fault_add_at(faults, RULE_FLOW, flow->start.event, NULL,
			     "flow %" PRId64 " starts but never ends",
			     flow->id);
	if (flow->end.count && !flow->start.count)
		fault_add_at(faults, RULE_FLOW, flow->end.event, NULL,
			     "flow %" PRId64 " ends but never starts",
			     flow->id);
	if (flow->start.count && flow->end.count &&
	    flow->end.first_ns < flow->start.first_ns)
		fault_add_at(faults, RULE_ORDER, flow->end.event, NULL,
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
		fault_add_at(faults, RULE_FLOW, end->event, NULL,
			     "flow %" PRId64 ": no %s has this correlation",
			     flow->id, what);
	else if (end->count == slices->count && end->places != slices->places)
		fault_add_at(faults, RULE_FLOW_END, end->event, NULL,
			     "flow %" PRId64 ": pid, tid or ts is not that of "
			     "its %s",
			     flow->id, what);
	else if (end->count > slices->count)
		fault_add_at(faults, RULE_FLOW_END, end->event, NULL,
			     "flow %" PRId64 ": %u ends on %u slices", flow->id,
			     end->count, slices->count);
}

void check_flows_end(const struct key_table *flows, struct fault_list *faults)
{
	for (size_t at = 0; at < flows->count; at++) {
		const struct flow *flow = key_table_row(flows, at);

		check_pair(flow, faults);
		if (!flow->is_launch)
			continue;
		check_end(flow, &flow->start, &flow->launch, "launch", faults);
		check_end(flow, &flow->end, &flow->work, "GPU activity",
			  faults);
		if (flow->launch.count && flow->work.count &&
		    flow->work.first_ns < flow->launch.first_ns)
			fault_add_at(faults, RULE_ORDER, flow->work.event, NULL,
				     "correlation %" PRId64 " runs before its "
				     "launch",
				     flow->id);
		if (flow->launch.count && flow->work_needs_flow &&
		    !flow->start.count && !flow->end.count)
			fault_add_at(faults, RULE_FLOW, flow->work.event, NULL,
				     "correlation %" PRId64
				     ": launch and GPU activity, but no flow",
				     flow->id);
	}
}
