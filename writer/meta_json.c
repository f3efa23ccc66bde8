/* SPDX-License-Identifier: MIT */
/* meta_json.c - metadata events; see meta_json.h. */
#include "writer/meta_json.h"

#include "collector/log.h"
#include "collector/proc.h"
#include "writer/schema.h"
#include <string.h>
#include <unistd.h>

/* GPUs come behind the process. */
#define GPU_SORT_INDEX 5000000u

/* ,\n{"ph":"M","name":<name>,"ts":..,"pid":..,"tid":..,"args":{ */
static void begin(struct json *json, const char *name, uint64_t ts_ns,
		  uint64_t pid, uint64_t tid)
{
	json_raw(json, "{" SCHEMA_PAIR(
			       SCHEMA_PHASE,
			       SCHEMA_PHASE_META) "," SCHEMA_KEY(SCHEMA_NAME));
	json_string(json, name, strlen(name));
	json_raw(json, "," SCHEMA_KEY(SCHEMA_TIME));
	json_micros(json, (int64_t)ts_ns);
	json_raw(json, "," SCHEMA_KEY(SCHEMA_PID));
	json_u64(json, pid);
	json_raw(json, "," SCHEMA_KEY(SCHEMA_TID));
	json_u64(json, tid);
	json_raw(json, "," SCHEMA_KEY(SCHEMA_ARGS) "{");
}

static void sort_index(struct json *json, uint64_t index)
{
	json_raw(json, SCHEMA_KEY(SCHEMA_SORT_INDEX));
	json_u64(json, index);
	json_raw(json, "}}");
}

void meta_json_process(struct scribe *scribe, struct json *json, uint64_t ts_ns)
{
	const char *program = scribe->session->head->program;

	begin(json, SCHEMA_PROCESS_NAME, ts_ns, scribe->pid, 0);
	json_raw(json, SCHEMA_KEY(SCHEMA_NAME));
	json_string(json, program, strnlen(program, SESSION_TEXT_BYTES));
	json_raw(json, "}},\n");
	begin(json, SCHEMA_PROCESS_LABELS, ts_ns, scribe->pid, 0);
	json_raw(json, SCHEMA_PAIR(SCHEMA_LABELS, "CPU") "}},\n");
	begin(json, SCHEMA_PROCESS_SORT, ts_ns, scribe->pid, 0);
	sort_index(json, scribe->pid);
}

void meta_json_row(struct scribe *scribe, uint64_t pid, uint64_t tid,
		   uint64_t index, const char *name)
{
	struct json *json = &scribe->json;
	const uint64_t ts_ns = scribe->file.start_ns;

	json_raw(json, ",\n");
	begin(json, SCHEMA_THREAD_NAME, ts_ns, pid, tid);
	json_raw(json, SCHEMA_KEY(SCHEMA_NAME));
	json_string(json, name, strlen(name));
	json_raw(json, "}},\n");
	begin(json, SCHEMA_THREAD_SORT, ts_ns, pid, tid);
	sort_index(json, index);
}

void meta_json_gpu(struct scribe *scribe, uint32_t device)
{
	const char *program = scribe->session->head->program;
	const uint64_t ts_ns = scribe->file.start_ns;
	struct json *json = &scribe->json;
	char text[SESSION_TEXT_BYTES + 32];

	/* Perfetto shows the name alone, not the label. */
	log_format(text, sizeof(text), "%.*s GPU %u", SESSION_TEXT_BYTES - 1,
		   program, device);
	json_raw(json, ",\n");
	begin(json, SCHEMA_PROCESS_NAME, ts_ns, device, 0);
	json_raw(json, SCHEMA_KEY(SCHEMA_NAME));
	json_string(json, text, strlen(text));
	json_raw(json, "}},\n");
	begin(json, SCHEMA_PROCESS_LABELS, ts_ns, device, 0);
	json_raw(json, SCHEMA_KEY(SCHEMA_LABELS) "\"GPU ");
	json_u64(json, device);
	json_raw(json, "\"}},\n");
	begin(json, SCHEMA_PROCESS_SORT, ts_ns, device, 0);
	sort_index(json, GPU_SORT_INDEX + device);
}

static void lane_events(struct scribe *scribe, uint64_t tid, uint64_t index,
			const char *name)
{
	meta_json_row(scribe, scribe->pid, tid, index, name);
}

uint64_t meta_json_tid(const struct scribe *scribe, const struct track *track,
		       unsigned int lane)
{
	const uint32_t tid = track->thread->tid;
	const uint64_t shown =
		(int64_t)tid == scribe->session->head->pid ? scribe->pid : tid;

	return shown + (uint64_t)lane * LANE_STEP;
}

/* The kernel's name of the thread, as of now where it can still be asked. */
static void look_up_name(const struct scribe *scribe, struct track *track)
{
	struct thread *thread = track->thread;
	char name[THREAD_NAME_BYTES] = "";

	if (!scribe->is_live || thread->is_named)
		return;
	proc_thread_name(thread->tid, name, sizeof(name));
	/* It has ended: most likely it had the name that it was born with. */
	if (!name[0] && !thread->name[0])
		proc_thread_name((uint32_t)getpid(), name, sizeof(name));
	if (name[0])
		memcpy(thread->name, name, sizeof(name));
}

static void lane_words(unsigned int lane, char *text, size_t bytes)
{
	if (lane == LANE_LOSSES)
		log_format(text, bytes, " losses");
	else if (lane == LANE_STEPS)
		log_format(text, bytes, " steps");
	else if (lane)
		log_format(text, bytes, " ranges %u", lane);
	else
		text[0] = '\0';
}

void meta_json_lane(struct scribe *scribe, struct track *track,
		    unsigned int lane)
{
	const uint64_t tid = meta_json_tid(scribe, track, LANE_MAIN);
	char words[32];
	char text[128];

	if (track->named_in_file != scribe->file.file_index) {
		track->named_in_file = scribe->file.file_index;
		track->lanes_named = 0;
		track->place.len = 0; /* of another thread, maybe */
		look_up_name(scribe, track);
		log_format(text, sizeof(text), "thread %lu (%.*s)", tid,
			   THREAD_NAME_BYTES, track->thread->name);
		lane_events(scribe, tid, tid, text);
	}
	if (lane == LANE_MAIN || track->lanes_named >> lane & 1)
		return;
	track->lanes_named |= UINT32_C(1) << lane;
	lane_words(lane, words, sizeof(words));
	log_format(text, sizeof(text), "thread %lu (%.*s)%s", tid,
		   THREAD_NAME_BYTES, track->thread->name, words);
	lane_events(scribe, meta_json_tid(scribe, track, lane), tid, text);
}

void meta_json_writer(struct scribe *scribe)
{
	char text[64];

	if (scribe->writer_is_named)
		return;
	scribe->writer_is_named = true;
	log_format(text, sizeof(text), "thread %u (traceprof writer)",
		   scribe->writer_tid);
	lane_events(scribe, scribe->writer_tid, scribe->writer_tid, text);
}
