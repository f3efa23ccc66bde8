/* SPDX-License-Identifier: MIT */
/*
 * cupti_source.c - from completed buffers to events, in the writer's passes.
 *
 * What was decoded lies in a ring of the session and survives a kill.  When the
 * ring has no more room the buffer is left where it is and goes on in the next
 * pass, after the writer has drained: nothing is lost but time.
 * Which launches are without work so far is known in cupti_launches.c.
 */
#ifdef HAVE_CUPTI

#include "preload/cuda/cupti_source.h"

#include "collector/system/log.h"
#include "collector/steps/steps.h"
#include "collector/session/names.h"
#include "preload/cuda/cupti_buffers.h"
#include "preload/cuda/cupti_clock.h"
#include "preload/cuda/cupti_record.h"
#include "preload/cuda/cupti_share.h"
#include "collector/system/cupti_versions.h"
#include "preload/stack/call_places.h"
#include "preload/stack/unwind.h"
#include <string.h>

#define EVENTS_PER_PASS	 40000u
#define SLOTS_PER_RECORD 4u
/* A call may have begun so long before its record was the first of a buffer. */
#define CALL_MS		 20u
/* A driver call waits for the end of the runtime call around it. */
#define PAIR_SECONDS	 1u
/* So often in a second CUPTI is asked while a step is searched for, and while a
 * window waits. */
#define SEARCH_ASKS	 5u
#define WINDOW_ASKS	 50u

/* The writer's thread alone. */
static struct {
	struct thread *thread;	    /* whose ring takes the events */
	struct cupti_buffer *queue; /* being decoded, oldest first */
	struct cupti_buffer *last;
	uint64_t asked_ticks; /* when CUPTI was, for one of these */
	uint64_t forced;      /* windows that had to be */
	/* At the end of the program: as of a flush, what was lent longest ago,
	 * and whether kernels are still to come. */
	_Atomic uint64_t polled_ticks;
	_Atomic uint64_t lent_ticks;
	_Atomic uint32_t is_under_way;
	/* The last buffer that had come when the list was looked at, as of that
	 * flush, and what was lent then.  NULL: none is being waited for. */
	const struct cupti_buffer *mark;
	uint64_t mark_flushed, mark_lent;
} source;

/* --- one call of the program, one event ----------------------------------- */

#define PAIR_THREADS 2048u
#define PAIR_WAYS    16u /* threads that share a place in turn */
#define PAIR_RECENT  8u

struct shown {
	uint64_t correlation;
	uint64_t start_ticks;
	bool is_driver;
};

/* The writer's thread alone. */
static struct pair {
	uint32_t tid;
	uint32_t at;			  /* next place in recent[] */
	struct shown recent[PAIR_RECENT]; /* calls that were shown */
	struct event last;		  /* the newest of them */
	uint64_t used;			  /* when, counted in calls */
	bool waits;
	struct event driver;
} pairs[PAIR_THREADS];
static uint64_t pairs_used;

/* Threads come and go: of those that share its places the one goes that called
 * longest ago.  NULL: calls of all of them wait. */
static struct pair *pair_of(uint32_t tid)
{
	struct pair *set = &pairs[tid * PAIR_WAYS % PAIR_THREADS];
	struct pair *oldest = NULL;

	for (uint32_t i = 0; i < PAIR_WAYS; i++) {
		if (set[i].tid == tid) {
			oldest = &set[i];
			break;
		}
		if (!set[i].waits && (!oldest || set[i].used < oldest->used))
			oldest = &set[i];
	}
	if (oldest && oldest->tid != tid)
		*oldest = (struct pair){.tid = tid};
	if (oldest)
		oldest->used = ++pairs_used;
	return oldest;
}

/* CUPTI counts anew where its kinds were off: the same number from before that
 * is another call. */
static bool was_shown(const struct pair *pair, const struct event *call,
		      bool as_driver)
{
	const uint64_t since = cupti_kinds_since();

	for (unsigned int i = 0; i < PAIR_RECENT; i++) {
		const struct shown *shown = &pair->recent[i];

		if (shown->correlation == call->api.correlation &&
		    shown->is_driver == as_driver &&
		    (shown->start_ticks < since) == (call->start_ticks < since))
			return true;
	}
	return false;
}

