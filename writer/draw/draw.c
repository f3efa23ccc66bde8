/* SPDX-License-Identifier: MIT */
/* draw.c - joining and writing of single events; see draw.h. */
#include "writer/draw/draw.h"

#include "collector/session/python_stack.h"
#include "writer/events/clip.h"
#include "writer/gpu/gpu.h"
#include "writer/draw/flame.h"
#include "writer/draw/heap_counter.h"
#include "writer/draw/heap_sites.h"
#include "writer/draw/last_step.h"
#include "writer/draw/task_sums.h"
#include <string.h>

static bool is_slice(unsigned int kind)
{
	return event_is_on_lane(kind) || kind == EVENT_RANGE ||
	       kind == EVENT_STEP || kind == EVENT_LOSS;
}

/* In the sums: a wait without the tasks in it, and no call twice. */
static void add_up(struct label *label, const struct event *event,
		   struct event_span span)
{
	if (event->kind == EVENT_CPU_SAMPLE)
		totals_add(label, event->cpu.took_ns);
	else if (event->kind != EVENT_OMP_TASKS &&
		 event->kind != EVENT_OMP_WAITS)
		totals_add(label, is_slice(event->kind)
					  ? span.end_ns - span.start_ns -
						    event_tasks_ns(event, span)
					  : 0);
}

/* What can enclose a call to a GPU: slices on the thread's own lane. */
static bool has_id(unsigned int kind)
{
	return kind >= EVENT_OMP_REGION && kind <= EVENT_SCOPE;
}

/* Its line, and what links it to the work that it put on a GPU. */
static bool write_line(struct writer_state *state, struct ring_reader *reader,
		       const struct event *event, struct label *label,
		       const struct event_span *span)
{
	gpu_before_slice(state, reader, event);
	if (!event_json_write(state, reader, event, label, span))
		return false;
	if (has_id(event->kind))
		gpu_after_slice(state, reader, event, label);
	return true;
}

static bool write(struct writer_state *state, struct ring_reader *reader,
		  const struct event *event, struct event_span *span)
{
	struct label *label;
	size_t before;

	clip_event(state, reader, event, span);
	if (event->kind == EVENT_TASK_COUNTS)
		return clip_has_room(state, event, span->end_ns) &&
		       task_sums_take(state, event, *span);
	label = totals_label(&state->totals, event);
	add_up(label, event, *span);
	if (!clip_has_room(state, event, span->end_ns))
		return false;
	if (event->kind == EVENT_CPU_SAMPLE)
		return flame_take(state, reader, event, span->start_ns);
	before = state->json.used;
	if (!write_line(state, reader, event, label, span))
		return false;
	if (clip_is_small_block(state, event))
		state->file.heap_bytes += state->json.used - before;
	if (window_file_is_due(state))
		window_file_flush(state);
	return true;
}

bool draw_late(struct writer_state *state, struct ring_reader *reader,
	       const struct event *event)
{
	struct event_span span;

	return writer_state_place(state, writer_state_begin(state, event)) ==
		       PLACE_WRITE &&
	       write(state, reader, event, &span);
}

/* The wait that the thread has pending, up to a tick. */
static void write_wait(struct writer_state *state, struct ring_reader *reader,
		       uint64_t end_ticks, bool is_cut)
{
	const struct pending_wait wait = reader->pending;
	const struct event event = {
		.kind = EVENT_OMP_WAIT,
		.flags = is_cut ? EVENT_UNFINISHED : 0,
		.start_ticks = wait.start_ticks,
		.end_ticks = max_u64(wait.start_ticks, end_ticks),
		.omp = {.region = wait.region,
			.code = wait.code,
			.sync = OMP_SYNC_REGION_END},
	};

	if (draw_late(state, reader, &event))
		state->counts.waits.drawn++;
	else
		state->counts.waits.outside++;
}

static void end_wait(struct writer_state *state, struct ring_reader *reader,
		     uint64_t region_end_ticks)
{
	write_wait(state, reader,
		   region_join_until(&reader->pending, region_end_ticks),
		   false);
	reader->pending = (struct pending_wait){0};
}

/* Something that the thread began in its wait, if it has one: the wait ends
 * there at the latest. */
static void cut_wait(struct pending_wait *wait, uint64_t start_ticks)
{
	if (wait->region && start_ticks >= wait->start_ticks &&
	    (!wait->until_ticks || start_ticks < wait->until_ticks))
		wait->until_ticks = start_ticks;
}

/* The thread went on: where does its wait end?  A slice that lies in the wait
 * is a task that ran meanwhile, and its outer slices, which began before it,
 * come after it; so until the region's end is passed, only note the place. */
