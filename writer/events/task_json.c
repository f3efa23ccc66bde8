/* SPDX-License-Identifier: MIT */
/* task_json.c - what the kernel counts of a thread; see task_json.h. */
#include "writer/events/task_json.h"

#include "collector/session/names.h"
#include "collector/system/log.h"
#include "writer/text/schema.h"

/* "core time 12" is a thread's own track, since viewers join counters of one
 * name; a value holds from the beginning of its time on.  Behind the number
 * stands what the kernel calls it, where it may have no lane that does. */
static void task_head(struct writer_state *state, const char *what,
		      const struct event *event, struct event_span span)
{
	const uint64_t tid = event->extra ? event->extra : state->pid;
	struct json *json = &state->json;
	char name[96];
	size_t len = event->extra
			     ? log_format(name, sizeof(name), "%s %u", what,
					  event->extra)
			     : log_format(name, sizeof(name), "%s, all", what);

	if (event->name)
		len += log_format(
			name + len, sizeof(name) - len, " %s",
			names_text(state->session, event->name, &(size_t){0}));

	json_line(json, tid, EVENT_TASK_COUNTS);
	json_raw(
		json,
		",\n{" SCHEMA_PAIR(
			SCHEMA_PHASE,
			SCHEMA_PHASE_COUNTER) "," SCHEMA_KEY(SCHEMA_NAME) "\"");
	json_text(json, name, len);
	json_raw(json, "\",\"" SCHEMA_PID "\":");
	json_u64(json, state->pid);
	json_pair_u64(json, SCHEMA_TID, tid);
	json_pair_micros(json, SCHEMA_TIME, (int64_t)span.start_ns);
	json_raw(json, ",\"" SCHEMA_ARGS "\":{");
}

static void percent(struct json *json, uint64_t part, struct event_span span)
{
	const uint64_t all = max_u64(1, span.end_ns - span.start_ns);

	json_u64(json, (part * 100 + all / 2) / all);
}

bool task_json(struct writer_state *state, const struct event *event,
	       struct event_span span)
{
	const uint32_t known =
		load_relaxed(&state->session->head->sampling.known);
	struct json *json = &state->json;
	const size_t mark = json_mark(json);
	const bool is_all = !event->extra;

	if (is_all || known & TASK_TIMES) {
		task_head(state, "core time", event, span);
		json_raw(json, "\"running %\":");
		percent(json, event->task.ran_ns, span);
		if (!is_all) {
			json_raw(json, ",\"ready, no core %\":");
			percent(json, event->task.queued_ns, span);
		}
		json_raw(json, "}}");
	}
	task_head(state, "kernel counts", event, span);
	json_raw(json, "\"minor faults\":");
	json_u64(json, event->task.minor_faults);
	json_pair_u64(json, "major faults", event->task.major_faults);
	json_pair_u64(json, "gave way", event->task.voluntary);
	json_pair_u64(json, "was preempted", event->task.involuntary);
	if (!is_all && known & TASK_MIGRATIONS)
		json_pair_u64(json, "migrations", event->outlined_offset);
	json_raw(json, "}}");
	if (json->failed) {
		json_back(json, mark);
		return false;
	}
	return true;
}
