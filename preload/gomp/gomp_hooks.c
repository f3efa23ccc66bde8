/* SPDX-License-Identifier: MIT */
/*
 * gomp_hooks.c - the regions whose call returns when all is done: parallel,
 * sections, reductions, host teams, and those that are one loop.
 *
 * LD_PRELOAD puts these functions in front of libgomp's.  Each finds the
 * original that its caller means.  With the gate closed it jumps there,
 * otherwise it calls it with gomp_region_member() in place of the program's
 * function.
 *
 * GOMP_loop_*_next, which hands out a loop's chunks, is not ours: it is called
 * once for each chunk.
 */
#include "preload/gomp/gomp_region.h"

/* Apart, so that the closed way needs no frame. */
static __attribute__((noinline)) void
parallel_open(gomp_function *function, void *data, unsigned int threads,
	      unsigned int flags, struct gomp_site *site)
{
	struct gomp_region region;

	if (gomp_region_open(&region, site, function, data, OMP_SCHEDULE_NONE,
			     true)) {
		function =
			threads == 1 ? gomp_region_alone : gomp_region_member;
		data = &region;
	}
	gomp_library(site)->parallel(function, data, threads, flags);
	gomp_region_close(&region);
}

EXPORT void GOMP_parallel(gomp_function *function, void *data,
			  unsigned int threads, unsigned int flags)
{
	struct gomp_site *site =
		gomp_site(__builtin_return_address(0), function);

	if (likely(!gomp_region_wanted(site)))
		gomp_library(site)->parallel(function, data, threads, flags);
	else
		parallel_open(function, data, threads, flags, site);
}

/* libgomp reads the reductions' descriptor from the first word of the data, so
 * that word is the region's first too. */
EXPORT unsigned int GOMP_parallel_reductions(gomp_function *function,
					     void *data, unsigned int threads,
					     unsigned int flags)
{
	struct gomp_site *site =
		gomp_site(__builtin_return_address(0), function);

	if (likely(!gomp_region_wanted(site))) {
		return gomp_library(site)->parallel_reductions(function, data,
							       threads, flags);
	}
	struct gomp_region region;
	unsigned int members;

	if (gomp_open_outlined(&region, site, function, data,
			       OMP_SCHEDULE_NONE)) {
		function = gomp_region_member;
		region.first_word = *(void **)data;
		data = &region;
	}
	members = gomp_library(site)->parallel_reductions(function, data,
							  threads, flags);
	gomp_close_outlined(&region);
	return members;
}

/* --- regions of one shape, by the rows of gomp_wrapped.h ------------------ */

/* `count` is that of the sections, or of the threads in each team. */
typedef void counted_call(GOMP_TEAM, unsigned int count, unsigned int flags);

static ALWAYS_INLINE void counted(size_t at, const void *caller,
				  enum omp_schedule schedule, GOMP_TEAM,
				  unsigned int count, unsigned int flags)
{
	struct gomp_site *site = gomp_site(caller, function);
	counted_call *original;

	if (likely(!gomp_region_wanted(site))) {
		original = gomp_original(site, at);
		original(function, data, threads, count, flags);
		return;
	}
	struct gomp_region region;

	if (gomp_open_outlined(&region, site, function, data, schedule)) {
		function = schedule == OMP_SCHEDULE_TEAMS ? gomp_region_team
							  : gomp_region_member;
		data = &region;
	}
	original = gomp_original(site, at);
	original(function, data, threads, count, flags);
	gomp_close_outlined(&region);
}

typedef void chunked_call(GOMP_CHUNKS, unsigned int flags);

static ALWAYS_INLINE void chunked(size_t at, const void *caller,
				  enum omp_schedule schedule, GOMP_CHUNKS,
				  unsigned int flags)
{
	struct gomp_site *site = gomp_site(caller, function);
	chunked_call *original;

	if (likely(!gomp_region_wanted(site))) {
		original = gomp_original(site, at);
		original(function, data, threads, start, end, step, chunk,
			 flags);
		return;
	}
	struct gomp_region region;

	if (gomp_open_outlined(&region, site, function, data, schedule)) {
		function = gomp_region_member;
		data = &region;
	}
	original = gomp_original(site, at);
	original(function, data, threads, start, end, step, chunk, flags);
	gomp_close_outlined(&region);
}

typedef void range_call(GOMP_RANGE, unsigned int flags);

static ALWAYS_INLINE void range(size_t at, const void *caller,
				enum omp_schedule schedule, GOMP_RANGE,
				unsigned int flags)
{
	struct gomp_site *site = gomp_site(caller, function);
	range_call *original;

	if (likely(!gomp_region_wanted(site))) {
		original = gomp_original(site, at);
		original(function, data, threads, start, end, step, flags);
		return;
	}
	struct gomp_region region;

	if (gomp_open_outlined(&region, site, function, data, schedule)) {
		function = gomp_region_member;
		data = &region;
	}
	original = gomp_original(site, at);
	original(function, data, threads, start, end, step, flags);
	gomp_close_outlined(&region);
}

/* clang-format off */
#define X(returns, name, alone, parameters, says)			\
	EXPORT returns GOMP_##name parameters				\
	{								\
		counted(GOMP_HERE(name), OMP_SCHEDULE_##says, function,	\
			data, threads, count, flags);			\
	}
GOMP_COUNTED_REGIONS(X)
#undef X

#define X(returns, name, alone, parameters, says)			\
	EXPORT returns GOMP_##name parameters				\
	{								\
		chunked(GOMP_HERE(name), OMP_SCHEDULE_##says, function,	\
			data, threads, start, end, step, chunk, flags);	\
	}
GOMP_CHUNKED_REGIONS(X)
#undef X

#define X(returns, name, alone, parameters, says)			\
	EXPORT returns GOMP_##name parameters				\
	{								\
		range(GOMP_HERE(name), OMP_SCHEDULE_##says, function,	\
		      data, threads, start, end, step, flags);		\
	}
GOMP_RANGE_REGIONS(X)
#undef X
/* clang-format on */
