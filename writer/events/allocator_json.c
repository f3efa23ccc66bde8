/* SPDX-License-Identifier: MIT */
/* allocator_json.c - its args, as torch.profiler has them. */
#include "writer/events/allocator_json.h"

#include "writer/events/stack_json.h"
#include "writer/text/schema.h"

#define THEN(key) "," SCHEMA_KEY(key)

void allocator_json(struct writer_state *state, const struct event *event)
{
	struct json *json = &state->json;

	json_raw(json, THEN(SCHEMA_ARGS) "{" SCHEMA_KEY(SCHEMA_TOTAL_RESERVED));
	json_u64(json, event->allocator.reserved);
	json_raw(json, THEN(SCHEMA_TOTAL_ALLOCATED));
	json_u64(json, event->allocator.allocated);
	json_raw(json, THEN(SCHEMA_BYTES));
	json_i64(json, event->allocator.bytes);
	json_raw(json, THEN(SCHEMA_DEVICE_ID));
	json_i64(json, (int8_t)(event->device >> 8));
	json_raw(json, THEN(SCHEMA_DEVICE_TYPE));
	json_u64(json, event->device & 0xff);
	json_pair_u64(json, SCHEMA_ADDRESS, event->allocator.address);
	json_recurs(json);
	json_pair_u64(json, SCHEMA_EVENT_INDEX, state->next_index++);
	if (event->stack)
		stack_json(state, event->stack);
	json_raw(json, "}}");
}
