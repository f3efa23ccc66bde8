/* SPDX-License-Identifier: MIT */
/* python_json.c - see python_json.h. */
#include "writer/events/python_json.h"

#include "collector/session/python_stack.h"

/* Since when none is recorded up to `end_ns`; 0: all are. */
static uint64_t ended_ns(struct writer_state *state, uint64_t end_ns)
{
	struct session_header *head = state->session->head;
	/* ACQUIRE pairs with RELEASE in python_ends(): the times. */
	const uint32_t count = load_acquire(&head->python_ends);

	for (uint32_t at = count - min_u32(count, WINDOWS_MAX); at != count;
	     at++) {
		struct python_end *end = &head->python_end[at % WINDOWS_MAX];
		const uint64_t from = timeline_ns(
			&state->timeline, load_relaxed(&end->from_ticks));
		const uint64_t to = load_relaxed(&end->to_ticks);

		if (from < end_ns &&
		    (!to || timeline_ns(&state->timeline, to) >= end_ns))
			return max_u64(from, state->file.start_ns);
	}
	return 0;
}

void python_json(struct writer_state *state, struct json *json, uint64_t end_ns)
{
	const uint64_t ended = ended_ns(state, end_ns);

	if (!state->session->head->options.python)
		return;
	json_raw(json, ",\"python\":{\"ended\":");
	if (ended)
		json_micros(json, (int64_t)ended);
	else
		json_raw(json, "null");
	json_char(json, '}');
}