/* A thread makes one call at a time.  Where CUPTI's clock was set back the next
 * one seems to begin inside of it; but so does one that the call makes itself,
 * unless it reaches past it. */
static void keep_apart(const struct event *last, struct event *call)
{
	if (call->api.correlation <= last->api.correlation ||
	    call->start_ticks >= last->end_ticks)
		return;
	if (call->start_ticks < last->start_ticks ||
	    call->end_ticks > last->end_ticks)
		cupti_clock_seen_set();
	if (!cupti_clock_was_set())
		return;
	call->start_ticks = last->end_ticks;
	call->end_ticks = max_u64(call->end_ticks, last->end_ticks);
}

static struct event show(struct pair *pair, const struct event *call)
{
	struct event shown = *call;

	keep_apart(&pair->last, &shown);
	if (shown.api.correlation > pair->last.api.correlation)
		pair->last = shown;
	pair->recent[pair->at++ % PAIR_RECENT] = (struct shown){
		.correlation = call->api.correlation,
		.start_ticks = call->start_ticks,
		.is_driver = call->api.is_driver,
	};
	return shown;
}

static struct event show_waiting(struct pair *pair)
{
	pair->waits = false;
	return show(pair, &pair->driver);
}

unsigned int cupti_pairs_add(const struct event *event,
			     struct event out[CUPTI_PAIRS_OUT],
			     uint64_t *doubled)
{
	const uint64_t correlation = event->api.correlation;
	struct session *session = load_relaxed(&session_here);
	struct pair *pair = pair_of(event->extra);
	unsigned int count = 0;

	if (!pair || !correlation) {
		if (!pair && !session->head->gpu.unpaired++)
			session_note(session,
				     "more threads than are followed call CUDA "
				     "at once: calls of its driver may stand "
				     "in those of its runtime");
		out[0] = *event;
		return 1;
	}
	if (pair->waits && pair->driver.api.correlation != correlation)
		out[count++] = show_waiting(pair);
	if (was_shown(pair, event, true) ||
	    (event->api.is_driver && was_shown(pair, event, false))) {
		/* Its runtime call came first, in another buffer, or a call of
		 * the driver inside it had waited for long enough. */
		++*doubled;
	} else if (!event->api.is_driver) {
		*doubled += pair->waits;
		pair->waits = false;
		out[count++] = show(pair, event);
	} else if (!pair->waits ||
		   event->start_ticks <= pair->driver.start_ticks) {
		*doubled += pair->waits;
		pair->driver = *event;
		pair->waits = true;
	} else {
		++*doubled;
	}
	return count;
}

bool cupti_pairs_overdue(uint64_t ticks, struct event *out)
{
	for (unsigned int i = 0; i < PAIR_THREADS; i++) {
		if (pairs[i].waits && pairs[i].driver.end_ticks < ticks) {
			*out = show_waiting(&pairs[i]);
			return true;
		}
	}
	return false;
}

uint64_t cupti_pairs_oldest(void)
{
	uint64_t oldest = UINT64_MAX;

	for (unsigned int i = 0; i < PAIR_THREADS; i++) {
		if (pairs[i].waits)
			oldest = min_u64(oldest, pairs[i].driver.start_ticks);
	}
	return oldest;
}

void cupti_pairs_forget(void)
{
	memset(pairs, 0, sizeof(pairs));
}

/* A window is open, or its file waits. */
static bool window_needs_work(struct session *session)
{
	struct window_state *windows = &session->head->windows;
	const uint64_t opened = load_relaxed(&windows->opened);
	uint64_t end;

	if (!opened || window_is_open(windows))
		return opened;
	end = load_relaxed(
		&windows->window[(opened - 1) % WINDOWS_MAX].end_ticks);
	return load_relaxed(&session->head->gpu.settled_ticks) < end;
}

bool cupti_source_awaits(uint64_t ticks)
{
	/* ACQUIRE pairs with RELEASE in cupti_source_poll(): what is awaited
	 * as of that flush. */
	if (load_acquire(&source.polled_ticks) >= ticks &&
	    load_relaxed(&source.lent_ticks) > ticks &&
	    !load_relaxed(&source.is_under_way))
		return false;
	return window_needs_work(load_relaxed(&session_here));
}

