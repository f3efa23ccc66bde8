/* SPDX-License-Identifier: MIT */
/*
 * cupti_source.c - from completed buffers to events, in the writer's passes.
 *
 * What was decoded lies in a ring of the session and survives a kill.  When the
 * ring has no more room the buffer is left where it is and goes on in the next
 * pass, after the writer has drained: nothing is lost but time.
 *
 * Launches whose work has not arrived yet are kept by correlation, so that a
 * window's file is not finished before the last of its kernels.
 */
#ifdef HAVE_CUPTI

#include "preload/cuda/cupti_source.h"

#include "collector/system/log.h"
#include "collector/steps/steps.h"
#include "preload/cuda/cupti_buffers.h"
#include "preload/cuda/cupti_record.h"
#include <string.h>

#define LAUNCHES	 32768u
#define EVENTS_PER_PASS	 40000u
#define SLOTS_PER_RECORD 4u
/* A launch without work (an empty copy, say) is waited for so long. */
#define PATIENCE_SECONDS 2u
/* So many launches of kernels without a record of one are a fault. */
#define KERNELS_MISSED	 1000u
/* A driver call waits for the end of the runtime call around it. */
#define PAIR_SECONDS	 1u
/* So often in a second CUPTI is asked while a step is searched for. */
#define SEARCH_ASKS	 5u

enum launch_state { LAUNCH_NONE, LAUNCH_CALLED, LAUNCH_WORKED };

struct launch {
	uint64_t correlation;
	uint64_t ticks;
	uint32_t state;
};

/* The writer's thread alone. */
static struct {
	struct thread *thread;	    /* whose ring takes the events */
	struct cupti_buffer *queue; /* being decoded, oldest first */
	struct cupti_buffer *last;
	uint64_t launches;
	uint64_t kernels_launched;
	uint64_t missed_ticks; /* when so many were, without a record */
	bool said_no_kernels;
	uint64_t asked_ticks; /* of a search */
	struct launch launch[LAUNCHES];
} source;

/* --- one call of the program, one event ----------------------------------- */

#define PAIR_THREADS 512u
#define PAIR_RECENT  8u

/* The writer's thread alone. */
static struct pair {
	uint32_t tid;
	uint32_t at;		      /* next place in recent[] */
	uint64_t recent[PAIR_RECENT]; /* correlations of runtime calls shown */
	bool waits;
	struct event driver;
} pairs[PAIR_THREADS];

static struct pair *pair_of(uint32_t tid)
{
	for (uint32_t i = 0; i < PAIR_THREADS; i++) {
		struct pair *pair = &pairs[(tid + i) % PAIR_THREADS];

		if (!pair->tid)
			pair->tid = tid;
		if (pair->tid == tid)
			return pair;
	}
	return NULL;
}

static bool was_shown(const struct pair *pair, uint64_t correlation)
{
	for (unsigned int i = 0; i < PAIR_RECENT; i++) {
		if (pair->recent[i] == correlation)
			return true;
	}
	return false;
}

