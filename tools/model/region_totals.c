/* SPDX-License-Identifier: MIT */
/*
 * region_totals.c - work, wait and balance of OpenMP regions.
 */
#include "tools/model/region_totals.h"

#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"
#include "tools/util/numbers.h"

#define MEMBERS_MAX 4096u
#define PARTS	    7u
#define NAME_NONE   UINT32_MAX
/* A part's end is the sum of three numbers that were rounded, each by itself:
 * the wait that follows it may begin so much earlier. */
#define ROUNDED_NS  3

/* A slice that nothing has enclosed yet, with what it has enclosed. */
struct member_loose {
	int64_t start_ns;
	int64_t task_ns; /* as a task: its whole time; as a wait: 0 */
	int64_t wait_ns; /* net waits in it */
	int64_t work_ns; /* counted as work after the part already */
	uint32_t slices; /* that it stands for */
};

/* Takes off what lies inside a slice that begins at start_ns. */
static struct member_loose enclose(struct omp_work_wait *member,
				   int64_t start_ns)
{
	struct member_loose sum = {.start_ns = start_ns, .slices = 1};

	while (member->count &&
	       member->loose[member->count - 1].start_ns >= start_ns) {
		const struct member_loose *last =
			&member->loose[--member->count];

		saturate_into(&sum.task_ns, last->task_ns);
		saturate_into(&sum.wait_ns, last->wait_ns);
		saturate_into(&sum.work_ns, last->work_ns);
	}
	return sum;
}

/* Joins two that follow each other, and lie in the same wait as a rule, where
 * both stand for so many at most. */
static void join_pairs(struct omp_work_wait *member, uint32_t most)
{
	struct member_loose *loose = member->loose;
	uint32_t kept = 0;

	for (uint32_t at = 0; at < member->count; at++) {
		loose[kept] = loose[at];
		if (at + 1 < member->count && loose[at].slices <= most &&
		    loose[at + 1].slices <= most) {
			const struct member_loose *next = &loose[++at];

			loose[kept].slices += next->slices;
			saturate_into(&loose[kept].task_ns, next->task_ns);
			saturate_into(&loose[kept].wait_ns, next->wait_ns);
			saturate_into(&loose[kept].work_ns, next->work_ns);
		}
		kept++;
	}
	member->count = kept;
}

/* Too many to keep apart: those that stand for few first, so that one which is
 * joined with what it has nothing to do with takes along little. */
static void join_some(struct omp_work_wait *member)
{
	uint32_t most = 1;

	while (member->count > MEMBER_LOOSE_MAX / 4 * 3) {
		join_pairs(member, most);
		most = most < UINT32_MAX / 4 ? 2 * most : most;
	}
}

static void keep_loose(struct omp_work_wait *member, struct member_loose slice)
{
	if (member->count == MEMBER_LOOSE_MAX)
		join_some(member);
	member->loose = memory_grow(member->loose, member->count,
				    &member->capacity, sizeof(*member->loose));
	member->loose[member->count++] = slice;
}

void omp_work_wait_task(struct omp_work_wait *member, int64_t start_ns,
			int64_t dur_ns)
{
	struct member_loose slice = enclose(member, start_ns);

	slice.task_ns = dur_ns;
	keep_loose(member, slice);
}

int64_t omp_work_wait_wait(struct omp_work_wait *member, bool may_lie_in_task,
			   int64_t start_ns, int64_t dur_ns)
{
	struct member_loose slice = enclose(member, start_ns);
	const int64_t net = saturate_subtract(dur_ns, slice.task_ns);
	int64_t work = saturate_subtract(slice.task_ns, slice.wait_ns);

	work = saturate_subtract(work, slice.work_ns);
	saturate_into(&slice.work_ns, work);
	if (member->is_done) {
		saturate_into(&member->work_ns, work);
	} else {
		saturate_into(&member->inside_ns, net);
		if (!may_lie_in_task) {
			member->last_start_ns = start_ns;
			member->last_net_ns = net;
		}
	}
	slice.task_ns = 0;
	saturate_into(&slice.wait_ns, net);
	if (may_lie_in_task)
		keep_loose(member, slice);
	return net > 0 ? net : 0;
}

