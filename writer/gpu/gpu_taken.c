/* SPDX-License-Identifier: MIT */
/* gpu_taken.c - times of which CUPTI told us nothing; see gpu_taken.h. */
#include "writer/gpu/gpu_taken.h"

#include "writer/gpu/gpu_draw.h"
#include <string.h>

#define THEIRS "CUPTI is another profiler's"
#define LOST   "records of the GPU are missing"

/* Nothing was asked of us, nor given back, in the whole file. */
static bool is_silent(struct writer_state *state)
{
	struct gpu_state *known = &state->session->head->gpu;
	const uint64_t touched = load_relaxed(&known->touched_ticks);

	return !touched ||
	       timeline_ns(&state->timeline, touched) < state->file.start_ns;
}

void gpu_taken_draw(struct writer_state *state, uint64_t end_ticks)
{
	struct gpu_state *known = &state->session->head->gpu;
	/* ACQUIRE pairs with RELEASE in cupti_neighbour.c: time_begins(). */
	const uint32_t count = load_acquire(&known->taken_count);
	const uint64_t end_ns = timeline_ns(&state->timeline, end_ticks);
	struct gpu *gpu = state->gpu;
	size_t begin;

	if (!gpu || !state->file.is_open)
		return;
	gpu->taken_ns = 0;
	for (uint32_t i = count > GPU_TAKEN_MAX ? count - GPU_TAKEN_MAX : 0;
	     i < count; i++) {
		struct gpu_taken *taken = &known->taken[i % GPU_TAKEN_MAX];
		const uint64_t end = load_relaxed(&taken->end_ticks);
		const char *text;
		struct lane_span span = {
			timeline_ns(&state->timeline,
				    load_relaxed(&taken->start_ticks)),
			end ? timeline_ns(&state->timeline, end) : end_ns};

		span.start_ns = max_u64(span.start_ns, state->file.start_ns);
		span.end_ns = min_u64(span.end_ns, end_ns);
		if (span.start_ns >= span.end_ns)
			continue;
		gpu->taken_ns += span.end_ns - span.start_ns;
		text = load_relaxed(&taken->is_loss) ? LOST : THEIRS;
		begin = json_mark(&state->json);
		gpu_draw_overhead(state, load_relaxed(&taken->tid), text,
				  strlen(text), span);
		if (state->json.failed)
			json_back(&state->json, begin);
		else if (window_file_is_due(state))
			window_file_flush(state);
	}
	gpu->is_silent = !gpu->taken_ns && is_silent(state);
}
