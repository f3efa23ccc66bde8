/* SPDX-License-Identifier: MIT */
/* step_calls.c - joins calls with kernels; see step_calls.h. */
#include "writer/steps/step_calls.h"

#include "collector/system/log.h"
#include "collector/session/names.h"
#include "writer/loops/loop_graphs.h"
#include "writer/state/gpu_label.h"
#include <string.h>

#define KERNELS 65536u
#define GRAPHS	4096u

void step_calls_start(struct step_calls *calls, struct arena *arena)
{
	if (calls->kernels)
		return;
	calls->graphs = arena_alloc(arena, GRAPHS * sizeof(*calls->graphs));
	if (calls->graphs)
		calls->kernels =
			arena_alloc(arena, KERNELS * sizeof(*calls->kernels));
}

static uint64_t note_of(uint32_t name, uint64_t correlation)
{
	return (uint64_t)name << 32 | (uint32_t)correlation;
}

/* What its code tells of the loops around it; a graph's `caller` is none. */
static void know_loops(const struct session *session, struct loop_mark *mark)
{
	const struct step_search *search = &session->head->search;
	const struct search_loops loops = search_loops_of(
		search, mark->id, mark->is_graph ? 0 : mark->caller);

	mark->loop = loops.loop;
	mark->within = (uint8_t)search_loop_number(search, loops.within);
	mark->depth = loops.depth;
	mark->is_always = loops.is_always;
	mark->is_needed = loops.is_needed;
}

static void become(const struct session *session, struct loop_mark *mark,
		   uint32_t name, uint64_t correlation)
{
	size_t len;

	mark->id = search_kernel(names_text(session, name, &len));
	mark->note = note_of(name, correlation);
	know_loops(session, mark);
}

static uint16_t graph_of(const struct step_calls *calls, uint64_t correlation)
{
	const struct graph_work *work = &calls->graphs[correlation % GRAPHS];

	return work->correlation == (uint32_t)correlation ? work->graph : 0;
}

static bool is_copy(const struct session *session, const struct event *event)
{
	size_t len;

	return event->api.is_launch == GPU_LAUNCH_COPY &&
	       !strstr(names_text(session, event->name, &len), "Memset");
}

bool step_calls_read(const struct step_calls *calls,
		     const struct session *session, const struct event *event,
		     struct loop_mark *mark)
{
	const uint64_t correlation = event->api.correlation;
	uint64_t kept;

	if (!calls->kernels || !event->api.is_launch)
		return false;
	*mark = (struct loop_mark){
		.id = search_call(event->api.is_driver, event->api.cbid),
		.ticks = event->start_ticks,
		.end_ticks = event->end_ticks,
		.note = note_of(event->name, correlation),
		.is_copy = is_copy(session, event)};
	if (event->api.is_launch == GPU_LAUNCH_GRAPH) {
		mark->is_graph = true;
		mark->caller = graph_of(calls, correlation);
	} else {
		mark->caller = event->api.place & SEARCH_CALLER;
		mark->turn = SEARCH_TURN(event->api.place);
	}
	know_loops(session, mark);
	kept = calls->kernels[correlation % KERNELS];
	if (kept >> 32 && (uint32_t)kept == (uint32_t)correlation)
		become(session, mark, (uint32_t)(kept >> 32), correlation);
	return true;
}

size_t step_calls_find(const struct step_marks *marks, uint64_t correlation)
{
	const struct loop_mark *all = step_marks(marks);
	const uint32_t wanted = (uint32_t)correlation;
	size_t low = 0;
	size_t high = marks->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if ((int32_t)((uint32_t)all[middle].note - wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < marks->count && (uint32_t)all[low].note == wanted
		       ? low
		       : marks->count;
}

bool step_calls_name(const struct session *session, struct step_marks *marks,
		     const struct event *kernel)
{
	const uint64_t correlation = kernel->gpu.correlation;
	const size_t at = step_calls_find(marks, correlation);

	if (at == marks->count)
		return false;
	become(session, &step_marks(marks)[at], kernel->name, correlation);
	return true;
}

void step_calls_keep(struct step_calls *calls, const struct event *kernel)
{
	const uint64_t correlation = kernel->gpu.correlation;

	if (calls->kernels)
		calls->kernels[correlation % KERNELS] =
			note_of(kernel->name, correlation);
}

bool step_calls_name_graph(const struct session *session,
			   struct step_marks *marks, const struct event *kernel)
{
	const size_t at = step_calls_find(marks, kernel->gpu.correlation);
	struct loop_mark *mark = &step_marks(marks)[at];
	size_t len;

	if (at == marks->count)
		return false;
	mark->caller = loop_graphs_add(mark->caller,
				       names_text(session, kernel->name, &len));
	return true;
}

void step_calls_keep_graph(struct step_calls *calls,
			   const struct session *session,
			   const struct event *kernel)
{
	const uint32_t correlation = (uint32_t)kernel->gpu.correlation;
	struct graph_work *work = &calls->graphs[correlation % GRAPHS];
	size_t len;

	if (!calls->kernels)
		return;
	if (work->correlation != correlation)
		*work = (struct graph_work){.correlation = correlation};
	work->graph = loop_graphs_add(work->graph,
				      names_text(session, kernel->name, &len));
}

void step_calls_text(const struct session *session,
		     const struct loop_mark *mark, char *text, size_t bytes)
{
	const struct label key = {.kind = EVENT_GPU_KERNEL,
				  .name = (uint32_t)(mark->note >> 32)};
	size_t len;

	if (search_is_kernel(mark->id))
		gpu_label_text(session, &key, text, bytes);
	else
		log_format(text, bytes, "%s",
			   names_text(session, key.name, &len));
}

void step_calls_describe(const struct session *session,
			 const struct loop_mark *mark, char *text, size_t bytes)
{
	char name[128];

	step_calls_text(session, mark, name, sizeof(name));
	log_format(text, bytes,
		   search_is_kernel(mark->id) ? "kernel \"%s\""
					      : "CUDA call %s",
		   name);
}
