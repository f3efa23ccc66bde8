/* SPDX-License-Identifier: MIT */
/* gpu_draw.c - what becomes of one event of a GPU; see gpu_draw.h. */
#include "writer/gpu/gpu_draw.h"

#include "collector/session/names.h"
#include "collector/system/log.h"
#include "collector/system/proc.h"
#include "writer/events/clip.h"
#include "writer/events/event_json.h"
#include "writer/gpu/gpu_json.h"
#include "writer/gpu/gpu_side.h"
#include "writer/events/meta_json.h"
#include "writer/state/gpu_label.h"
#include <string.h>

static uint64_t shown_tid(const struct writer_state *state, uint32_t tid)
{
	return (int64_t)tid == state->session->head->pid ? state->pid : tid;
}

static bool is_of_program(const struct ring_reader *reader)
{
	return !gpu_is_reader(reader) &&
	       load_relaxed(&reader->thread->state) != THREAD_FREE;
}

/* Where that thread's reader is, or would be. */
static struct ring_reader **index_slot(struct gpu_index *index, uint32_t tid)
{
	struct ring_reader **slots = index->slots.base;
	size_t at = tid & (index->count - 1);

	while (slots[at] && slots[at]->thread->tid != tid)
		at = (at + 1) & (index->count - 1);
	return &slots[at];
}

/* False: no memory. */
static bool index_make(struct gpu_index *index,
		       const struct writer_state *state)
{
	size_t count = 0, room = 64;

	for (struct ring_reader *r = state->readers; r; r = r->older)
		count += is_of_program(r);
	while (room < 2 * count + 2)
		room *= 2;
	index->count = 0;
	if (array_reserve(&index->slots, room * sizeof(struct ring_reader *)))
		return false;
	memset(index->slots.base, 0, room * sizeof(struct ring_reader *));
	index->count = room;
	index->pass = state->passes;
	index->newest = state->readers;
	for (struct ring_reader *r = state->readers; r && count; r = r->older) {
		struct ring_reader **slot = index_slot(index, r->thread->tid);

		if (*slot || !is_of_program(r))
			continue;
		/* More may have come to life since they were counted. */
		count--;
		*slot = r;
	}
	return true;
}

struct ring_reader *gpu_reader_of(const struct writer_state *state,
				  uint32_t tid)
{
	struct gpu_index *index = state->gpu ? &state->gpu->index : NULL;
	struct ring_reader *reader;

	if (!index)
		return NULL;
	if ((index->pass != state->passes || !index->count ||
	     index->newest != state->readers) &&
	    !index_make(index, state))
		return NULL;
	reader = *index_slot(index, tid);
	return reader && is_of_program(reader) ? reader : NULL;
}

const struct thread *gpu_thread_of(const struct writer_state *state,
				   uint32_t tid)
{
	const struct ring_reader *reader = gpu_reader_of(state, tid);

	return reader ? reader->thread : NULL;
}

/* The row of a thread of the program. */
static void name_thread(struct writer_state *state, uint32_t tid)
{
	struct ring_reader *reader = gpu_reader_of(state, tid);
	char name[THREAD_NAME_BYTES] = "";
	struct gpu_row *row;
	char text[64];

	row = gpu_rows_find(&state->gpu->rows, state->pid, tid);
	/* A thread that ends now is looked up in vain later on. */
	if (row && row->named_in_file == state->file.file_index)
		return;
	if (row)
		row->named_in_file = state->file.file_index;
	if (reader)
		meta_json_lane(state, reader, LANE_MAIN);
	if (reader || !row)
		return;
	if (state->is_live)
		proc_thread_name(tid, name, sizeof(name));
	log_format(text, sizeof(text),
		   name[0] ? "thread %lu (%s)" : "thread %lu",
		   (unsigned long)shown_tid(state, tid), name);
	meta_json_row(state, state->pid, shown_tid(state, tid),
		      shown_tid(state, tid), text);
}

