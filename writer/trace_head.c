/* SPDX-License-Identifier: MIT */
/* trace_head.c - the head of a trace; see trace_head.h. */
#include "writer/trace_head.h"

#include "writer/events/meta_json.h"
#include "writer/text/schema.h"
#include <string.h>

static void text_pair(struct json *json, const char *text)
{
	json_string(json, text, strnlen(text, SESSION_TEXT_BYTES));
	json_raw(json, ",\n");
}

void trace_head_write(struct writer_state *state, struct json *json)
{
	const struct session_header *head = state->session->head;
	const int32_t rank = head->rank > 0 ? head->rank : 0;
	const int32_t world =
		head->world_size > rank ? head->world_size : rank + 1;

	json_raw(
		json, "{" SCHEMA_KEY(SCHEMA_VERSION) SCHEMA_VERSION_NUMBER
		",\n" SCHEMA_PAIR(
			SCHEMA_TIME_UNIT,
			SCHEMA_TIME_UNIT_VALUE) "," SCHEMA_KEY(SCHEMA_BASE_TIME));
	json_i64(json, state->timeline.base_ns);
	/* HTA finds the rank by a pattern that wants the blank. */
	json_raw(json,
		 ",\n" SCHEMA_KEY(SCHEMA_DISTRIBUTED) "{" SCHEMA_PAIR(
			 SCHEMA_BACKEND, "") "," SCHEMA_KEY(SCHEMA_RANK) " ");
	json_i64(json, rank);
	json_raw(json, "," SCHEMA_KEY(SCHEMA_WORLD_SIZE));
	json_i64(json, world);
	json_raw(json, "},\n" SCHEMA_KEY(SCHEMA_HOST));
	text_pair(json, head->host);
	json_raw(json,
		 SCHEMA_PAIR("traceprof_version",
			     TRACEPROF_VERSION) ",\n" SCHEMA_KEY("traceprof_"
								 "reason"));
	text_pair(json, head->reason);
	json_raw(json, SCHEMA_KEY(SCHEMA_EVENTS) "[\n");
	meta_json_process(state, json, state->file.start_ns);
}
