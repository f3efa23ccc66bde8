/* SPDX-License-Identifier: MIT */
/* heap_counter.c - samples of the live heap; see heap_counter.h. */
#include "writer/draw/heap_counter.h"

#include "writer/draw/by_time.h"
#include "writer/events/event_json.h"

#define SAMPLE_NS  10000000u /* at most 100 a second */
#define STEPS_MOST 262144u   /* of a slice: 10 MiB in the program's memory */

/* A call, and what its thread had before and after it. */
struct heap_step {
	uint64_t ticks;
	int64_t before, live;
	struct ring_reader *reader;
	uint64_t drawn_ns; /* where the counter shows it, 0 nowhere */
};

bool heap_counter_is_exact(const struct writer_state *state)
{
	const unsigned int mode = state->session->head->options.malloc;

	return mode == MALLOC_ALL || mode == MALLOC_SITES;
}

static int64_t counted(const struct ring_reader *reader)
{
	const struct ring *ring = &reader->thread->ring;

	return (int64_t)(ring->heap_alloc_bytes - ring->heap_free_bytes);
}

void heap_counter_thread(struct writer_state *state, struct ring_reader *reader)
{
	struct thread *thread = reader->thread;
	int64_t live;

	/* ACQUIRE pairs with RELEASE in thread_leave(): its sums. */
	if (load_acquire(&thread->state) != THREAD_RETIRED ||
	    drain_at(&reader->drain) != ring_published(&thread->ring))
		return;
	live = counted(reader);
	state->heap.live += live - reader->heap_live;
	reader->heap_live = live;
}

static void draw(struct writer_state *state, uint64_t ts_ns, int64_t live)
{
	struct heap_totals *heap = &state->heap;
	const size_t mark = json_mark(&state->json);

	if (live < 0)
		live = 0;
	if (heap->any_sample &&
	    (live == heap->sampled || ts_ns < heap->sampled_ns + SAMPLE_NS))
		return;
	heap->any_sample = true;
	heap->sampled = live;
	heap->sampled_ns = ts_ns;
	event_json_live(state, "heap", ts_ns, live);
	if (state->json.failed)
		json_back(&state->json, mark);
}

void heap_counter_draw(struct writer_state *state, uint64_t ts_ns)
{
	struct heap_step *last =
		state->heap.steps
			? by_time_last(state->heap.steps, sizeof(*last))
			: NULL;

	if (state->session->head->options.malloc == MALLOC_ALL && last)
		last->drawn_ns = ts_ns;
}

/* --- by time ---------------------------------------------------------------*/

/* What another thread had meanwhile lies between two of its events: the less of
 * the two, where blocks come and go without any. */
static int64_t between(const struct writer_state *state,
		       const struct ring_reader *reader, int64_t next)
{
	if (heap_counter_is_exact(state) || reader->heap_known < next)
		return reader->heap_known;
	return next;
}

/* Past its last event here: what it has now, unless it made more events. */
static int64_t after_last(const struct writer_state *state,
			  const struct ring_reader *reader)
{
	if (drain_at(&reader->drain) != ring_published(&reader->thread->ring))
		return reader->heap_known;
	return between(state, reader, counted(reader));
}

/* The sum of what each thread had at least before the first of these calls. */
static int64_t least_before(struct writer_state *state)
{
	const struct by_time *steps = state->heap.steps;
	const struct heap_step *step;
	int64_t total = state->session->head->heap_base_bytes;

	for (struct ring_reader *t = state->readers; t; t = t->older)
		t->heap_least = after_last(state, t);
	for (size_t i = 0; (step = by_time_first(steps, sizeof(*step), i)); i++)
		step->reader->heap_least =
			between(state, step->reader, step->before);
	for (struct ring_reader *t = state->readers; t; t = t->older)
		total += t->heap_least;
	return total;
}

struct settling {
	struct writer_state *state;
	int64_t total;
};

static void settle_one(void *arg, void *item, void *after)
{
	struct settling *settling = arg;
	struct writer_state *state = settling->state;
	const struct heap_step *step = item;
	const struct heap_step *next = after;
	struct ring_reader *reader = step->reader;

	settling->total += step->live - reader->heap_least;
	if (settling->total > state->heap.peak && !state->heap.is_in_parts)
		state->heap.peak = settling->total;
	if (step->drawn_ns)
		draw(state, step->drawn_ns, settling->total);
	reader->heap_known = step->live;
	reader->heap_least = next ? between(state, reader, next->before)
				  : after_last(state, reader);
	settling->total += reader->heap_least - step->live;
}