/* What work needs of its call, whether that is drawn already or not: calls are
 * never moved, so it is known where it will be. */
static void know_launch(struct writer_state *state, struct gpu_launch *launch)
{
	struct gpu_link_thread *links =
		gpu_links_thread(&state->gpu->links, launch->tid);

	launch->start_ns = timeline_ns(&state->timeline, launch->start_ticks);
	launch->drawn_in =
		writer_state_place(state, launch->start_ticks) == PLACE_WRITE
			? state->file.file_index
			: 0;
	if (links && !launch->external_id)
		launch->external_id =
			gpu_links_find(links, gpu_thread_of(state, launch->tid),
				       launch->start_ticks, &state->next_index);
}

static bool is_of_kernels(const struct event *event)
{
	return event->kind == EVENT_GPU_KERNEL ||
	       event->kind == EVENT_GPU_GRAPH;
}

/* How many kernels its launch has. */
static uint32_t kernels_in(struct writer_state *state,
			   const struct event *event)
{
	return event->kind == EVENT_GPU_KERNEL && event->gpu.graph
		       ? gpu_state_kernels(&state->session->head->gpu,
					   event->gpu.graph)
		       : 1;
}

/* Work of this call is in the file already, as that of no call. */
static void link_stray(struct writer_state *state, struct gpu_launch *launch)
{
	const uint64_t file = state->file.file_index;
	struct gpu *gpu = state->gpu;
	struct gpu_stray stray;

	if (launch->drawn_in != file ||
	    !gpu_strays_take(&gpu->strays, launch->correlation, file, &stray))
		return;
	gpu->unlinked -= stray.count;
	for (uint32_t i = 0; i < stray.kernels; i++)
		gpu_launches_arrive(&gpu->launches, launch, stray.wanted, file);
	/* Or more of a graph came behind, and has it. */
	if (launch->work_in == file)
		return;
	gpu_json_flow(state, launch, stray.row, stray.start_ns,
		      launch->sync_in != file);
	launch->work_in = file;
}

static bool draw_call(struct writer_state *state, const struct gpu_slice *slice,
		      bool is_cut)
{
	const struct event *event = slice->event;
	struct gpu_launch *launch =
		gpu_launches_add(&state->gpu->launches, event);

	name_thread(state, event->extra);
	know_launch(state, launch);
	if (!launch->external_id)
		gpu_links_miss(&state->gpu->links,
			       gpu_links_known(&state->gpu->links, launch->tid),
			       launch->start_ticks);
	state->session->head->gpu.with_stack += event->caller != 0;
	state->session->head->gpu.without_stack += event->api.lacks_caller;
	gpu_json_call(state, slice, shown_tid(state, event->extra),
		      launch->external_id, is_cut);
	link_stray(state, launch);
	return true;
}

bool gpu_draw_overhead(struct writer_state *state, uint32_t tid,
		       const char *text, size_t len, struct lane_span span)
{
	const uint64_t shown = shown_tid(
		state, tid ? tid : (uint32_t)state->session->head->pid);
	struct gpu_row *row = gpu_rows_place(
		&state->gpu->rows, state->pid,
		shown + (uint64_t)LANE_COUNT * LANE_STEP, LANE_STEP, &span);
	char name[64];

	if (!row)
		return false;
	log_format(name, sizeof(name), "thread %lu CUPTI overhead",
		   (unsigned long)shown);
	gpu_json_row(state, row, UINT32_MAX, name, shown);
	gpu_json_overhead(state, row, text, len, span);
	return true;
}

