/* SPDX-License-Identifier: MIT */
/* operator_turns.c - finds them; see operator_turns.h. */
#include "tools/verdict/operator_turns.h"

#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"
#include "tools/verdict/line_shares.h"

/* An operator that lies in no other. */
struct outer {
	int64_t start_ns, dur_ns;
	uint32_t name;
};

/* The row of a turn, whose key are its names. */
struct turn {
	double calls, ns;
	double told, straight; /* calls that tell their line */
};

/* How often a call at that place of a turn tells that line. */
struct told_key {
	uint32_t turn, at, line;
};

struct finding_turns {
	const struct verdict_facts *facts;
	struct outer *list; /* of one step */
	size_t count, capacity;
	struct called_line *called; /* in the order of time */
	size_t called_count, next;
	struct key_table turns; /* struct turn */
	struct key_table told;	/* double, by told_key */
};

/* From which of its places on a turn of so many is first in the order of
 * numbers: wherever a row begins, its turn is the same. */
static size_t first_place(const struct outer *list, size_t count)
{
	size_t first = 0;

	for (size_t from = 1; from < count; from++)
		for (size_t at = 0; at < count; at++) {
			const uint32_t a = list[from + at].name;
			const uint32_t b = list[first + at].name;

			if (a < b)
				first = from;
			if (a != b)
				break;
		}
	return first;
}

/* A row of turns of `of` operators. */
static void add_row(struct finding_turns *finding, const struct outer *list,
		    size_t count, size_t of)
{
	const size_t first = first_place(list, of);
	uint32_t names[TURN_MAX], number;
	struct turn *turn;

	for (size_t at = 0; at < of; at++)
		names[at] = list[first + at].name;
	number = key_table_number(&finding->turns, names, of * sizeof(*names));
	turn = key_table_row(&finding->turns, number);
	for (size_t at = 0; at < count; at++) {
		const struct called_line *call = called_line_at(
			finding->called, finding->called_count, &finding->next,
			list[at].start_ns, list[at].name);
		struct told_key key;
		double *told;

		turn->calls++;
		turn->ns += (double)list[at].dur_ns;
		if (!call)
			continue;
		turn->told++;
		turn->straight += !call->is_below;
		key = (struct told_key){
			number, (uint32_t)((at + of - first) % of), call->line};
		told = key_table_row(
			&finding->told,
			key_table_number(&finding->told, &key, sizeof(key)));
		++*told;
	}
}

/* How many operators from here on come in turns of so many. */
static size_t row_of(const struct outer *list, size_t count, size_t of)
{
	size_t at = of;

	while (at < count && list[at].name == list[at - of].name)
		at++;
	return at < count ? at : count;
}

static void end_step(struct finding_turns *finding)
{
	size_t at = 0;

	while (at < finding->count) {
		const struct outer *list = &finding->list[at];
		const size_t left = finding->count - at;
		size_t taken = 1;

		for (size_t of = 1; of <= TURN_MAX; of++) {
			const size_t row = row_of(list, left, of);

			if (row < TURNS_MIN * of)
				continue;
			if (of > 1)
				add_row(finding, list, row, of);
			taken = row;
			break;
		}
		at += taken;
	}
	finding->count = 0;
}

static void walk(struct finding_turns *finding)
{
	const struct split *split = &finding->facts->split;
	const struct timeline *timeline = finding->facts->timeline;
	const struct timeline_lane *lane = timeline_lane(timeline, split->lane);
	bool *asked = names_asked(timeline);
	int64_t end_ns = INT64_MIN;
	size_t step = 0;

	for (size_t at = 0; at < lane->count; at++) {
		const struct span *span = &lane->spans[at];

		if (span->start_ns < end_ns || !asked[span->name])
			continue;
		end_ns = span->start_ns +
			 timeline_dur_ns(timeline, split->lane, span);
		while (step < split->count &&
		       split->steps[step].start_ns +
				       split->steps[step].dur_ns <=
			       span->start_ns) {
			end_step(finding);
			step++;
		}
		if (!is_judged(finding->facts, span->start_ns))
			continue;
		finding->list =
			memory_grow(finding->list, finding->count,
				    &finding->capacity, sizeof(*finding->list));
		finding->list[finding->count++] = (struct outer){
			span->start_ns, end_ns - span->start_ns, span->name};
	}
	end_step(finding);
	free(asked);
}

