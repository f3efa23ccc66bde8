/* SPDX-License-Identifier: MIT */
/* event_json.c - one event, one line; see event_json.h. */
#include "writer/events/event_json.h"

#include "collector/control/search.h"
#include "collector/system/log.h"
#include "collector/session/names.h"
#include "writer/events/allocator_json.h"
#include "writer/events/blas_json.h"
#include "writer/events/forward.h"
#include "writer/events/block_json.h"
#include "writer/events/map_json.h"
#include "writer/events/meta_json.h"
#include "writer/events/stack_json.h"
#include "writer/events/wait_json.h"
#include "writer/text/schema.h"
#include <math.h>
#include <string.h>

/* The start of a slice up to its name's opening quote. */
#define SLICE(category)                                                        \
	",\n{" SCHEMA_PAIR(SCHEMA_PHASE, SCHEMA_PHASE_SLICE) "," SCHEMA_PAIR(  \
		SCHEMA_CATEGORY, category) "," SCHEMA_KEY(SCHEMA_NAME) "\""
/* With a colour of Chrome's and TensorBoard's viewer; Perfetto takes none. */
#define SLICE_LIKE(category, color) SLICE(category "\",\"cname\":\"" color)
#define THEN(key)		    "," SCHEMA_KEY(key)

/* A line about a thread's events of one name. */
static void line_of(struct json *json, const struct ring_reader *reader,
		    const struct label *label, unsigned int kind)
{
	json_line(json, (uintptr_t)reader + (uintptr_t)label * 3, kind);
}

static void put_name(struct json *json, const struct label *label)
{
	json_bytes(json, label->text, label->text_len);
	json_field(json);
}

static void place(struct json *json, uint64_t pid, uint64_t tid, uint64_t ts_ns)
{
	json_raw(json, "\"" THEN(SCHEMA_PID));
	json_u64(json, pid);
	json_raw(json, THEN(SCHEMA_TID));
	json_u64(json, tid);
	json_raw(json, THEN(SCHEMA_TIME));
	json_micros(json, (int64_t)ts_ns);
}

/* The same on a lane of a thread.  All but the time is the same for most of a
 * thread's events, so it is kept. */
static void place_on(struct writer_state *state, struct ring_reader *reader,
		     unsigned int lane, uint64_t ts_ns)
{
	struct json *json = &state->json;
	const size_t mark = json_mark(json);
	struct lane_text *kept = &reader->place;

	if (likely(lane == LANE_MAIN && kept->len &&
		   json_fits(json, sizeof(kept->text)))) {
		/* Of a length that is known when compiling. */
		memcpy(json->data + mark, kept->text, sizeof(kept->text));
		json->used = mark + kept->tid_len;
		json_field(json);
		json->used = mark + kept->len;
	} else {
		json_raw(json, "\"" THEN(SCHEMA_PID));
		json_u64(json, state->pid);
		json_raw(json, THEN(SCHEMA_TID));
		json_u64(json, meta_json_tid(state, reader, lane));
		kept->tid_len = (uint32_t)(json->used - mark);
		json_raw(json, THEN(SCHEMA_TIME));
		if (lane == LANE_MAIN && !json->failed &&
		    json->used - mark <= sizeof(kept->text)) {
			kept->len = (uint32_t)(json->used - mark);
			memcpy(kept->text, json->data + mark, kept->len);
		}
	}
	json_micros(json, (int64_t)ts_ns);
}

/* Name's closing quote to the args' opening brace. */
static void slice_place(struct writer_state *state, struct ring_reader *reader,
			unsigned int lane, struct event_span span)
{
	struct json *json = &state->json;

	place_on(state, reader, lane, span.start_ns);
	json_raw(json, THEN(SCHEMA_DURATION));
	json_micros(json, (int64_t)(span.end_ns - span.start_ns));
	json_raw(json, THEN(SCHEMA_ARGS) "{");
}

/* What torch gives each operator and annotation. */
static void ids(struct writer_state *state)
{
	struct json *json = &state->json;
	uint64_t index;

	/* Work on a GPU may have named it already. */
	if (state->reserved_id)
		index = state->reserved_id - 1;
	else
		index = state->next_index++;
	state->last_id = index + 1;
	json_raw(json, SCHEMA_KEY(SCHEMA_EXTERNAL_ID));
	json_u64(json, index + 1);
	json_raw(json,
		 THEN(SCHEMA_RECORD_FUNCTION) "0" THEN(SCHEMA_EVENT_INDEX));
	json_u64(json, index);
}