void omp_work_wait_part(struct omp_work_wait *member, int64_t start_ns,
			int64_t dur_ns)
{
	const int64_t end_ns =
		saturate_subtract(saturate_add(start_ns, dur_ns), ROUNDED_NS);
	const struct member_loose *last;

	/* A master's wait at the end comes before its part. */
	if (member->last_net_ns > 0 && member->last_start_ns >= end_ns)
		member->inside_ns = saturate_subtract(member->inside_ns,
						      member->last_net_ns);
	member->last_net_ns = 0;
	for (; member->count; member->count--) {
		last = &member->loose[member->count - 1];
		if (last->start_ns < end_ns)
			break;
		member->inside_ns =
			saturate_subtract(member->inside_ns, last->wait_ns);
		saturate_into(&member->work_ns, last->work_ns);
	}
	saturate_into(&member->work_ns,
		      saturate_subtract(dur_ns, member->inside_ns));
	member->inside_ns = 0;
	member->is_done = true;
	member->count = 0;
}

void omp_work_wait_free(struct omp_work_wait *member)
{
	free(member->loose);
	memset(member, 0, sizeof(*member));
}

struct region {
	int64_t id;	 /* 0: free */
	uint64_t number; /* of those that were opened */
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

/* Tasks after the part that lie in no wait: a worker's wait at the region's end
 * ends where the first of them begins. */
static int64_t work_after(const struct omp_work_wait *member)
{
	int64_t sum = 0;

	for (uint32_t at = 0; member->is_done && at < member->count; at++) {
		const struct member_loose *slice = &member->loose[at];

		saturate_into(&sum, saturate_subtract(slice->task_ns,
						      slice->wait_ns));
		sum = saturate_subtract(sum, slice->work_ns);
	}
	return sum > 0 ? sum : 0;
}

/* Adds up the members: their number, longest and total work. */
static size_t weigh(struct region *region, int64_t *longest, int64_t *total)
{
	size_t done = 0;

	*longest = 0;
	*total = 0;
	for (size_t at = 0; at < region->member_count; at++) {
		struct omp_work_wait *member = &region->members[at];
		int64_t work;

		saturate_into(&member->work_ns, work_after(member));
		member->count = 0;
		work = member->work_ns > 0 ? member->work_ns : 0;
		if (!member->is_done)
			continue;
		done++;
		saturate_into(total, work);
		if (work > *longest)
			*longest = work;
	}
	return done;
}

/* What each thread worked in regions of this name. */
static void add_workers(struct region_totals *totals,
			const struct region *region)
{
	totals->workers.row_bytes = sizeof(int64_t);
	for (size_t at = 0; at < region->member_count; at++) {
		const uint32_t key[2] = {region->name,
					 region->members[at].lane};
		int64_t *work_ns = key_table_row(
			&totals->workers,
			key_table_number(&totals->workers, key, sizeof(key)));

		saturate_into(work_ns, region->members[at].work_ns);
	}
}

static void forget_members(struct region *region)
{
	for (size_t at = 0; at < region->member_count; at++)
		omp_work_wait_free(&region->members[at]);
	free(region->members);
}

/* Of all its members together. */
static int64_t elapsed_by(const struct region *region)
{
	int64_t all_ns;

	return __builtin_mul_overflow(region->elapsed_ns, region->team, &all_ns)
		       ? INT64_MAX
		       : all_ns;
}

static void close_region(struct region_totals *totals, struct region *region)
{
	struct region_total *sum;
	int64_t longest, total, uneven;
	size_t done;

	if (!region->id)
		return;
	if (region->name == NAME_NONE)
		region->name = name_of(totals, "(region not in the file)", 24);
	sum = key_table_row(&totals->names, region->name);
	done = weigh(region, &longest, &total);
	if (region->has_slice && region->team == 1 && !done) {
		/* It has no parts; its one member's work is the region's. */
		total = saturate_subtract(region->elapsed_ns, region->wait_ns);
		done = 1;
	}
	/* Of a region that is there whole, all that is no work is a wait: for
	 * the team to come together, too. */
	if (region->has_slice && region->team && done == (size_t)region->team &&
	    elapsed_by(region) > total)
		region->wait_ns = elapsed_by(region) - total;
	sum->calls += region->has_slice;
	saturate_into(&sum->elapsed_ns, region->elapsed_ns);
	saturate_into(&sum->work_ns, total);
	saturate_into(&sum->wait_ns, region->wait_ns);
	if (region->team && (!sum->team_min || region->team < sum->team_min))
		sum->team_min = region->team;
	if (region->team > sum->team_max)
		sum->team_max = region->team;
	/* Of a file that was cut the members' work is not all there. */
	if (!region->has_slice ||
	    (region->team && done != (size_t)region->team))
		done = 0;
	if (done)
		saturate_into(&sum->judged_ns, region->wait_ns);
	if (done > 1) {
		sum->longest_ns += (double)longest;
		sum->mean_ns += (double)total / (double)done;
		uneven = longest * (int64_t)done - total;
		saturate_into(&sum->uneven_ns, uneven);
		if (uneven > sum->worst_ns)
			sum->worst_ns = uneven;
		add_workers(totals, region);
	}
	forget_members(region);
	memset(region, 0, sizeof(*region));
}

/* In the place of the oldest one where there is none free. */
static struct region *open_region(struct region_totals *totals, int64_t id)
{
	const uint64_t low = (uint32_t)id % (REGIONS_OPEN / REGIONS_WAYS);
	struct region *region, *oldest;