static bool has(const char *name, const char *const *words, bool is_whole)
{
	for (; *words; words++)
		if (is_whole ? !strcmp(name, *words)
			     : strstr(name, *words) != NULL)
			return true;
	return false;
}

/* What torch._foreach_* does for a list at once is done in place, and nothing
 * in it is a layer's. */
static bool is_update(const struct timeline *timeline, const uint32_t *names,
		      size_t count)
{
	static const char *const updates[] = {
		"aten::add_",	  "aten::sub_",
		"aten::mul_",	  "aten::div_",
		"aten::copy_",	  "aten::lerp_",
		"aten::addcmul_", "aten::addcdiv_",
		"aten::clamp_",	  "aten::neg_",
		"aten::sqrt_",	  "aten::pow_",
		"aten::zero_",	  NULL};
	static const char *const layers[] = {
		"linear",     "mm",	    "matmul",	  "conv",
		"embedding",  "layer_norm", "batch_norm", "group_norm",
		"attention",  "lstm",	    "gru",	  "rnn",
		"autograd::", "_foreach_",  NULL};
	bool is_one = false;

	for (size_t at = 0; at < count; at++) {
		const char *name = timeline_name_text(timeline, names[at]);

		if (has(name, layers, false))
			return false;
		is_one = is_one || has(name, updates, true);
	}
	return is_one;
}

static bool is_loop(const struct verdict_facts *facts, const struct turn *turn,
		    const uint32_t *names, size_t count)
{
	return turn->calls >= OPERATORS_MIN * steps_of(facts) &&
	       turn->ns < SHORT_OPERATOR_NS * turn->calls &&
	       turn->told >= TURNS_TOLD_MIN &&
	       turn->straight >= TURNS_STRAIGHT_MIN * turn->told &&
	       is_update(facts->timeline, names, count);
}

/* Each place of a turn comes as often as any other: it is on the line that its
 * calls tell most often. */
static struct in_line line_of(const struct finding_turns *finding,
			      uint32_t turn, size_t count)
{
	double *calls =
		memory_zeroed(finding->facts->timeline->called.lines.count + 1,
			      sizeof(*calls));
	struct in_line line;

	for (uint32_t place = 0; place < count; place++) {
		uint32_t most = TIMELINE_NONE;
		double most_told = 0;

		for (size_t at = 0; at < finding->told.count; at++) {
			const double told =
				*(double *)key_table_row(&finding->told, at);
			struct told_key key;

			memcpy(&key, key_table_key(&finding->told, at, NULL),
			       sizeof(key));
			if (key.turn != turn || key.at != place ||
			    told <= most_told)
				continue;
			most_told = told;
			most = key.line;
		}
		if (most != TIMELINE_NONE)
			calls[most]++;
	}
	line = most_in_lines(finding->facts, calls, (double)count);
	free(calls);
	return line;
}

struct operator_turns operator_turns(const struct verdict_facts *facts)
{
	struct finding_turns finding = {
		.facts = facts,
		.turns.row_bytes = sizeof(struct turn),
		.told.row_bytes = sizeof(double),
	};
	struct operator_turns most = {0};
	uint32_t number = 0;

	if (facts->split.lane >= facts->timeline->lanes.table.count)
		return most;
	finding.called = called_in_order(facts, &finding.called_count);
	if (finding.called && finding.called_count >= TURNS_TOLD_MIN)
		walk(&finding);
	for (uint32_t at = 0; at < finding.turns.count; at++) {
		const struct turn *turn = key_table_row(&finding.turns, at);
		uint32_t names[TURN_MAX];
		size_t bytes = 0;
		const char *key = key_table_key(&finding.turns, at, &bytes);

		memcpy(names, key, bytes);
		if (turn->ns <= most.ns ||
		    !is_loop(facts, turn, names, bytes / sizeof(*names)))
			continue;
		number = at;
		most.ns = turn->ns;
		most.calls = turn->calls / steps_of(facts);
		most.count = bytes / sizeof(*names);
		memcpy(most.names, names, bytes);
	}
	if (most.count)
		most.line = line_of(&finding, number, most.count);
	free(finding.list);
	free(finding.called);
	key_table_free(&finding.turns);
	key_table_free(&finding.told);
	return most;
}
