/* SPDX-License-Identifier: MIT */
/* gpu.c - places the events of GPUs; see gpu.h. */
#include "writer/gpu.h"

#include "collector/log.h"
#include "collector/proc.h"
#include "writer/draw.h"
#include "writer/gpu_json.h"
#include "writer/meta_json.h"
#include "writer/schema.h"
#include <errno.h>
#include <string.h>

/* Work waits so long for the call that launched it. */
#define PATIENCE_SECONDS 3u
/* A window waits so long for its last records. */
#define WINDOW_SECONDS	 4u
#define DEVICE_MEMORY	 3u
#define ARRAY_MEMORY	 4u
#define MANAGED_MEMORY	 5u

int gpu_start(struct scribe *scribe)
{
	struct gpu *gpu;

	if (scribe->gpu || load_relaxed(&scribe->session->head->gpu.source) !=
				   GPU_SOURCE_CUPTI)
		return 0;
	gpu = arena_alloc(&scribe->arena, sizeof(*gpu));
	if (!gpu || gpu_launches_start(&gpu->launches))
		return -ENOMEM;
	scribe->gpu = gpu;
	return 0;
}

void gpu_end(struct scribe *scribe)
{
	struct gpu *gpu = scribe->gpu;

	if (!gpu)
		return;
	gpu_launches_end(&gpu->launches);
	gpu_rows_free(&gpu->rows);
	gpu_links_free(&gpu->links);
	scribe->gpu = NULL;
}

void gpu_scan(struct scribe *scribe, const struct event *event)
{
	if (event->kind == EVENT_GPU_API && scribe->gpu)
		gpu_launches_add(&scribe->gpu->launches, event);
}

static uint64_t ticks_of(const struct scribe *scribe, unsigned int seconds)
{
	return seconds * clock_ticks_per_second(&scribe->session->head->clock);
}

/* Back to the end of the ring, for the next pass. */
static bool put_back(struct track *track, const struct event *event)
{
	struct ring *ring = &track->thread->ring;
	const unsigned int slots = event->flags & EVENT_TWO_SLOTS ? 2 : 1;
	struct event *slot = ring_reserve(ring, slots);

	if (!slot)
		return false;
	memcpy(slot, event, slots * sizeof(*event));
	ring_commit(ring, slots, 0);
	return true;
}

static uint64_t correlation_of(const struct event *event)
{
	switch (event->kind) {
	case EVENT_GPU_OVERHEAD: return 0;
	case EVENT_GPU_API: return event->api.correlation;
	case EVENT_GPU_MEMORY: return event->memory.correlation;
	default: return event->gpu.correlation;
	}
}

static uint64_t shown_tid(const struct scribe *scribe, uint32_t tid)
{
	return (int64_t)tid == scribe->session->head->pid ? scribe->pid : tid;
}

/* The record of a thread, for its open slices and its name. */
static struct track *track_of(const struct scribe *scribe, uint32_t tid)
{
	struct track *track = scribe->tracks;

	while (track && (track->thread->tid != tid || gpu_is_track(track) ||
			 load_relaxed(&track->thread->state) == THREAD_FREE))
		track = track->older;
	return track;
}

static const struct thread *live_thread(const struct scribe *scribe,
					uint32_t tid)
{
	const struct track *track = track_of(scribe, tid);

	return track ? track->thread : NULL;
}

/* The row of a thread of the program. */
static void name_thread(struct scribe *scribe, uint32_t tid)
{
	struct track *track = track_of(scribe, tid);
	char name[THREAD_NAME_BYTES] = "";
	struct gpu_row *row;
	char text[64];

	if (track) {
		meta_json_lane(scribe, track, LANE_MAIN);
		return;
	}
	row = gpu_rows_find(&scribe->gpu->rows, scribe->pid, tid);
	if (!row || row->named_in_file == scribe->file.file_index)
		return;
	if (scribe->is_live)
		proc_thread_name(tid, name, sizeof(name));
	log_format(text, sizeof(text), "thread %lu (%s)",
		   (unsigned long)shown_tid(scribe, tid), name);
	row->named_in_file = scribe->file.file_index;
	meta_json_row(scribe, scribe->pid, shown_tid(scribe, tid),
		      shown_tid(scribe, tid), text);
}

