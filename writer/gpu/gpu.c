/* SPDX-License-Identifier: MIT */
/* gpu.c - places the events of GPUs; see gpu.h. */
#include "writer/gpu/gpu.h"

#include "writer/events/clip.h"

#include "writer/gpu/gpu_draw.h"
#include "writer/gpu/gpu_taken.h"
#include "writer/gpu/gpu_json.h"
#include <errno.h>
#include <string.h>

/* Work waits so long for the call that launched it. */
#define PATIENCE_SECONDS 3u
/* A window waits so much longer for a source that hangs. */
#define HANG_SECONDS	 4u
/* A call's record lies so close behind those of its work, as a rule. */
#define AHEAD_EVENTS	 4096u

int gpu_start(struct writer_state *state)
{
	struct gpu *gpu;

	if (state->gpu ||
	    load_relaxed(&state->session->head->gpu.source) != GPU_SOURCE_CUPTI)
		return 0;
	gpu = arena_alloc(&state->arena, sizeof(*gpu));
	if (!gpu || gpu_launches_start(&gpu->launches))
		return -ENOMEM;
	gpu->held_ticks = UINT64_MAX;
	state->gpu = gpu;
	return 0;
}

void gpu_end(struct writer_state *state)
{
	struct gpu *gpu = state->gpu;

	if (!gpu)
		return;
	array_free(&gpu->memory);
	array_free(&gpu->index.slots);
	array_free(&gpu->pinned.blocks);
	gpu_launches_end(&gpu->launches);
	gpu_rows_free(&gpu->rows);
	gpu_rows_free(&gpu->annotations);
	gpu_links_free(&gpu->links);
	gpu_marks_free(&gpu->marks);
	gpu_runs_free(&gpu->runs);
	gpu_strays_free(&gpu->strays);
	state->gpu = NULL;
}

/* What was put back comes by again. */
static void scan_mark(struct writer_state *state, const struct event *event)
{
	if (event->flags & EVENT_MOVED ||
	    (state->is_live && event->flags & EVENT_SCANNED))
		return;
	gpu_marks_add(&state->gpu->marks, event);
	if (state->is_live)
		((struct event *)event)->flags |= EVENT_SCANNED;
}

void gpu_scan(struct writer_state *state, const struct event *event)
{
	if (!state->gpu)
		return;
	if (event->kind == EVENT_GPU_API)
		gpu_launches_add(&state->gpu->launches, event);
	else if (event->kind == EVENT_GPU_EVENT)
		scan_mark(state, event);
	else
		gpu_runs_note(&state->gpu->runs, event);
}

void gpu_look(struct writer_state *state)
{
	const struct ring_reader *gpu = state->readers;

	while (gpu && !gpu_is_reader(gpu))
		gpu = gpu->older;
	/* Only the writer's thread puts anything there. */
	if (!state->gpu || !state->is_live || !gpu ||
	    drain_at(&gpu->drain) == ring_published(&gpu->thread->ring))
		return;
	for (struct gpu_link_thread *t = state->gpu->links.newest; t;
	     t = t->older)
		gpu_links_look(t, gpu_thread_of(state, t->tid));
}

static uint64_t seconds_to_ticks(const struct writer_state *state,
				 unsigned int seconds)
{
	return seconds * clock_ticks_per_second(&state->session->head->clock);
}

static unsigned int slots_of(const struct event *event)
{
	return event->flags & EVENT_TWO_SLOTS ? 2 : 1;
}

/* Back to the end of the ring, for the next pass; no thread of the program
 * shares that one. */
static bool put_back(struct ring_reader *reader, const struct event *event)
{
	struct ring *ring = &reader->thread->ring;
	const unsigned int slots = slots_of(event);
	struct event *slot =
		gpu_is_reader(reader) ? ring_reserve(ring, slots) : NULL;

	if (!slot)
		return false;
	memcpy(slot, event, slots * sizeof(*event));
	ring_commit(ring, slots, 0);
	/* Recovery begins at the last checkpoint and would meet both. */
	((struct event *)event)->flags |= EVENT_MOVED;
	return true;
}

/* The same of work: what it was launched in isn't complete. */
static bool hold(struct writer_state *state, struct ring_reader *reader,
		 const struct event *event, const struct gpu_launch *launch)
{
	struct gpu *gpu = state->gpu;

	if (!put_back(reader, event))
		return false;
	if (launch)
		gpu->held_ticks = min_u64(gpu->held_ticks, launch->start_ticks);
	return true;
}

static uint64_t correlation_of(const struct event *event)
{
	switch (event->kind) {
	case EVENT_GPU_OVERHEAD:
	case EVENT_GPU_UNIFIED:
	case EVENT_GPU_POOL:
	case EVENT_GPU_SAMPLE: return 0;
	case EVENT_GPU_JIT: return event->jit.correlation;
	case EVENT_GPU_API: return event->api.correlation;
	case EVENT_GPU_MEMORY: return event->memory.correlation;
	default: return event->gpu.correlation;
	}
}

