/* SPDX-License-Identifier: MIT */
/* gpu_json.c - texts of single GPU events; see gpu_json.h. */
#include "writer/gpu/gpu_json.h"

#include "writer/state/gpu_label.h"
#include "writer/gpu/gpu_error.h"
#include "writer/gpu/gpu_occupancy.h"
#include "writer/gpu/gpu_side.h"
#include "collector/session/names.h"
#include "writer/events/meta_json.h"
#include "writer/events/stack_json.h"
#include "writer/text/schema.h"
#include <string.h>

#define THEN(key) "," SCHEMA_KEY(key)
#define SLICE                                                                  \
	",\n{" SCHEMA_PAIR(SCHEMA_PHASE,                                       \
			   SCHEMA_PHASE_SLICE) "," SCHEMA_KEY(SCHEMA_CATEGORY)

/* CUPTI's "none" is the highest number. */
static void stream(struct json *json, uint32_t value)
{
	json_raw(json, THEN(SCHEMA_STREAM));
	json_i64(json, value == GPU_STREAM_NONE ? -1 : (int64_t)value);
}

void gpu_json_place(struct json *json, uint64_t pid, uint64_t tid,
		    uint64_t ts_ns)
{
	json_raw(json, THEN(SCHEMA_PID));
	json_u64(json, pid);
	json_raw(json, THEN(SCHEMA_TID));
	json_u64(json, tid);
	json_raw(json, THEN(SCHEMA_TIME));
	json_micros(json, (int64_t)ts_ns);
}

/* Up to the brace that opens the args. */
void gpu_json_head(struct json *json, unsigned int kind, const char *category,
		   const char *text, size_t len, uint64_t pid, uint64_t tid,
		   struct lane_span span)
{
	json_line(json, (uintptr_t)text * 3 + tid, kind);
	json_raw(json, SLICE);
	json_string(json, category, strlen(category));
	json_raw(json, THEN(SCHEMA_NAME) "\"");
	json_bytes(json, text, len);
	json_field(json);
	json_char(json, '"');
	gpu_json_place(json, pid, tid, span.start_ns);
	/* A flow's arrow begins or ends there. */
	json_recurs(json);
	json_raw(json, THEN(SCHEMA_DURATION));
	json_micros(json, (int64_t)(span.end_ns - span.start_ns));
	json_raw(json, THEN(SCHEMA_ARGS) "{");
}

void gpu_json_device(struct writer_state *state, uint32_t device)
{
	struct gpu *gpu = state->gpu;
	const uint64_t index = state->file.file_index;

	if (gpu->named_in_file != index) {
		gpu->named_in_file = index;
		gpu->devices_named = 0;
	}
	if (device < GPU_DEVICES_MAX && !(gpu->devices_named >> device & 1)) {
		gpu->devices_named |= UINT32_C(1) << device;
		meta_json_gpu(state, device);
	}
}

void gpu_json_row(struct writer_state *state, struct gpu_row *row,
		  uint32_t device, const char *name, uint64_t sort_index)
{
	const uint64_t index = state->file.file_index;

	gpu_json_device(state, device);
	if (row->named_in_file == index)
		return;
	row->named_in_file = index;
	meta_json_row(state, row->pid, row->tid, sort_index, name);
}

void gpu_json_call(struct writer_state *state, const struct gpu_slice *slice,
		   uint64_t tid, uint64_t external_id, bool is_cut)
{
	const struct event *event = slice->event;
	struct json *json = &state->json;
	char error[GPU_ERROR_BYTES];

	gpu_json_head(json, slice->event->kind, slice->label->category,
		      slice->label->text, slice->label->text_len, state->pid,
		      tid, slice->span);
	if (external_id) {
		json_raw(json, SCHEMA_KEY(SCHEMA_EXTERNAL_ID));
		json_u64(json, external_id);
		json_char(json, ',');
	}
	json_raw(json, "\"cbid\":");
	json_u64(json, event->api.cbid);
	json_pair_u64(json, SCHEMA_CORRELATION, event->api.correlation);
	if (event->api.result) {
		json_pair_u64(json, "result", event->api.result);
		gpu_error_name(event->api.is_driver, event->api.result, error,
			       sizeof(error));
		json_pair_text(json, "error", error, strlen(error));
	}
	if (is_cut)
		json_raw(json, "," SCHEMA_PAIR(SCHEMA_FINISHED, "false"));
	if (event->caller)
		stack_json(state, event->caller);
	json_raw(json, "}}");
}

