/* SPDX-License-Identifier: MIT */
/*
 * gomp_loops.c - regions that are one loop, by the schedule in their name.
 *
 * The schedule goes into the events.  GOMP_loop_*_next, which hands out chunks,
 * is not ours: it is called once for each chunk.
 */
#include "preload/gomp/gomp_region.h"

EXPORT void GOMP_parallel_loop_static(gomp_function *function, void *data,
				      unsigned int threads, long start,
				      long end, long step, long chunk,
				      unsigned int flags)
{
	struct gomp_site *site =
		gomp_site(__builtin_return_address(0), function);

	if (likely(!gomp_region_wanted(site))) {
		gomp_library(site)->parallel_loop_static(function, data,
							 threads, start, end,
							 step, chunk, flags);
		return;
	}
	struct gomp_region region;

	if (gomp_open_outlined(&region, site, function, data,
			       OMP_SCHEDULE_STATIC)) {
		function = gomp_region_member;
		data = &region;
	}
	gomp_library(site)->parallel_loop_static(function, data, threads, start,
						 end, step, chunk, flags);
	gomp_close_outlined(&region);
}

EXPORT void GOMP_parallel_loop_dynamic(gomp_function *function, void *data,
				       unsigned int threads, long start,
				       long end, long step, long chunk,
				       unsigned int flags)
{
	struct gomp_site *site =
		gomp_site(__builtin_return_address(0), function);

	if (likely(!gomp_region_wanted(site))) {
		gomp_library(site)->parallel_loop_dynamic(function, data,
							  threads, start, end,
							  step, chunk, flags);
		return;
	}
	struct gomp_region region;

	if (gomp_open_outlined(&region, site, function, data,
			       OMP_SCHEDULE_DYNAMIC)) {
		function = gomp_region_member;
		data = &region;
	}
	gomp_library(site)->parallel_loop_dynamic(
		function, data, threads, start, end, step, chunk, flags);
	gomp_close_outlined(&region);
}

EXPORT void GOMP_parallel_loop_guided(gomp_function *function, void *data,
				      unsigned int threads, long start,
				      long end, long step, long chunk,
				      unsigned int flags)
{
	struct gomp_site *site =
		gomp_site(__builtin_return_address(0), function);

	if (likely(!gomp_region_wanted(site))) {
		gomp_library(site)->parallel_loop_guided(function, data,
							 threads, start, end,
							 step, chunk, flags);
		return;
	}
	struct gomp_region region;

	if (gomp_open_outlined(&region, site, function, data,
			       OMP_SCHEDULE_GUIDED)) {
		function = gomp_region_member;
		data = &region;
	}
	gomp_library(site)->parallel_loop_guided(function, data, threads, start,
						 end, step, chunk, flags);
	gomp_close_outlined(&region);
}

EXPORT void GOMP_parallel_loop_nonmonotonic_dynamic(
	gomp_function *function, void *data, unsigned int threads, long start,
	long end, long step, long chunk, unsigned int flags)
{
	struct gomp_site *site =
		gomp_site(__builtin_return_address(0), function);

	if (likely(!gomp_region_wanted(site))) {
		gomp_library(site)->parallel_loop_nonmonotonic_dynamic(
			function, data, threads, start, end, step, chunk,
			flags);
		return;
	}
	struct gomp_region region;

	if (gomp_open_outlined(&region, site, function, data,
			       OMP_SCHEDULE_DYNAMIC)) {
		function = gomp_region_member;
		data = &region;
	}
	gomp_library(site)->parallel_loop_nonmonotonic_dynamic(
		function, data, threads, start, end, step, chunk, flags);
	gomp_close_outlined(&region);
}

EXPORT void GOMP_parallel_loop_nonmonotonic_guided(
	gomp_function *function, void *data, unsigned int threads, long start,
	long end, long step, long chunk, unsigned int flags)
{
	struct gomp_site *site =
		gomp_site(__builtin_return_address(0), function);

	if (likely(!gomp_region_wanted(site))) {
		gomp_library(site)->parallel_loop_nonmonotonic_guided(
			function, data, threads, start, end, step, chunk,
			flags);
		return;
	}
	struct gomp_region region;

	if (gomp_open_outlined(&region, site, function, data,
			       OMP_SCHEDULE_GUIDED)) {
		function = gomp_region_member;
		data = &region;
	}
	gomp_library(site)->parallel_loop_nonmonotonic_guided(
		function, data, threads, start, end, step, chunk, flags);
	gomp_close_outlined(&region);
}

EXPORT void GOMP_parallel_loop_runtime(gomp_function *function, void *data,
				       unsigned int threads, long start,
				       long end, long step, unsigned int flags)
{
	struct gomp_site *site =
		gomp_site(__builtin_return_address(0), function);

	if (likely(!gomp_region_wanted(site))) {
		gomp_library(site)->parallel_loop_runtime(
			function, data, threads, start, end, step, flags);
		return;
	}
	struct gomp_region region;

	if (gomp_open_outlined(&region, site, function, data,
			       OMP_SCHEDULE_RUNTIME)) {
		function = gomp_region_member;
		data = &region;
	}
	gomp_library(site)->parallel_loop_runtime(function, data, threads,
						  start, end, step, flags);
	gomp_close_outlined(&region);
}

EXPORT void
GOMP_parallel_loop_nonmonotonic_runtime(gomp_function *function, void *data,
					unsigned int threads, long start,
					long end, long step, unsigned int flags)
{
	struct gomp_site *site =
		gomp_site(__builtin_return_address(0), function);

	if (likely(!gomp_region_wanted(site))) {
		gomp_library(site)->parallel_loop_nonmonotonic_runtime(
			function, data, threads, start, end, step, flags);
		return;
	}
	struct gomp_region region;

	if (gomp_open_outlined(&region, site, function, data,
			       OMP_SCHEDULE_RUNTIME)) {
		function = gomp_region_member;
		data = &region;
	}
	gomp_library(site)->parallel_loop_nonmonotonic_runtime(
		function, data, threads, start, end, step, flags);
	gomp_close_outlined(&region);
}

EXPORT void GOMP_parallel_loop_maybe_nonmonotonic_runtime(
	gomp_function *function, void *data, unsigned int threads, long start,
	long end, long step, unsigned int flags)
{
	struct gomp_site *site =
		gomp_site(__builtin_return_address(0), function);

	if (likely(!gomp_region_wanted(site))) {
		gomp_library(site)->parallel_loop_maybe_nonmonotonic_runtime(
			function, data, threads, start, end, step, flags);
		return;
	}
	struct gomp_region region;

	if (gomp_open_outlined(&region, site, function, data,
			       OMP_SCHEDULE_RUNTIME)) {
		function = gomp_region_member;
		data = &region;
	}
	gomp_library(site)->parallel_loop_maybe_nonmonotonic_runtime(
		function, data, threads, start, end, step, flags);
	gomp_close_outlined(&region);
}
