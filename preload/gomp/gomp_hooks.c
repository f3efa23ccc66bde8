/* SPDX-License-Identifier: MIT */
/*
 * gomp_hooks.c - regions without a loop in their call: parallel, sections,
 * reductions, host teams.
 *
 * LD_PRELOAD puts these functions in front of libgomp's.  Each finds the
 * original that its caller means.  With the gate closed it jumps there,
 * otherwise it calls it with gomp_region_member() in place of the program's
 * function.
 */
#include "preload/gomp/gomp_region.h"

/* Apart, so that the closed way needs no frame. */
static __attribute__((noinline)) void
parallel_open(gomp_function *function, void *data, unsigned int threads,
	      unsigned int flags, struct gomp_site *site)
{
	struct gomp_region region;

	if (gomp_region_open(&region, site, function, data,
			     OMP_SCHEDULE_NONE)) {
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

EXPORT void GOMP_parallel_sections(gomp_function *function, void *data,
				   unsigned int threads, unsigned int count,
				   unsigned int flags)
{
	struct gomp_site *site =
		gomp_site(__builtin_return_address(0), function);

	if (likely(!gomp_region_wanted(site))) {
		gomp_library(site)->parallel_sections(function, data, threads,
						      count, flags);
		return;
	}
	struct gomp_region region;

	if (gomp_open_outlined(&region, site, function, data,
			       OMP_SCHEDULE_SECTIONS)) {
		function = gomp_region_member;
		data = &region;
	}
	gomp_library(site)->parallel_sections(function, data, threads, count,
					      flags);
	gomp_close_outlined(&region);
}

EXPORT void GOMP_teams_reg(gomp_function *function, void *data,
			   unsigned int teams, unsigned int threads,
			   unsigned int flags)
{
	struct gomp_site *site =
		gomp_site(__builtin_return_address(0), function);

	if (likely(!gomp_region_wanted(site))) {
		gomp_library(site)->teams_reg(function, data, teams, threads,
					      flags);
		return;
	}
	struct gomp_region region;

	if (gomp_open_outlined(&region, site, function, data,
			       OMP_SCHEDULE_TEAMS)) {
		function = gomp_region_team;
		data = &region;
	}
	gomp_library(site)->teams_reg(function, data, teams, threads, flags);
	gomp_close_outlined(&region);
}