static void meet_wait(struct writer_state *state, struct ring_reader *reader,
		      const struct event *event)
{
	struct pending_wait *wait = &reader->pending;
	const struct region_end *end =
		region_join_find(&state->regions, wait->region);

	if (end && event->start_ticks >= end->end_ticks) {
		end_wait(state, reader, end->end_ticks);
		return;
	}
	cut_wait(wait, event->start_ticks);
	if (event->kind != EVENT_OMP_IMPLICIT)
		return;
	/* Its place is needed for the next one. */
	if (end) {
		end_wait(state, reader, end->end_ticks);
	} else {
		state->counts.waits.lost++;
		*wait = (struct pending_wait){0};
	}
}

/* Teams run in turn on one thread here, and none waits for the others. */
static void begin_wait(struct writer_state *state, struct ring_reader *reader,
		       const struct event *event)
{
	if (event->kind != EVENT_OMP_IMPLICIT || !event->omp.thread ||
	    event->omp.schedule == OMP_SCHEDULE_TEAMS ||
	    event->flags & EVENT_UNFINISHED)
		return;
	state->counts.waits.begun++;
	reader->pending =
		(struct pending_wait){.region = event->omp.region,
				      .code = event->omp.code,
				      .start_ticks = event->end_ticks};
}

/* A region and its master's share are one slice, unless but one of them lies in
 * the window. */
static void take_share(struct writer_state *state, struct ring_reader *reader,
		       const struct event *share, bool with_region)
{
	if (!with_region) {
		draw_late(state, reader, share);
	} else if (writer_state_place(state,
				      writer_state_begin(state, share)) ==
		   PLACE_WRITE) {
		state->share = *share;
		state->counts.teams++;
		totals_add(totals_label(&state->totals, share),
			   timeline_ns(&state->timeline, share->end_ticks) -
				   timeline_ns(&state->timeline,
					       share->start_ticks));
	}
}

void draw_share(struct writer_state *state, struct ring_reader *reader,
		struct event *region, bool is_written)
{
	struct event share, wait;

	event_share(region, &share, &wait);
	if (reader->pending.region)
		meet_wait(state, reader, &share);
	take_share(state, reader, &share, is_written);
	draw_late(state, reader, &wait);
}

void draw_part(struct writer_state *state, struct ring_reader *reader,
	       const struct event *whole, uint64_t end_ticks)
{
	const struct window *window = writer_state_window(state);
	struct event part = *whole;
	struct event share, wait;

	if (!window || whole->kind == EVENT_NONE ||
	    whole->start_ticks >= window->start_ticks ||
	    whole->end_ticks <= window->start_ticks)
		return;
	if (event_has_share(whole)) {
		event_share(&part, &share, &wait);
		share.start_ticks =
			max_u64(share.start_ticks, window->start_ticks);
		share.end_ticks = min_u64(share.end_ticks, end_ticks);
		if (share.end_ticks > share.start_ticks)
			take_share(state, reader, &share, true);
	}
	part.flags |= EVENT_UNFINISHED;
	part.start_ticks = window->start_ticks;
	part.end_ticks = min_u64(whole->end_ticks, end_ticks);
	draw_late(state, reader, &part);
}

/* What the search for the step, which has the whole run for it, may cut the run
 * by at its end. */
static bool may_mark(const struct writer_state *state,
		     const struct event *event)
{
	return state->finder &&
	       (event->kind == EVENT_OMP_REGION || event->kind == EVENT_MARK ||
		event->kind == EVENT_RANGE ||
		(event->kind == EVENT_SCOPE && !event_is_operator(event)));
}

bool draw_event(struct writer_state *state, struct ring_reader *reader,
		const struct event *event)
{
	struct event_span span;
	struct event ended;
	bool is_written;

	if (heap_sites_are_kept(state) &&
	    (event->kind == EVENT_HEAP_ALLOC || event->kind == EVENT_HEAP_FREE))
		return heap_sites_take(state, reader, event);
	event = last_step_see(reader, event, &ended);
	if (reader->pending.region && event_is_on_lane(event->kind))
		meet_wait(state, reader, event);
	is_written = write(state, reader, event, &span);
	if (event->kind == EVENT_HEAP_ALLOC || event->kind == EVENT_HEAP_FREE)
		heap_counter_draw(state, span.start_ns);
	if (event->kind == EVENT_STEP || may_mark(state, event))
		heap_sites_step(state, event->end_ticks);
	begin_wait(state, reader, event);
	return is_written;
}

void draw_waits(struct writer_state *state)
{
	for (struct ring_reader *t = state->readers; t; t = t->older) {
		const struct region_end *end;

		if (!t->pending.region || t->is_stopped)
			continue;
		end = region_join_find(&state->regions, t->pending.region);
		/* Once the drain has come by the region's end, it has come by
		 * all that the team did in it. */
		if (end && end->is_drained)
			end_wait(state, t, end->end_ticks);
	}
}