/* --- from buffers to the ring --------------------------------------------- */

static void push(const struct event *events, unsigned int slots)
{
	struct ring *ring = &source.thread->ring;
	struct event *slot = ring_reserve(ring, slots);

	/* There is room: decode_record() has looked. */
	if (!slot)
		return;
	memcpy(slot, events, slots * sizeof(*slot));
	ring_commit(ring, slots, 1);
}

/* With the stack that was taken when it began. */
static void push_shown(struct session *session, struct event *call)
{
	call->caller = cupti_stacks_of(call->api.correlation);
	call->api.place = call_places_of((uint32_t)call->api.correlation);
	call->api.lacks_caller =
		!call->caller && unwind_wants(STACK_CUDA) &&
		cupti_stacks_want(names_text(session, call->name, NULL));
	if (cupti_launches_call(session, call))
		push(call, 1);
}

static bool ran_nothing(const struct event *call,
			const struct cupti_event *made)
{
	switch (call->api.is_launch) {
	case GPU_LAUNCH_KERNEL:
		return cupti_nodes_captured(call->extra, made->start,
					    made->end);
	case GPU_LAUNCH_GRAPH:
		return cupti_graphs_ran_nothing(call->api.correlation);
	default: return false;
	}
}

static void push_call(struct session *session, const struct cupti_event *made)
{
	struct event event = made->event, out[CUPTI_PAIRS_OUT];
	unsigned int count;

	if (event.extra == cupti_flush_tid()) {
		cupti_flush_answered();
		return;
	}
	if (ran_nothing(&event, made))
		event.api.is_launch = GPU_LAUNCH_CAPTURED;
	count = cupti_pairs_add(&event, out, &session->head->gpu.doubled);
	for (unsigned int i = 0; i < count; i++)
		push_shown(session, &out[i]);
}

static bool is_work(const struct event *event)
{
	return event->kind == EVENT_GPU_KERNEL ||
	       event->kind == EVENT_GPU_GRAPH ||
	       event->kind == EVENT_GPU_COPY || event->kind == EVENT_GPU_FILL;
}

static void push_event(struct session *session, const struct cupti_event *made)
{
	const struct event *event = &made->event;
	struct event slots[2];

	if (event->kind == EVENT_GPU_API) {
		push_call(session, made);
		return;
	}
	if (is_work(event) && !cupti_launches_work(session, event, false))
		return;
	session->head->gpu.kernels += event->kind == EVENT_GPU_KERNEL ||
				      event->kind == EVENT_GPU_GRAPH;
	if (event->kind == EVENT_GPU_MEMORY &&
	    !cupti_graph_memory_counts(event))
		return;
	slots[0] = *event;
	if (event->kind == EVENT_GPU_MEMORY)
		slots[0].caller = cupti_stacks_of(event->memory.correlation);
	if (!(event->flags & EVENT_TWO_SLOTS)) {
		push(slots, 1);
		return;
	}
	memcpy(&slots[1], &made->kernel, sizeof(slots[1]));
	push(slots, 2);
}

/* What follows from records.  False: the ring has no room. */
static bool push_followers(void)
{
	struct event event;

	while (ring_reserve(&source.thread->ring, SLOTS_PER_RECORD)) {
		if (!cupti_graph_memory_next(&event))
			return true;
		event.caller = cupti_stacks_of(event.memory.correlation);
		push(&event, 1);
	}
	return false;
}

/* False: the ring has no room. */
static bool decode_record(struct session *session,
			  const struct cupti_buffer *buffer,
			  const CUpti_Activity *record)
{
	struct gpu_state *gpu = &session->head->gpu;
	const size_t room = buffer->valid_bytes -
			    (size_t)((const uint8_t *)record - buffer->bytes);
	struct cupti_event made;

	if (!push_followers())
		return false;
	switch (cupti_record_decode(session, record, room, &made)) {
	case CUPTI_RECORD_EVENT: push_event(session, &made); break;
	case CUPTI_RECORD_NO_TIME:
		if (is_work(&made.event))
			cupti_launches_work(session, &made.event, true);
		else
			gpu->without_time++;
		break;
	case CUPTI_RECORD_UNKNOWN: gpu->unknown++; break;
	default: break;
	}
	return true;
}

