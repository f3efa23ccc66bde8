/* SPDX-License-Identifier: MIT */
/*
 * region_totals.h - how evenly OpenMP regions share out their work.
 *
 * The events of one region come near each other but in any order of threads.
 * The last REGIONS_OPEN regions are kept apart, each with its members; older
 * ones are added to the total of their name, so memory follows the number of
 * names.  What comes for a region that is closed already counts for its time,
 * not for its balance.
 *
 * A file is written thread by thread, some milliseconds of each in turn, so
 * short regions lie thousands of others apart from their members.
 *
 * What a member worked and waited is omp_work_wait.h's.
 */
#ifndef TOOLS_REGION_TOTALS_H
#define TOOLS_REGION_TOTALS_H

#include "tools/trace/trace_reader.h"

#define REGIONS_OPEN 16384u

struct region_total {
	const char *name;
	int64_t calls; /* whole regions: their own slices */
	int64_t team_min, team_max;
	int64_t elapsed_ns; /* of the parallel slices */
	int64_t work_ns;    /* of all members, waits taken off */
	int64_t wait_ns;
	int64_t uneven_ns; /* of the waits: what perfect balance would save */
	double imbalance;  /* longest member over mean member, weighted */
	double longest_ns, mean_ns; /* sums over the regions */
};

struct region_totals {
	struct key_table names; /* struct region_total */
	struct key_table threads;
	struct region *open; /* REGIONS_OPEN of them, by id */
};

/* Takes an event with args.omp; part is its value. */
void region_totals_event(struct region_totals *totals,
			 const struct trace_event *event, const char *part);

/* Closes all regions and lists the names, longest wait first; free() it. */
struct region_total *region_totals_list(struct region_totals *totals,
					size_t *count);

void region_totals_free(struct region_totals *totals);

#endif
