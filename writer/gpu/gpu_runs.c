/* SPDX-License-Identifier: MIT */
/* gpu_runs.c - launches of graphs by their work; see gpu_runs.h. */
#include "writer/gpu/gpu_runs.h"

/* Work of one launch comes together, and its launches nearly in order. */
#define STEPS_NOTED 16u
#define STEPS_MOST  4096u
#define STEPS_MORE  128u

static struct gpu_run *run_at(const struct gpu_runs *runs, uint64_t number)
{
	return (struct gpu_run *)runs->array.base +
	       (number - 1) % GPU_RUNS_KEPT;
}

/* NULL: there is none, or its place is another's. */
static struct gpu_run *older(const struct gpu_runs *runs, uint64_t number)
{
	return number && number + GPU_RUNS_KEPT > runs->count
		       ? run_at(runs, number)
		       : NULL;
}

static bool is_work(const struct event *event)
{
	return event->kind == EVENT_GPU_KERNEL ||
	       event->kind == EVENT_GPU_COPY || event->kind == EVENT_GPU_FILL;
}

void gpu_runs_note(struct gpu_runs *runs, const struct event *event)
{
	uint64_t *newest;
	struct gpu_run *run;

	if (!is_work(event) || !event->gpu.graph || !event->gpu.correlation ||
	    array_reserve(&runs->array, GPU_RUNS_KEPT * sizeof(*run)))
		return;
	newest = &runs->newest[event->gpu.graph % GPU_RUNS_CHAINS];
	run = older(runs, *newest);
	for (unsigned int i = 0; run && i < STEPS_NOTED; i++) {
		if (run->correlation == event->gpu.correlation) {
			run->first_ticks =
				min_u64(run->first_ticks, event->start_ticks);
			run->last_ticks =
				max_u64(run->last_ticks, event->start_ticks);
			return;
		}
		run = older(runs, run->older);
	}
	run = run_at(runs, ++runs->count);
	*run = (struct gpu_run){
		.older = *newest,
		.correlation = event->gpu.correlation,
		.first_ticks = event->start_ticks,
		.last_ticks = event->start_ticks,
		.graph = event->gpu.graph,
	};
	*newest = runs->count;
}

/* The last that began before it, and the first after. */
static void around(const struct gpu_runs *runs, const struct event *event,
		   const struct gpu_run **before, const struct gpu_run **after)
{
	const uint64_t at = event->start_ticks;
	const struct gpu_run *run =
		older(runs, runs->newest[event->gpu.graph % GPU_RUNS_CHAINS]);
	unsigned int most = STEPS_MOST;

	*before = *after = NULL;
	for (unsigned int i = 0; run && i < most;
	     i++, run = older(runs, run->older)) {
		if (run->graph != event->gpu.graph)
			continue;
		if (run->first_ticks > at) {
			if (!*after || run->first_ticks < (*after)->first_ticks)
				*after = run;
			continue;
		}
		if (!*before || run->first_ticks > (*before)->first_ticks)
			*before = run;
		most = (unsigned int)min_u64(most, i + STEPS_MORE);
	}
}

uint64_t gpu_runs_find(const struct gpu_runs *runs,
		       const struct gpu_launches *launches,
		       const struct event *event)
{
	const struct gpu_run *before, *after;
	const struct gpu_launch *next;

	around(runs, event, &before, &after);
	if (!before)
		return 0;
	if (!after || event->start_ticks <= before->last_ticks ||
	    after->correlation == before->correlation)
		return before->correlation;
	/* The next was not even called for. */
	next = gpu_launches_find(launches, after->correlation);
	return next && next->start_ticks > event->start_ticks
		       ? before->correlation
		       : 0;
}

void gpu_runs_free(struct gpu_runs *runs)
{
	array_free(&runs->array);
	*runs = (struct gpu_runs){0};
}
