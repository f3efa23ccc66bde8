/* SPDX-License-Identifier: MIT */
/*
 * gomp_waits.c - calls in which a thread waits for others: barriers, the ends
 * of loops and sections, taskwait.
 *
 * One event each, from the call to its return; the tasks that a waiting thread
 * runs lie inside.
 */
#include "preload/gomp/gomp_wait.h"

EXPORT void GOMP_barrier(void)
{
	const void *address = __builtin_return_address(0);
	const struct gomp_site *site = gomp_site(address, NULL);
	struct gomp_slice wait;

	if (likely(!gomp_wait_begin(&wait, site, address, OMP_SYNC_BARRIER))) {
		gomp_library(site)->barrier();
		return;
	}
	gomp_library(site)->barrier();
	gomp_wait_end(&wait);
}

EXPORT bool GOMP_barrier_cancel(void)
{
	const void *address = __builtin_return_address(0);
	const struct gomp_site *site = gomp_site(address, NULL);
	struct gomp_slice wait;
	bool cancelled;

	if (likely(!gomp_wait_begin(&wait, site, address, OMP_SYNC_BARRIER))) {
		return gomp_library(site)->barrier_cancel();
	}
	cancelled = gomp_library(site)->barrier_cancel();
	gomp_wait_end(&wait);
	return cancelled;
}

EXPORT void GOMP_loop_end(void)
{
	const void *address = __builtin_return_address(0);
	const struct gomp_site *site = gomp_site(address, NULL);
	struct gomp_slice wait;

	if (likely(!gomp_wait_begin(&wait, site, address, OMP_SYNC_LOOP_END))) {
		gomp_library(site)->loop_end();
		return;
	}
	gomp_library(site)->loop_end();
	gomp_wait_end(&wait);
}

EXPORT bool GOMP_loop_end_cancel(void)
{
	const void *address = __builtin_return_address(0);
	const struct gomp_site *site = gomp_site(address, NULL);
	struct gomp_slice wait;
	bool cancelled;

	if (likely(!gomp_wait_begin(&wait, site, address, OMP_SYNC_LOOP_END))) {
		return gomp_library(site)->loop_end_cancel();
	}
	cancelled = gomp_library(site)->loop_end_cancel();
	gomp_wait_end(&wait);
	return cancelled;
}

EXPORT void GOMP_sections_end(void)
{
	const void *address = __builtin_return_address(0);
	const struct gomp_site *site = gomp_site(address, NULL);
	struct gomp_slice wait;

	if (likely(!gomp_wait_begin(&wait, site, address,
				    OMP_SYNC_SECTIONS_END))) {
		gomp_library(site)->sections_end();
		return;
	}
	gomp_library(site)->sections_end();
	gomp_wait_end(&wait);
}

EXPORT bool GOMP_sections_end_cancel(void)
{
	const void *address = __builtin_return_address(0);
	const struct gomp_site *site = gomp_site(address, NULL);
	struct gomp_slice wait;
	bool cancelled;

	if (likely(!gomp_wait_begin(&wait, site, address,
				    OMP_SYNC_SECTIONS_END))) {
		return gomp_library(site)->sections_end_cancel();
	}
	cancelled = gomp_library(site)->sections_end_cancel();
	gomp_wait_end(&wait);
	return cancelled;
}

EXPORT void GOMP_taskwait(void)
{
	const void *address = __builtin_return_address(0);
	const struct gomp_site *site = gomp_site(address, NULL);
	struct gomp_slice wait;

	if (likely(!gomp_wait_begin(&wait, site, address, OMP_SYNC_TASKWAIT))) {
		gomp_library(site)->taskwait();
		return;
	}
	gomp_library(site)->taskwait();
	gomp_wait_end(&wait);
}

/* Waits for the tasks that these depend on alone. */
EXPORT void GOMP_taskwait_depend(void **depend)
{
	const void *address = __builtin_return_address(0);
	const struct gomp_site *site = gomp_site(address, NULL);
	struct gomp_slice wait;

	if (likely(!gomp_wait_begin(&wait, site, address, OMP_SYNC_TASKWAIT))) {
		gomp_library(site)->taskwait_depend(depend);
		return;
	}
	gomp_library(site)->taskwait_depend(depend);
	gomp_wait_end(&wait);
}