/* What the program's end waits for: all that came by that flush is decoded. */
static void tell_end(struct session *session, uint64_t flushed, uint64_t lent)
{
	if (cupti_flush_is_ending()) {
		store_relaxed(&source.lent_ticks, lent);
		store_relaxed(&source.is_under_way,
			      cupti_launches_are_under_way(
				      session, cupti_flush_end_ticks()));
	}
	/* RELEASE pairs with ACQUIRE in cupti_source_awaits(). */
	store_release(&source.polled_ticks, flushed);
}

/* Threads that go on may fill buffers faster than they are decoded here: then
 * there is always another one. */
static void set_mark(uint64_t flushed, uint64_t lent)
{
	if (source.mark || !cupti_flush_is_ending())
		return;
	source.mark = source.last;
	source.mark_flushed = flushed;
	source.mark_lent = lent;
}

static void look_for_mark(struct session *session,
			  const struct cupti_buffer *buffer)
{
	if (buffer != source.mark)
		return;
	source.mark = NULL;
	tell_end(session, source.mark_flushed, source.mark_lent);
}

/* Goes on in the oldest buffer.  False: no room, or enough for this pass. */
static bool decode_buffer(struct session *session, uint32_t *budget)
{
	struct cupti_buffer *buffer = source.queue;

	cupti_clock_of(buffer->has_own_clock);
	while (buffer->valid_bytes) {
		CUpti_Activity *record = buffer->at;

		if (cupti.cuptiActivityGetNextRecord(buffer->bytes,
						     buffer->valid_bytes,
						     &record) != CUPTI_SUCCESS)
			break;
		if (!*budget || !decode_record(session, buffer, record))
			return false;
		buffer->at = record;
		--*budget;
	}
	source.queue = cupti_buffers_next(buffer);
	if (!source.queue)
		source.last = NULL;
	look_for_mark(session, buffer);
	cupti_buffers_release(buffer);
	return true;
}

static void queue_completed(void)
{
	struct cupti_buffer *buffer = cupti_buffers_take();

	if (!buffer)
		return;
	if (source.last)
		cupti_buffers_link(source.last, buffer);
	else
		source.queue = buffer;
	while (cupti_buffers_next(buffer))
		buffer = cupti_buffers_next(buffer);
	source.last = buffer;
}

static void show_overdue(struct session *session, uint64_t before)
{
	struct event event;

	while (ring_reserve(&source.thread->ring, SLOTS_PER_RECORD) &&
	       cupti_pairs_overdue(before, &event))
		push_shown(session, &event);
}

/* --- how far the records have come ---------------------------------------- */

enum newest_window { WINDOW_IS_OPEN, WINDOW_WAITS, WINDOW_DONE };

/* It has waited long enough: unfinished work loses its times, and the rest of
 * what CUPTI withholds is there. */
static void force_once(struct session *session, uint64_t window, uint64_t end)
{
	if (window == source.forced ||
	    clock_ticks() < end + session_gpu_wait_ticks(session))
		return;
	source.forced = window;
	if (!cupti_share_is_on())
		store_relaxed(&session->head->gpu.hurried_ticks, clock_ticks());
	cupti_flush_force();
}

/* Whether the newest window goes on, or has ended and its file waits for us. */
static enum newest_window newest_window(struct session *session)
{
	struct window_state *windows = &session->head->windows;
	/* ACQUIRE pairs with RELEASE in window_open(). */
	const uint64_t opened = load_acquire(&windows->opened);
	uint64_t end;

	if (!opened)
		return WINDOW_DONE;
	/* ACQUIRE pairs with RELEASE in window_close(). */
	end = load_acquire(
		&windows->window[(opened - 1) % WINDOWS_MAX].end_ticks);
	if (!end)
		return WINDOW_IS_OPEN;
	if (load_relaxed(&session->head->gpu.settled_ticks) >= end)
		return WINDOW_DONE;
	force_once(session, opened, end);
	return WINDOW_WAITS;
}

/* Up to when all that was launched has arrived, or is given up.  A buffer that
 * CUPTI keeps for longer is neither, and its window's file says so. */