	if (!totals->open)
		totals->open =
			memory_zeroed(REGIONS_OPEN, sizeof(*totals->open));
	region = oldest = &totals->open[low * REGIONS_WAYS];
	for (unsigned int way = 0; way < REGIONS_WAYS; way++, region++) {
		if (region->id == id)
			return region;
		if (region->number < oldest->number)
			oldest = region;
	}
	close_region(totals, oldest);
	oldest->id = id;
	oldest->name = NAME_NONE;
	oldest->number = ++totals->opened;
	return oldest;
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
		     const char *part, const struct trace_event *event,
		     uint32_t lane)
{
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
	region->has_tasks |= !is_member && strncmp(part, "wait", 4);
	if (!strcmp(part, "create"))
		return;
	member = member_of(region, lane);
	if (!member)
		return;
	if (is_member)
		omp_work_wait_part(member, event->ts_ns, event->dur_ns);
	else if (!strcmp(part, "explicit") || !strcmp(part, "tasks"))
		omp_work_wait_task(member, event->ts_ns, event->dur_ns);
	else
		saturate_into(&region->wait_ns,
			      omp_work_wait_wait(member, region->has_tasks,
						 event->ts_ns, event->dur_ns));
}

void region_totals_event(struct region_totals *totals,
			 const struct trace_event *event, const char *part,
			 uint32_t lane)
{
	static const char *const parts[] = {"parallel", "task",	  "explicit",
					    "tasks",	"create", "wait",
					    "waits"};
	struct region *region;
	int64_t id, team = 0;
	size_t at = 0;

	while (at < PARTS && strcmp(part, parts[at]))
		at++;
	if (at == PARTS || !trace_event_integer(event, "region", &id) ||
	    id <= 0)
		return;
	region = open_region(totals, id);
	trace_event_integer(event, "team", &team);
	if (team > 0 && team <= INT32_MAX)
		region->team = team;
	add_part(totals, region, part, event, lane);
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

/* The busiest thread of all regions of a name against the mean one. */
static int64_t steady_ns(const struct region_totals *totals, uint32_t name)
{
	int64_t count = 0, longest = 0, total = 0;

	for (size_t at = 0; at < totals->workers.count; at++) {
		const uint32_t *key =
			(const void *)key_table_key(&totals->workers, at, NULL);
		const int64_t work =
			*(const int64_t *)key_table_row(&totals->workers, at);

		if (key[0] != name)
			continue;
		count++;
		saturate_into(&total, work);
		if (work > longest)
			longest = work;
	}
	return saturate_subtract(longest * count, total);
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
		list[at].steady_ns = steady_ns(totals, (uint32_t)at);
		if (list[at].steady_ns > list[at].uneven_ns)
			list[at].steady_ns = list[at].uneven_ns;
		if (list[at].mean_ns > 0)
			list[at].imbalance =
				list[at].longest_ns / list[at].mean_ns;
	}
	qsort(list, *count, sizeof(*list), compare);
	return list;
}

static int64_t times(int64_t number, double factor)
{
	const double product = (double)number * factor;

	return product < (double)INT64_MAX ? (int64_t)product : INT64_MAX;
}

void region_total_scale(struct region_total *region,
			const struct trace_sampled_row *exact)
{
	const double factor = (double)exact->seen / (double)exact->drawn;

	region->calls = exact->seen;
	region->elapsed_ns = exact->total_ns;
	region->work_ns = times(region->work_ns, factor);
	region->wait_ns = times(region->wait_ns, factor);
	region->judged_ns = times(region->judged_ns, factor);
	region->uneven_ns = times(region->uneven_ns, factor);
	region->steady_ns = times(region->steady_ns, factor);
	region->is_estimated = true;
}

void region_totals_free(struct region_totals *totals)
{
	for (size_t at = 0; totals->open && at < REGIONS_OPEN; at++)
		forget_members(&totals->open[at]);
	free(totals->open);
	key_table_free(&totals->names);
	key_table_free(&totals->workers);
	memset(totals, 0, sizeof(*totals));
}