static void close_slice(struct json *json, struct event_span span)
{
	if (span.is_cut)
		json_raw(json, "," SCHEMA_PAIR(SCHEMA_FINISHED, "false"));
	json_raw(json, "}}");
}

static void omp_args(struct writer_state *state, const struct event *event,
		     struct event_span span)
{
	const int64_t tasks_ns = (int64_t)event_tasks_ns(event, span);
	struct json *json = &state->json;

	switch (event->kind) {
	case EVENT_OMP_REGION: json_raw(json, "\"omp\":\"parallel\""); break;
	case EVENT_OMP_IMPLICIT: json_raw(json, "\"omp\":\"task\""); break;
	case EVENT_OMP_EXPLICIT: json_raw(json, "\"omp\":\"explicit\""); break;
	case EVENT_OMP_TASKS: json_raw(json, "\"omp\":\"tasks\""); break;
	case EVENT_OMP_CREATE: json_raw(json, "\"omp\":\"create\""); break;
	case EVENT_OMP_WAIT: json_raw(json, "\"omp\":\"wait\""); break;
	case EVENT_OMP_WAITS: json_raw(json, "\"omp\":\"waits\""); break;
	default: json_raw(json, "\"omp\":\"held\""); break;
	}
	if (event->kind == EVENT_OMP_WAIT ||
	    event->kind == EVENT_OMP_ACQUIRED) {
		const char *word = omp_sync_word(event->omp.sync);

		json_pair_text(json, "sync", word, strlen(word));
	}
	json_pair_u64(json, "region", event->omp.region);
	if (event->kind == EVENT_OMP_WAIT) {
		if (tasks_ns)
			json_pair_micros(json, "tasks_us", tasks_ns);
	} else if (event->omp.team) {
		json_pair_u64(json, "team", event->omp.team);
		json_pair_u64(json, "thread", event->omp.thread);
	}
	if (event->kind == EVENT_OMP_REGION && event->omp.sync & SEARCH_IN_TEAM)
		json_raw(json, ",\"nested\":true");
	if (event->omp.schedule && event->omp.schedule < OMP_SCHEDULE_COUNT) {
		const char *word = omp_schedule_word(event->omp.schedule);

		json_pair_text(json, "schedule", word, strlen(word));
	}
	if (event->kind == EVENT_OMP_REGION && event->omp.task)
		stack_json(state, event->omp.task);
	else if (event->kind != EVENT_OMP_WAIT && event->omp.task)
		json_pair_u64(json, "task", event->omp.task);
}

/* Readers number operators, and a GPU's work is its slice's by that number.
 * What is in a region goes without otherwise, which is a fifth of its text. */
static bool is_numbered(const struct writer_state *state,
			const struct event *event)
{
	return state->gpu || !event_is_omp_part(event->kind);
}

/* The master's share of a region, from its start on; it lies in the slice. */
static void share_args(struct writer_state *state, const struct event *region,
		       struct event_span span)
{
	struct event *share = &state->share;
	int64_t start_ns, end_ns;

	if (share->kind != EVENT_OMP_IMPLICIT ||
	    share->omp.region != region->omp.region)
		return;
	start_ns = (int64_t)timeline_ns(&state->timeline, share->start_ticks);
	end_ns = (int64_t)timeline_ns(&state->timeline, share->end_ticks);
	if (start_ns < (int64_t)span.start_ns)
		start_ns = (int64_t)span.start_ns;
	if (end_ns > (int64_t)span.end_ns)
		end_ns = (int64_t)span.end_ns;
	if (end_ns >= start_ns) {
		json_pair_micros(&state->json, "share_after_us",
				 start_ns - (int64_t)span.start_ns);
		json_pair_micros(&state->json, "share_us", end_ns - start_ns);
	}
	share->kind = EVENT_NONE;
}

static void write_omp(struct writer_state *state, struct ring_reader *reader,
		      const struct event *event, const struct label *label,
		      struct event_span span)
{
	struct json *json = &state->json;

