/* SPDX-License-Identifier: MIT */
/* heap_counter.c - samples of the live heap; see heap_counter.h. */
#include "writer/draw/heap_counter.h"

#include "writer/events/event_json.h"

#define SAMPLE_NS 10000000u /* at most 100 a second */

void heap_counter_event(struct writer_state *state, struct ring_reader *reader,
			const struct event *event)
{
	struct heap_totals *heap = &state->heap;

	heap->live += event->heap.thread_live - reader->heap_live;
	reader->heap_live = event->heap.thread_live;
	reader->saw_heap = true;
	if (heap->live > heap->peak)
		heap->peak = heap->live;
}

void heap_counter_thread(struct writer_state *state, struct ring_reader *reader)
{
	struct thread *thread = reader->thread;
	int64_t live;

	/* ACQUIRE pairs with RELEASE in thread_leave(): its sums. */
	if (load_acquire(&thread->state) != THREAD_RETIRED ||
	    drain_at(&reader->drain) != ring_published(&thread->ring))
		return;
	live = (int64_t)(thread->ring.heap_alloc_bytes -
			 thread->ring.heap_free_bytes);
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
	if (state->session->head->options.malloc == MALLOC_ALL)
		draw(state, ts_ns, state->heap.live);
}

/* What a thread's counters say now becomes its last known count, unless events
 * of this pass say it exactly. */
static int64_t look(struct writer_state *state)
{
	struct heap_totals *heap = &state->heap;
	int64_t total = state->session->head->heap_base_bytes;

	for (struct ring_reader *t = state->readers; t; t = t->older) {
		const struct ring *ring = &t->thread->ring;
		const int64_t live = (int64_t)(ring->heap_alloc_bytes -
					       ring->heap_free_bytes);

		total += live;
		if (!t->saw_heap && !t->is_stopped) {
			heap->live += live - t->heap_live;
			t->heap_live = live;
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