/* What work needs of its call, whether that is drawn already or not: calls are
 * never moved, so it is known where it will be. */
static void know_launch(struct scribe *scribe, struct gpu_launch *launch)
{
	struct gpu_link_thread *links =
		gpu_links_thread(&scribe->gpu->links, launch->tid);

	launch->start_ns = timeline_ns(&scribe->timeline, launch->start_ticks);
	launch->drawn_in =
		scribe_place(scribe, launch->start_ticks) == SCRIBE_WRITE
			? scribe->file.file_index
			: 0;
	if (links && !launch->external_id)
		launch->external_id = gpu_links_find(
			links, live_thread(scribe, launch->tid),
			launch->start_ticks, &scribe->next_index);
}

static bool draw_call(struct scribe *scribe, const struct gpu_slice *slice,
		      bool is_cut)
{
	const struct event *event = slice->event;
	struct gpu_launch *launch =
		gpu_launches_add(&scribe->gpu->launches, event);

	name_thread(scribe, event->extra);
	know_launch(scribe, launch);
	gpu_json_call(scribe, slice, shown_tid(scribe, event->extra),
		      launch->external_id, is_cut);
	return true;
}

static bool draw_overhead(struct scribe *scribe, struct gpu_slice *slice)
{
	const uint32_t tid = slice->event->extra;
	const uint64_t shown = shown_tid(
		scribe, tid ? tid : (uint32_t)scribe->session->head->pid);
	struct gpu_row *row =
		gpu_rows_place(&scribe->gpu->rows, scribe->pid,
			       shown + (uint64_t)LANE_COUNT * LANE_STEP,
			       LANE_STEP, slice->span);
	char name[64];

	if (!row)
		return false;
	slice->row = row;
	log_format(name, sizeof(name), "thread %lu CUPTI overhead",
		   (unsigned long)shown);
	gpu_json_row(scribe, row, UINT32_MAX, name, shown);
	gpu_json_overhead(scribe, slice);
	return true;
}

/* Only what lies on a device counts there. */
static bool draw_memory(struct scribe *scribe, const struct event *event,
			const struct gpu_launch *launch, uint64_t ts_ns)
{
	struct gpu *gpu = scribe->gpu;
	const uint32_t device = event->memory.device;
	const uint32_t tid =
		launch ? launch->tid : (uint32_t)scribe->session->head->pid;
	int64_t *total;

	if (device >= GPU_DEVICES_MAX || event->extra < DEVICE_MEMORY ||
	    event->extra > MANAGED_MEMORY || event->extra == ARRAY_MEMORY)
		return false;
	total = &gpu->allocated[device];
	*total += event->memory.is_free ? -(int64_t)event->memory.size_bytes
					: (int64_t)event->memory.size_bytes;
	/* Blocks from before the window are freed in it. */
	if (*total < 0)
		*total = 0;
	name_thread(scribe, tid);
	gpu_json_memory(scribe, event, shown_tid(scribe, tid), ts_ns, *total,
			launch ? launch->external_id : 0);
	return true;
}

static void row_name(const struct gpu_row *row, uint32_t stream, bool is_sync,
		     char *text, size_t bytes)
{
	const unsigned long side = row->tid / GPU_ROW_SIDE;
	char tail[32] = "";

	if (side)
		log_format(tail, sizeof(tail), "(overlap %lu)", side);
	if (stream == GPU_STREAM_NONE)
		log_format(text, bytes, "Device %lu (sync) %s",
			   (unsigned long)row->pid, tail);
	else
		log_format(text, bytes, "stream %u %s%s", stream,
			   is_sync ? "(sync)" : "", tail);
}