void draw_settle(struct writer_state *state)
{
	draw_waits(state);
	heap_counter_settle(state);
	heap_sites_settle(state);
}

/* A consistent look at a slice that its thread may be closing. */
static bool look_at_open(struct thread *thread, uint32_t at,
			 struct open_slice *slice)
{
	/* ACQUIRE pairs with RELEASE in thread_open(): the slice. */
	if (load_acquire(&thread->depth) <= at)
		return false;
	*slice = thread->open[at];
	atomic_thread_fence(memory_order_acquire);
	/* As above.  All of it is compared: another slice that was opened in
	 * its place shows its words in any order on some processors, its start
	 * maybe before the rest. */
	return load_acquire(&thread->depth) > at &&
	       !memcmp(&thread->open[at], slice, sizeof(*slice));
}

static void write_open(struct writer_state *state, struct ring_reader *reader,
		       const struct open_slice *slice, uint64_t end_ticks,
		       unsigned int flags)
{
	const struct window *window = writer_state_window(state);
	struct event event = {
		.kind = slice->kind,
		.flags = (uint16_t)flags,
		.name = slice->name,
		.start_ticks = max_u64(slice->start_ticks, window->start_ticks),
		.end_ticks = end_ticks,
	};
	struct event_span span;

	if (!event_is_on_lane(slice->kind) || slice->start_ticks >= end_ticks)
		return;
	if (slice->kind == EVENT_SCOPE && slice->code == OPEN_OPERATOR)
		event.flags |= EVENT_OPERATOR;
	if (slice->kind != EVENT_SCOPE && slice->kind != EVENT_CALL &&
	    slice->kind != EVENT_BLAS) {
		event.name = 0;
		event.extra = slice->name;
		event.omp.region = slice->region;
		event.omp.code = slice->code;
		event.omp.sync = slice->sync;
	}
	write(state, reader, &event, &span);
}

/* What was looked at as open and has ended since. */
static void strike(struct open_slice *open, uint32_t count,
		   const struct event *event)
{
	for (uint32_t i = 0; i < count; i++) {
		if (open[i].start_ticks == event->start_ticks &&
		    open[i].kind == event->kind)
			open[i].kind = EVENT_NONE;
	}
}

static bool is_deferred(struct writer_state *state, const struct event *event,
			uint64_t end_ticks)
{
	return is_slice(event->kind) && event->start_ticks < end_ticks &&
	       writer_state_place(state, writer_state_begin(state, event)) ==
		       PLACE_WRITE;
}

static void write_deferred_one(struct writer_state *state,
			       struct ring_reader *reader,
			       struct open_slice *open, uint32_t count,
			       const struct event *event, uint64_t end_ticks)
{
	struct event_span span;

	if (!is_deferred(state, event, end_ticks))
		return;
	if (event_is_on_lane(event->kind))
		cut_wait(&reader->pending, event->start_ticks);
	write(state, reader, event, &span);
	strike(open, count, event);
}

/* Events of this window that lie after one of the next, or came just now. */
static void write_deferred(struct writer_state *state,
			   struct ring_reader *reader, struct open_slice *open,
			   uint32_t count, uint64_t end_ticks)
{
	struct ring *ring = &reader->thread->ring;
	const uint64_t limit = ring_published(ring);
	struct drain drain = reader->drain;
	const struct event *event;

	while ((event = drain_peek(state->session, ring, &drain, limit, NULL,
				   &state->budget))) {
		struct event one = *event, share, wait;

		drain_skip(&drain, event);
		if (event_has_share(&one)) {
			event_share(&one, &share, &wait);
			if (share.start_ticks < end_ticks)
				take_share(state, reader, &share,
					   is_deferred(state, &one, end_ticks));
			write_deferred_one(state, reader, open, count, &wait,
					   end_ticks);
		}
		write_deferred_one(state, reader, open, count, &one, end_ticks);
	}
}

/* The calls of Python that began before `until_ticks` wait for their turn:
 * those after it are drawn, innermost first.  Returns how many are left. */
static uint32_t draw_calls(struct writer_state *state,
			   struct ring_reader *reader, uint32_t left,
			   uint64_t until_ticks, uint64_t end_ticks)
{
	const struct window *window = writer_state_window(state);
	const struct python_stack *stack =
		python_stack_of(state->session, reader->thread);

	while (left && stack->call[left - 1].start_ticks >= until_ticks) {
		const struct python_call *call = &stack->call[--left];
		struct event event = python_call_event(
			call, left ? call - 1 : NULL, end_ticks);
		struct event_span span;

		/* ACQUIRE pairs with RELEASE in python_calls.c: it has not
		 * ended meanwhile. */
		if (load_acquire(&stack->depth) <= left ||
		    event.start_ticks >= end_ticks)
			continue;
		event.start_ticks =
			max_u64(event.start_ticks, window->start_ticks);
		event.flags = EVENT_UNFINISHED;
		write(state, reader, &event, &span);
	}
	return left;
}