	line_of(json, reader, label, event->kind);
	if (event->kind == EVENT_OMP_WAIT || event->kind == EVENT_OMP_WAITS)
		json_raw(json, SLICE_LIKE(SCHEMA_OPENMP, SCHEMA_WAITING));
	else if (event_is_omp_part(event->kind))
		json_raw(json, SLICE(SCHEMA_OPENMP));
	else
		json_raw(json, SLICE(SCHEMA_CPU_OP));
	put_name(json, label);
	slice_place(state, reader, LANE_MAIN, span);
	if (is_numbered(state, event)) {
		ids(state);
		json_char(json, ',');
	}
	omp_args(state, event, span);
	if (label->function) {
		json_raw(json, THEN("function") "\"");
		json_bytes(json, label->function, strlen(label->function));
		json_char(json, '"');
	}
	if (event->kind == EVENT_OMP_REGION)
		share_args(state, event, span);
	close_slice(json, span);
}

/* What NVTX says of a range beyond its name; each begins with a comma. */
static void scope_payload(struct json *json, const struct event *event)
{
	const uint64_t word = event->scope.payload;
	const uint32_t low = (uint32_t)word;
	double wide;
	float narrow;

	memcpy(&wide, &word, sizeof(wide));
	memcpy(&narrow, &low, sizeof(narrow));
	json_raw(json, ",\"payload\":");
	switch (event->scope.payload_type) {
	case EVENT_PAYLOAD_U64: json_u64(json, word); break;
	case EVENT_PAYLOAD_I64: json_i64(json, (int64_t)word); break;
	case EVENT_PAYLOAD_U32: json_u64(json, low); break;
	case EVENT_PAYLOAD_I32: json_i64(json, (int32_t)low); break;
	case EVENT_PAYLOAD_F32: wide = (double)narrow; /* fallthrough */
	case EVENT_PAYLOAD_F64:
		if (isfinite(wide)) {
			json_double(json, wide);
			break;
		} /* fallthrough */
	default: json_raw(json, "null");
	}
}

static void scope_args(struct writer_state *state, const struct event *event)
{
	struct json *json = &state->json;
	char text[16];
	size_t len;

	if (event->extra || event->scope.category) {
		const char *name =
			names_text(state->session, event->extra, &len);

		json_raw(json, ",\"category\":");
		if (event->extra)
			json_string(json, name, len);
		else
			json_u64(json, event->scope.category);
	}
	if (event->scope.colour) {
		log_format(text, sizeof(text), "#%08x", event->scope.colour);
		json_pair_text(json, "colour", text, strlen(text));
	}
	if (event->scope.payload_type)
		scope_payload(json, event);
}

static void operator_shapes(struct writer_state *state,
			    const struct event *event)
{
	struct json *json = &state->json;
	const char *shapes;
	size_t len;

	if (!event->extra || event->extra == NAME_REFUSED)
		return;
	shapes = names_text(state->session, event->extra, &len);
	json_char(json, ',');
	json_bytes(json, shapes, len);
	json_field(json);
}

/* Few are asked for it. */
static void operator_line(struct writer_state *state, const struct event *event)
{
	const uint32_t line = event->scope.payload_type;
	const char *text;
	size_t len;

	if (!line)
		return;
	text = names_text(state->session, line & ~SCOPE_LINE_BELOW, &len);
	if (line & SCOPE_LINE_BELOW)
		json_pair_text(&state->json, SCHEMA_CALLED_BELOW, text, len);
	else
		json_pair_text(&state->json, SCHEMA_CALLED_FROM, text, len);
}

/* An operator of PyTorch's, as torch.profiler writes it. */
static void operator_args(struct writer_state *state, const struct event *event)
{
	struct json *json = &state->json;

	if (event->scope.payload) {
		json_pair_u64(json, SCHEMA_FORWARD_THREAD, event->scope.range);
		json_pair_u64(json, SCHEMA_SEQUENCE, event->scope.payload - 1);
	}
	if (event->scope.colour) {
		json_pair_u64(json, SCHEMA_MESSAGE, event->scope.colour - 1);
		if (event->scope.range)
			json_pair_u64(json, SCHEMA_MESSAGE_ID,
				      event->scope.range);
	}
	operator_line(state, event);
	operator_shapes(state, event);
}

static void write_operator(struct writer_state *state,
			   struct ring_reader *reader,
			   const struct event *event, const struct label *label,
			   struct event_span span)
{
	struct json *json = &state->json;

	line_of(json, reader, label, event->kind);
	json_raw(json, SLICE(SCHEMA_CPU_OP));
	put_name(json, label);
	slice_place(state, reader, LANE_MAIN, span);
	ids(state);
	operator_args(state, event);
	close_slice(json, span);
	forward_meet(state, reader, event, span.start_ns);
}