static void triple(struct json *json, const char *key, const uint32_t *sizes)
{
	json_char(json, ',');
	json_string(json, key, strlen(key));
	json_raw(json, ":[");
	json_u64(json, sizes[0]);
	json_char(json, ',');
	json_u64(json, sizes[1]);
	json_char(json, ',');
	json_u64(json, sizes[2]);
	json_char(json, ']');
}

static void where(struct json *json, const struct event *event)
{
	json_pair_u64(json, SCHEMA_DEVICE, event->gpu.device);
	json_pair_u64(json, "context", event->gpu.context);
	stream(json, event->gpu.stream);
	json_pair_u64(json, SCHEMA_CORRELATION, event->gpu.correlation);
}

static void limits(struct json *json, const struct gpu_occupancy *made)
{
	json_raw(json, ",\"occupancy\":{\"activeBlocksPerMultiprocessor\":");
	json_u64(json, made->active);
	json_pair_u64(json, "blockLimitRegs", made->by_registers);
	json_pair_u64(json, "blockLimitSharedMem", made->by_shared);
	json_pair_u64(json, "blockLimitWarps", made->by_warps);
	json_pair_u64(json, "blockLimitBlocks", made->by_blocks);
	json_pair_u64(json, "allocatedRegistersPerBlock",
		      made->registers_per_block);
	json_pair_u64(json, "allocatedSharedMemPerBlock",
		      made->shared_per_block);
	json_char(json, '}');
}

/* In nanoseconds of Unix time, as CUPTI has it, and how long that was before
 * the start; 0 where nobody asked for it. */
static void queue(struct writer_state *state, const struct gpu_kernel *kernel,
		  const struct gpu_slice *slice)
{
	const uint64_t base = (uint64_t)state->timeline.base_ns;
	struct json *json = &state->json;
	uint64_t queued_ns, submitted_ns;

	json_raw(json, "\"queued\":");
	if (!kernel->queued_ticks) {
		json_char(json, '0');
		return;
	}
	queued_ns = timeline_ns(&state->timeline, kernel->queued_ticks);
	json_u64(json, base + queued_ns);
	if (kernel->submitted_ticks) {
		submitted_ns =
			timeline_ns(&state->timeline, kernel->submitted_ticks);
		json_pair_u64(json, "submitted", base + submitted_ns);
	}
	if (slice->span.start_ns >= queued_ns)
		json_pair_u64(json, "queue latency ns",
			      slice->span.start_ns - queued_ns);
}

/* What not every kernel has. */
static void launch_args(struct json *json, const struct gpu_state *gpu_state,
			const struct event *event,
			const struct gpu_kernel *kernel)
{
	const uint32_t cluster[3] = {kernel->cluster[0], kernel->cluster[1],
				     kernel->cluster[2]};
	const struct gpu_stream *known = gpu_stream_find(
		gpu_state, event->gpu.context, event->gpu.stream);

	if (cluster[0])
		triple(json, "cluster", cluster);
	if (kernel->launch == 1 || kernel->launch == 2)
		json_raw(json, ",\"cooperative\":true");
	if (known) {
		json_raw(json, ",\"priority\":");
		json_i64(json, load_relaxed(&known->priority));
	}
}

