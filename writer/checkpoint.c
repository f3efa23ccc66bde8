/* SPDX-License-Identifier: MIT */
/* checkpoint.c - the two checkpoints in the session; see checkpoint.h. */
#include "writer/checkpoint.h"
#include "writer/trace_frame.h"
#include "writer/window_trace.h"

#include "collector/session/pool.h"
#include "writer/draw/flame.h"
#include "writer/draw/heap_sites.h"
#include <string.h>

#define PERIOD_NS	UINT64_C(1000000000)
/* Nothing has happened but time: the file is good as it is. */
#define IDLE_PERIOD_NS	UINT64_C(10000000000)
#define TEXT_BYTES	(UINT64_C(256) << 10)
#define PASSES_OF_GRACE 3u
/* Fewer free chunks than this on top of those that wait: don't let them. */
#define ROOM_CHUNKS	16u
/* At every such checkpoint it is seen what other programs take. */
#define OTHERS_EVERY	8u
/* Threads that come and go each hold a chunk until then. */
#define RETIRED_MOST	64u

static uint64_t consumed(const struct writer_state *state)
{
	return state->counts.written + state->counts.cut;
}

bool checkpoint_is_urgent(struct writer_state *state)
{
	const unsigned int over = state->retired - state->retired_kept;
	const size_t waiting = state->spent.count + over;

	if (window_file_text_bytes(state) >
	    state->text_at_checkpoint + TEXT_BYTES)
		return true;
	/* Chunks and records wait for us, and the pool runs low. */
	if (over > RETIRED_MOST)
		return true;
	return waiting && pool_room(state->session) < waiting + ROOM_CHUNKS;
}

bool checkpoint_is_due(struct writer_state *state)
{
	const uint64_t since = clock_monotonic_ns() - state->checkpoint_ns;

	if (checkpoint_is_urgent(state))
		return true;
	if (window_file_text_bytes(state) != state->text_at_checkpoint ||
	    consumed(state) != state->events_at_checkpoint)
		return since >= PERIOD_NS;
	return since >= IDLE_PERIOD_NS;
}

/* A thread that is over and drained gives its record back; but a wait that it
 * left open may still find its end. */
static bool is_over(struct ring_reader *reader)
{
	struct thread *thread = reader->thread;

	/* ACQUIRE pairs with RELEASE in thread_leave(): its last commit. */
	if (load_acquire(&thread->state) != THREAD_RETIRED ||
	    reader->is_stopped) {
		reader->passes_over = 0;
		return false;
	}
	if (ring_published(&thread->ring) &&
	    drain_at(&reader->drain) != ring_published(&thread->ring) &&
	    !reader->drain.damaged)
		return false;
	if (reader->pending.region && reader->passes_over++ < PASSES_OF_GRACE)
		return false;
	return true;
}

static void note_progress(struct writer_state *state,
			  struct ring_reader *reader, unsigned int next)
{
	struct thread_progress *progress = &reader->thread->progress[next];

	reader->is_ending = state->is_live && is_over(reader);
	if (reader->is_ending) {
		/* The next owner is another thread. */
		state->counts.waits.lost += reader->pending.region != 0;
		reader->pending = (struct pending_wait){0};
		reader->named_in_file = 0;
		reader->heap_last = 0;
	}
	progress->head = reader->drain.chunk ? drain_pack(&reader->drain) : 0;
	progress->pending = reader->pending;
	progress->named_in_file = reader->named_in_file;
	progress->loss_drawn = reader->loss_drawn;
	progress->heap_live = reader->heap_live;
	progress->marks_taken = reader->marks_taken;
	memcpy(progress->heap_taken, reader->heap_taken,
	       sizeof(progress->heap_taken));
}

static void note_file(struct writer_state *state,
		      struct session_checkpoint *checkpoint)
{
	const struct writer_counts *counts = &state->counts;

	memset(checkpoint->path, 0, sizeof(checkpoint->path));
	checkpoint->tail_at = 0;
	checkpoint->text_bytes = 0;
	checkpoint->crc32 = 0;
	checkpoint->file_index = state->file.file_index;
	checkpoint->window = (uint32_t)state->window;
	if (state->file.is_open) {
		trace_file_position(&state->file.trace, &checkpoint->tail_at,
				    &checkpoint->text_bytes,
				    &checkpoint->crc32);
		memcpy(checkpoint->path, state->file.path,
		       sizeof(state->file.path));
	}
	checkpoint->written = counts->written;
	checkpoint->cut = counts->cut;
	checkpoint->thinned = counts->thinned;
	checkpoint->past_max = counts->past_max;
	checkpoint->past_heap = counts->past_heap;
	checkpoint->unwritable = counts->unwritable;
	checkpoint->unnamed = counts->unnamed;
	checkpoint->arrows = counts->arrows;
	checkpoint->waits = counts->waits;
	checkpoint->file_events = counts->file_events;
	checkpoint->last_ticks = counts->last_ticks;
	checkpoint->part_ticks = state->file.part_ticks;
	checkpoint->heap_live = state->heap.live;
	checkpoint->heap_peak = state->heap.peak;
	memcpy(checkpoint->written_by_kind, counts->written_by_kind,
	       sizeof(checkpoint->written_by_kind));
}

static void give_back(struct writer_state *state)
{
	const uint64_t *chunks = state->spent.array.base;

	for (size_t i = 0; i < state->spent.count; i++) {
		const struct chunk *chunk =
			session_at(state->session, chunks[i]);

		state->packed_chunks -= chunk->form != CHUNK_RAW;
		state->spool.chunks -= chunk->form == CHUNK_SPOOLED;
		pool_give(state->session, chunks[i]);
	}
	if (!state->spool.chunks)
		spool_empty(&state->spool);
	state->spent.count = 0;
	for (struct ring_reader *t = state->readers; t; t = t->older) {
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
		state->retired -= state->retired > 0;
	}
	state->retired_kept = state->retired;
}

int checkpoint_make(struct writer_state *state)
{
	struct session_header *head = state->session->head;
	const unsigned int next = !(load_relaxed(&head->checkpoint) & 1);
	int rc;

	flame_flush(state);
	heap_sites_flush(state);
	trace_frame_note_scheduled(head, !(state->checkpoints % OTHERS_EVERY));
	rc = window_trace_checkpoint(state);
	if (rc)
		return rc;
	for (struct ring_reader *t = state->readers; t; t = t->older)
		note_progress(state, t, next);
	note_file(state, &head->checkpoints[next]);
	/* RELEASE pairs with the look of recovery_run(), which comes after our
	 * death: it orders the stores above for whoever shares the mapping. */
	store_release(&head->checkpoint, next);
	if (state->is_live)
		give_back(state);
	state->checkpoints++;
	state->checkpoint_ns = clock_monotonic_ns();
	state->events_at_checkpoint = consumed(state);
	state->text_at_checkpoint = window_file_text_bytes(state);
	return 0;
}