static void write_annotation(struct writer_state *state,
			     struct ring_reader *reader,
			     const struct event *event, unsigned int lane,
			     const struct label *label, struct event_span span)
{
	struct json *json = &state->json;

	line_of(json, reader, label, event->kind);
	json_raw(json, SLICE(SCHEMA_USER_ANNOTATION));
	put_name(json, label);
	slice_place(state, reader, lane, span);
	ids(state);
	if (event->flags & EVENT_OPERATOR)
		operator_shapes(state, event);
	else
		scope_args(state, event);
	close_slice(json, span);
}

static void write_range(struct writer_state *state, struct ring_reader *reader,
			const struct event *event, const struct label *label,
			struct event_span span)
{
	unsigned int lane =
		state->is_live ? LANE_FIRST_RANGE : LANE_FIRST_RECOVERED;

	if (!reader->ranges)
		reader->ranges =
			arena_alloc(&state->arena, sizeof(*reader->ranges));
	if (reader->ranges)
		lane += lane_place(reader->ranges, &span.start_ns, span.end_ns);
	else
		span.start_ns = span.end_ns; /* an instant crosses nothing */
	meta_json_lane(state, reader, lane);
	write_annotation(state, reader, event, lane, label, span);
}

/* Steps that lie beside their thread lie together, whichever thread recorded
 * the last one. */
static struct ring_reader *stepping_thread(const struct writer_state *state,
					   struct ring_reader *reader,
					   uint32_t tid)
{
	struct ring_reader *other = state->readers;

	if (reader->thread->tid == tid)
		return reader;
	while (other && (other->thread->tid != tid ||
			 load_relaxed(&other->thread->state) == THREAD_FREE))
		other = other->older;
	return other ? other : reader;
}

static void write_step(struct writer_state *state, struct ring_reader *reader,
		       const struct event *event, const struct label *label,
		       struct event_span span)
{
	const unsigned int lane =
		event_json_step_nests(event) ? LANE_MAIN : LANE_STEPS;
	struct json *json = &state->json;

	/* There each begins where the last one ends; on the main lane a gap has
	 * been left already. */
	if (lane == LANE_STEPS) {
		reader = stepping_thread(state, reader, event->extra);
		if (span.end_ns - span.start_ns > NEST_GAP_NS)
			span.end_ns -= NEST_GAP_NS;
	}
	meta_json_lane(state, reader, lane);
	line_of(json, reader, label, event->kind);
	json_raw(json, SLICE(SCHEMA_USER_ANNOTATION));
	put_name(json, label);
	json_i64(json, event->step.number);
	slice_place(state, reader, lane, span);
	ids(state);
	close_slice(json, span);
}

static void write_mark(struct writer_state *state, struct ring_reader *reader,
		       const struct event *event, const struct label *label,
		       uint64_t ts_ns)
{
	struct json *json = &state->json;

	line_of(json, reader, label, event->kind);
	json_raw(
		json,
		",\n{" SCHEMA_PAIR(SCHEMA_PHASE, SCHEMA_PHASE_INSTANT) "," SCHEMA_PAIR(
			SCHEMA_CATEGORY,
			SCHEMA_USER_ANNOTATION) "," SCHEMA_PAIR(SCHEMA_SCOPE,
								SCHEMA_SCOPE_THREAD) "," SCHEMA_KEY(SCHEMA_NAME) "\"");
	put_name(json, label);
	place_on(state, reader, LANE_MAIN, ts_ns);
	if (event->extra || event->scope.category || event->scope.colour ||
	    event->scope.payload_type) {
		json_raw(json,
			 THEN(SCHEMA_ARGS) "{" SCHEMA_KEY(SCHEMA_EVENT_INDEX));
		json_u64(json, state->next_index++);
		scope_args(state, event);
		json_char(json, '}');
	}
	json_char(json, '}');
}

/* Up to the opening brace of the args. */
static void counter_head(struct json *json, const char *name, size_t len,
			 uint64_t pid, uint64_t tid, uint64_t ts_ns)
{
	json_line(json, (uintptr_t)name, EVENT_COUNTER);
	json_raw(
		json,
		",\n{" SCHEMA_PAIR(
			SCHEMA_PHASE,
			SCHEMA_PHASE_COUNTER) "," SCHEMA_KEY(SCHEMA_NAME) "\"");
	json_bytes(json, name, len);
	json_field(json);
	place(json, pid, tid, ts_ns);
	json_raw(json, THEN(SCHEMA_ARGS) "{");
}

