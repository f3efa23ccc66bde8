/* SPDX-License-Identifier: MIT */
/*
 * region_totals.c - work, wait and balance of OpenMP regions.
 */
#include "tools/region_totals.h"

#include <stdlib.h>
#include <string.h>

#include "tools/memory.h"
#include "tools/saturate.h"

#define MEMBERS_MAX 4096
#define NAME_NONE   UINT32_MAX

struct region_member {
	int64_t work_ns;   /* its part of the region */
	int64_t inside_ns; /* waits that came before its part ended */
	bool done;
};

struct region {
	int64_t id; /* 0: free */
	uint32_t name;
	uint32_t team;
	bool has_slice; /* the parallel slice itself was seen */
	int64_t elapsed_ns;
	int64_t wait_ns;
	struct region_member *members;
	size_t member_count;
};

struct region_sum {
	uint64_t calls;
	uint32_t team_min, team_max;
	int64_t elapsed_ns, work_ns, wait_ns;
	double longest_ns, mean_ns; /* sums over the regions */
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
		const struct region_member *member = &region->members[at];
		int64_t work =
			saturate_subtract(member->work_ns, member->inside_ns);

		if (!member->done)
			continue;
		if (work < 0)
			work = 0;
		done++;
		saturate_into(total, work);
		if (work > *longest)
			*longest = work;
	}
	return done;
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
	sum->calls += region->has_slice || done;
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
	}
	free(region->members);
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

static struct region_member *member_of(struct region *region, int64_t thread)
{
	if (thread < 0 || thread >= MEMBERS_MAX)
		return NULL;
	if ((size_t)thread >= region->member_count) {
		const size_t count = (size_t)thread + 1;

		region->members = memory_resize(region->members, count,
						sizeof(*region->members));
		memset(region->members + region->member_count, 0,
		       (count - region->member_count) *
			       sizeof(*region->members));
		region->member_count = count;
	}
	return &region->members[thread];
}

/* What an event is to its region; explicit tasks, their creation and locks that
 * are held lie inside a member's part and are no parts of their own. */
enum region_part { PART_NONE, PART_WHOLE, PART_MEMBER, PART_WAIT };

static enum region_part part_of(const struct trace_event *event)
{
	const struct trace_value part = trace_event_arg(event, "omp");

	if (trace_value_is(&part, "parallel"))
		return PART_WHOLE;
	if (trace_value_is(&part, "task"))
		return PART_MEMBER;
	return trace_value_is(&part, "wait") ? PART_WAIT : PART_NONE;
}

static void add_part(struct region_totals *totals, struct region *region,
		     enum region_part part, const struct trace_event *event)
{
	const struct trace_value *name = &event->field[FIELD_NAME];
	struct region_member *member;
	int64_t thread = -1;

	trace_event_integer(event, "thread", &thread);
	member = member_of(region, thread);
	if (part == PART_WAIT) {
		saturate_into(&region->wait_ns, event->dur_ns);
		if (member && !member->done)
			saturate_into(&member->inside_ns, event->dur_ns);
		return;
	}
	if (region->name == NAME_NONE)
		sum_of(totals, name->text, name->len, &region->name);
	if (part == PART_WHOLE) {
		region->has_slice = true;
		saturate_into(&region->elapsed_ns, event->dur_ns);
	} else if (member) {
		saturate_into(&member->work_ns, event->dur_ns);
		member->done = true;
	}
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
		free(totals->open[at].members);
	free(totals->open);
	free(totals->sums);
	name_table_free(&totals->names);
	memset(totals, 0, sizeof(*totals));
}
