/* SPDX-License-Identifier: MIT */
/* writer_state.c - begins and ends the writing of a session; see
 * writer_state.h. */
#include "writer/state/writer_state.h"

#include "writer/state/unpack.h"
#include <string.h>
#include <errno.h>

/* GPUs show as processes 0 to 15 in this format, so a small pid moves. */
#define PID_SHIFT	100000u
#define PID_OF_GPU_LAST 15
#define TEXT_BYTES	(320u << 10)

int writer_state_start(struct writer_state *state, struct session *session,
		       bool is_live)
{
	const struct session_header *head = session->head;
	const uint64_t pid = head->pid > 0 ? (uint64_t)head->pid : 1;

	*state = (struct writer_state){.session = session, .is_live = is_live};
	state->pid = pid <= PID_OF_GPU_LAST ? pid + PID_SHIFT : pid;
	state->budget = is_live ? UINT64_MAX
				: session->bytes / sizeof(struct event) * 16;
	state->slice_ticks = clock_ticks_per_second(&head->clock) / 100 + 1;
	state->heap.live = head->heap_base_bytes;
	state->heap.peak = head->heap_base_bytes;
	state->totals_are_whole = true;
	timeline_start(&state->timeline, session);
	naming_start(&state->naming, session);
	state->naming.generated.is_own = is_live;
	totals_start(&state->totals, &state->naming);
	region_join_start(&state->regions);
	if (!json_open(&state->json, TEXT_BYTES) &&
	    !fields_open(&state->fields))
		return 0;
	writer_state_end(state);
	return -ENOMEM;
}

void writer_state_end(struct writer_state *state)
{
	if (state->file.is_open)
		trace_file_abandon(&state->file.trace);
	state->file.is_open = false;
	json_close(&state->json);
	fields_close(&state->fields);
	region_join_end(&state->regions);
	totals_end(&state->totals);
	naming_end(&state->naming);
	hash_index_free(&state->stacks);
	hash_index_free(&state->tasks);
	array_free(&state->spent.array);
	spool_end(&state->spool, false);
	arena_free(&state->arena);
	state->readers = NULL;
	state->gpu = NULL;
	state->history = NULL;
}

static struct ring_reader *make_reader(struct writer_state *state,
				       struct thread *thread)
{
	const uint32_t whole =
		load_relaxed(&state->session->head->checkpoint) & 1;
	const struct thread_progress *progress = &thread->progress[whole];
	struct ring_reader *reader =
		arena_alloc(&state->arena, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->thread = thread;
	reader->drain = drain_unpack(progress->head);
	/* Of 40 KB no page is there before it is needed. */
	reader->drain.unpack =
		arena_alloc(&state->arena, sizeof(*reader->drain.unpack));
	if (!reader->drain.unpack)
		return NULL;
	reader->drain.unpack->spool = &state->spool;
	reader->scan = reader->drain;
	reader->ends = reader->drain;
	reader->seen = reader->drain;
	reader->pending = progress->pending;
	reader->named_in_file = progress->named_in_file;
	reader->lanes_named = UINT32_C(1) << LANE_MAIN;
	reader->loss_drawn = progress->loss_drawn;
	reader->heap_live = progress->heap_live;
	reader->heap_known = progress->heap_live;
	reader->marks_taken = progress->marks_taken;
	memcpy(reader->heap_taken, progress->heap_taken,
	       sizeof(reader->heap_taken));
	state->heap.live += reader->heap_live;
	return reader;
}

int writer_state_find_readers(struct writer_state *state)
{
	struct ring_reader *newest = state->readers;
	struct thread *known = newest ? newest->thread : NULL;
	struct ring_reader **link = &state->readers;

	for (struct thread *t = thread_each(state->session, NULL);
	     t && t != known; t = thread_each(state->session, t)) {
		struct ring_reader *reader = make_reader(state, t);

		if (!reader) {
			/* Those after it would be lost with it: next time. */
			state->readers = newest;
			return -ENOMEM;
		}
		*link = reader;
		link = &reader->older;
	}
	*link = newest;
	return 0;
}

void writer_state_count_retired(struct writer_state *state)
{
	state->retired = state->retired_kept = 0;
	for (struct ring_reader *t = state->readers; t; t = t->older) {
		/* What a history holds back is not given back yet. */
		state->retired +=
			load_relaxed(&t->thread->state) == THREAD_RETIRED &&
			(!state->history || !t->limit ||
			 drain_at(&t->drain) == t->limit);
	}
}

static struct window *window_at(const struct writer_state *state,
				uint64_t index)
{
	return &state->session->head->windows.window[index % WINDOWS_MAX];
}

static bool is_opened(struct writer_state *state, uint64_t index)
{
	if (index >= state->opened)
		/* ACQUIRE pairs with RELEASE in window_open(): the window. */
		state->opened =
			load_acquire(&state->session->head->windows.opened);
	return index < state->opened;
}

struct window *writer_state_window(struct writer_state *state)
{
	return is_opened(state, state->window) ? window_at(state, state->window)
					       : NULL;
}

enum event_place writer_state_place(struct writer_state *state, uint64_t ticks)
{
	const struct window *window = writer_state_window(state);
	uint64_t end;

	if (!window || ticks < window->start_ticks)
		return PLACE_SKIP;
	/* It was opened in mid-pass: its file comes with the next. */
	if (!state->file.is_open)
		return PLACE_DEFER;
	/* ACQUIRE pairs with RELEASE in window_close(): last_step. */
	end = load_acquire(&((struct window *)window)->end_ticks);
	if (!end || ticks < end)
		return PLACE_WRITE;
	if (is_opened(state, state->window + 1) &&
	    ticks >= window_at(state, state->window + 1)->start_ticks)
		return PLACE_DEFER;
	/* Behind the last window: the flight recorder's next history, or what
	 * windows of steps are cut from. */
	return (state->history || state->keeps) && !state->is_finishing
		       ? PLACE_DEFER
		       : PLACE_SKIP;
}

uint64_t writer_state_begin(struct writer_state *state,
			    const struct event *event)
{
	const struct window *window = writer_state_window(state);

	return window && window->reason &&
			       event->start_ticks < window->start_ticks &&
			       event->end_ticks > window->start_ticks
		       ? window->start_ticks
		       : event->start_ticks;
}

void writer_state_close(struct writer_state *state)
{
	if (state->file.is_open)
		output_close(&state->file.trace.output);
	if (state->spool.is_open)
		output_close(&state->spool.output);
}