/* By its launch, else by itself: what was launched before the window and runs
 * in it is shown too. */
static enum event_place place_of(struct writer_state *state,
				 const struct event *event,
				 const struct gpu_launch *launch)
{
	enum event_place place = PLACE_SKIP;

	if (launch)
		place = writer_state_place(state, launch->start_ticks);
	if (place == PLACE_SKIP)
		place = writer_state_place(state, event->start_ticks);
	return place;
}

/* A wait for an event whose recording hasn't been seen. */
static bool lacks_mark(const struct writer_state *state,
		       const struct event *event)
{
	return event->kind == EVENT_GPU_SYNC &&
	       gpu_sync_has_event(event->extra) &&
	       !gpu_marks_find(&state->gpu->marks, event);
}

/* What is put back comes by again before the window's file is finished. */
static bool may_wait(const struct writer_state *state)
{
	return state->is_live && !state->is_finishing &&
	       !state->gpu->is_closing;
}

/* A kernel of a device that CUPTI hasn't described: what a multiprocessor can
 * hold of it is not known yet.  The description is one record among others, so
 * it may come later; or never, so no device is waited for twice. */
static bool lacks_device(const struct writer_state *state,
			 const struct event *event)
{
	const struct gpu_state *known = &state->session->head->gpu;
	const uint32_t device = event->gpu.device;
	uint64_t *until;

	if (!may_wait(state) || event->kind != EVENT_GPU_KERNEL ||
	    device >= GPU_DEVICES_MAX || known->device[device].is_known)
		return false;
	until = &state->gpu->waits_until[device];
	if (!*until)
		*until = clock_ticks() +
			 seconds_to_ticks(state, PATIENCE_SECONDS);
	return clock_ticks() < *until;
}

/* What is open around a call of that thread was not noted in this pass: its
 * first call. */
static bool lacks_look(struct writer_state *state, uint32_t tid)
{
	const struct gpu_link_thread *thread;

	if (!may_wait(state))
		return false;
	thread = gpu_links_thread(&state->gpu->links, tid);
	return thread && !thread->is_looked;
}

/* Its launch may still come. */
static bool is_young(const struct writer_state *state,
		     const struct event *event)
{
	const uint64_t settled =
		load_relaxed(&state->session->head->gpu.settled_ticks);
	const uint64_t patience = seconds_to_ticks(state, PATIENCE_SECONDS);

	return may_wait(state) && event->end_ticks + patience > settled &&
	       event->end_ticks + patience +
			       session_gpu_wait_ticks(state->session) >
		       clock_ticks();
}

/* Its end: drawn, if it lies in the window that is written. */
static void draw(struct writer_state *state, const struct event *event,
		 enum event_place place, struct gpu_launch *launch)
{
	const bool is_inside = place == PLACE_WRITE;

	state->counts.last_ticks =
		max_u64(state->counts.last_ticks, event->end_ticks);
	clip_count(state, event, is_inside,
		   is_inside && gpu_draw(state, event, launch));
}

/* An allocation, and the pool that it came from. */
struct kept {
	struct event event;
	struct gpu_pool pool;
};

/* Running totals want allocations in order, so they are drawn when all that
 * came before them has arrived: as of the last pass, since what threads told
 * comes by one pass later. */
static bool keep_memory(struct writer_state *state, struct ring_reader *reader,
			const struct event *event)
{
	struct gpu *gpu = state->gpu;
	const uint64_t settled = gpu->settled_ticks;
	struct kept *kept;

	if (event->start_ticks >= settled && is_young(state, event) &&
	    put_back(reader, event))
		return true;
	if (array_reserve(&gpu->memory,
			  (gpu->memory_count + 1) * sizeof(*kept)))
		return false;
	kept = (struct kept *)gpu->memory.base + gpu->memory_count++;
	memcpy(kept, event, slots_of(event) * sizeof(*event));
	return true;
}

static bool is_later(const void *a, const void *b, const void *arg)
{
	(void)arg;
	return ((const struct kept *)a)->event.start_ticks >
	       ((const struct kept *)b)->event.start_ticks;
}

void gpu_drained(struct writer_state *state)
{
	struct gpu *gpu = state->gpu;
	struct kept *kept;

	if (!gpu)
		return;
	kept = gpu->memory.base;
	array_sort(gpu->memory.base, gpu->memory_count, sizeof(*kept), is_later,
		   NULL);
	for (size_t i = 0; i < gpu->memory_count; i++) {
		struct event *event = &kept[i].event;
		struct gpu_launch *launch = gpu_launches_find(
			&gpu->launches, event->memory.correlation);
		const bool is_news = !gpu_is_pinned(event) ||
				     gpu_pinned_follow(&gpu->pinned, event);

		draw(state, event,
		     is_news ? place_of(state, event, launch) : PLACE_SKIP,
		     launch);
	}
	gpu->memory_count = 0;
	gpu->ahead_events = 0;
	gpu->settled_ticks =
		load_relaxed(&state->session->head->gpu.settled_ticks);
	gpu_project(state, false);
	gpu->held_ticks = UINT64_MAX;
}