static void settle(struct writer_state *state)
{
	struct by_time *steps = state->heap.steps;
	struct settling settling = {.state = state};

	if (!steps || !steps->count)
		return;
	settling.total = least_before(state);
	by_time_settle(steps, sizeof(struct heap_step), settle_one, &settling);
	for (struct ring_reader *t = state->readers; t; t = t->older)
		t->heap_known = t->heap_live;
}

void heap_counter_settle(struct writer_state *state)
{
	settle(state);
	state->heap.is_in_parts = false;
}

/* More than there is room for: what the others did at that time may come yet,
 * so that the rest of the slice tells of no peak.  A thread alone is known. */
static void settle_part(struct writer_state *state,
			const struct ring_reader *reader)
{
	for (struct ring_reader *t = state->readers; t; t = t->older)
		state->heap.is_in_parts |=
			t != reader &&
			(t->heap_live != t->heap_known ||
			 drain_at(&t->drain) !=
				 ring_published(&t->thread->ring));
	settle(state);
}

void heap_counter_event(struct writer_state *state, struct ring_reader *reader,
			const struct event *event)
{
	struct heap_totals *heap = &state->heap;
	const int64_t bytes = (int64_t)event->heap.size_bytes;
	const int64_t live = event->heap.thread_live;
	const struct heap_step step = {.ticks = event->start_ticks,
				       .before = event->kind == EVENT_HEAP_FREE
							 ? live + bytes
							 : live - bytes,
				       .live = live,
				       .reader = reader};
	const struct heap_step *last;

	heap->live += step.live - reader->heap_live;
	reader->heap_live = step.live;
	reader->saw_heap = true;
	if (!heap->steps)
		heap->steps = arena_alloc(&state->arena, sizeof(*heap->steps));
	if (!heap->steps)
		return;
	last = by_time_last(heap->steps, sizeof(step));
	by_time_add(heap->steps, &step, sizeof(step),
		    last && last->reader == reader);
	if (heap->steps->count == STEPS_MOST)
		settle_part(state, reader);
}

void heap_counter_stop(struct writer_state *state)
{
	if (state->heap.steps)
		by_time_free(state->heap.steps);
	state->heap.steps = NULL;
}

/* --- by the writer's clock ------------------------------------------------ */

/* What a thread's counters say now becomes its last known count, unless events
 * of this pass say it exactly. */
static int64_t look(struct writer_state *state)
{
	struct heap_totals *heap = &state->heap;
	int64_t total = state->session->head->heap_base_bytes;

	for (struct ring_reader *t = state->readers; t; t = t->older) {
		const int64_t live = counted(t);

		total += live;
		if (!t->saw_heap && !t->is_stopped) {
			heap->live += live - t->heap_live;
			t->heap_live = live;
			t->heap_known = live;
		}
		t->saw_heap = false;
	}
	return total;
}

static void sample(struct writer_state *state, uint64_t ticks)
{
	const int64_t live = look(state);

	if (live > state->heap.peak)
		state->heap.peak = live;
	if (state->session->head->options.malloc != MALLOC_ALL)
		draw(state, timeline_ns(&state->timeline, ticks), live);
}

void heap_counter_sample(struct writer_state *state)
{
	const uint64_t ticks = clock_ticks();

	if (state->is_live && state->file.is_open &&
	    state->session->head->options.malloc != MALLOC_OFF &&
	    writer_state_place(state, ticks) == PLACE_WRITE)
		sample(state, ticks);
}

void heap_counter_begin(struct writer_state *state, uint64_t start_ticks)
{
	state->heap.any_sample = false;
	if (state->session->head->options.malloc != MALLOC_OFF)
		draw(state, timeline_ns(&state->timeline, start_ticks),
		     state->heap.live);
}

void heap_counter_end(struct writer_state *state, uint64_t end_ticks)
{
	/* However soon it comes after the last one. */
	state->heap.sampled_ns = 0;
	if (state->file.is_open &&
	    state->session->head->options.malloc != MALLOC_OFF)
		sample(state, end_ticks);
}
