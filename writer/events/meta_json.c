/* SPDX-License-Identifier: MIT */
/* meta_json.c - metadata events; see meta_json.h. */
#include "writer/events/meta_json.h"

#include "collector/system/log.h"
#include "collector/system/proc.h"
#include "writer/text/schema.h"
#include <string.h>
#include <unistd.h>

/* Steps come first and our own cost last; GPUs come after the process. */
#define STEPS_SORT_INDEX  0u
#define WRITER_SORT_INDEX 4900000u
#define GPU_SORT_INDEX	  5000000u

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

void meta_json_process(struct writer_state *state, struct json *json,
		       uint64_t ts_ns)
{
	const char *program = state->session->head->program;

	begin(json, SCHEMA_PROCESS_NAME, ts_ns, state->pid, 0);
	json_raw(json, SCHEMA_KEY(SCHEMA_NAME));
	json_string(json, program, strnlen(program, SESSION_TEXT_BYTES));
	json_raw(json, "}},\n");
	begin(json, SCHEMA_PROCESS_LABELS, ts_ns, state->pid, 0);
	json_raw(json, SCHEMA_PAIR(SCHEMA_LABELS, "CPU") "}},\n");
	begin(json, SCHEMA_PROCESS_SORT, ts_ns, state->pid, 0);
	sort_index(json, state->pid);
}

void meta_json_row(struct writer_state *state, uint64_t pid, uint64_t tid,
		   uint64_t index, const char *name)
{
	struct json *json = &state->json;
	const uint64_t ts_ns = state->file.start_ns;

	json_raw(json, ",\n");
	begin(json, SCHEMA_THREAD_NAME, ts_ns, pid, tid);
	json_raw(json, SCHEMA_KEY(SCHEMA_NAME));
	json_string(json, name, strlen(name));
	json_raw(json, "}},\n");
	begin(json, SCHEMA_THREAD_SORT, ts_ns, pid, tid);
	sort_index(json, index);
}

void meta_json_gpu(struct writer_state *state, uint32_t device)
{
	const char *program = state->session->head->program;
	const uint64_t ts_ns = state->file.start_ns;
	struct json *json = &state->json;
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

static void lane_events(struct writer_state *state, uint64_t tid,
			uint64_t index, const char *name)
{
	meta_json_row(state, state->pid, tid, index, name);
}

static bool is_writer(const struct writer_state *state,
		      const struct ring_reader *reader)
{
	return state->writer_tid && reader->thread->tid == state->writer_tid;
}

static uint64_t writer_lane(const struct writer_state *state)
{
	return state->writer_tid + (uint64_t)LANE_WRITER * LANE_STEP;
}

static uint64_t shown_tid(const struct writer_state *state,
			  const struct ring_reader *reader)
{
	const uint32_t tid = thread_shown_tid(reader->thread);

	return (int64_t)tid == state->session->head->pid ? state->pid : tid;
}

uint64_t meta_json_tid(const struct writer_state *state,
		       const struct ring_reader *reader, unsigned int lane)
{
	if (lane == LANE_MAIN && is_writer(state, reader))
		return writer_lane(state);
	if (lane == LANE_MAIN && reader->thread->beside)
		lane = LANE_XLA;
	return shown_tid(state, reader) + (uint64_t)lane * LANE_STEP;
}

/* The kernel's name of the thread, as of now where it can still be asked. */
static void look_up_name(const struct writer_state *state,
			 struct ring_reader *reader)
{
	struct thread *thread = reader->thread;
	char name[THREAD_NAME_BYTES] = "";

	if (!state->is_live || thread->is_named)
		return;
	proc_thread_name(thread->tid, name, sizeof(name));
	/* It has ended: most likely it had the name that it began with. */
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
	else if (lane == LANE_SAMPLES)
		log_format(text, bytes, " samples");
	else if (lane)
		log_format(text, bytes, " ranges %u", lane);
	else
		text[0] = '\0';
}

void meta_json_see(struct ring_reader *reader, const struct event *event)
{
	if (event->kind != EVENT_OMP_IMPLICIT || !event->omp.thread ||
	    reader->worker_tid == reader->thread->tid)
		return;
	reader->worker = event->omp.thread;
	reader->worker_tid = reader->thread->tid;
	reader->named_in_file = 0; /* the share may come after what is in it */
}

/* As the first thread's: who begins a thread hands its name down. */
static bool has_plain_name(const struct writer_state *state,
			   const struct thread *thread)
{
	const char *program = state->session->head->program;
	char first[THREAD_NAME_BYTES] = "";

	if (state->is_live)
		proc_thread_name((uint32_t)getpid(), first, sizeof(first));
	return !thread->name[0] ||
	       !strncmp(thread->name, first, THREAD_NAME_BYTES) ||
	       !strncmp(thread->name, program,
			strnlen(thread->name, THREAD_NAME_BYTES));
}

/* A worker without a name of its own is called by what it does. */
static bool is_plain_worker(const struct writer_state *state,
			    const struct ring_reader *reader)
{
	const struct thread *thread = reader->thread;

	return reader->worker && reader->worker_tid == thread->tid &&
	       !thread->is_named &&
	       (int64_t)thread->tid != state->session->head->pid &&
	       has_plain_name(state, thread);
}

static void thread_words(const struct writer_state *state,
			 const struct ring_reader *reader, const char *words,
			 char *text, size_t bytes)
{
	const unsigned long tid = shown_tid(state, reader);

	if (is_plain_worker(state, reader))
		log_format(text, bytes, "OpenMP worker %u (thread %lu)%s",
			   reader->worker, tid, words);
	else
		log_format(text, bytes, "%sthread %lu (%.*s)%s",
			   tid == state->pid ? "main " : "", tid,
			   THREAD_NAME_BYTES, reader->thread->name, words);
}

void meta_json_lane(struct writer_state *state, struct ring_reader *reader,
		    unsigned int lane)
{
	const uint64_t tid = shown_tid(state, reader);
	char words[32];
	char text[128];

	if (reader->named_in_file != state->file.file_index) {
		reader->named_in_file = state->file.file_index;
		reader->lanes_named = UINT32_C(1) << LANE_MAIN;
		reader->place.len = 0; /* of another thread, maybe */
		look_up_name(state, reader);
		thread_words(state, reader, "", text, sizeof(text));
		/* It may have nothing there but steps by time, on theirs. */
		if (is_writer(state, reader))
			reader->lanes_named = 0;
		else
			lane_events(state,
				    meta_json_tid(state, reader, LANE_MAIN),
				    tid, text);
	}
	if (reader->lanes_named >> lane & 1)
		return;
	reader->lanes_named |= UINT32_C(1) << lane;
	if (lane == LANE_MAIN) {
		meta_json_writer(state);
		return;
	}
	lane_words(lane, words, sizeof(words));
	thread_words(state, reader, words, text, sizeof(text));
	lane_events(state, meta_json_tid(state, reader, lane),
		    lane == LANE_STEPS ? STEPS_SORT_INDEX : tid, text);
}

uint64_t meta_json_writer(struct writer_state *state)
{
	char text[64];

	if (state->writer_is_named)
		return writer_lane(state);
	state->writer_is_named = true;
	log_format(text, sizeof(text), "traceprof writer (thread %u)",
		   state->writer_tid);
	lane_events(state, writer_lane(state), WRITER_SORT_INDEX, text);
	return writer_lane(state);
}
