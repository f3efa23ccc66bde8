/* SPDX-License-Identifier: MIT */
/* clip.c - an event's times and whether it has room; see clip.h. */
#include "writer/events/clip.h"

#include "collector/session/names.h"

#define TEXT_MIB (UINT64_C(1) << 20)

/* A step does where it crosses nothing. */
static bool is_on_main_lane(const struct event *event)
{
	return event_is_on_lane(event->kind) ||
	       (event->kind == EVENT_STEP && event_json_step_nests(event));
}

static bool is_detail(unsigned int kind)
{
	return kind != EVENT_COUNTER && kind != EVENT_STEP &&
	       kind != EVENT_LOSS;
}

bool clip_is_small_block(const struct writer_state *state,
			 const struct event *event)
{
	return (event->kind == EVENT_HEAP_ALLOC ||
		event->kind == EVENT_HEAP_FREE) &&
	       event->heap.size_bytes <
		       (uint64_t)state->session->head->options.malloc_min;
}

uint64_t clip_window_end(struct writer_state *state)
{
	const struct window *window = writer_state_window(state);

	/* ACQUIRE pairs with RELEASE in window_close(). */
	return window ? load_acquire(&((struct window *)window)->end_ticks) : 0;
}

void clip_event(struct writer_state *state, struct ring_reader *reader,
		const struct event *event, struct event_span *span)
{
	struct timeline *line = &state->timeline;
	/* What a GPU does is not over when the program's window is. */
	const uint64_t limit =
		event_is_gpu(event->kind) && event->kind != EVENT_GPU_API
			? 0
			: clip_window_end(state);
	const uint64_t begin = writer_state_begin(state, event);
	uint64_t end = max_u64(begin, event->end_ticks);

	span->is_cut =
		event->flags & EVENT_UNFINISHED || begin != event->start_ticks;
	if (limit && end > limit) {
		end = limit;
		span->is_cut = true;
	}
	span->start_ns = timeline_ns(line, begin);
	span->end_ns = span->start_ns;
	if (end != begin)
		span->end_ns = max_u64(span->start_ns, timeline_ns(line, end));
	if (is_on_main_lane(event)) {
		int64_t start_ns = (int64_t)span->start_ns;
		int64_t end_ns = (int64_t)span->end_ns;

		nest_place(&reader->nest, &start_ns, &end_ns);
		span->start_ns = (uint64_t)start_ns;
		span->end_ns = (uint64_t)end_ns;
	}
}

bool clip_has_room(struct writer_state *state, const struct event *event,
		   uint64_t ts_ns)
{
	const struct options *options = &state->session->head->options;
	const uint64_t most = (uint64_t)options->max_mb * TEXT_MIB;
	struct window_file *file = &state->file;
	const bool may_go_on = file->may_go_on && !state->gpu;

	if (options->max_mb <= 0 || !is_detail(event->kind))
		return true;
	if (clip_is_small_block(state, event)) {
		if (!file->heap_is_over && file->heap_bytes >= most / 2) {
			file->heap_is_over = true;
			file->heap_ended_ns = ts_ns;
		}
		if (file->heap_is_over)
			return false;
	} else if (file->heap_is_over && file->file_index == 1 && may_go_on) {
		/* What a start-up allocates leaves no room for what comes
		 * after it: that has the next part. */
		file->part_is_due = true;
	}
	if (file->detail_is_over)
		return false;
	if (window_file_text_bytes(state) < most)
		return true;
	/* A little more, up to the next slice of time. */
	if (may_go_on) {
		file->part_is_due = true;
		return true;
	}
	file->detail_is_over = true;
	file->detail_ended_ns = ts_ns;
	session_note(state->session,
		     "detail ended at MAX_MB=%ld in file %lu; totals go on",
		     (long)options->max_mb, (unsigned long)file->file_index);
	return false;
}

void clip_count(struct writer_state *state, const struct event *event,
		bool is_inside, bool is_drawn)
{
	struct writer_counts *counts = &state->counts;

	if (is_drawn) {
		counts->written++;
		counts->file_events++;
		counts->written_by_kind[event->kind]++;
		counts->unnamed += event->name == NAME_REFUSED;
		return;
	}
	counts->cut++;
	if (!is_inside) {
		counts->outside++;
	} else if (state->file.heap_is_over &&
		   clip_is_small_block(state, event)) {
		counts->past_max++;
		counts->past_heap++;
	} else if (state->file.detail_is_over && is_detail(event->kind)) {
		counts->past_max++;
	} else {
		counts->unwritable++;
	}
}
