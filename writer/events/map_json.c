/* SPDX-License-Identifier: MIT */
/* map_json.c - a mapping's args; see map_json.h. */
#include "writer/events/map_json.h"

#include "writer/events/stack_json.h"
#include "writer/text/schema.h"
#include <string.h>

static const char *const words[] = {
#define X(name, word) word,
	MAP_KINDS(X)
#undef X
};

void map_json(struct writer_state *state, const struct event *event)
{
	struct json *json = &state->json;
	const bool is_gone = event->map.kind == MAP_KIND_GONE;
	const int64_t bytes = (int64_t)event->map.size_bytes;

	json_raw(json,
		 "," SCHEMA_KEY(SCHEMA_ARGS) "{" SCHEMA_KEY(SCHEMA_BYTES));
	json_i64(json, is_gone ? -bytes : bytes);
	json_pair_u64(json, SCHEMA_ADDRESS, event->map.address);
	if (!is_gone && event->map.kind < MAP_KIND_COUNT)
		json_pair_text(json, "kind", words[event->map.kind],
			       strlen(words[event->map.kind]));
	if (event->stack)
		stack_json(state, event->stack);
	json_raw(json, "}}");
}