static bool write_counter(struct writer_state *state,
			  struct ring_reader *reader, const struct event *event,
			  const struct label *label, uint64_t ts_ns)
{
	if (!isfinite(event->counter.value))
		return false;
	counter_head(&state->json, label->text, label->text_len, state->pid,
		     meta_json_tid(state, reader, LANE_MAIN), ts_ns);
	json_raw(&state->json, "\"value\":");
	json_double(&state->json, event->counter.value);
	json_raw(&state->json, "}}");
	return true;
}

void event_json_live(struct writer_state *state, const char *name,
		     uint64_t ts_ns, int64_t live)
{
	counter_head(&state->json, name, strlen(name), state->pid, state->pid,
		     ts_ns);
	json_raw(&state->json, "\"live_bytes\":");
	json_i64(&state->json, live);
	json_raw(&state->json, "}}");
}

void event_json_instant(struct json *json, const char *name)
{
	json_raw(
		json,
		",\n{" SCHEMA_PAIR(SCHEMA_PHASE, SCHEMA_PHASE_INSTANT) "," SCHEMA_PAIR(
			SCHEMA_CATEGORY,
			SCHEMA_CPU_INSTANT) "," SCHEMA_PAIR(SCHEMA_SCOPE,
							    SCHEMA_SCOPE_THREAD) "," SCHEMA_KEY(SCHEMA_NAME) "\"");
	json_text(json, name, strlen(name));
}

static void instant_head(struct writer_state *state, struct ring_reader *reader,
			 const struct event *event, const char *name,
			 uint64_t ts_ns)
{
	json_line(&state->json, (uintptr_t)reader, event->kind);
	event_json_instant(&state->json, name);
	place_on(state, reader, LANE_MAIN, ts_ns);
}

static bool write_memory(struct writer_state *state, struct ring_reader *reader,
			 const struct event *event, uint64_t ts_ns)
{
	struct json *json = &state->json;
	const bool has_total = block_has_total(state, event);
	const unsigned int keys =
		(has_total ? 1u : 0u) |
		(event_spare(event, blocks_are_timed(state)) ? 2u : 0u);

	json_line(json, (uintptr_t)reader + keys,
		  event->kind + keys * EVENT_KIND_COUNT);
	json_raw(json, ",\n{" SCHEMA_PAIR(SCHEMA_PHASE, SCHEMA_PHASE_INSTANT)
			       THEN(SCHEMA_NAME) "\"" SCHEMA_MEMORY);
	place_on(state, reader, LANE_MAIN, ts_ns);
	block_json(state, event, has_total);
	return true;
}

static void write_loss(struct writer_state *state, struct ring_reader *reader,
		       const struct event *event, struct event_span span)
{
	struct json *json = &state->json;

	meta_json_lane(state, reader, LANE_LOSSES);
	json_raw(json, SLICE_LIKE(SCHEMA_OVERHEAD, SCHEMA_OURS_COLOR) "lost ");
	json_u64(json, event->loss.count);
	json_raw(json, " events");
	slice_place(state, reader, LANE_LOSSES, span);
	json_raw(json, "\"lost\":");
	json_u64(json, event->loss.count);
	json_raw(json, "}}");
}

static void write_call(struct writer_state *state, struct ring_reader *reader,
		       const struct event *event, const struct label *label,
		       struct event_span span)
{
	struct json *json = &state->json;

	line_of(json, reader, label, event->kind);
	json_raw(json, SLICE("cuda_runtime"));
	put_name(json, label);
	slice_place(state, reader, LANE_MAIN, span);
	json_raw(json, "\"result\":");
	json_u64(json, event->call.result);
	if (event->call.bytes)
		json_pair_u64(json, "bytes", event->call.bytes);
	if (event->stack)
		stack_json(state, event->stack);
	close_slice(json, span);
}

static void write_wait(struct writer_state *state, struct ring_reader *reader,
		       const struct event *event, const struct label *label,
		       struct event_span span)
{
	struct json *json = &state->json;