static void kernel_args(struct writer_state *state,
			const struct gpu_slice *slice)
{
	const struct event *event = slice->event;
	const struct gpu_kernel *kernel =
		(const struct gpu_kernel *)(event + 1);
	const struct gpu_state *gpu_state = &state->session->head->gpu;
	struct gpu_occupancy made;
	struct json *json = &state->json;
	bool is_known = false;

	queue(state, kernel, slice);
	where(json, event);
	json_pair_u64(json, "registers per thread", kernel->registers);
	json_pair_u64(json, "shared memory",
		      (uint64_t)kernel->static_bytes + kernel->dynamic_bytes);
	if (event->gpu.device < GPU_DEVICES_MAX)
		is_known = gpu_occupancy_of(
			&gpu_state->device[event->gpu.device], kernel, &made);
	if (is_known) {
		json_pair_double(json, "blocks per SM", made.blocks_per_sm);
		json_pair_double(json, "warps per SM", made.warps_per_sm);
	}
	triple(json, "grid", kernel->grid);
	triple(json, "block", kernel->block);
	if (is_known) {
		json_pair_u64(json, "est. achieved occupancy %", made.percent);
		limits(json, &made);
	}
	json_pair_u64(json, "graph id", event->gpu.graph);
	json_pair_u64(json, "graph node id", event->gpu.graph_node);
	launch_args(json, gpu_state, event, kernel);
	if (slice->label->operators) {
		json_raw(json, THEN(SCHEMA_OPERATORS) "\"");
		json_bytes(json, slice->label->operators,
			   strlen(slice->label->operators));
		json_char(json, '"');
	}
	json_pair_u64(json, "channel", kernel->channel);
	json_pair_u64(json, "channel_type", kernel->channel_type);
}

static void bandwidth(struct json *json, const struct gpu_slice *slice)
{
	const uint64_t ns = slice->span.end_ns - slice->span.start_ns;
	const uint64_t bytes = slice->event->gpu.bytes;

	json_pair_u64(json, "bytes", bytes);
	if (ns)
		json_pair_double(json, "memory bandwidth (GB/s)",
				 (double)bytes / (double)ns);
}

static void copy_args(struct json *json, const struct gpu_slice *slice)
{
	const struct event *event = slice->event;
	const struct gpu_copy *copy = (const struct gpu_copy *)(event + 1);

	if (copy->is_peer) {
		json_raw(json, "\"fromDevice\":");
		json_u64(json, copy->source_device);
		json_pair_u64(json, "inDevice", event->gpu.device);
		json_pair_u64(json, "toDevice", copy->destination_device);
		json_pair_u64(json, "fromContext", copy->source_context);
		json_pair_u64(json, "inContext", event->gpu.context);
		json_pair_u64(json, "toContext", copy->destination_context);
		stream(json, event->gpu.stream);
		json_pair_u64(json, SCHEMA_CORRELATION, event->gpu.correlation);
	} else {
		json_raw(json, SCHEMA_KEY(SCHEMA_DEVICE));
		json_u64(json, event->gpu.device);
		json_pair_u64(json, "context", event->gpu.context);
		stream(json, event->gpu.stream);
		json_pair_u64(json, SCHEMA_CORRELATION, event->gpu.correlation);
	}
	bandwidth(json, slice);
	json_pair_u64(json, "graph id", event->gpu.graph);
	json_pair_u64(json, "graph node id", copy->graph_node);
}

static void fill_args(struct json *json, const struct gpu_slice *slice)
{
	const struct event *event = slice->event;

	json_raw(json, SCHEMA_KEY(SCHEMA_DEVICE));
	json_u64(json, event->gpu.device);
	json_pair_u64(json, "context", event->gpu.context);
	stream(json, event->gpu.stream);
	json_pair_u64(json, SCHEMA_CORRELATION, event->gpu.correlation);
	if (event->kind == EVENT_GPU_FILL)
		bandwidth(json, slice);
	json_pair_u64(json, "graph id", event->gpu.graph);
}

static void sync_args(struct writer_state *state, const struct event *event)
{
	const char *kind = gpu_label_sync(event->extra);
	const struct gpu_mark *mark = NULL;
	struct json *json = &state->json;

	json_raw(json, "\"cuda_sync_kind\":");
	json_string(json, kind, strlen(kind));
	if (gpu_sync_has_event(event->extra))
		mark = gpu_marks_find(&state->gpu->marks, event);
	state->gpu->marks.missed += gpu_sync_has_event(event->extra) && !mark;
	if (mark) {
		json_pair_u64(json, "wait_on_stream", mark->stream);
		json_pair_u64(json, "wait_on_cuda_event_record_corr_id",
			      mark->correlation);
	}
	if (gpu_sync_has_event(event->extra))
		json_pair_u64(json, "wait_on_cuda_event_id", event->gpu.event);
	stream(json, event->gpu.stream);
	json_pair_u64(json, SCHEMA_CORRELATION, event->gpu.correlation);
	json_pair_u64(json, SCHEMA_DEVICE, event->gpu.device);
	json_pair_u64(json, "context", event->gpu.context);
}