/* The arrow to the first work of a call, and to its first wait. */
static void draw_flow(struct scribe *scribe, struct gpu_launch *launch,
		      const struct gpu_slice *slice)
{
	const uint64_t index = scribe->file.file_index;
	const bool is_sync = slice->event->kind == EVENT_GPU_SYNC;
	uint64_t *linked = is_sync ? &launch->sync_in : &launch->work_in;
	const bool has_start =
		launch->work_in == index || launch->sync_in == index;

	if (launch->drawn_in != index || *linked == index)
		return;
	*linked = index;
	gpu_json_flow(scribe, launch, slice, !has_start);
}

/* Work never begins before its launch. */
static void move(struct scribe *scribe, struct gpu_slice *slice,
		 const struct gpu_launch *launch)
{
	struct gpu *gpu = scribe->gpu;
	uint64_t launch_ns;

	if (!launch)
		return;
	launch_ns =
		launch->drawn_in == scribe->file.file_index
			? launch->start_ns
			: timeline_ns(&scribe->timeline, launch->start_ticks);
	if (slice->span.start_ns >= launch_ns)
		return;
	slice->moved_ns = launch_ns - slice->span.start_ns;
	gpu->moved++;
	gpu->most_moved_ns = max_u64(gpu->most_moved_ns, slice->moved_ns);
	slice->span.start_ns = launch_ns;
	slice->span.end_ns = max_u64(launch_ns, slice->span.end_ns);
}

static bool draw_work(struct scribe *scribe, struct gpu_slice *slice,
		      struct gpu_launch *launch)
{
	const struct event *event = slice->event;
	const bool is_sync = event->kind == EVENT_GPU_SYNC;
	const uint32_t stream = event->gpu.stream;
	struct gpu *gpu = scribe->gpu;
	struct gpu_link_thread *links;
	struct gpu_row *row;
	char name[64];

	move(scribe, slice, launch);
	row = gpu_rows_place(&gpu->rows, event->gpu.device,
			     (stream == GPU_STREAM_NONE ? 0 : stream) +
				     (is_sync ? GPU_ROW_SYNC : 0),
			     GPU_ROW_SIDE, slice->span);
	if (!row)
		return false;
	slice->row = row;
	slice->launch = launch;
	row_name(row, stream, is_sync, name, sizeof(name));
	gpu_json_row(scribe, row, event->gpu.device, name,
		     stream == GPU_STREAM_NONE ? 0 : stream);
	gpu_json_work(scribe, slice);
	if (!launch) {
		gpu->unlinked++;
		return true;
	}
	draw_flow(scribe, launch, slice);
	links = is_sync ? NULL : gpu_links_known(&gpu->links, launch->tid);
	if (links)
		gpu_links_work(links, live_thread(scribe, launch->tid),
			       launch->start_ticks, event->gpu.device,
			       (uint32_t)row->tid, slice->span);
	return true;
}

static bool draw(struct scribe *scribe, struct track *track,
		 const struct event *event, struct gpu_launch *launch)
{
	struct label *label = totals_label(&scribe->totals, event);
	struct json *json = &scribe->json;
	const size_t begin = json_mark(json);
	struct gpu_slice slice = {.event = event, .label = label};
	struct event_span span = draw_clip(scribe, track, event);
	bool is_drawn;

	if (launch)
		know_launch(scribe, launch);
	slice.span = (struct lane_span){span.start_ns, span.end_ns};
	totals_add(label, span.end_ns - span.start_ns);
	if (!draw_has_room(scribe, event, span.end_ns))
		return false;
	switch (event->kind) {
	case EVENT_GPU_API:
		is_drawn = draw_call(scribe, &slice, span.is_cut);
		break;
	case EVENT_GPU_OVERHEAD:
		is_drawn = draw_overhead(scribe, &slice);
		break;
	case EVENT_GPU_MEMORY:
		is_drawn = draw_memory(scribe, event, launch, span.start_ns);
		break;
	default: is_drawn = draw_work(scribe, &slice, launch); break;
	}
	if (json->failed) {
		json_back(json, begin);
		return false;
	}
	if (window_file_is_due(json))
		window_file_flush(scribe);
	return is_drawn;
}

/* By its launch, else by itself: what was launched before the window and runs
 * in it is shown too. */