	line_of(json, reader, label, event->kind);
	wait_json_begin(json, event);
	put_name(json, label);
	slice_place(state, reader, LANE_MAIN, span);
	ids(state);
	wait_json(json, event);
	if (event->kind == EVENT_HOST_WAIT && event->stack)
		stack_json(state, event->stack);
	close_slice(json, span);
}

static void write_blas(struct writer_state *state, struct ring_reader *reader,
		       const struct event *event, const struct label *label,
		       struct event_span span)
{
	struct json *json = &state->json;

	line_of(json, reader, label, event->kind);
	json_raw(json, SLICE(SCHEMA_CPU_OP));
	put_name(json, label);
	slice_place(state, reader, LANE_MAIN, span);
	ids(state);
	blas_json(state, event);
	if (event->stack)
		stack_json(state, event->stack);
	close_slice(json, span);
}

static bool write_kind(struct writer_state *state, struct ring_reader *reader,
		       const struct event *event, struct label *label,
		       const struct event_span *span)
{
	switch (event->kind) {
	case EVENT_HEAP_ALLOC:
	case EVENT_HEAP_FREE:
		return write_memory(state, reader, event, span->start_ns);
	case EVENT_OMP_REGION:
	case EVENT_OMP_IMPLICIT:
	case EVENT_OMP_EXPLICIT:
	case EVENT_OMP_TASKS:
	case EVENT_OMP_CREATE:
	case EVENT_OMP_WAIT:
	case EVENT_OMP_WAITS:
	case EVENT_OMP_ACQUIRED:
		write_omp(state, reader, event, label, *span);
		return true;
	case EVENT_SCOPE:
		if (event_is_operator(event)) {
			write_operator(state, reader, event, label, *span);
			return true;
		}
		write_annotation(state, reader, event, LANE_MAIN, label, *span);
		return true;
	case EVENT_RANGE:
		write_range(state, reader, event, label, *span);
		return true;
	case EVENT_MARK:
		write_mark(state, reader, event, label, span->start_ns);
		return true;
	case EVENT_COUNTER:
		return write_counter(state, reader, event, label,
				     span->start_ns);
	case EVENT_STEP:
		write_step(state, reader, event, label, *span);
		return true;
	case EVENT_LOSS: write_loss(state, reader, event, *span); return true;
	case EVENT_CALL:
		write_call(state, reader, event, label, *span);
		return true;
	case EVENT_MAP:
		instant_head(state, reader, event, SCHEMA_MAPPED,
			     span->start_ns);
		map_json(state, event);
		return true;
	case EVENT_ALLOCATOR:
		instant_head(state, reader, event, SCHEMA_MEMORY,
			     span->start_ns);
		allocator_json(state, event);
		return true;
	case EVENT_FILE_IO:
	case EVENT_HOST_WAIT:
	case EVENT_PYTHON:
		write_wait(state, reader, event, label, *span);
		return true;
	case EVENT_BLAS:
		write_blas(state, reader, event, label, *span);
		return true;
	default: return false;
	}
}

bool event_json_write(struct writer_state *state, struct ring_reader *reader,
		      const struct event *event, struct label *label,
		      const struct event_span *span)
{
	struct json *json = &state->json;
	const size_t begin = json_mark(json);
	size_t mark;
	bool is_written;

	meta_json_see(reader, event);
	/* A step on a lane of its own names what it needs. */
	if (event->kind != EVENT_STEP || event_json_step_nests(event))
		meta_json_lane(state, reader, LANE_MAIN);
	mark = json_mark(json);
	is_written = write_kind(state, reader, event, label, span);
	state->reserved_id = 0;
	if (json->failed) {
		json_back(json, begin);
		reader->named_in_file = 0;
		return false;
	}
	if (!is_written)
		json_back(json, mark);
	return is_written;
}

void event_json_pass(struct writer_state *state, uint64_t start_ns,
		     uint64_t end_ns)
{
	struct json *json = &state->json;
	size_t mark = json_mark(json);

	const uint64_t lane = meta_json_writer(state);

	json_raw(json, SLICE_LIKE(SCHEMA_OVERHEAD,
				  SCHEMA_OURS_COLOR) "traceprof writer");
	place(json, state->pid, lane, start_ns);
	json_raw(json, THEN(SCHEMA_DURATION));
	json_micros(json, (int64_t)(end_ns - start_ns));
	json_char(json, '}');
	if (json->failed) {
		json_back(json, mark);
		state->writer_is_named = false;
	}
}
