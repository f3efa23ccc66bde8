/* SPDX-License-Identifier: MIT */
/* checkpoint.c - the two checkpoints in the session; see checkpoint.h. */
#include "writer/checkpoint.h"

#include "collector/pool.h"
#include <string.h>

#define PERIOD_NS	UINT64_C(1000000000)
/* Nothing has happened but time: the file is good as it is. */
#define IDLE_PERIOD_NS	UINT64_C(10000000000)
#define TEXT_BYTES	(UINT64_C(256) << 10)
#define PASSES_OF_GRACE 3u
/* Fewer free chunks than this on top of those that wait: don't let them. */
#define ROOM_CHUNKS	16u
/* Threads that come and go each hold a chunk until then. */
#define RETIRED_MOST	64u

static uint64_t consumed(const struct scribe *scribe)
{
	return scribe->counts.written + scribe->counts.cut;
}

bool checkpoint_is_urgent(struct scribe *scribe)
{
	const size_t waiting = scribe->spent.count + scribe->retired;

	if (window_file_text_bytes(scribe) >
	    scribe->text_at_checkpoint + TEXT_BYTES)
		return true;
	/* Chunks and records wait for us, and the pool runs low. */
	if (scribe->retired > RETIRED_MOST)
		return true;
	return waiting && pool_room(scribe->session) < waiting + ROOM_CHUNKS;
}

bool checkpoint_is_due(struct scribe *scribe)
{
	const uint64_t since = clock_monotonic_ns() - scribe->checkpoint_ns;

	if (checkpoint_is_urgent(scribe))
		return true;
	if (window_file_text_bytes(scribe) != scribe->text_at_checkpoint ||
	    consumed(scribe) != scribe->events_at_checkpoint)
		return since >= PERIOD_NS;
	return since >= IDLE_PERIOD_NS;
}

/* A thread that is over and drained gives its record back; but a wait that it
 * left open may still find its end. */
static bool is_over(struct track *track)
{
	struct thread *thread = track->thread;

	/* ACQUIRE pairs with RELEASE in thread_leave(): its last commit. */
	if (load_acquire(&thread->state) != THREAD_RETIRED ||
	    track->is_stopped) {
		track->passes_over = 0;
		return false;
	}
	if (ring_published(&thread->ring) &&
	    drain_at(&track->drain) != ring_published(&thread->ring) &&
	    !track->drain.damaged)
		return false;
	if (track->pending.region && track->passes_over++ < PASSES_OF_GRACE)
		return false;
	return true;
}

static void note_progress(struct scribe *scribe, struct track *track,
			  unsigned int next)
{
	struct thread_progress *progress = &track->thread->progress[next];

	track->is_ending = scribe->is_live && is_over(track);
	if (track->is_ending) {
		/* The next owner is another thread. */
		track->pending = (struct pending_wait){0};
		track->named_in_file = 0;
	}
	progress->head = track->drain.chunk ? drain_pack(&track->drain) : 0;
	progress->pending = track->pending;
	progress->named_in_file = track->named_in_file;
	progress->loss_drawn = track->loss_drawn;
	progress->heap_live = track->heap_live;
}

static void note_file(struct scribe *scribe,
		      struct session_checkpoint *checkpoint)
{
	const struct scribe_counts *counts = &scribe->counts;

	memset(checkpoint->path, 0, sizeof(checkpoint->path));
	checkpoint->tail_at = 0;
	checkpoint->text_bytes = 0;
	checkpoint->crc32 = 0;
	checkpoint->file_index = scribe->file.file_index;
	checkpoint->window = (uint32_t)scribe->window;
	if (scribe->file.is_open) {
		trace_file_position(&scribe->file.trace, &checkpoint->tail_at,
				    &checkpoint->text_bytes,
				    &checkpoint->crc32);
		memcpy(checkpoint->path, scribe->file.path,
		       sizeof(scribe->file.path));
	}
	checkpoint->written = counts->written;
	checkpoint->cut = counts->cut;
	checkpoint->file_events = counts->file_events;
	checkpoint->last_ticks = counts->last_ticks;
	checkpoint->heap_live = scribe->heap.live;
	checkpoint->heap_peak = scribe->heap.peak;
	memcpy(checkpoint->written_by_kind, counts->written_by_kind,
	       sizeof(checkpoint->written_by_kind));
}

static void give_back(struct scribe *scribe)
{
	const uint64_t *chunks = scribe->spent.array.base;

	for (size_t i = 0; i < scribe->spent.count; i++)
		pool_give(scribe->session, chunks[i]);
	scribe->spent.count = 0;
	scribe->retired = 0;
	for (struct track *t = scribe->tracks; t; t = t->older) {
		if (!t->is_ending)
			continue;
		t->is_ending = false;
		t->passes_over = 0;
		if (t->ranges)
			memset(t->ranges, 0, sizeof(*t->ranges));
		t->nest.count = 0;
		/* RELEASE pairs with ACQUIRE in claim_free(): our reads of
		 * the old owner's record are done. */
		store_release(&t->thread->state, THREAD_FREE);
	}
}

int checkpoint_make(struct scribe *scribe)
{
	struct session_header *head = scribe->session->head;
	const unsigned int next = !(load_relaxed(&head->checkpoint) & 1);
	const int rc = window_file_checkpoint(scribe);

	if (rc)
		return rc;
	for (struct track *t = scribe->tracks; t; t = t->older)
		note_progress(scribe, t, next);
	note_file(scribe, &head->checkpoints[next]);
	/* RELEASE pairs with the look of recovery_run(), which comes after our
	 * death: it orders the stores above for whoever shares the mapping. */
	store_release(&head->checkpoint, next);
	if (scribe->is_live)
		give_back(scribe);
	scribe->checkpoints++;
	scribe->checkpoint_ns = clock_monotonic_ns();
	scribe->events_at_checkpoint = consumed(scribe);
	scribe->text_at_checkpoint = window_file_text_bytes(scribe);
	return 0;
}
