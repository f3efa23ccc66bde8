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
	int64_t team;
	bool has_slice; /* the parallel slice itself was seen */
	bool has_tasks; /* explicit ones */
	int64_t elapsed_ns;
	int64_t wait_ns;
	struct omp_work_wait *members;
	size_t member_count, member_capacity;
};

static uint32_t name_of(struct region_totals *totals, const char *name,
			size_t len)
{
	totals->names.row_bytes = sizeof(struct region_total);
	return key_table_number(&totals->names, name, len);
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
	struct region_total *sum;
	int64_t longest, total;
	size_t done;

	if (!region->id)
		return;
	if (region->name == NAME_NONE)
		region->name = name_of(totals, "(region not in the file)", 24);
	sum = key_table_row(&totals->names, region->name);
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
		saturate_into(&sum->uneven_ns, longest * (int64_t)done - total);
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

/* Locks that are held and the creation of tasks are parts of what surrounds
 * them, but the latter tells that tasks follow. */
static void add_part(struct region_totals *totals, struct region *region,
		     const char *part, const struct trace_event *event)
{
	const struct trace_value *tid = &event->field[FIELD_TID];
	const struct trace_value *name = &event->field[FIELD_NAME];
	const bool is_whole = !strcmp(part, "parallel");
	const bool is_member = !strcmp(part, "task");
	struct omp_work_wait *member;

	if ((is_whole || is_member) && region->name == NAME_NONE)
		region->name = name_of(totals, name->text, name->len);
	if (is_whole) {
		region->has_slice = true;
		saturate_into(&region->elapsed_ns, event->dur_ns);
		return;
	}
	region->has_tasks |= !is_member && strcmp(part, "wait");
	if (!strcmp(part, "create"))
		return;
	member = member_of(region, key_table_number(&totals->threads, tid->text,
						    tid->len));
	if (!member)
		return;
	if (is_member)
		omp_work_wait_part(member, event->dur_ns);
	else if (!strcmp(part, "explicit"))
		omp_work_wait_task(member, event->ts_ns, event->dur_ns);
	else
		saturate_into(&region->wait_ns,
			      omp_work_wait_wait(member, region->has_tasks,
						 event->ts_ns, event->dur_ns));
}

void region_totals_event(struct region_totals *totals,
			 const struct trace_event *event, const char *part)
{
	static const char *const parts[] = {"parallel", "task", "explicit",
					    "create", "wait"};
	struct region *region;
	int64_t id, team = 0;
	size_t at = 0;

	while (at < 5 && strcmp(part, parts[at]))
		at++;
	if (at == 5 || !trace_event_integer(event, "region", &id) || id <= 0)
		return;
	region = open_region(totals, id);
	trace_event_integer(event, "team", &team);
	if (team > 0 && team <= INT32_MAX)
		region->team = team;
	add_part(totals, region, part, event);
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
		list[at] = *(struct region_total *)key_table_row(&totals->names,
								 at);
		list[at].name = key_table_key(&totals->names, at, NULL);
		if (list[at].mean_ns > 0)
			list[at].imbalance =
				list[at].longest_ns / list[at].mean_ns;
	}
	qsort(list, *count, sizeof(*list), compare);
	return list;
}

void region_totals_free(struct region_totals *totals)
{
	for (size_t at = 0; totals->open && at < REGIONS_OPEN; at++)
		forget_members(&totals->open[at]);
	free(totals->open);
	key_table_free(&totals->names);
	key_table_free(&totals->threads);
	memset(totals, 0, sizeof(*totals));
}
