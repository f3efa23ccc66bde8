/* SPDX-License-Identifier: MIT */
/* summary.c - adds up what the writer did; see summary.h. */
#include "writer/summary.h"

#include "writer/account.h"
#include <string.h>
#include <unistd.h>

/* What is on disk after the file could not be written any further. */
static void correct(struct writer_summary *summary,
		    const struct writer_state *state)
{
	const struct session_header *head = state->session->head;
	const struct session_checkpoint *last =
		&head->checkpoints[load_relaxed(&head->checkpoint) & 1];

	summary->files = access(last->path, F_OK) ? 0 : last->file_index;
	summary->written = last->written;
	memcpy(summary->path, last->path, sizeof(summary->path));
}

/* What one of its sources leaves there (preload/sample/task_counts.h). */
static uint64_t own_events(const struct writer_state *state)
{
	struct thread *t = NULL;
	uint64_t events = 0;

	/* A GPU's are another one's. */
	if (load_relaxed(&state->session->head->gpu.source))
		return 0;
	while ((t = thread_each(state->session, t)))
		if (t->tid == state->writer_tid)
			events += t->ring.committed;
	return events;
}

void summary_take(struct writer_summary *summary,
		  const struct writer_state *state)
{
	struct thread_sums sums;

	thread_sum(state->session, &sums);
	summary->files = state->file.file_index;
	summary->written = state->counts.written;
	summary->cut = state->counts.cut;
	summary->past_max = state->counts.past_max - state->counts.past_heap;
	summary->past_heap = state->counts.past_heap;
	summary->deleted = state->counts.deleted;
	/* What was not read yet is told of too. */
	summary->thinned = sums.committed > state->counts.written +
						    state->counts.cut +
						    state->counts.thinned
				   ? sums.thinned
				   : state->counts.thinned;
	summary->dropped = sums.dropped;
	summary->lost_waits = state->counts.waits.lost;
	summary->seen = sums.committed + sums.dropped;
	summary->counts = own_events(state);
	summary->bytes = state->file.bytes_done;
	if (state->file.is_open)
		summary->bytes += trace_file_size(&state->file.trace);
	memcpy(summary->path, state->file.path, sizeof(summary->path));
	summary->judged_events = state->file.fullest.events;
	summary->judged_worth = state->file.fullest.worth;
	memcpy(summary->judged, state->file.fullest.path,
	       sizeof(summary->judged));
	if (state->error)
		correct(summary, state);
	summary->hooks_ns = account_hooks_ns(state, &sums);
	summary->writer_cpu_ns = account_cpu_ns(state);
}
