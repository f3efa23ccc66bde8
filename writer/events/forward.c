/* SPDX-License-Identifier: MIT */
/* forward.c - operators by their sequence numbers; see forward.h. */
#include "writer/events/forward.h"

#include "writer/events/meta_json.h"
#include "writer/text/schema.h"

/* So many numbers lie between an operator and its node at most; of a step
 * with more some arrows are left out, which is said. */
#define KEPT  16384u
/* Of a small session the table is no part: who finishes it knows none. */
#define SHARE 16u

struct forward {
	uint64_t number; /* sequence number and one */
	uint64_t thread; /* PyTorch's, and the lane it is drawn on */
	uint64_t tid;
	uint64_t start_ns;
	uint64_t file_index;
};

struct forward_table {
	struct forward operators[KEPT];
};

static void end(struct writer_state *state, const char *phase, uint64_t id,
		uint64_t tid, uint64_t ts_ns)
{
	struct json *json = &state->json;

	json_line(json, (uintptr_t)state, (unsigned int)*phase);
	json_raw(json, ",\n{" SCHEMA_KEY(SCHEMA_PHASE) "\"");
	json_bytes(json, phase, 1);
	json_raw(json, "\"," SCHEMA_KEY(SCHEMA_ID));
	json_u64(json, id);
	json_raw(json, "," SCHEMA_KEY(SCHEMA_PID));
	json_u64(json, state->pid);
	json_raw(json, "," SCHEMA_KEY(SCHEMA_TID));
	json_u64(json, tid);
	json_raw(json, "," SCHEMA_KEY(SCHEMA_TIME));
	json_micros(json, (int64_t)ts_ns);
	json_raw(
		json,
		"," SCHEMA_PAIR(SCHEMA_CATEGORY, SCHEMA_FLOW_BACKWARD) "," SCHEMA_PAIR(
			SCHEMA_NAME, SCHEMA_FLOW_BACKWARD));
	if (*phase == *SCHEMA_PHASE_FLOW_END)
		json_raw(json,
			 "," SCHEMA_PAIR(SCHEMA_BIND, SCHEMA_BIND_ENCLOSING));
	json_char(json, '}');
}

/* In the session, so that whoever goes on with the file knows what was written
 * already: it is the operators of later than the checkpoint too, which come
 * again and change nothing. */
static struct forward_table *table_of(struct writer_state *state)
{
	struct session_header *head = state->session->head;
	const uint64_t bytes = sizeof(struct forward_table);

	if (!head->forward && !state->is_recovered &&
	    bytes <= head->ceiling_bytes / SHARE)
		head->forward = session_alloc(state->session, bytes);
	if (head->forward)
		return session_at_checked(state->session, head->forward, bytes);
	return arena_alloc(&state->arena, bytes);
}

static struct forward *place_of(struct writer_state *state, uint64_t number)
{
	if (!state->forward)
		state->forward = table_of(state);
	return state->forward ? &state->forward->operators[number % KEPT]
			      : NULL;
}

void forward_meet(struct writer_state *state, struct ring_reader *reader,
		  const struct event *event, uint64_t start_ns)
{
	const uint64_t number = event->scope.payload;
	const uint64_t tid = meta_json_tid(state, reader, LANE_MAIN);
	const uint64_t file_index = state->file.file_index;
	struct forward *known = number ? place_of(state, number) : NULL;

	if (!known)
		return;
	if (!event->scope.range) {
		if (known->number == number && start_ns <= known->start_ns &&
		    known->thread == event->scope.domain &&
		    known->file_index == file_index)
			return;
		*known = (struct forward){number, event->scope.domain, tid,
					  start_ns, file_index};
		return;
	}
	if (event->scope.category != OPERATOR_BACKWARD)
		return;
	if (known->number > number && known->file_index == file_index)
		session_note(state->session,
			     "PyTorch's operators and their backward are not "
			     "joined where %u others lie between them",
			     KEPT);
	if (known->number != number || known->file_index != file_index ||
	    known->thread != event->scope.range || known->start_ns > start_ns)
		return;
	state->counts.arrows++;
	end(state, SCHEMA_PHASE_FLOW_START, state->counts.arrows, known->tid,
	    known->start_ns);
	end(state, SCHEMA_PHASE_FLOW_END, state->counts.arrows, tid, start_ns);
}
