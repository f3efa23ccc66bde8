/* SPDX-License-Identifier: MIT */
/*
 * sync_sites.c - the calls that wait, by what encloses them.
 *
 * A call with a stack is told from the same one with another stack by its name
 * (tools/model/run_timeline.c).
 */
#include "tools/verdict/sync_sites.h"

#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"
#include "tools/verdict/python_lines.h"
#include "tools/verdict/rules.h"

struct open_slice {
	int64_t start_ns, end_ns;
	uint32_t name;
};

struct open_slices {
	struct open_slice *list;
	size_t count, capacity;
};

static int compare_times(const void *left, const void *right)
{
	const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return a < b ? -1 : a > b;
}

/* The innermost slice that isn't CUDA's, of Python's functions or of others. */
static uint32_t around(const struct timeline *timeline,
		       const struct open_slices *open, bool is_python)
{
	for (size_t at = open->count; at-- > 0;) {
		const uint32_t name = open->list[at].name;
		const bool is_function = !strcmp(
			timeline_category(timeline, name), "python_function");

		if (timeline_name(timeline, name)->host == HOST_PLAIN &&
		    (is_python ? is_own_function(timeline, name)
			       : !is_function))
			return name;
	}
	return TIMELINE_NONE;
}

/* What one of the operators around it was asked for, the outermost first: its
 * line.  `called` is in the order of time. */
static uint32_t asked_line(const struct open_slices *open,
			   const struct called_line *called, size_t count)
{
	for (size_t at = 0; at < open->count; at++) {
		const struct called_line wanted = {
			.ns = open->list[at].start_ns,
			.name = open->list[at].name};
		const struct called_line *found =
			count ? bsearch(&wanted, called, count, sizeof(*called),
					called_lines_compare)
			      : NULL;

		if (found)
			return found->line;
	}
	return TIMELINE_NONE;
}

/* The most frequent, if one is more frequent than all others are. */
static void vote(struct sync_site *site, uint32_t from)
{
	if (from == TIMELINE_NONE)
		return;
	if (!site->asked)
		site->from = from;
	site->asked += site->from == from ? 1 : -1;
}

static void count_call(struct key_table *sites, struct sync_site place,
		       const struct span *span, int64_t dur_ns, uint32_t from)
{
	const uint32_t key[3] = {place.call, place.op, place.line};
	struct sync_site *site =
		key_table_row(sites, key_table_number(sites, key, sizeof(key)));

	if (!site->calls)
		*site = place;
	site->calls++;
	vote(site, from);
	if (dur_ns <= site->longest_ns)
		return;
	site->longest_ns = dur_ns;
	site->longest_at_ns = span->start_ns;
}

static void enter(struct open_slices *open, int64_t start_ns, int64_t end_ns,
		  uint32_t name)
{
	open->list = memory_grow(open->list, open->count, &open->capacity,
				 sizeof(*open->list));
	open->list[open->count++] = (struct open_slice){start_ns, end_ns, name};
}

static void count_all(const struct verdict_facts *facts, const int64_t *copies,
		      size_t copy_count, struct key_table *sites)
{
	const struct timeline *timeline = facts->timeline;
	const struct timeline_lane *lane =
		timeline_lane(timeline, facts->split.lane);
	struct open_slices open = {0};
	size_t asked;
	struct called_line *called = called_in_order(facts, &asked);

	for (size_t at = 0; at < lane->count; at++) {
		const struct span *span = &lane->spans[at];
		const int64_t dur_ns =
			timeline_dur_ns(timeline, facts->split.lane, span);
		const enum host_kind kind =
			timeline_name(timeline, span->name)->host;

		while (open.count &&
		       open.list[open.count - 1].end_ns <= span->start_ns)
			open.count--;
		if ((kind == HOST_SYNC ||
		     (kind == HOST_COPY && copy_count &&
		      bsearch(&span->start_ns, copies, copy_count,
			      sizeof(*copies), compare_times))) &&
		    is_judged(facts, span->start_ns))
			count_call(
				sites,
				(struct sync_site){
					.call = span->name,
					.op = around(timeline, &open, false),
					.line = around(timeline, &open, true)},
				span, dur_ns, asked_line(&open, called, asked));
		enter(&open, span->start_ns, span->start_ns + dur_ns,
		      span->name);
	}
	free(open.list);
	free(called);
}

bool sync_sites_most(const struct verdict_facts *facts, int64_t *copies,
		     size_t copy_count, struct sync_site *most)
{
	struct key_table sites = {.row_bytes = sizeof(struct sync_site)};
	int64_t all = 0;

	*most = (struct sync_site){0};
	if (copy_count)
		qsort(copies, copy_count, sizeof(*copies), compare_times);
	if (facts->split.lane < facts->timeline->lanes.table.count)
		count_all(facts, copies, copy_count, &sites);
	for (size_t at = 0; at < sites.count; at++) {
		const struct sync_site *site = key_table_row(&sites, at);

		all += site->calls;
		if (site->calls > most->calls)
			*most = *site;
	}
	most->all_calls = all;
	key_table_free(&sites);
	return all > 0;
}