/* A session may be damaged: what is read from a second slot must have one. */
static bool is_whole(const struct event *event)
{
	return event->flags & EVENT_TWO_SLOTS ||
	       (event->kind != EVENT_GPU_KERNEL &&
		event->kind != EVENT_GPU_COPY && event->kind != EVENT_GPU_POOL);
}

/* Told by the thread that pinned memory: into the ring of the others, whose
 * order it shares.  False: there is none yet, or no room. */
static bool move_to_gpu(struct writer_state *state, struct ring_reader *reader,
			const struct event *event)
{
	struct ring_reader *gpu = state->readers;

	while (gpu && !gpu_is_reader(gpu))
		gpu = gpu->older;
	if (gpu && put_back(gpu, event))
		return true;
	reader->is_deferred = true;
	return false;
}

/* Work of a graph that has none of its own.  False: it waits until all before
 * its end has come, as of the last pass. */
static bool find_run(struct writer_state *state, struct ring_reader *reader,
		     const struct event *event, uint64_t *correlation)
{
	struct gpu *gpu = state->gpu;

	if (!gpu_runs_wants(event))
		return true;
	if (event->end_ticks >= gpu->settled_ticks && is_young(state, event) &&
	    hold(state, reader, event, NULL))
		return false;
	*correlation = gpu_runs_find(&gpu->runs, &gpu->launches, event);
	((struct event *)event)->gpu.correlation = *correlation;
	return true;
}

/* The scan was further ahead than calls are kept: in what a killed run left,
 * say.  Those next to come are added once more. */
static void look_ahead(struct writer_state *state, struct ring_reader *reader)
{
	struct gpu *gpu = state->gpu;
	const struct event *event;

	if (!gpu->ahead_events)
		gpu->ahead = reader->drain;
	while (gpu->ahead_events < AHEAD_EVENTS &&
	       (event = drain_peek(state->session, &reader->thread->ring,
				   &gpu->ahead, reader->limit, NULL,
				   &state->budget))) {
		if (event->kind == EVENT_GPU_API)
			gpu_launches_add(&gpu->launches, event);
		drain_skip(&gpu->ahead, event);
		gpu->ahead_events++;
	}
}

static struct gpu_launch *find_launch(struct writer_state *state,
				      struct ring_reader *reader,
				      const struct event *event,
				      uint64_t correlation)
{
	struct gpu_launches *launches = &state->gpu->launches;
	struct gpu_launch *launch = gpu_launches_find(launches, correlation);

	if (launch || !correlation)
		return launch;
	/* It counts, whether its place was another's meanwhile or not. */
	if (event->kind == EVENT_GPU_API)
		return gpu_launches_add(launches, event);
	if (is_young(state, event) || !gpu_is_reader(reader))
		return NULL;
	look_ahead(state, reader);
	return gpu_launches_find(launches, correlation);
}

bool gpu_take(struct writer_state *state, struct ring_reader *reader,
	      const struct event *event)
{
	uint64_t correlation = correlation_of(event);
	struct gpu_launch *launch;
	enum event_place place;

	if (state->gpu && state->gpu->ahead_events && gpu_is_reader(reader))
		state->gpu->ahead_events--;
	if (event->flags & EVENT_MOVED)
		return true;
	if (gpu_start(state) || !state->gpu || !is_whole(event)) {
		clip_count(state, event, true, false);
		return true;
	}
	if (!gpu_is_reader(reader) && may_wait(state))
		return move_to_gpu(state, reader, event);
	if (!find_run(state, reader, event, &correlation))
		return true;
	launch = find_launch(state, reader, event, correlation);
	if (((correlation && !launch) || lacks_mark(state, event)) &&
	    is_young(state, event) && hold(state, reader, event, launch))
		return true;
	if (lacks_device(state, event) && hold(state, reader, event, launch))
		return true;
	if (launch && lacks_look(state, launch->tid) &&
	    hold(state, reader, event, launch))
		return true;
	place = place_of(state, event, launch);
	if (place == PLACE_DEFER) {
		if (state->is_live && hold(state, reader, event, launch))
			return true;
		reader->is_deferred = true;
		return false;
	}
	if (event->kind == EVENT_GPU_MEMORY &&
	    keep_memory(state, reader, event))
		return true;
	draw(state, event, place, launch);
	return true;
}