static bool draw_memory(struct writer_state *state, const struct event *event,
			const struct gpu_launch *launch, uint64_t ts_ns)
{
	struct gpu *gpu = state->gpu;
	const uint32_t device = event->memory.device;
	uint32_t tid =
		launch ? launch->tid : (uint32_t)state->session->head->pid;
	int64_t *total;

	if (gpu_is_pinned(event)) {
		tid = device ? device : tid;
		name_thread(state, tid);
		gpu_json_memory(state, event, shown_tid(state, tid), ts_ns,
				state->gpu->pinned.live_bytes,
				launch ? launch->external_id : 0);
		event_json_live(state, "pinned memory", ts_ns,
				state->gpu->pinned.live_bytes);
		return true;
	}
	if (device >= GPU_DEVICES_MAX)
		return false;
	total = &gpu->allocated[device];
	*total += event->memory.is_free ? -(int64_t)event->memory.size_bytes
					: (int64_t)event->memory.size_bytes;
	/* Blocks from before the window are freed in it. */
	if (*total < 0)
		*total = 0;
	name_thread(state, tid);
	gpu_json_memory(state, event, shown_tid(state, tid), ts_ns, *total,
			launch ? launch->external_id : 0);
	if (event->flags & EVENT_TWO_SLOTS)
		gpu_side_pool(state, device,
			      (const struct gpu_pool *)(event + 1), ts_ns);
	return true;
}

/* On the thread that it names, else on that of the call. */
static bool draw_side(struct writer_state *state, struct gpu_slice *slice)
{
	const struct event *event = slice->event;
	uint32_t tid = (uint32_t)state->session->head->pid;

	if (event->kind == EVENT_GPU_JIT || event->kind == EVENT_GPU_HOST) {
		if (event->extra)
			tid = event->extra;
		else if (slice->launch)
			tid = slice->launch->tid;
		if (event->kind == EVENT_GPU_HOST)
			name_thread(state, tid);
	}
	return gpu_side_draw(state, slice, shown_tid(state, tid));
}

/* Which of several lanes of a stream's number it is. */
static void lane_name(struct gpu_rows *rows, const struct gpu_row *row,
		      char *text, size_t bytes)
{
	bool is_second = false;
	const unsigned int side = gpu_rows_before(rows, row, &is_second);
	size_t at = 0;

	text[0] = '\0';
	if (is_second)
		at = log_format(text, bytes, "(context %u)", row->context);
	if (side)
		log_format(text + at, bytes - at, "%s(overlap %u)",
			   at ? " " : "", side);
}

static void row_name(const struct writer_state *state,
		     const struct gpu_row *row, const struct event *event,
		     const char *what, char *text, size_t bytes)
{
	const uint32_t stream = event->gpu.stream;
	const struct gpu_stream *known = gpu_stream_find(
		&state->session->head->gpu, event->gpu.context, stream);
	const uint32_t name = known ? load_relaxed(&known->name) : 0;
	char tail[48];
	size_t len;

	lane_name(&state->gpu->rows, row, tail, sizeof(tail));
	if (stream == GPU_STREAM_NONE)
		log_format(text, bytes, "Device %lu (sync) %s",
			   (unsigned long)row->pid, tail);
	else if (name)
		log_format(text, bytes, "stream %u %s %s%s", stream,
			   names_text(state->session, name, &len), what, tail);
	else
		log_format(text, bytes, "stream %u %s%s", stream, what, tail);
}

/* The arrow to the first work of a call, and to its first wait. */
static void draw_flow(struct writer_state *state, struct gpu_launch *launch,
		      const struct gpu_slice *slice)
{
	const uint64_t index = state->file.file_index;
	const bool is_sync = slice->event->kind == EVENT_GPU_SYNC;
	uint64_t *linked = is_sync ? &launch->sync_in : &launch->work_in;
	const bool has_start =
		launch->work_in == index || launch->sync_in == index;

	if (launch->drawn_in != index || *linked == index)
		return;
	*linked = index;
	gpu_json_flow(state, launch, slice->row, slice->span.start_ns,
		      !has_start);
}

