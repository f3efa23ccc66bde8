/* SPDX-License-Identifier: MIT */
/*
 * region_totals.c - work, wait and balance of OpenMP regions.
 */
#include "tools/report/region_totals.h"

#include <stdlib.h>
#include <string.h>

#include "tools/report/omp_work_wait.h"
#include "tools/util/memory.h"
#include "tools/util/saturate.h"

#define MEMBERS_MAX 4096u
#define NAME_NONE   UINT32_MAX

struct region {
	int64_t id; /* 0: free */
	uint32_t name;
	uint32_t team;
	bool has_slice; /* the parallel slice itself was seen */
	bool has_tasks; /* explicit ones */
	int64_t elapsed_ns;
	int64_t wait_ns;
	struct omp_work_wait *members;
	size_t member_count, member_capacity;
};

struct region_sum {
	uint64_t calls;
	uint32_t team_min, team_max;
	int64_t elapsed_ns, work_ns, wait_ns;
	double longest_ns, mean_ns; /* sums over the regions */
	double uneven_ns;	    /* waits that balance would save */
};

static struct region_sum *sum_of(struct region_totals *totals, const char *name,
				 size_t len, uint32_t *number)
{
	const size_t before = totals->names.count;

	*number = name_table_number(&totals->names, name, len);
	totals->sums = memory_grow(totals->sums, *number, &totals->capacity,
				   sizeof(*totals->sums));
	if (*number == before)
		memset(&totals->sums[*number], 0, sizeof(*totals->sums));
	return &totals->sums[*number];
}

/* Adds up the members: their number, longest and total work. */
static size_t weigh(const struct region *region, int64_t *longest,
		    int64_t *total)
{
	size_t done = 0;

	*longest = 0;
	*total = 0;
	for (size_t at = 0; at < region->member_count; at++) {
		const struct omp_work_wait *member = &region->members[at];
		const int64_t work = member->work_ns > 0 ? member->work_ns : 0;

		if (!member->is_done)
			continue;
		done++;
		saturate_into(total, work);
		if (work > *longest)
			*longest = work;
	}
	return done;
}

static void forget_members(struct region *region)
{
	for (size_t at = 0; at < region->member_count; at++)
		omp_work_wait_free(&region->members[at]);
	free(region->members);
}

static void close_region(struct region_totals *totals, struct region *region)
{
	struct region_sum *sum;
	int64_t longest, total;
	size_t done;
	uint32_t number;

	if (!region->id)
		return;
	if (region->name == NAME_NONE)
		sum_of(totals, "(region not in the file)", 24, &region->name);
	number = region->name;
	sum = &totals->sums[number];
	done = weigh(region, &longest, &total);
	sum->calls += region->has_slice;
	saturate_into(&sum->elapsed_ns, region->elapsed_ns);
	saturate_into(&sum->work_ns, total);
	saturate_into(&sum->wait_ns, region->wait_ns);
	if (region->team && (!sum->team_min || region->team < sum->team_min))
		sum->team_min = region->team;
	if (region->team > sum->team_max)
		sum->team_max = region->team;
	if (done > 1) {
		sum->longest_ns += (double)longest;
		sum->mean_ns += (double)total / (double)done;
		sum->uneven_ns +=
			(double)longest * (double)done - (double)total;
	}
	forget_members(region);
	memset(region, 0, sizeof(*region));
}

static struct region *open_region(struct region_totals *totals, int64_t id)
{
	struct region *region;

	if (!totals->open)
		totals->open =
			memory_zeroed(REGIONS_OPEN, sizeof(*totals->open));
	region = &totals->open[(uint64_t)id % REGIONS_OPEN];
	if (region->id == id)
		return region;
	close_region(totals, region);
	region->id = id;
	region->name = NAME_NONE;
	return region;
}

/* By thread; explicit tasks do not say their number in the team. */
static struct omp_work_wait *member_of(struct region *region, uint32_t lane)
{
	for (size_t at = 0; at < region->member_count; at++)
		if (region->members[at].lane == lane)
			return &region->members[at];
	if (region->member_count == MEMBERS_MAX)
		return NULL;
	region->members =
		memory_grow(region->members, region->member_count,
			    &region->member_capacity, sizeof(*region->members));
	region->members[region->member_count] =
		(struct omp_work_wait){.lane = lane};
	return &region->members[region->member_count++];
}

