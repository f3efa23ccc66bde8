/* SPDX-License-Identifier: MIT */
/* task_sums.c - counter tracks of threads, and sums; see task_sums.h. */
#include "writer/draw/task_sums.h"

#include "collector/session/names.h"
#include "writer/events/task_json.h"
#include <string.h>

struct task_sums {
	uint32_t tid;  /* 0: the process */
	uint32_t word; /* what the kernel calls it; 0: its record has that */
	uint64_t rounds;
	uint64_t wall_ns; /* of them */
	uint64_t ran_ns, queued_ns;
	uint64_t rest_ns; /* in which it didn't run, and may have waited */
	uint64_t minor, major, voluntary, involuntary, migrations;
};

static bool same_task(const void *item, const void *key)
{
	const struct task_sums *sums = item;

	return sums->tid == *(const uint32_t *)key;
}

static struct task_sums *sums_of(struct writer_state *state, uint32_t tid)
{
	struct task_sums *sums =
		hash_index_find(&state->tasks, hash_u64(tid), same_task, &tid);

	if (sums)
		return sums;
	sums = arena_alloc(&state->arena, sizeof(*sums));
	if (!sums)
		return NULL;
	sums->tid = tid;
	return hash_index_add(&state->tasks, hash_u64(tid), sums) ? NULL : sums;
}

static void add(struct task_sums *sums, const struct event *event,
		struct event_span span)
{
	sums->rounds++;
	sums->word = event->name;
	sums->wall_ns += span.end_ns - span.start_ns;
	sums->ran_ns += event->task.ran_ns;
	sums->queued_ns += event->task.queued_ns;
	sums->minor += event->task.minor_faults;
	sums->major += event->task.major_faults;
	sums->voluntary += event->task.voluntary;
	sums->involuntary += event->task.involuntary;
	sums->migrations += event->outlined_offset;
}

/* The kernel counts a wait for a core when it ends, so that a round may have
 * what began before it, or before the window. */
static void bound_wait(struct task_sums *sums, struct event *event,
		       uint64_t wall_ns)
{
	sums->rest_ns += wall_ns - min_u64(event->task.ran_ns, wall_ns);
	event->task.queued_ns = min_u64(event->task.queued_ns, sums->rest_ns);
	sums->rest_ns -= event->task.queued_ns;
}

bool task_sums_take(struct writer_state *state, const struct event *event,
		    struct event_span span)
{
	struct task_sums *sums = sums_of(state, event->extra);
	const uint64_t wall_ns = span.end_ns - span.start_ns;
	struct event bounded = *event, drawn;
	bool is_drawn;

	if (!sums)
		return false;
	bound_wait(sums, &bounded, wall_ns);
	drawn = bounded;
	drawn.task.queued_ns =
		min_u64(drawn.task.queued_ns,
			wall_ns - min_u64(drawn.task.ran_ns, wall_ns));
	is_drawn = task_json(state, &drawn, span);
	if (is_drawn)
		add(sums, &bounded, span);
	if (window_file_is_due(state))
		window_file_flush(state);
	return is_drawn;
}

void task_sums_reset(struct writer_state *state)
{
	struct task_sums *sums;
	size_t at = 0;

	while ((sums = hash_index_each(&state->tasks, &at)))
		*sums = (struct task_sums){.tid = sums->tid};
}

static void put(const struct writer_state *state, struct json *json,
		const struct task_sums *sums, uint32_t known)
{
	size_t len;
	const char *name =
		sums->word ? names_text(state->session, sums->word, &len) : "";

	for (struct ring_reader *t = state->readers; t; t = t->older) {
		if (t->thread->tid == sums->tid && t->thread->name[0])
			name = t->thread->name;
	}
	json_raw(json, "\n{\"tid\":");
	json_u64(json, sums->tid);
	json_pair_text(json, "name", name, strnlen(name, THREAD_NAME_BYTES));
	if (!sums->tid || known & TASK_TIMES)
		json_pair_micros(json, "ran_us", (int64_t)sums->ran_ns);
	if (sums->tid && known & TASK_TIMES)
		json_pair_micros(json, "ready_us", (int64_t)sums->queued_ns);
	json_pair_micros(json, "wall_us", (int64_t)sums->wall_ns);
	if (!sums->tid || known & TASK_FAULTS) {
		json_pair_u64(json, "minor_faults", sums->minor);
		json_pair_u64(json, "major_faults", sums->major);
	}
	if (!sums->tid || known & TASK_SWITCHES) {
		json_pair_u64(json, "voluntary", sums->voluntary);
		json_pair_u64(json, "involuntary", sums->involuntary);
	}
	if (sums->tid && known & TASK_MIGRATIONS)
		json_pair_u64(json, "migrations", sums->migrations);
	json_char(json, '}');
}

void task_sums_json(const struct writer_state *state, struct json *json)
{
	struct sampling *sampling = &state->session->head->sampling;
	const uint32_t known = load_relaxed(&sampling->known);
	const struct task_sums *sums;
	bool any = false;
	size_t at = 0;

	if (!(sampling->period_ns || known) || !state->totals_are_whole)
		return;
	json_raw(json, ",\n\"tasks\":[");
	while ((sums = hash_index_each(&state->tasks, &at))) {
		if (!sums->rounds)
			continue;
		if (any)
			json_char(json, ',');
		any = true;
		put(state, json, sums, known);
	}
	json_char(json, ']');
}
