/* SPDX-License-Identifier: MIT */
/* heap_track.c - samples of the live heap; see heap_track.h. */
#include "writer/heap_track.h"

#include "writer/event_json.h"

#define SAMPLE_NS 10000000u /* at most 100 a second */

void heap_track_event(struct scribe *scribe, struct track *track,
		      const struct event *event)
{
	struct scribe_heap *heap = &scribe->heap;

	heap->live += event->heap.thread_live - track->heap_live;
	track->heap_live = event->heap.thread_live;
	track->saw_heap = true;
	if (heap->live > heap->peak)
		heap->peak = heap->live;
}

static void draw(struct scribe *scribe, uint64_t ts_ns, int64_t live)
{
	struct scribe_heap *heap = &scribe->heap;
	const size_t mark = json_mark(&scribe->json);

	if (live < 0)
		live = 0;
	if (heap->any_sample &&
	    (live == heap->sampled || ts_ns < heap->sampled_ns + SAMPLE_NS))
		return;
	heap->any_sample = true;
	heap->sampled = live;
	heap->sampled_ns = ts_ns;
	event_json_heap(scribe, ts_ns, live);
	if (scribe->json.failed)
		json_back(&scribe->json, mark);
}

void heap_track_draw(struct scribe *scribe, uint64_t ts_ns)
{
	if (scribe->session->head->options.malloc == MALLOC_ALL)
		draw(scribe, ts_ns, scribe->heap.live);
}

/* What a thread's counters say now becomes its last known count, unless events
 * of this pass say it exactly. */
static int64_t look(struct scribe *scribe)
{
	struct scribe_heap *heap = &scribe->heap;
	int64_t total = scribe->session->head->heap_base_bytes;

	for (struct track *t = scribe->tracks; t; t = t->older) {
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

static void sample(struct scribe *scribe, uint64_t ticks)
{
	const int64_t live = look(scribe);

	if (live > scribe->heap.peak)
		scribe->heap.peak = live;
	if (scribe->session->head->options.malloc != MALLOC_ALL)
		draw(scribe, timeline_ns(&scribe->timeline, ticks), live);
}

void heap_track_sample(struct scribe *scribe)
{
	const uint64_t ticks = clock_ticks();

	if (scribe->is_live && scribe->file.is_open &&
	    scribe->session->head->options.malloc != MALLOC_OFF &&
	    scribe_place(scribe, ticks) == SCRIBE_WRITE)
		sample(scribe, ticks);
}

void heap_track_begin(struct scribe *scribe, uint64_t start_ticks)
{
	scribe->heap.any_sample = false;
	if (scribe->session->head->options.malloc != MALLOC_OFF)
		draw(scribe, timeline_ns(&scribe->timeline, start_ticks),
		     scribe->heap.live);
}

void heap_track_end(struct scribe *scribe, uint64_t end_ticks)
{
	/* However soon it comes after the last one. */
	scribe->heap.sampled_ns = 0;
	if (scribe->file.is_open &&
	    scribe->session->head->options.malloc != MALLOC_OFF)
		sample(scribe, end_ticks);
}
