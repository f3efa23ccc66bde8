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
 */
#ifndef TOOLS_REGION_TOTALS_H
#define TOOLS_REGION_TOTALS_H

#include "tools/trace/trace_reader.h"
#include "tools/trace/trace_sampled.h"

#define REGIONS_OPEN 16384u
/* Threads count their regions each by itself, in the lower half of an id, so
 * several have the same one at a time. */
#define REGIONS_WAYS 8u

struct region_total {
	const char *name;
	int64_t calls; /* whole regions: their own slices */
	int64_t team_min, team_max;
	int64_t elapsed_ns; /* of the parallel slices */
	int64_t work_ns;    /* of all members, waits taken off */
	int64_t wait_ns;
	int64_t judged_ns; /* of the waits: of regions seen whole */
	int64_t uneven_ns; /* of these: what perfect balance would save */
	int64_t worst_ns;  /* of uneven_ns: in one call */
	int64_t steady_ns; /* of uneven_ns: always the same thread's, which
			      has more to do */
	double imbalance;  /* longest member over mean member, weighted */
	double longest_ns, mean_ns; /* sums over the regions */
	bool is_estimated;	    /* from those that are drawn */
};

struct region_totals {
	struct key_table names;	  /* struct region_total */
	struct key_table workers; /* int64_t: work, by name and lane */
	struct region *open;	  /* REGIONS_OPEN of them: REGIONS_WAYS side by
				     side by the lower half of their ids */
	uint64_t opened;	  /* how many there have been */
};

/* Takes an event with args.omp, whose value is part, on a lane. */
void region_totals_event(struct region_totals *totals,
			 const struct trace_event *event, const char *part,
			 uint32_t lane);

/* Closes all regions and lists the names, longest wait first; free() it. */
struct region_total *region_totals_list(struct region_totals *totals,
					size_t *count);

/* Of a name of which not every call is drawn: all that were seen. */
void region_total_scale(struct region_total *region,
			const struct trace_sampled_row *exact);

void region_totals_free(struct region_totals *totals);

#define MEMBER_LOOSE_MAX 4096u

/*
 * What one thread of a team worked and waited.
 *
 * A thread that waits at a barrier or a taskwait runs explicit tasks meanwhile,
 * and such a task may wait in turn.  So a wait's time is its slice without the
 * tasks inside it, and the work is the thread's part of the region without its
 * waits, and the tasks run in waits after the part.
 *
 * Slices come in order of their ends, inner ones before outer ones; those that
 * nothing has enclosed yet are kept, MEMBER_LOOSE_MAX at most.
 */
struct omp_work_wait {
	uint32_t lane;	   /* which thread, for the owner's look-up */
	bool is_done;	   /* its part has ended */
	int64_t work_ns;   /* right when is_done */
	int64_t inside_ns; /* waited before that */
	int64_t last_start_ns, last_net_ns; /* of these, the last one */
	struct member_loose *loose;
	uint32_t count;
	size_t capacity;
};

/* An explicit task was run. */
void omp_work_wait_task(struct omp_work_wait *member, int64_t start_ns,
			int64_t dur_ns);

/* A wait; returns its time without the tasks run in it.  may_lie_in_task: there
 * are tasks, so one may enclose it. */
int64_t omp_work_wait_wait(struct omp_work_wait *member, bool may_lie_in_task,
			   int64_t start_ns, int64_t dur_ns);

/* Its part of the region. */
void omp_work_wait_part(struct omp_work_wait *member, int64_t start_ns,
			int64_t dur_ns);

void omp_work_wait_free(struct omp_work_wait *member);

#endif
