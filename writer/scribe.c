/* SPDX-License-Identifier: MIT */
/* scribe.c - begins and ends the writing of a session; see scribe.h. */
#include "writer/scribe.h"

#include "writer/gpu.h"
#include "writer/history.h"
#include "writer/step_finder.h"

#include <errno.h>

/* GPUs show as processes 0 to 15 in this format, so a small pid moves. */
#define PID_SHIFT	100000u
#define PID_OF_GPU_LAST 15
#define TEXT_BYTES	(320u << 10)

int scribe_start(struct scribe *scribe, struct session *session, bool is_live)
{
	const struct session_header *head = session->head;
	const uint64_t pid = head->pid > 0 ? (uint64_t)head->pid : 1;

	*scribe = (struct scribe){.session = session, .is_live = is_live};
	scribe->pid = pid <= PID_OF_GPU_LAST ? pid + PID_SHIFT : pid;
	scribe->budget = is_live ? UINT64_MAX
				 : session->bytes / sizeof(struct event) * 16;
	scribe->slice_ticks = clock_ticks_per_second(&head->clock) / 100 + 1;
	scribe->heap.live = head->heap_base_bytes;
	scribe->heap.peak = head->heap_base_bytes;
	scribe->totals_are_whole = true;
	timeline_start(&scribe->timeline, session);
	naming_start(&scribe->naming, session);
	totals_start(&scribe->totals, &scribe->naming);
	region_join_start(&scribe->regions);
	if (history_start(scribe) || json_open(&scribe->json, TEXT_BYTES) ||
	    fields_open(&scribe->fields)) {
		scribe_end(scribe);
		return -ENOMEM;
	}
	if (is_live)
		step_finder_start(scribe);
	return 0;
}

void scribe_end(struct scribe *scribe)
{
	if (scribe->file.is_open)
		trace_file_abandon(&scribe->file.trace);
	scribe->file.is_open = false;
	gpu_end(scribe);
	step_finder_end(scribe);
	json_close(&scribe->json);
	fields_close(&scribe->fields);
	region_join_end(&scribe->regions);
	totals_end(&scribe->totals);
	naming_end(&scribe->naming);
	array_free(&scribe->spent.array);
	arena_free(&scribe->arena);
	scribe->tracks = NULL;
	scribe->history = NULL;
}

static struct track *make_track(struct scribe *scribe, struct thread *thread)
{
	const uint32_t whole =
		load_relaxed(&scribe->session->head->checkpoint) & 1;
	const struct thread_progress *progress = &thread->progress[whole];
	struct track *track = arena_alloc(&scribe->arena, sizeof(*track));

	if (!track)
		return NULL;
	track->thread = thread;
	track->drain = drain_unpack(progress->head);
	track->scan = track->drain;
	track->seen = track->drain;
	track->pending = progress->pending;
	track->named_in_file = progress->named_in_file;
	track->loss_drawn = progress->loss_drawn;
	track->heap_live = progress->heap_live;
	scribe->heap.live += track->heap_live;
	return track;
}

int scribe_find_tracks(struct scribe *scribe)
{
	struct track *newest = scribe->tracks;
	struct thread *known = newest ? newest->thread : NULL;
	struct track **link = &scribe->tracks;

	for (struct thread *t = thread_each(scribe->session, NULL);
	     t && t != known; t = thread_each(scribe->session, t)) {
		struct track *track = make_track(scribe, t);

		if (!track) {
			/* Those behind would be lost with it: next time. */
			scribe->tracks = newest;
			return -ENOMEM;
		}
		*link = track;
		link = &track->older;
	}
	*link = newest;
	return 0;
}

static struct window *window_at(const struct scribe *scribe, uint64_t index)
{
	return &scribe->session->head->windows.window[index % WINDOWS_MAX];
}

static bool is_opened(struct scribe *scribe, uint64_t index)
{
	if (index >= scribe->opened)
		/* ACQUIRE pairs with RELEASE in window_open(): the window. */
		scribe->opened =
			load_acquire(&scribe->session->head->windows.opened);
	return index < scribe->opened;
}

struct window *scribe_window(struct scribe *scribe)
{
	return is_opened(scribe, scribe->window)
		       ? window_at(scribe, scribe->window)
		       : NULL;
}

enum scribe_place scribe_place(struct scribe *scribe, uint64_t ticks)
{
	const struct window *window = scribe_window(scribe);
	uint64_t end;

	if (!window || ticks < window->start_ticks)
		return SCRIBE_CUT;
	/* It was opened in mid-pass: its file comes with the next. */
	if (!scribe->file.is_open)
		return SCRIBE_HOLD;
	/* ACQUIRE pairs with RELEASE in window_close(): last_step. */
	end = load_acquire(&((struct window *)window)->end_ticks);
	if (!end || ticks < end)
		return SCRIBE_WRITE;
	if (is_opened(scribe, scribe->window + 1) &&
	    ticks >= window_at(scribe, scribe->window + 1)->start_ticks)
		return SCRIBE_HOLD;
	/* Behind the last window: the flight recorder's next history. */
	return scribe->history && !scribe->is_finishing ? SCRIBE_HOLD
							: SCRIBE_CUT;
}
