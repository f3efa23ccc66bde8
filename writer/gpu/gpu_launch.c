/* SPDX-License-Identifier: MIT */
/* gpu_launch.c - the table of launching calls; see gpu_launch.h. */
#include "writer/gpu/gpu_launch.h"

#define LAUNCHES_KEPT 131072u

int gpu_launches_start(struct gpu_launches *launches)
{
	*launches = (struct gpu_launches){0};
	return array_reserve(&launches->array,
			     LAUNCHES_KEPT * sizeof(struct gpu_launch));
}

void gpu_launches_end(struct gpu_launches *launches)
{
	array_free(&launches->array);
}

static struct gpu_launch *place(const struct gpu_launches *launches,
				uint64_t correlation)
{
	return (struct gpu_launch *)launches->array.base +
	       correlation % LAUNCHES_KEPT;
}

struct gpu_launch *gpu_launches_add(struct gpu_launches *launches,
				    const struct event *call)
{
	struct gpu_launch *launch = place(launches, call->api.correlation);

	/* A call is added ahead and again when it is drawn. */
	if (launch->correlation != call->api.correlation ||
	    launch->tid != call->extra)
		*launch = (struct gpu_launch){
			.correlation = call->api.correlation,
			.start_ticks = call->start_ticks,
			.tid = call->extra,
		};
	return launch;
}

struct gpu_launch *gpu_launches_find(const struct gpu_launches *launches,
				     uint64_t correlation)
{
	struct gpu_launch *launch = place(launches, correlation);

	return correlation && launch->correlation == correlation ? launch
								 : NULL;
}