/* Without the stream, which would make it work in the eyes of readers. */
static void mark_args(struct writer_state *state, const struct gpu_slice *slice)
{
	const struct event *event = slice->event;
	struct json *json = &state->json;
	size_t len;
	const char *name = names_text(state->session, event->name, &len);

	json_raw(json, "\"event_id\":");
	json_u64(json, event->gpu.event);
	json_pair_u64(json, SCHEMA_CORRELATION, event->gpu.correlation);
	json_pair_u64(json, SCHEMA_DEVICE, event->gpu.device);
	json_pair_u64(json, "context", event->gpu.context);
	if (event->name)
		json_pair_text(json, "event_name", name, len);
	if (slice->is_of_call)
		json_raw(json, ",\"time\":\"of the call\"");
}

void gpu_json_work(struct writer_state *state, const struct gpu_slice *slice)
{
	struct json *json = &state->json;

	gpu_json_head(json, slice->event->kind, slice->label->category,
		      slice->label->text, slice->label->text_len,
		      slice->row->pid, slice->row->tid, slice->span);
	if (slice->launch && slice->launch->external_id) {
		json_raw(json, SCHEMA_KEY(SCHEMA_EXTERNAL_ID));
		json_u64(json, slice->launch->external_id);
		json_char(json, ',');
	}
	switch (slice->event->kind) {
	case EVENT_GPU_KERNEL: kernel_args(state, slice); break;
	case EVENT_GPU_COPY: copy_args(json, slice); break;
	case EVENT_GPU_SYNC: sync_args(state, slice->event); break;
	case EVENT_GPU_EVENT: mark_args(state, slice); break;
	default: fill_args(json, slice); break;
	}
	if (slice->moved_ns)
		json_pair_u64(json, "moved_ns", slice->moved_ns);
	json_raw(json, "}}");
}

void gpu_json_overhead(struct writer_state *state, const struct gpu_row *row,
		       const char *text, size_t len, struct lane_span span)
{
	struct json *json = &state->json;

	gpu_json_head(json, EVENT_GPU_OVERHEAD, SCHEMA_OVERHEAD, text, len,
		      row->pid, row->tid, span);
	json_raw(json, "}}");
}

void gpu_json_memory(struct writer_state *state, const struct event *event,
		     uint64_t tid, uint64_t ts_ns, int64_t total,
		     uint64_t external_id)
{
	const bool is_pinned = gpu_is_pinned(event);
	struct json *json = &state->json;

	json_line(json, tid, event->kind);
	json_raw(json, ",\n{");
	json_raw(json, SCHEMA_PAIR(SCHEMA_PHASE, SCHEMA_PHASE_INSTANT) ",");
	json_raw(json, SCHEMA_PAIR(SCHEMA_CATEGORY, SCHEMA_CPU_INSTANT) ",");
	json_raw(json, SCHEMA_PAIR(SCHEMA_SCOPE, SCHEMA_SCOPE_THREAD) ",");
	/* As torch.profiler has it, what an allocator of the program's hands
	 * out bears the plain name. */
	if (is_pinned)
		json_raw(json, SCHEMA_PAIR(SCHEMA_NAME, SCHEMA_PINNED));
	else if (load_relaxed(&state->session->head->gpu.has_allocator))
		json_raw(json, SCHEMA_PAIR(SCHEMA_NAME, SCHEMA_DRIVER_MEMORY));
	else
		json_raw(json, SCHEMA_PAIR(SCHEMA_NAME, SCHEMA_MEMORY));
	gpu_json_place(json, state->pid, tid, ts_ns);
	json_raw(json, THEN(SCHEMA_ARGS) "{");
	if (external_id) {
		json_raw(json, SCHEMA_KEY(SCHEMA_EXTERNAL_ID));
		json_u64(json, external_id);
		json_char(json, ',');
	}
	json_raw(json, SCHEMA_KEY(SCHEMA_TOTAL_RESERVED));
	json_i64(json, total);
	json_raw(json, THEN(SCHEMA_TOTAL_ALLOCATED));
	json_i64(json, total);
	json_raw(json, THEN(SCHEMA_BYTES));
	if (event->memory.is_free)
		json_char(json, '-');
	json_u64(json, event->memory.size_bytes);
	json_raw(json, THEN(SCHEMA_DEVICE_ID));
	json_i64(json, is_pinned ? -1 : (int64_t)event->memory.device);
	json_raw(json, THEN(SCHEMA_DEVICE_TYPE));
	json_u64(json, is_pinned ? 0 : 1);
	json_pair_u64(json, SCHEMA_ADDRESS, event->memory.address);
	json_recurs(json);
	json_pair_u64(json, SCHEMA_EVENT_INDEX, state->next_index++);
	if (event->flags & EVENT_TWO_SLOTS)
		gpu_side_pool_args(json, (const struct gpu_pool *)(event + 1));
	if (event->caller)
		stack_json(state, event->caller);
	json_raw(json, "}}");
}