static uint64_t settled_until(const struct session *session, uint64_t flushed,
			      uint64_t forced)
{
	const uint64_t second = clock_ticks_per_second(&session->head->clock);
	const uint64_t lent = cupti_buffers_oldest();
	uint64_t settled = flushed;

	settled = min_u64(settled, cupti_launches_oldest(session, flushed));
	if (lent != UINT64_MAX)
		settled = min_u64(settled, lent - CALL_MS * second / 1000);
	/* Whatever was forced: a call that waits comes soon (last_return()). */
	return min_u64(max_u64(settled, forced), cupti_pairs_oldest());
}

/* Not more often: each answer wakes the writer. */
static void ask(const struct session *session, unsigned int times)
{
	const uint64_t second = clock_ticks_per_second(&session->head->clock);
	const uint64_t now = clock_ticks();

	if (now - source.asked_ticks < second / times)
		return;
	source.asked_ticks = now;
	cupti_flush_ask();
}

/* Everything that was handed over by `flushed` is decoded. */
static void settle(struct session *session, uint64_t flushed, uint64_t forced,
		   bool is_over)
{
	struct gpu_state *gpu = &session->head->gpu;
	uint64_t settled;

	if (is_over)
		store_relaxed(&gpu->is_live, 0);
	if (is_over && !load_relaxed(&gpu->is_cut)) {
		store_relaxed(&gpu->settled_ticks, UINT64_MAX);
		return;
	}
	settled = settled_until(session, flushed, forced);
	if (settled > load_relaxed(&gpu->settled_ticks))
		store_relaxed(&gpu->settled_ticks, settled);
	cupti_nodes_settled(settled);
	if (is_over)
		return;
	/* One that closes just now still waits. */
	switch (newest_window(session)) {
	case WINDOW_WAITS: ask(session, WINDOW_ASKS); break;
	case WINDOW_DONE: cupti_kinds_rest(session); break;
	default: break;
	}
}

/* A schedule waits for the step: each second would be seldom. */
static void ask_soon(const struct session *session)
{
	if (search_is_on(&session->head->search))
		ask(session, SEARCH_ASKS);
}

/* Records of calls that ended before then have come: that of the call around a
 * driver's may be in a buffer that is lent.  What wasn't forced back is kept
 * for ever. */
static uint64_t last_return(uint64_t lent, uint64_t forced)
{
	const uint64_t now = clock_ticks();

	return lent > forced ? min_u64(now, lent) : now;
}

void cupti_source_poll(void *unused)
{
	struct session *session = load_relaxed(&session_here);
	const uint64_t second = clock_ticks_per_second(&session->head->clock);
	/* Asked once: what CUPTI hands over last it does before its end, so
	 * that a look at the list after this finds all of it. */
	const bool is_over = !cupti_is_alive();
	/* Before the look at the list: what was flushed by then is on it. */
	const uint64_t forced = cupti_flush_ticks(true);
	const uint64_t flushed = cupti_flush_ticks(false);
	/* Also before: what comes back meanwhile is lent or on the list. */
	const uint64_t lent = cupti_buffers_oldest();
	uint32_t budget = EVENTS_PER_PASS;

	(void)unused;
	if (!source.thread) {
		source.thread = thread_enter(session);
		thread_busy();
		if (!source.thread)
			return;
		source.thread->ring.never_waits = 1;
	}
	cupti_neighbour_watch();
	cupti_callbacks_follow(session);
	cupti_kinds_follow(session);
	ask_soon(session);
	queue_completed();
	set_mark(flushed, lent);
	/* All that is in them lies before this moment. */
	if (source.queue)
		cupti_clock_pair(cupti_is_ours);
	while (source.queue) {
		if (!decode_buffer(session, &budget))
			return;
	}
	if (!push_followers())
		return;
	show_overdue(session, is_over ? UINT64_MAX
				      : last_return(lent, forced) -
						PAIR_SECONDS * second);
	session->head->gpu.launches = cupti_launches_count();
	store_relaxed(&session->head->gpu.lost, cupti_buffers_refused());
	tell_end(session, flushed, lent);
	settle(session, flushed, forced, is_over);
	cupti_launches_look(session, is_over);
}

void cupti_source_forget(void)
{
	cupti_pairs_forget();
	cupti_launches_forget();
	memset(&source, 0, sizeof(source));
}

#endif