unsigned int cupti_pairs_add(const struct event *event,
			     struct event out[CUPTI_PAIRS_OUT],
			     uint64_t *doubled)
{
	const uint64_t correlation = event->api.correlation;
	struct pair *pair = pair_of(event->extra);
	unsigned int count = 0;

	if (!pair || !correlation) {
		out[0] = *event;
		return 1;
	}
	if (pair->waits && pair->driver.api.correlation != correlation) {
		out[count++] = pair->driver;
		pair->waits = false;
	}
	if (!event->api.is_driver) {
		*doubled += pair->waits;
		pair->waits = false;
		pair->recent[pair->at++ % PAIR_RECENT] = correlation;
		out[count++] = *event;
	} else if (was_shown(pair, correlation)) {
		/* Its runtime call came first, in another buffer. */
		++*doubled;
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
			pairs[i].waits = false;
			*out = pairs[i].driver;
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

/* --- launches and their work --------------------------------------------- */

static struct launch *launch_of(uint64_t correlation)
{
	return &source.launch[correlation % LAUNCHES];
}

static void note_call(const struct event *event)
{
	struct launch *launch = launch_of(event->api.correlation);

	if (!event->api.is_launch)
		return;
	source.launches++;
	if (event->api.is_launch == GPU_LAUNCH_KERNEL &&
	    ++source.kernels_launched == KERNELS_MISSED)
		source.missed_ticks = clock_ticks();
	if (launch->correlation == event->api.correlation &&
	    launch->state == LAUNCH_WORKED) {
		launch->state = LAUNCH_NONE;
		return;
	}
	*launch = (struct launch){.correlation = event->api.correlation,
				  .ticks = event->start_ticks,
				  .state = LAUNCH_CALLED};
}

static void note_work(uint64_t correlation)
{
	struct launch *launch = launch_of(correlation);

	if (launch->correlation == correlation &&
	    launch->state == LAUNCH_CALLED)
		launch->state = LAUNCH_NONE;
	else
		*launch = (struct launch){.correlation = correlation,
					  .state = LAUNCH_WORKED};
}

/* When the oldest launch was made whose work is still to come. */
static uint64_t oldest_launch(uint64_t patience)
{
	const uint64_t now = clock_ticks();
	uint64_t oldest = UINT64_MAX;

	for (uint32_t i = 0; i < LAUNCHES; i++) {
		const struct launch *launch = &source.launch[i];

		if (launch->state == LAUNCH_CALLED &&
		    launch->ticks + patience > now && launch->ticks < oldest)
			oldest = launch->ticks;
	}
	return oldest;
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

static void push_call(struct session *session, const struct event *event)
{
	struct event out[CUPTI_PAIRS_OUT];
	unsigned int count;

	if (event->extra == cupti_flush_tid())
		return;
	count = cupti_pairs_add(event, out, &session->head->gpu.doubled);
	for (unsigned int i = 0; i < count; i++) {
		note_call(&out[i]);
		push(&out[i], 1);
	}
}

static void push_event(struct session *session, const struct cupti_event *made)
{
	const struct event *event = &made->event;
	struct event slots[2];

	switch (event->kind) {
	case EVENT_GPU_API: push_call(session, event); return;
	case EVENT_GPU_KERNEL:
	case EVENT_GPU_GRAPH:
		session->head->gpu.kernels++;
		/* fallthrough */
	case EVENT_GPU_COPY:
	case EVENT_GPU_FILL: note_work(event->gpu.correlation); break;
	default: break;
	}
	slots[0] = *event;
	if (!(event->flags & EVENT_TWO_SLOTS)) {
		push(slots, 1);
		return;
	}
	memcpy(&slots[1], &made->kernel, sizeof(slots[1]));
	push(slots, 2);
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

	if (!ring_reserve(&source.thread->ring, SLOTS_PER_RECORD))
		return false;
	switch (cupti_record_decode(session, record, room, &made)) {
	case CUPTI_RECORD_EVENT: push_event(session, &made); break;
	case CUPTI_RECORD_NO_TIME: gpu->without_time++; break;
	case CUPTI_RECORD_UNKNOWN: gpu->unknown++; break;
	default: break;
	}
	return true;
}

/* Goes on in the oldest buffer.  False: no room, or enough for this pass. */
static bool decode_buffer(struct session *session, uint32_t *budget)
{
	struct cupti_buffer *buffer = source.queue;

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

static void show_overdue(uint64_t before)
{
	struct event event;

	while (ring_reserve(&source.thread->ring, SLOTS_PER_RECORD) &&
	       cupti_pairs_overdue(before, &event)) {
		note_call(&event);
		push(&event, 1);
	}
}

/* --- how far the records have come ---------------------------------------- */

enum newest_window { WINDOW_IS_OPEN, WINDOW_WAITS, WINDOW_DONE };

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
	return load_relaxed(&session->head->gpu.settled_ticks) < end
		       ? WINDOW_WAITS
		       : WINDOW_DONE;
}

/* Everything that was handed over by `flushed` is decoded. */
static void settle(struct session *session, uint64_t flushed, bool is_over)
{
	struct gpu_state *gpu = &session->head->gpu;
	const uint64_t second = clock_ticks_per_second(&session->head->clock);
	uint64_t settled = flushed;

	if (is_over) {
		store_relaxed(&gpu->settled_ticks, UINT64_MAX);
		store_relaxed(&gpu->is_live, 0);
		return;
	}
	settled = min_u64(settled, oldest_launch(PATIENCE_SECONDS * second));
	settled = min_u64(settled, cupti_pairs_oldest());
	if (settled > load_relaxed(&gpu->settled_ticks))
		store_relaxed(&gpu->settled_ticks, settled);
	/* One that closes just now still waits. */
	switch (newest_window(session)) {
	case WINDOW_WAITS: cupti_flush_ask(); break;
	case WINDOW_DONE: cupti_kinds_rest(session); break;
	default: break;
	}
}

/* Some CUPTI versions trace no kernels in some setups.  Launches may also have
 * been captured into a graph that is still to run: they get their time. */
static void look_for_kernels(struct session *session, bool is_over)
{
	const uint64_t second = clock_ticks_per_second(&session->head->clock);

	if (source.said_no_kernels || !source.missed_ticks ||
	    session->head->gpu.kernels ||
	    (!is_over &&
	     clock_ticks() - source.missed_ticks < PATIENCE_SECONDS * second))
		return;
	source.said_no_kernels = true;
	session_note(session,
		     "the GPU is used (%lu kernels launched), but CUPTI %u "
		     "gives no record of one",
		     (unsigned long)source.kernels_launched,
		     session->head->gpu.cupti_version);
	log_trouble("CUPTI %u gives no record of the kernels that are "
		    "launched: another version of it may",
		    session->head->gpu.cupti_version);
}

/* A schedule waits for the step: each second would be seldom. */
static void ask_soon(const struct session *session)
{
	const uint64_t second = clock_ticks_per_second(&session->head->clock);
	const uint64_t now = clock_ticks();

	if (!search_is_on(&session->head->search) ||
	    now - source.asked_ticks < second / SEARCH_ASKS)
		return;
	source.asked_ticks = now;
	cupti_flush_ask();
}

void cupti_source_poll(void *unused)
{
	struct session *session = load_relaxed(&session_here);
	const uint64_t second = clock_ticks_per_second(&session->head->clock);
	/* Asked once: what CUPTI hands over last it does before its end, so
	 * that a look at the list after this finds all of it. */
	const bool is_over = !cupti_is_alive();
	/* Before the look at the list: what was flushed by then is on it. */
	const uint64_t flushed = cupti_flush_ticks();
	uint32_t budget = EVENTS_PER_PASS;

	(void)unused;
	if (!source.thread) {
		source.thread = thread_enter(session);
		thread_busy();
		if (!source.thread)
			return;
		source.thread->ring.never_waits = 1;
	}
	cupti_callbacks_follow(session);
	ask_soon(session);
	queue_completed();
	while (source.queue) {
		if (!decode_buffer(session, &budget))
			return;
	}
	show_overdue(is_over ? UINT64_MAX
			     : clock_ticks() - PAIR_SECONDS * second);
	session->head->gpu.launches = source.launches;
	store_relaxed(&session->head->gpu.lost, cupti_buffers_refused());
	settle(session, flushed, is_over);
	look_for_kernels(session, is_over);
}

void cupti_source_forget(void)
{
	cupti_pairs_forget();
	memset(&source, 0, sizeof(source));
}

#endif