/* Its call may come all the same. */
static void keep_stray(struct writer_state *state,
		       const struct gpu_slice *slice)
{
	const struct event *event = slice->event;
	struct gpu *gpu = state->gpu;
	struct gpu_stray *stray;

	gpu->unlinked++;
	if (event->kind == EVENT_GPU_SYNC || !event->gpu.correlation)
		return;
	stray = gpu_strays_add(&gpu->strays, event->gpu.correlation,
			       state->file.file_index, slice->row,
			       slice->span.start_ns);
	if (!stray || !is_of_kernels(event))
		return;
	stray->kernels++;
	stray->wanted = kernels_in(state, event);
}

/* Work never begins before its launch. */
static void move(struct writer_state *state, struct gpu_slice *slice,
		 const struct gpu_launch *launch)
{
	struct gpu *gpu = state->gpu;
	uint64_t launch_ns;

	if (!launch)
		return;
	launch_ns =
		launch->drawn_in == state->file.file_index
			? launch->start_ns
			: timeline_ns(&state->timeline, launch->start_ticks);
	if (slice->span.start_ns >= launch_ns)
		return;
	slice->moved_ns = launch_ns - slice->span.start_ns;
	gpu->moved++;
	gpu->most_moved_ns = max_u64(gpu->most_moved_ns, slice->moved_ns);
	/* The whole of it: its length was measured by one clock. */
	slice->span.start_ns += slice->moved_ns;
	slice->span.end_ns += slice->moved_ns;
}

static bool draw_work(struct writer_state *state, struct gpu_slice *slice,
		      struct gpu_launch *launch)
{
	const struct event *event = slice->event;
	const bool is_sync = event->kind == EVENT_GPU_SYNC;
	const uint32_t stream = event->gpu.stream;
	struct gpu *gpu = state->gpu;
	struct gpu_link_thread *links;
	struct gpu_row *row;
	char name[96];

	move(state, slice, launch);
	row = gpu_rows_place_in(&gpu->rows, event->gpu.device,
				(stream == GPU_STREAM_NONE ? 0 : stream) +
					(is_sync ? GPU_ROW_SYNC : 0),
				event->gpu.context, &slice->span);
	if (!row)
		return false;
	slice->row = row;
	slice->launch = launch;
	row_name(state, row, event, is_sync ? "(sync)" : "", name,
		 sizeof(name));
	gpu_json_row(state, row, event->gpu.device, name,
		     stream == GPU_STREAM_NONE ? 0 : stream);
	gpu_json_work(state, slice);
	if (!launch) {
		keep_stray(state, slice);
		return true;
	}
	draw_flow(state, launch, slice);
	links = is_sync ? NULL : gpu_links_known(&gpu->links, launch->tid);
	if (links)
		gpu_links_work(&gpu->links, links,
			       gpu_thread_of(state, launch->tid),
			       launch->start_ticks, event->gpu.device,
			       (uint32_t)row->tid, slice->span);
	return true;
}

/* The moment at which a stream came to a CUDA event; the call's, where the GPU
 * has not measured it.  Slices of 1 ns are equal or apart, so that one lane
 * takes them all. */
static bool draw_mark(struct writer_state *state, struct gpu_slice *slice,
		      struct gpu_launch *launch)
{
	const struct event *event = slice->event;
	const uint32_t stream = event->gpu.stream;
	struct gpu_row *row;
	char name[96];

	if (!launch) {
		state->gpu->unlinked++;
		return false;
	}
	/* CUPTI gave none, or one that can't be: before the call. */
	slice->is_of_call =
		!event->extra || event->start_ticks < launch->start_ticks;
	if (slice->is_of_call)
		slice->span.start_ns =
			timeline_ns(&state->timeline, launch->start_ticks);
	slice->span.end_ns = slice->span.start_ns + 1;
	row = gpu_rows_of(&state->gpu->rows, event->gpu.device,
			  (uint64_t)stream + GPU_ROW_MARK, event->gpu.context);
	if (!row)
		return false;
	slice->row = row;
	slice->launch = launch;
	row_name(state, row, event, "(events)", name, sizeof(name));
	gpu_json_row(state, row, event->gpu.device, name, stream);
	gpu_json_work(state, slice);
	draw_flow(state, launch, slice);
	return true;
}

