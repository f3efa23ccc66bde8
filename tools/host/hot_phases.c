/* SPDX-License-Identifier: MIT */
/* hot_phases.c - regions by call path, idle GPUs by time; see hot_phases.h. */
#include "tools/host/hot_phases.h"

#include <stdlib.h>
#include <string.h>

#include "tools/host/hot.h"
#include "tools/util/memory.h"

bool hot_phase_parse(const char *text, enum hot_phase *phase)
{
	static const char *const names[] = {
		[HOT_PHASE_REGIONS] = "regions",
		[HOT_PHASE_BETWEEN] = "between",
		[HOT_PHASE_GPU_IDLE] = "gpu-idle",
	};

	for (size_t i = HOT_PHASE_REGIONS; i <= HOT_PHASE_GPU_IDLE; i++) {
		if (!strcmp(text, names[i])) {
			*phase = (enum hot_phase)i;
			return true;
		}
	}
	return false;
}

/* --- a GPU's work ----------------------------------------------------------*/

void hot_gpu_event(struct hot_gpu *gpu, const struct trace_event *event)
{
	const struct trace_value *category = &event->field[FIELD_CAT];

	if (!trace_value_is(category, "kernel") &&
	    !trace_value_is(category, "gpu_memcpy") &&
	    !trace_value_is(category, "gpu_memset"))
		return;
	gpu->work = memory_grow(gpu->work, gpu->count, &gpu->capacity,
				sizeof(gpu->work[0]));
	gpu->work[gpu->count++] = (struct hot_gpu_work){
		event->ts_ns, event->ts_ns + event->dur_ns, 0};
}

static int by_start(const void *left, const void *right)
{
	const struct hot_gpu_work *a = left, *b = right;

	return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

/* Pieces that touch or overlap become one. */
void hot_gpu_ready(struct hot_gpu *gpu)
{
	struct hot_gpu_work *work = gpu->work;
	size_t kept = 0;

	if (!gpu->count)
		return;
	qsort(work, gpu->count, sizeof(*work), by_start);
	for (size_t i = 1; i < gpu->count; i++) {
		if (work[i].start_ns > work[kept].end_ns) {
			work[i].before_ns = work[kept].before_ns +
					    work[kept].end_ns -
					    work[kept].start_ns;
			work[++kept] = work[i];
		} else if (work[i].end_ns > work[kept].end_ns) {
			work[kept].end_ns = work[i].end_ns;
		}
	}
	gpu->count = kept + 1;
}

/* Work until then. */
static int64_t work_until(const struct hot_gpu *gpu, int64_t ns)
{
	size_t low = 0, high = gpu->count;
	const struct hot_gpu_work *work;

	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (gpu->work[middle].start_ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return 0;
	work = &gpu->work[low - 1];
	return work->before_ns + (ns < work->end_ns ? ns : work->end_ns) -
	       work->start_ns;
}

int64_t hot_gpu_idle_ns(const struct hot_gpu *gpu, int64_t start_ns,
			int64_t end_ns)
{
	if (!gpu->count)
		return 0;
	if (start_ns < gpu->work[0].start_ns)
		start_ns = gpu->work[0].start_ns;
	if (end_ns > gpu->work[gpu->count - 1].end_ns)
		end_ns = gpu->work[gpu->count - 1].end_ns;
	if (end_ns <= start_ns)
		return 0;
	return end_ns - start_ns -
	       (work_until(gpu, end_ns) - work_until(gpu, start_ns));
}

/* --- regions ---------------------------------------------------------------*/

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

/* What the thread that begins a region is in until its end. */
static bool is_region_call(const char *name)
{
	return begins(name, "GOMP_parallel") ||
	       begins(name, "__kmpc_fork_call") ||
	       begins(name, "__kmpc_fork_teams");
}

/* A function of libgomp, libomp or Intel's; without a symbol "[libgomp.so.1]" or,
 * by line, "libgomp.so.1+0x1d2f4". */
static bool is_runtime(const char *name)
{
	name += *name == '[';
	return begins(name, "GOMP_") || begins(name, "gomp_") ||
	       begins(name, "libgomp") || begins(name, "libomp.") ||
	       begins(name, "libomp-") || begins(name, "libiomp5") ||
	       strstr(name, "__kmp") || begins(name, "kmp_");
}

/* What a runtime itself calls while it waits, or sets up a thread. */
static bool is_library(const char *name)
{
	static const char *const names[] = {
		"[libc.so",    "libc.so", "[libpthread", "libpthread",
		"sched_yield", "syscall", "pthread_",	 "nanosleep",
		"clock_nano",  "usleep",  "malloc",	 "calloc",
		"realloc",     "free",	  "libc_",	 "lll_",
	};

	while (*name == '_')
		name++;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (begins(name, names[i]))
			return true;
	}
	return false;
}

/* In a region is what a runtime calls that isn't its own, and who began one.  A
 * worker that spins in the runtime until the next region comes is not.  A path
 * comes after the one that it lies in. */
void hot_phases_mark(struct hot *hot)
{
	for (size_t i = 1; i < hot->count; i++) {
		struct hot_node *node = &hot->nodes[i];
		const struct hot_node *parent = &hot->nodes[node->parent];
		const char *name = hot_name(hot, (uint32_t)i);
		const bool is_theirs =
			is_runtime(name) ||
			(parent->is_below_runtime && is_library(name));

		node->is_below_runtime = parent->is_below_runtime || is_theirs;
		node->is_in_region = parent->is_in_region ||
				     is_region_call(name) ||
				     (parent->is_below_runtime && !is_theirs);
		hot->has_regions |= node->is_in_region;
	}
}

static double part_of(const struct hot_node *node, enum hot_phase phase)
{
	if (phase == HOT_PHASE_GPU_IDLE)
		return node->self_ns
			       ? (double)node->idle_ns / (double)node->self_ns
			       : 0;
	return node->is_in_region == (phase == HOT_PHASE_REGIONS);
}

void hot_phases_keep(struct hot *hot, enum hot_phase phase)
{
	for (size_t i = 0; i < hot->count && phase != HOT_PHASE_ALL; i++) {
		struct hot_node *node = &hot->nodes[i];
		const double part = part_of(node, phase);

		node->self_ns = (int64_t)((double)node->self_ns * part);
		node->idle_ns = (int64_t)((double)node->idle_ns * part);
		node->samples = (int64_t)((double)node->samples * part + 0.5);
	}
}