/* What an event is to its region; locks that are held and the creation of tasks
 * are parts of what surrounds them, but the latter tells that tasks follow. */
enum region_part {
	PART_NONE,
	PART_WHOLE,
	PART_MEMBER,
	PART_WAIT,
	PART_CREATE,
	PART_TASK,
};

static enum region_part part_of(const struct trace_event *event)
{
	const struct trace_value part = trace_event_arg(event, "omp");

	if (trace_value_is(&part, "parallel"))
		return PART_WHOLE;
	if (trace_value_is(&part, "task"))
		return PART_MEMBER;
	if (trace_value_is(&part, "explicit"))
		return PART_TASK;
	if (trace_value_is(&part, "create"))
		return PART_CREATE;
	return trace_value_is(&part, "wait") ? PART_WAIT : PART_NONE;
}

static void add_part(struct region_totals *totals, struct region *region,
		     enum region_part part, const struct trace_event *event)
{
	const struct trace_value *tid = &event->field[FIELD_TID];
	const struct trace_value *name = &event->field[FIELD_NAME];
	struct omp_work_wait *member;

	if ((part == PART_WHOLE || part == PART_MEMBER) &&
	    region->name == NAME_NONE)
		sum_of(totals, name->text, name->len, &region->name);
	if (part == PART_WHOLE) {
		region->has_slice = true;
		saturate_into(&region->elapsed_ns, event->dur_ns);
		return;
	}
	if (part == PART_CREATE || part == PART_TASK)
		region->has_tasks = true;
	if (part == PART_CREATE)
		return;
	member = member_of(region, name_table_number(&totals->threads,
						     tid->text, tid->len));
	if (!member)
		return;
	if (part == PART_MEMBER)
		omp_work_wait_part(member, event->dur_ns);
	else if (part == PART_TASK)
		omp_work_wait_task(member, event->ts_ns, event->dur_ns);
	else
		saturate_into(&region->wait_ns,
			      omp_work_wait_wait(member, region->has_tasks,
						 event->ts_ns, event->dur_ns));
}

bool region_totals_event(struct region_totals *totals,
			 const struct trace_event *event)
{
	const enum region_part part = part_of(event);
	struct region *region;
	int64_t id, team = 0;

	if (part == PART_NONE || !trace_event_integer(event, "region", &id) ||
	    id <= 0)
		return false;
	region = open_region(totals, id);
	trace_event_integer(event, "team", &team);
	if (team > 0 && team <= INT32_MAX)
		region->team = (uint32_t)team;
	add_part(totals, region, part, event);
	return true;
}

static int compare(const void *left, const void *right)
{
	const struct region_total *a = left, *b = right;

	if (a->wait_ns != b->wait_ns)
		return a->wait_ns > b->wait_ns ? -1 : 1;
	if (a->work_ns != b->work_ns)
		return a->work_ns > b->work_ns ? -1 : 1;
	return strcmp(a->name, b->name);
}

struct region_total *region_totals_list(struct region_totals *totals,
					size_t *count)
{
	struct region_total *list;

	for (size_t at = 0; totals->open && at < REGIONS_OPEN; at++)
		close_region(totals, &totals->open[at]);
	*count = totals->names.count;
	list = memory_zeroed(*count, sizeof(*list));
	for (size_t at = 0; at < *count; at++) {
		const struct region_sum *sum = &totals->sums[at];

		list[at] = (struct region_total){
			.name = name_table_text(&totals->names, (uint32_t)at,
						NULL),
			.calls = sum->calls,
			.team_min = sum->team_min,
			.team_max = sum->team_max,
			.elapsed_ns = sum->elapsed_ns,
			.work_ns = sum->work_ns,
			.wait_ns = sum->wait_ns,
			.uneven_ns = (int64_t)sum->uneven_ns,
			.imbalance = sum->mean_ns > 0
					     ? sum->longest_ns / sum->mean_ns
					     : 0,
		};
	}
	qsort(list, *count, sizeof(*list), compare);
	return list;
}

void region_totals_free(struct region_totals *totals)
{
	for (size_t at = 0; totals->open && at < REGIONS_OPEN; at++)
		forget_members(&totals->open[at]);
	free(totals->open);
	free(totals->sums);
	name_table_free(&totals->names);
	name_table_free(&totals->threads);
	memset(totals, 0, sizeof(*totals));
}
