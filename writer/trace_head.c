/* SPDX-License-Identifier: MIT */
/* trace_head.c - what stands before the events; see trace_frame.h. */
#include "writer/trace_frame.h"

#include "collector/system/proc.h"
#include "writer/events/meta_json.h"
#include "writer/text/schema.h"
#include <string.h>

static void text_pair(struct json *json, const char *text)
{
	json_string(json, text, strnlen(text, SESSION_TEXT_BYTES));
	json_raw(json, ",\n");
}

/* HTA finds the rank by a pattern that wants the blank. */
void trace_head_distributed(const struct session_header *head,
			    struct json *json)
{
	/* ACQUIRE pairs with RELEASE in torch_rank.c. */
	const int32_t known = load_acquire(&head->rank);
	const int32_t rank = known > 0 ? known : 0;
	const int32_t size = load_relaxed(&head->world_size);

	json_raw(json,
		 SCHEMA_KEY(SCHEMA_DISTRIBUTED) "{" SCHEMA_PAIR(
			 SCHEMA_BACKEND, "") "," SCHEMA_KEY(SCHEMA_RANK) " ");
	json_i64(json, rank);
	json_raw(json, "," SCHEMA_KEY(SCHEMA_WORLD_SIZE));
	json_i64(json, size > rank ? size : rank + 1);
	json_raw(json, "},\n");
}

/* multiprocessing starts such a process for what its parent wants done: torch
 * gives it its rank as an argument. */
static bool comes_late(const struct writer_state *state)
{
	struct session_header *head = state->session->head;

	if (load_relaxed(&head->rank) >= 0)
		return false;
	if (!state->is_recovered && !load_relaxed(&head->rank_is_late) &&
	    proc_has_argument("--multiprocessing-fork"))
		store_relaxed(&head->rank_is_late, true);
	return load_relaxed(&head->rank_is_late);
}

void trace_frame_head(struct writer_state *state, struct json *json)
{
	struct session_header *head = state->session->head;

	store_relaxed(&head->rank_is_in_tail, comes_late(state));
	json_raw(
		json, "{" SCHEMA_KEY(SCHEMA_VERSION) SCHEMA_VERSION_NUMBER
		",\n" SCHEMA_PAIR(
			SCHEMA_TIME_UNIT,
			SCHEMA_TIME_UNIT_VALUE) "," SCHEMA_KEY(SCHEMA_BASE_TIME));
	json_i64(json, state->timeline.base_ns);
	json_raw(json, ",\n");
	if (!load_relaxed(&head->rank_is_in_tail))
		trace_head_distributed(head, json);
	json_raw(json, SCHEMA_KEY(SCHEMA_HOST));
	text_pair(json, head->host);
	json_raw(json,
		 SCHEMA_PAIR("traceprof_version",
			     TRACEPROF_VERSION) ",\n" SCHEMA_KEY("traceprof_"
								 "reason"));
	text_pair(json, head->reason);
	json_raw(json, SCHEMA_KEY(SCHEMA_EVENTS) "[\n");
	meta_json_process(state, json, state->file.start_ns);
}