void gpu_json_missing(struct writer_state *state, uint64_t ts_ns,
		      uint64_t launched, uint64_t missing)
{
	struct json *json = &state->json;

	json_line(json, state->pid, EVENT_GPU_MEMORY);
	json_raw(json, ",\n{");
	json_raw(json, SCHEMA_PAIR(SCHEMA_PHASE, SCHEMA_PHASE_INSTANT) ",");
	json_raw(json, SCHEMA_PAIR(SCHEMA_CATEGORY, SCHEMA_CPU_INSTANT) ",");
	json_raw(json, SCHEMA_PAIR(SCHEMA_SCOPE, SCHEMA_SCOPE_THREAD) ",");
	json_raw(json, SCHEMA_PAIR(SCHEMA_NAME, SCHEMA_MISSING_KERNELS));
	gpu_json_place(json, state->pid, state->pid, ts_ns);
	json_raw(json, THEN(SCHEMA_ARGS) "{");
	json_raw(json, SCHEMA_KEY(SCHEMA_LAUNCHES));
	json_u64(json, launched);
	json_pair_u64(json, SCHEMA_MISSING, missing);
	json_raw(json, "}}");
}

void gpu_json_annotation(struct writer_state *state, const struct gpu_row *row,
			 const struct gpu_link *link, struct lane_span span)
{
	struct json *json = &state->json;

	gpu_json_head(json, EVENT_RANGE, SCHEMA_GPU_USER_ANNOTATION, link->text,
		      link->text_len, row->pid, row->tid, span);
	json_raw(json, SCHEMA_KEY(SCHEMA_EXTERNAL_ID));
	json_u64(json, link->id);
	json_raw(json, "}}");
}

static void arrow(struct json *json, bool is_start, uint64_t id, uint64_t pid,
		  uint64_t tid, uint64_t ts_ns)
{
	json_line(json, pid * 2 + is_start, EVENT_KIND_COUNT + is_start);
	json_raw(json, ",\n{" SCHEMA_KEY(SCHEMA_PHASE));
	if (is_start)
		json_raw(json, "\"" SCHEMA_PHASE_FLOW_START "\"");
	else
		json_raw(json, "\"" SCHEMA_PHASE_FLOW_END "\"");
	json_raw(json, THEN(SCHEMA_ID));
	json_u64(json, id);
	gpu_json_place(json, pid, tid, ts_ns);
	json_recurs(json);
	json_raw(json,
		 "," SCHEMA_PAIR(
			 SCHEMA_CATEGORY,
			 SCHEMA_FLOW_GPU) "," SCHEMA_PAIR(SCHEMA_NAME,
							  SCHEMA_FLOW_GPU));
	if (!is_start)
		json_raw(json,
			 "," SCHEMA_PAIR(SCHEMA_BIND, SCHEMA_BIND_ENCLOSING));
	json_char(json, '}');
}

void gpu_json_flow(struct writer_state *state, const struct gpu_launch *launch,
		   const struct gpu_row *row, uint64_t start_ns,
		   bool with_start)
{
	const int32_t pid = state->session->head->pid;
	const uint64_t tid =
		(int64_t)launch->tid == pid ? state->pid : launch->tid;

	if (with_start)
		arrow(&state->json, true, launch->correlation, state->pid, tid,
		      launch->start_ns);
	arrow(&state->json, false, launch->correlation, row->pid, row->tid,
	      start_ns);
}