static enum scribe_place place_of(struct scribe *scribe,
				  const struct event *event,
				  const struct gpu_launch *launch)
{
	enum scribe_place place = SCRIBE_CUT;

	if (launch)
		place = scribe_place(scribe, launch->start_ticks);
	if (place == SCRIBE_CUT)
		place = scribe_place(scribe, event->start_ticks);
	return place;
}

/* Its launch may still come. */
static bool is_young(const struct scribe *scribe, const struct event *event)
{
	return scribe->is_live && !scribe->is_finishing &&
	       event->end_ticks + ticks_of(scribe, PATIENCE_SECONDS) >
		       clock_ticks();
}

bool gpu_take(struct scribe *scribe, struct track *track,
	      const struct event *event)
{
	struct scribe_counts *counts = &scribe->counts;
	const uint64_t correlation = correlation_of(event);
	struct gpu_launch *launch;
	enum scribe_place place;

	if (gpu_start(scribe) || !scribe->gpu) {
		counts->cut++;
		return true;
	}
	launch = gpu_launches_find(&scribe->gpu->launches, correlation);
	if (correlation && !launch && is_young(scribe, event) &&
	    put_back(track, event))
		return true;
	place = place_of(scribe, event, launch);
	if (place == SCRIBE_HOLD) {
		if (scribe->is_live && put_back(track, event))
			return true;
		track->is_held = true;
		return false;
	}
	counts->last_ticks = max_u64(counts->last_ticks, event->end_ticks);
	if (place == SCRIBE_WRITE && draw(scribe, track, event, launch)) {
		counts->written++;
		counts->file_events++;
		counts->written_by_kind[event->kind]++;
	} else {
		counts->cut++;
	}
	return true;
}

void gpu_before_slice(struct scribe *scribe, const struct track *track,
		      const struct event *event)
{
	struct gpu_link_thread *links;

	if (!scribe->gpu)
		return;
	links = gpu_links_known(&scribe->gpu->links, track->thread->tid);
	if (links)
		scribe->reserved_id =
			gpu_links_reserved(links, event->start_ticks);
}

static void project(const struct gpu_link *link, void *arg)
{
	struct scribe *scribe = arg;

	for (unsigned int i = 0; i < GPU_LINK_STREAMS; i++) {
		const struct gpu_projection *one = &link->stream[i];
		struct gpu_row *row;

		if (!one->span.end_ns)
			break;
		row = gpu_rows_find(&scribe->gpu->rows, one->device,
				    one->stream);
		if (row)
			gpu_json_annotation(scribe, row, link, one->span);
	}
	if (scribe->json.failed)
		json_clear(&scribe->json);
	else if (window_file_is_due(&scribe->json))
		window_file_flush(scribe);
}

void gpu_after_slice(struct scribe *scribe, const struct track *track,
		     const struct event *event, const struct label *label)
{
	const bool is_annotation = event->kind == EVENT_SCOPE;
	struct gpu_link_thread *links;
	struct gpu_link dropped;

	if (!scribe->gpu)
		return;
	links = gpu_links_thread(&scribe->gpu->links, track->thread->tid);
	if (links &&
	    gpu_links_close(links, event->start_ticks, event->end_ticks,
			    scribe->last_id, is_annotation ? label->text : NULL,
			    label->text_len, &dropped))
		project(&dropped, scribe);
}

void gpu_project(struct scribe *scribe, bool all)
{
	if (scribe->gpu && scribe->file.is_open)
		gpu_links_flush(&scribe->gpu->links,
				all ? UINT64_MAX
				    : load_relaxed(&scribe->session->head->gpu
							    .settled_ticks),
				project, scribe);
}

bool gpu_is_settled(struct scribe *scribe, uint64_t end_ticks)
{
	struct gpu_state *state = &scribe->session->head->gpu;

	return !scribe->is_live || !load_relaxed(&state->is_live) ||
	       load_relaxed(&state->settled_ticks) >= end_ticks ||
	       clock_ticks() > end_ticks + ticks_of(scribe, WINDOW_SECONDS);
}