/* Its work is in the file already and points to it: it follows even where the
 * detail has ended in between. */
static bool is_owed(struct writer_state *state, const struct event *event)
{
	const uint64_t index = state->file.file_index;
	const struct gpu_launch *launch;

	if (event->kind != EVENT_GPU_API)
		return false;
	launch = gpu_launches_find(&state->gpu->launches,
				   event->api.correlation);
	return launch && (launch->work_in == index || launch->sync_in == index);
}

/* A piece of a graph in which CUPTI saw no kernel. */
static bool is_of_no_kernel(struct writer_state *state,
			    const struct event *event)
{
	const uint32_t id = event->gpu.graph;
	struct gpu_graph *graph =
		&state->session->head->gpu.graph[id % GPU_GRAPHS_MAX];

	return (event->kind == EVENT_GPU_COPY ||
		event->kind == EVENT_GPU_FILL) &&
	       id && load_relaxed(&graph->id) == id &&
	       load_relaxed(&graph->work) && !load_relaxed(&graph->kernels);
}

/* Of each launch in the file it is known whether its work is there too. */
static void count_launch(struct writer_state *state, const struct event *event,
			 struct gpu_launch *launch)
{
	struct gpu_launches *launches = &state->gpu->launches;
	const uint64_t file = state->file.file_index;

	if (launch->drawn_in != file)
		return;
	if (is_of_kernels(event))
		gpu_launches_arrive(launches, launch, kernels_in(state, event),
				    file);
	else if (event->kind == EVENT_GPU_API &&
		 (event->api.is_launch == GPU_LAUNCH_KERNEL ||
		  event->api.is_launch == GPU_LAUNCH_GRAPH))
		gpu_launches_await(launches, launch, file);
	else if (is_of_no_kernel(state, event))
		gpu_launches_excuse(launches, launch, file);
}

bool gpu_draw(struct writer_state *state, const struct event *event,
	      struct gpu_launch *launch)
{
	struct label *label = totals_label(&state->totals, event);
	struct json *json = &state->json;
	const size_t begin = json_mark(json);
	struct gpu_slice slice = {
		.event = event, .label = label, .launch = launch};
	struct event_span span;
	bool is_drawn;

	clip_event(state, NULL, event, &span);
	/* Most say nothing but the counters. */
	if (event->kind == EVENT_GPU_SAMPLE) {
		gpu_side_sample(state, event, span.end_ns);
		if (!gpu_label_throttling(event->sample.reasons))
			return !json->failed;
	}
	if (launch) {
		know_launch(state, launch);
		count_launch(state, event, launch);
	} else if (event->kind == EVENT_GPU_KERNEL && !event->gpu.graph) {
		gpu_launches_stray(&state->gpu->launches,
				   state->file.file_index);
	}
	slice.span = (struct lane_span){span.start_ns, span.end_ns};
	totals_add(label, span.end_ns - span.start_ns);
	if (!clip_has_room(state, event, span.end_ns) && !is_owed(state, event))
		return false;
	switch (event->kind) {
	case EVENT_GPU_API:
		is_drawn = draw_call(state, &slice, span.is_cut);
		break;
	case EVENT_GPU_OVERHEAD:
		is_drawn = gpu_draw_overhead(state, event->extra, label->text,
					     label->text_len, slice.span);
		break;
	case EVENT_GPU_MEMORY:
		is_drawn = draw_memory(state, event, launch, span.start_ns);
		break;
	case EVENT_GPU_EVENT:
		is_drawn = draw_mark(state, &slice, launch);
		break;
	default:
		is_drawn = gpu_is_side(event->kind)
				   ? draw_side(state, &slice)
				   : draw_work(state, &slice, launch);
		break;
	}
	if (json->failed) {
		json_back(json, begin);
		return false;
	}
	if (window_file_is_due(state))
		window_file_flush(state);
	return is_drawn;
}
