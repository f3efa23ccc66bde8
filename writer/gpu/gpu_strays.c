/* SPDX-License-Identifier: MIT */
/* gpu_strays.c - work without a call, by its id; see gpu_strays.h. */
#include "writer/gpu/gpu_strays.h"

void gpu_strays_free(struct gpu_strays *strays)
{
	array_free(&strays->array);
}

static struct gpu_stray *stray_of(const struct gpu_strays *strays,
				  uint64_t correlation)
{
	return (struct gpu_stray *)strays->array.base +
	       correlation % GPU_STRAYS_KEPT;
}

struct gpu_stray *gpu_strays_add(struct gpu_strays *strays,
				 uint64_t correlation, uint64_t file,
				 const struct gpu_row *row, uint64_t start_ns)
{
	struct gpu_stray *stray;

	if (array_reserve(&strays->array, GPU_STRAYS_KEPT * sizeof(*stray)))
		return NULL;
	stray = stray_of(strays, correlation);
	if (stray->correlation != correlation || stray->file != file)
		*stray = (struct gpu_stray){.correlation = correlation,
					    .file = file,
					    .row = row,
					    .start_ns = start_ns};
	stray->count++;
	return stray;
}

bool gpu_strays_take(struct gpu_strays *strays, uint64_t correlation,
		     uint64_t file, struct gpu_stray *taken)
{
	struct gpu_stray *stray;

	if (!strays->array.base)
		return false;
	stray = stray_of(strays, correlation);
	if (!stray->count || stray->correlation != correlation ||
	    stray->file != file)
		return false;
	*taken = *stray;
	*stray = (struct gpu_stray){0};
	return true;
}
