/* SPDX-License-Identifier: MIT */
/* gpu_launch.c - tables of launches and recordings; see gpu_launch.h. */
#include "writer/gpu/gpu_launch.h"

#include <errno.h>

#define LAUNCHES_KEPT 131072u
#define CHAIN_BITS    17
/* An event that is recorded more often between two looks has its earlier
 * recordings forgotten. */
#define STEPS_MOST    4096u
/* Once a recording is found that one is preferred to, its own context's. */
#define STEPS_MORE    128u

int gpu_launches_start(struct gpu_launches *launches)
{
	*launches = (struct gpu_launches){0};
	if (array_reserve(&launches->newest,
			  (UINT64_C(1) << CHAIN_BITS) * sizeof(uint64_t)))
		return -ENOMEM;
	return array_reserve(&launches->array,
			     LAUNCHES_KEPT * sizeof(struct gpu_launch));
}

void gpu_launches_end(struct gpu_launches *launches)
{
	array_free(&launches->array);
	array_free(&launches->newest);
}

static uint64_t *chain_of(const struct gpu_launches *launches,
			  uint64_t correlation)
{
	return (uint64_t *)launches->newest.base +
	       (correlation * UINT64_C(0x9e3779b97f4a7c15) >>
		(64 - CHAIN_BITS));
}

static struct gpu_launch *launch_at(const struct gpu_launches *launches,
				    uint64_t number)
{
	return (struct gpu_launch *)launches->array.base +
	       (number - 1) % LAUNCHES_KEPT;
}

struct gpu_launch *gpu_launches_find(const struct gpu_launches *launches,
				     uint64_t correlation)
{
	uint64_t number = correlation ? *chain_of(launches, correlation) : 0;

	/* Numbers go down along a chain, to one whose place was taken. */
	while (number && number + LAUNCHES_KEPT > launches->count) {
		struct gpu_launch *launch = launch_at(launches, number);

		if (launch->correlation == correlation)
			return launch;
		number = launch->older;
	}
	return NULL;
}

/* Its place is another's now: its work, if it comes, will not find it. */
static void forget_awaited(struct gpu_launches *launches,
			   const struct gpu_launch *launch)
{
	if (launches->file && launch->awaited_in == launches->file &&
	    launch->arrived_in != launches->file && !launch->kernels)
		launches->forgotten++;
}

struct gpu_launch *gpu_launches_add(struct gpu_launches *launches,
				    const struct event *call)
{
	const uint64_t correlation = call->api.correlation;
	struct gpu_launch *launch = gpu_launches_find(launches, correlation);
	uint64_t *newest, older;

	/* A call is added ahead and again when it is drawn. */
	if (launch && launch->tid == call->extra)
		return launch;
	if (launch) {
		older = launch->older;
	} else {
		newest = chain_of(launches, correlation);
		older = *newest;
		*newest = ++launches->count;
		launch = launch_at(launches, launches->count);
	}
	forget_awaited(launches, launch);
	*launch = (struct gpu_launch){
		.older = older,
		.correlation = correlation,
		.start_ticks = call->start_ticks,
		.tid = call->extra,
	};
	return launch;
}

static void count_in(struct gpu_launches *launches, uint64_t file)
{
	if (launches->file == file)
		return;
	launches->file = file;
	launches->launched = 0;
	launches->missing = 0;
	launches->partial = 0;
	launches->forgotten = 0;
	launches->unsized = 0;
}

void gpu_launches_await(struct gpu_launches *launches,
			struct gpu_launch *launch, uint64_t file)
{
	count_in(launches, file);
	/* Or it was called by two calls, one inside the other. */
	if (launch->has_none || launch->awaited_in == file)
		return;
	launches->launched++;
	launch->awaited_in = file;
	if (launch->arrived_in == file)
		return;
	launches->missing++;
	launches->partial += launch->kernels > 0;
}

void gpu_launches_arrive(struct gpu_launches *launches,
			 struct gpu_launch *launch, uint32_t wanted,
			 uint64_t file)
{
	const bool is_missed =
		launch->awaited_in == file && launch->arrived_in != file;

	count_in(launches, file);
	launches->unsized += !wanted && !launch->kernels;
	if (++launch->kernels < wanted) {
		launches->partial += is_missed && launch->kernels == 1;
		return;
	}
	launches->missing -= is_missed;
	launches->partial -= is_missed && launch->kernels > 1;
	launch->arrived_in = file;
}

void gpu_launches_excuse(struct gpu_launches *launches,
			 struct gpu_launch *launch, uint64_t file)
{
	if (launch->has_none)
		return;
	launch->has_none = true;
	if (launches->file != file || launch->awaited_in != file ||
	    launch->arrived_in == file)
		return;
	launch->awaited_in = 0;
	launches->launched--;
	launches->missing--;
	launches->partial -= launch->kernels > 0;
}

void gpu_launches_stray(struct gpu_launches *launches, uint64_t file)
{
	if (launches->file != file || !launches->forgotten)
		return;
	launches->forgotten--;
	launches->missing--;
}

static struct gpu_mark *mark_at(const struct gpu_marks *marks, uint64_t number)
{
	return (struct gpu_mark *)marks->array.base +
	       (number - 1) % GPU_MARKS_KEPT;
}

void gpu_marks_add(struct gpu_marks *marks, const struct event *event)
{
	uint64_t *newest = &marks->newest[event->gpu.event % GPU_MARKS_CHAINS];
	struct gpu_mark *mark;

	if (array_reserve(&marks->array, GPU_MARKS_KEPT * sizeof(*mark)))
		return;
	mark = mark_at(marks, ++marks->count);
	*mark = (struct gpu_mark){
		.older = *newest,
		.correlation = event->gpu.correlation,
		.context = event->gpu.context,
		.event = event->gpu.event,
		.recording = event->gpu.recording,
		.stream = event->gpu.stream,
	};
	*newest = marks->count;
}

static bool is_for(const struct event *wait, const struct gpu_mark *mark)
{
	if (wait->gpu.event != mark->event)
		return false;
	if (wait->gpu.recording && mark->recording)
		return wait->gpu.recording == mark->recording;
	return wait->gpu.context == mark->context &&
	       mark->correlation < wait->gpu.correlation;
}

static bool is_nearer(const struct event *wait, const struct gpu_mark *mark,
		      const struct gpu_mark *found)
{
	const bool is_own = mark->context == wait->gpu.context;

	if (is_own != (found->context == wait->gpu.context))
		return is_own;
	return mark->correlation > found->correlation;
}

const struct gpu_mark *gpu_marks_find(const struct gpu_marks *marks,
				      const struct event *wait)
{
	uint64_t number = marks->newest[wait->gpu.event % GPU_MARKS_CHAINS];
	const struct gpu_mark *found = NULL;
	unsigned int most = STEPS_MOST;

	for (unsigned int i = 0; i < most; i++) {
		const struct gpu_mark *mark;

		if (!number || number + GPU_MARKS_KEPT <= marks->count)
			break;
		mark = mark_at(marks, number);
		number = mark->older;
		if (!is_for(wait, mark))
			continue;
		/* Of two contexts with events of that number its own; records
		 * come in nearly any order. */
		if (!found || is_nearer(wait, mark, found))
			found = mark;
		if (!wait->gpu.recording || !mark->recording)
			continue;
		if (mark->context == wait->gpu.context)
			break;
		most = (unsigned int)min_u64(most, i + STEPS_MORE);
	}
	return found;
}

void gpu_marks_free(struct gpu_marks *marks)
{
	array_free(&marks->array);
	*marks = (struct gpu_marks){0};
}