void gpu_before_slice(struct writer_state *state,
		      const struct ring_reader *reader,
		      const struct event *event)
{
	struct gpu_link_thread *links;

	if (!state->gpu)
		return;
	links = gpu_links_known(&state->gpu->links, reader->thread->tid);
	if (links)
		state->reserved_id =
			gpu_links_reserved(links, event->start_ticks);
}

static void project(const struct gpu_link *link, void *arg)
{
	struct writer_state *state = arg;

	for (const struct gpu_projection *one = link->first; one;
	     one = one->next) {
		struct gpu_row *row =
			gpu_rows_nest(&state->gpu->annotations, one->device,
				      one->stream, GPU_ROW_NEST, one->span);

		if (!row)
			continue;
		if (row->tid != one->stream)
			gpu_json_row(state, row, one->device, "annotations",
				     one->stream);
		gpu_json_annotation(state, row, link, one->span);
	}
	if (state->json.failed)
		json_clear(&state->json);
	else if (window_file_is_due(state))
		window_file_flush(state);
}

/* The GPU is so far behind that there is no room for all that waits for it. */
static void shed(struct writer_state *state, struct gpu_link_thread *thread)
{
	struct gpu_links *links = &state->gpu->links;

	gpu_links_shed(links, thread, project, state);
	if (links->cut)
		session_note(state->session,
			     "the GPU's part of some ranges is not drawn: too "
			     "many of a thread waited for it at once");
}

void gpu_after_slice(struct writer_state *state,
		     const struct ring_reader *reader,
		     const struct event *event, const struct label *label)
{
	const bool is_annotation =
		event->kind == EVENT_SCOPE && !event_is_operator(event);
	const struct gpu_link slice = {
		.start_ticks = event->start_ticks,
		.end_ticks = event->end_ticks,
		.id = state->last_id,
		.text = is_annotation ? label->text : NULL,
		.text_len = (uint32_t)label->text_len,
	};
	struct gpu_link_thread *thread;
	struct gpu_links *links;

	if (!state->gpu)
		return;
	links = &state->gpu->links;
	thread = gpu_links_thread(links, reader->thread->tid);
	if (!thread)
		links->cut += is_annotation;
	else if (gpu_links_close(links, thread, &slice))
		shed(state, thread);
}

void gpu_project(struct writer_state *state, bool all)
{
	struct gpu *gpu = state->gpu;

	if (gpu && state->file.is_open)
		gpu_links_flush(
			&gpu->links,
			all ? UINT64_MAX
			    : min_u64(gpu->held_ticks,
				      load_relaxed(&state->session->head->gpu
							    .settled_ticks)),
			project, state);
}

bool gpu_is_settled(struct writer_state *state, uint64_t end_ticks)
{
	struct gpu_state *gpu_state = &state->session->head->gpu;

	return !state->is_live || !load_relaxed(&gpu_state->is_live) ||
	       load_relaxed(&gpu_state->settled_ticks) >= end_ticks ||
	       clock_ticks() > end_ticks +
				       session_gpu_wait_ticks(state->session) +
				       seconds_to_ticks(state, HANG_SECONDS);
}

/* The process died, or CUPTI never answered: of what it had not handed over
 * calls are missing too, so that no launch lacks its work. */
static void tell_unsettled(struct writer_state *state, uint64_t end_ticks)
{
	struct gpu_state *known = &state->session->head->gpu;
	const uint64_t since = max_u64(load_relaxed(&known->settled_ticks),
				       writer_state_window(state)->start_ticks);

	if (gpu_start(state) || !state->gpu)
		return;
	state->gpu->unsettled_ns = 0;
	if ((!load_relaxed(&known->is_live) && !load_relaxed(&known->is_cut)) ||
	    since >= end_ticks)
		return;
	state->gpu->unsettled_ns = timeline_ns(&state->timeline, end_ticks) -
				   timeline_ns(&state->timeline, since);
	session_note(state->session,
		     "records of the GPU may be missing: CUPTI had not handed "
		     "over all of the last %lu us, nor of what came after",
		     (unsigned long)(state->gpu->unsettled_ns / 1000));
}

void gpu_count_missing(struct writer_state *state, uint64_t end_ticks)
{
	const struct gpu_launches *launches;
	const struct gpu *gpu;

	tell_unsettled(state, end_ticks);
	gpu_taken_draw(state, end_ticks);
	gpu = state->gpu;
	if (!gpu || gpu->launches.file != state->file.file_index ||
	    !gpu->launches.missing)
		return;
	launches = &gpu->launches;
	add_relaxed(&state->session->head->gpu.missing_kernels,
		    launches->missing);
	gpu_json_missing(state, timeline_ns(&state->timeline, end_ticks),
			 launches->launched, launches->missing);
}

void gpu_close(struct writer_state *state, bool is_closing)
{
	if (state->gpu)
		state->gpu->is_closing = is_closing;
}
