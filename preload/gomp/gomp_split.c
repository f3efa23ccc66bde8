/* SPDX-License-Identifier: MIT */
/*
 * gomp_split.c - regions in two calls, as compilers before GCC 4.9 made them.
 *
 *	GOMP_parallel_start(function, data, threads);
 *	function(data);
 *	GOMP_parallel_end();
 *
 * The workers run what we hand over at the start; the master runs its part by
 * itself, between the calls.  Its context can't lie on our stack, so it comes
 * from a small static table, found again at the end by the region's number,
 * which is on the thread's open slices.  With the table full a region is not
 * recorded, but counted.
 */
#include "preload/gomp/gomp_region.h"

#define SPLITS_MAX 256u
#define PROBES	   8u

struct split {
	_Atomic uint64_t region; /* number; 0 free */
	struct gomp_region context;
	struct gomp_member master;
};

static struct split splits[SPLITS_MAX];

static struct split *split_at(uint64_t region, unsigned int probe)
{
	return &splits[(region + probe) % SPLITS_MAX];
}

/* An entry for a region that has begun; NULL none is free. */
static struct split *split_take(const struct gomp_region *region)
{
	const uint64_t number = region->number;

	for (unsigned int i = 0; i < PROBES; i++) {
		struct split *split = split_at(number, i);
		uint64_t free = 0;

		/* ACQUIRE pairs with RELEASE in split_give(). */
		if (!atomic_compare_exchange_strong_explicit(
			    &split->region, &free, number, memory_order_acquire,
			    memory_order_relaxed))
			continue;
		split->context = *region;
		return split;
	}
	return NULL;
}

/* The entry of the innermost region of this thread; NULL: it wasn't
 * recorded. */
static struct split *split_find(void)
{
	const struct thread *thread = thread_self;
	const struct open_slice *open;

	if (likely(!thread_records(thread)))
		return NULL;
	open = gomp_innermost(thread);
	for (unsigned int i = 0; open && i < PROBES; i++) {
		struct split *split = split_at(open->region, i);

		if (load_relaxed(&split->region) == open->region &&
		    split->context.slice.thread == thread)
			return split;
	}
	return NULL;
}

static void split_give(struct split *split)
{
	/* RELEASE pairs with ACQUIRE in split_take(): we are done with it. */
	store_release(&split->region, 0);
}

/* Begins a region; NULL: it isn't recorded. */
static struct split *split_begin(struct gomp_site *site,
				 gomp_function *function, void *data,
				 enum omp_schedule schedule)
{
	struct gomp_region region;
	struct split *split;

	if (likely(!gomp_region_wanted(site)) ||
	    !gomp_open_whole(&region, site, function, data, schedule))
		return NULL;
	/* It outlives this frame. */
	thread_open_in(region.slice.thread, NULL);
	split = split_take(&region);
	if (!split) {
		gomp_last = region.was_last;
		gomp_slice_drop(&region.slice);
		hook_unfollowed();
	}
	return split;
}

/* The team is there, and the master goes on as its member. */
static void split_enter(struct split *split)
{
	const struct gomp_library *library;
	unsigned int team;

	if (likely(!split))
		return;
	library = split->context.library;
	team = (unsigned int)library->omp_get_num_threads();
	split->master.region = NULL;
	if (team > 1) {
		gomp_member_begin(&split->master, &split->context, team,
				  (unsigned int)library->omp_get_thread_num());
	} else {
		split->context.detail.team = 1;
		split->context.detail.flags = EVENT_SERIAL;
	}
}

/* What the library is to run. */
static inline gomp_function *split_function(const struct split *split,
					    gomp_function *function)
{
	return split ? gomp_region_member : function;
}

static inline void *split_data(struct split *split, void *data)
{
	return split ? &split->context : data;
}

/* One hook for each row; REST is what follows `threads`. */
/* clang-format off */
#define X(returns, name, alone, parameters, says)			\
	EXPORT returns GOMP_##name parameters				\
	{								\
		struct gomp_site *site =				\
			gomp_site(__builtin_return_address(0), function); \
		struct split *split = split_begin(			\
			site, function, data, OMP_SCHEDULE_##says);	\
									\
		gomp_library(site)->name(				\
			split_function(split, function),		\
			split_data(split, data), threads REST);	\
		split_enter(split);					\
	}
#define REST
GOMP_TEAM_STARTS(X)
#undef REST
#define REST , count
GOMP_COUNTED_STARTS(X)
#undef REST
#define REST , start, end, step, chunk
GOMP_CHUNKED_STARTS(X)
#undef REST
#define REST , start, end, step
GOMP_RANGE_STARTS(X)
#undef REST
#undef X
/* clang-format on */

EXPORT void GOMP_parallel_end(void)
{
	const struct gomp_site *site =
		gomp_site(__builtin_return_address(0), NULL);
	struct split *split = split_find();

	if (likely(!split)) {
		gomp_library(site)->parallel_end();
		return;
	}
	if (split->master.region)
		gomp_member_end(&split->master);
	split->context.library->parallel_end();
	gomp_close_outlined(&split->context);
	split_give(split);
}
