/* SPDX-License-Identifier: MIT */
/* line_shares.c - calls by line; see line_shares.h. */
#include "tools/verdict/line_shares.h"

#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"
#include "tools/verdict/python_lines.h"
#include "tools/verdict/rules.h"

/* An operator that lies in no other: the library asks these alone. */
struct outer {
	int64_t start_ns, end_ns;
	uint32_t name;
	uint32_t calls; /* of what is looked for, itself included */
};

/* The key of calls that stand for each other. */
struct surroundings {
	uint32_t before, name, after;
	uint32_t magnitude; /* of the time that the one before takes */
};

struct line_of {
	uint32_t surroundings, line; /* numbers */
};

/* The row of either key. */
struct count {
	double calls;
	double told; /* of them, by calls that tell their line */
	uint32_t telling;
};

struct counting {
	const struct verdict_facts *facts;
	struct wanted_calls wanted;
	bool *outermost;	    /* by name: may be asked */
	struct called_line *called; /* in the order of time */
	size_t called_count, next;
	struct key_table surroundings, lines; /* struct count */
	double all;
};

bool *names_asked(const struct timeline *timeline)
{
	bool *asked = memory_zeroed(timeline->names.count + 1, sizeof(*asked));

	for (uint32_t at = 0; at < timeline->names.count; at++)
		asked[at] =
			!strcmp(timeline_category(timeline, at), "cpu_op") &&
			strstr(timeline_name_text(timeline, at), "::") &&
			!strstr(timeline_name_text(timeline, at), " [omp ");
	for (size_t at = 0; at < timeline->called.count; at++)
		asked[timeline->called.list[at].name] = true;
	return asked;
}

static uint32_t magnitude_of(int64_t ns)
{
	uint32_t bits = 0;

	for (; ns > 0; ns /= 2)
		bits++;
	return bits;
}

static void count(struct counting *counting, const struct outer *before,
		  const struct outer *outer, uint32_t after)
{
	const struct surroundings key = {
		before->name, outer->name, after,
		magnitude_of(before->end_ns - before->start_ns)};
	const struct called_line *call =
		called_line_at(counting->called, counting->called_count,
			       &counting->next, outer->start_ns, outer->name);
	struct line_of line_key;
	struct count *row;

	if (!outer->calls || !is_judged(counting->facts, outer->start_ns))
		return;
	counting->all += outer->calls;
	line_key.surroundings =
		key_table_number(&counting->surroundings, &key, sizeof(key));
	row = key_table_row(&counting->surroundings, line_key.surroundings);
	row->calls += outer->calls;
	if (!call)
		return;
	row->told += outer->calls;
	row->telling++;
	line_key.line = call->line;
	row = key_table_row(&counting->lines,
			    key_table_number(&counting->lines, &line_key,
					     sizeof(line_key)));
	row->told += outer->calls;
}

bool is_wanted_call(struct wanted_calls *wanted, const struct span *span,
		    int64_t dur_ns)
{
	if (wanted->within == TIMELINE_NONE)
		return span->name == wanted->name;
	if (span->name == wanted->within &&
	    span->start_ns >= wanted->within_end_ns)
		wanted->within_end_ns = span->start_ns + dur_ns;
	return span->name == wanted->name &&
	       span->start_ns < wanted->within_end_ns;
}

static void walk(struct counting *counting)
{
	const struct timeline *timeline = counting->facts->timeline;
	const uint32_t at_lane = counting->facts->split.lane;
	const struct timeline_lane *lane = timeline_lane(timeline, at_lane);
	struct outer before = {0, 0, TIMELINE_NONE, 0}, outer = before;

	for (size_t at = 0; lane && at < lane->count; at++) {
		const struct span *span = &lane->spans[at];
		const int64_t dur_ns = timeline_dur_ns(timeline, at_lane, span);
		const bool is_inside = outer.name != TIMELINE_NONE &&
				       span->start_ns < outer.end_ns;
		const bool is_wanted =
			is_wanted_call(&counting->wanted, span, dur_ns);

		if (!is_inside && counting->outermost[span->name]) {
			if (outer.name != TIMELINE_NONE)
				count(counting, &before, &outer, span->name);
			before = outer;
			outer = (struct outer){span->start_ns,
					       span->start_ns + dur_ns,
					       span->name, is_wanted};
		} else if (is_wanted) {
			outer.calls += is_inside;
			counting->all +=
				!is_inside &&
				is_judged(counting->facts, span->start_ns);
		}
	}
	if (outer.name != TIMELINE_NONE)
		count(counting, &before, &outer, TIMELINE_NONE);
}

/* What tells its line stands for all in such surroundings. */
static double *shares(const struct counting *counting)
{
	double *calls =
		memory_zeroed(counting->facts->timeline->called.lines.count + 1,
			      sizeof(*calls));

	for (size_t at = 0; at < counting->lines.count; at++) {
		const struct count *line = key_table_row(&counting->lines, at);
		const struct count *all;
		struct line_of key;

		memcpy(&key, key_table_key(&counting->lines, at, NULL),
		       sizeof(key));
		all = key_table_row(&counting->surroundings, key.surroundings);
		if (all->telling >= TELLING_MIN)
			calls[key.line] += all->calls * line->told / all->told;
	}
	return calls;
}

double *line_shares(const struct verdict_facts *facts,
		    struct wanted_calls wanted, double *all)
{
	struct counting counting = {
		.facts = facts,
		.wanted = wanted,
		.surroundings.row_bytes = sizeof(struct count),
		.lines.row_bytes = sizeof(struct count),
	};
	double *calls;

	*all = 0;
	if (!facts->timeline->called.count ||
	    facts->split.lane >= facts->timeline->lanes.table.count)
		return NULL;
	counting.called = called_in_order(facts, &counting.called_count);
	if (!counting.called)
		return NULL;
	counting.outermost = names_asked(facts->timeline);
	walk(&counting);
	calls = shares(&counting);
	*all = counting.all;
	free(counting.called);
	free(counting.outermost);
	key_table_free(&counting.surroundings);
	key_table_free(&counting.lines);
	return calls;
}
