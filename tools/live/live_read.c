/* SPDX-License-Identifier: MIT */
/*
 * live_read.c - one look at a session's file.
 *
 * Header and thread records are copied by pread(): a map of it would back its
 * holes, and would kill us where somebody cuts the file.
 */
#include "tools/live/live.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* The record at `at` into the copy of its session. */
static struct thread *fetch(int file, struct session *session, uint64_t at)
{
	struct thread *thread;

	if (at % _Alignof(struct thread))
		return NULL;
	thread = session_at_checked(session, at, sizeof(*thread));
	if (!thread || pread(file, thread, sizeof(*thread), (off_t)at) !=
			       (ssize_t)sizeof(*thread))
		return NULL;
	return thread;
}

static int64_t since_ns(const struct session *session, uint64_t ticks,
			int64_t now_ns)
{
	const int64_t ns = now_ns - clock_ns(&session->head->clock, ticks);

	return ns > 0 ? ns : 0;
}

/* The writer notes names now and then; the kernel knows them at once. */
static void name_thread(const struct live *live, struct live_thread *thread,
			const struct thread *record)
{
	char path[64];
	FILE *comm;

	memcpy(thread->name, record->name, sizeof(thread->name) - 1);
	if (thread->name[0] || !thread->is_live)
		return;
	snprintf(path, sizeof(path), "/proc/%d/task/%u/comm", live->pid,
		 thread->tid);
	comm = fopen(path, "re");
	if (!comm)
		return;
	if (fgets(thread->name, sizeof(thread->name), comm))
		thread->name[strcspn(thread->name, "\n")] = '\0';
	fclose(comm);
}

static void take_thread(struct live *live, const struct session *session,
			const struct thread *record)
{
	struct live_thread *thread = &live->thread[live->thread_count];
	const uint32_t depth = load_relaxed(&((struct thread *)record)->depth);
	uint64_t dropped = 0;

	for (int kind = 0; kind < EVENT_KIND_COUNT; kind++)
		dropped += record->ring.dropped[kind];
	live->events += record->ring.committed + dropped;
	live->dropped += dropped;
	live->regions += (uint32_t)record->region;
	live->heap_calls += record->ring.heap_allocs + record->ring.heap_frees;
	live->heap_live += (int64_t)record->ring.heap_alloc_bytes -
			   (int64_t)record->ring.heap_free_bytes;
	if (live->thread_count == LIVE_THREADS_MAX)
		return;
	live->thread_count++;
	*thread = (struct live_thread){
		.tid = record->tid,
		.is_live = load_relaxed(&((struct thread *)record)->state) ==
			   THREAD_LIVE,
		.events = record->ring.committed + dropped,
		.dropped = dropped,
		.regions = (uint32_t)record->region,
		.depth = depth,
	};
	name_thread(live, thread, record);
	if (depth && depth <= OPEN_SLICES_MAX) {
		thread->kind = record->open[depth - 1].kind;
		thread->open_ns =
			since_ns(session, record->open[depth - 1].start_ticks,
				 live->now_ns);
	}
}

static void take_threads(struct live *live, struct session *session, int file)
{
	uint64_t at = load_relaxed(&session->head->threads);
	uint64_t place = UINT64_MAX;
	struct thread *record;

	/* Places go strictly down, as in thread_each(). */
	while (at && (record = fetch(file, session, at)) &&
	       record->place < place) {
		take_thread(live, session, record);
		place = record->place;
		at = load_relaxed(&record->next);
	}
}

static void take_head(struct live *live, struct session *session)
{
	struct session_header *head = session->head;
	struct window_state *windows = &head->windows;
	const struct session_checkpoint *checkpoint =
		&head->checkpoints[load_relaxed(&head->checkpoint) & 1];
	const uint64_t settled = load_relaxed(&head->gpu.settled_ticks);
	const uint32_t search = search_state(&head->search);

	live->began_ns = head->clock.first_ns;
	live->pid = head->pid;
	snprintf(live->program, sizeof(live->program), "%.60s", head->program);
	snprintf(live->host, sizeof(live->host), "%.60s", head->host);
	snprintf(live->file, sizeof(live->file), "%s", checkpoint->path);
	live->is_over = load_relaxed(&head->state) != SESSION_RUNNING;
	live->is_recording = window_is_open(windows);
	live->is_searching = search >= SEARCH_ON && search < SEARCH_LIVE;
	live->steps = load_relaxed(&windows->steps);
	live->step_ns = live->steps
				? since_ns(session, windows->step_start_ticks,
					   live->now_ns)
				: -1;
	live->unrecorded = load_relaxed(&head->unrecorded_calls);
	live->missed = load_relaxed(&head->missed_calls);
	live->heap_live = head->heap_base_bytes;
	live->has_gpu = load_relaxed(&head->gpu.source) != GPU_SOURCE_NONE;
	live->launches = head->gpu.launches;
	live->kernels = head->gpu.kernels;
	live->gpu_lost = load_relaxed(&head->gpu.lost) +
			 load_relaxed(&head->gpu.dropped);
	live->gpu_behind_ns =
		settled ? since_ns(session, settled, live->now_ns) : -1;
	live->windows = load_relaxed(&windows->opened);
	live->files = load_relaxed(&windows->written);
	live->chunks = load_relaxed(&head->chunk_count);
	live->free_chunks = load_relaxed(&head->free_chunk_count);
}

int live_read(int file, struct live *live)
{
	struct session session;
	int error;

	memset(live, 0, sizeof(*live));
	live->now_ns = (int64_t)clock_monotonic_ns();
	error = session_look(file, &session);
	if (error)
		return error;
	take_head(live, &session);
	take_threads(live, &session, file);
	if (!live->heap_calls)
		live->heap_live = -1;
	session_close(&session);
	return 0;
}