/* The wait that the thread is in, unless a task or a call that it began since
 * is open. */
static void draw_pending(struct writer_state *state, struct ring_reader *reader,
			 const struct open_slice *open, uint32_t count,
			 const struct python_call *call, uint32_t calls,
			 uint64_t end_ticks)
{
	struct pending_wait *wait = &reader->pending;
	const struct region_end *end =
		region_join_find(&state->regions, wait->region);

	if (!wait->region)
		return;
	while (count--)
		cut_wait(wait, open[count].start_ticks);
	while (calls--)
		cut_wait(wait, call[calls].start_ticks);
	write_wait(state, reader,
		   region_join_until(wait, end ? end->end_ticks : end_ticks),
		   !end && !wait->until_ticks);
	*wait = (struct pending_wait){0};
}

static void draw_open_ring(struct writer_state *state,
			   struct ring_reader *reader, uint64_t end_ticks)
{
	struct open_slice open[OPEN_SLICES_MAX];
	struct python_stack *stack =
		python_stack_of(state->session, reader->thread);
	/* ACQUIRE pairs with RELEASE in python_calls.c: the calls. */
	uint32_t calls =
		stack ? min_u32(load_acquire(&stack->depth), PYTHON_DEPTH_MAX)
		      : 0;
	uint32_t count = 0;

	while (count < OPEN_SLICES_MAX &&
	       look_at_open(reader->thread, count, &open[count]))
		count++;
	write_deferred(state, reader, open, count, end_ticks);
	draw_pending(state, reader, open, count, stack ? stack->call : NULL,
		     calls, end_ticks);
	/* Innermost first, as they would have ended, but a share before the
	 * wait that began when it ended. */
	while (count--) {
		calls = draw_calls(state, reader, calls,
				   open[count].start_ticks, end_ticks);
		if (count && open_slice_ends_share(&open[count])) {
			write_open(state, reader, &open[count - 1],
				   min_u64(open[count].start_ticks, end_ticks),
				   0);
			open[count - 1].kind = EVENT_NONE;
		}
		write_open(state, reader, &open[count], end_ticks,
			   EVENT_UNFINISHED);
	}
	draw_calls(state, reader, calls, 0, end_ticks);
	if (stack)
		store_relaxed(&stack->drawn, stack->window);
}

/* A dump of the flight recorder shows the step that it fell into, and what is
 * left of a process the one in which it died. */
static void draw_running_step(struct writer_state *state, uint64_t end_ticks)
{
	struct window_state *windows = &state->session->head->windows;
	const struct window *window = writer_state_window(state);
	const int64_t steps = load_relaxed(&windows->steps);
	const uint32_t tid = load_relaxed(&windows->step_tid);
	const uint64_t began = windows->step_start_ticks; /* 0: none runs */
	const struct event event = {
		.kind = EVENT_STEP,
		.flags = EVENT_UNFINISHED,
		.extra = tid,
		.start_ticks = max_u64(began, window->start_ticks),
		.end_ticks = end_ticks,
		.step = {.number = steps - 1, .outer_at_end = UINT64_MAX},
	};
	struct ring_reader *reader = state->readers;
	struct event_span span;

	while (reader && reader->thread->tid != tid)
		reader = reader->older;
	/* The next one may have begun while we looked. */
	if ((window->reason || !state->is_live) && steps && began && reader &&
	    event.start_ticks < end_ticks &&
	    load_relaxed(&windows->steps) == steps &&
	    write(state, reader, &event, &span)) {
		state->file.steps_found++;
		state->file.died_in = state->is_live ? 0 : steps;
	}
}

void draw_open(struct writer_state *state)
{
	const uint64_t end_ticks = clip_window_end(state);

	for (struct ring_reader *t = state->readers; t; t = t->older)
		draw_open_ring(state, t, end_ticks);
	draw_running_step(state, end_ticks);
}

void draw_refused(struct writer_state *state)
{
	for (struct ring_reader *t = state->readers; t; t = t->older) {
		const struct ring *ring = &t->thread->ring;
		const struct event event = {
			.kind = EVENT_LOSS,
			.start_ticks = ring->refused_from_ticks,
			.end_ticks = ring->refused_to_ticks,
			.loss.count = ring->refused,
		};
		struct event_span span;

		if (event.loss.count &&
		    writer_state_place(state, event.start_ticks) == PLACE_WRITE)
			write(state, t, &event, &span);
	}
}
