/* SPDX-License-Identifier: MIT */
/*
 * rules_layout.c - what the host takes to copy tensors to another layout.
 *
 * PyTorch does so where it is asked to (contiguous), where a shape can't be had
 * without (reshape and flatten, which then clone), and oneDNN, within an
 * operator, for the layout that its primitives want.  A clone that the program
 * asks for is no copy to another layout.
 */
#include "tools/verdict/rules.h"

#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"
#include "tools/util/numbers.h"
#include "tools/verdict/python_lines.h"

enum copier { COPIER_CONTIGUOUS, COPIER_SHAPE, COPIER_ONEDNN, COPIER_COUNT };

struct copier_sum {
	double ns, calls;
	int64_t longest_ns, longest_at_ns;
	uint32_t name;
	uint32_t copy, within; /* what does it, in what, for in_line() */
};

/* What an operator of a name does in it. */
enum part { PART_NONE, PART_ONEDNN, PART_CONTIGUOUS, PART_CLONE, PART_SHAPE };

struct copiers {
	unsigned char *parts; /* by name */
	struct copier_sum sums[COPIER_COUNT];
	int64_t shape_end_ns; /* of the reshape that is open */
	uint32_t shape;
	int64_t counted_ns; /* up to here it is counted */
};

static enum part part_of(const char *name)
{
	static const struct {
		const char *name;
		enum part part;
	} parts[] = {
		{"dnnl::primitive::execute: reorder", PART_ONEDNN},
		{"aten::contiguous", PART_CONTIGUOUS},
		{"aten::clone", PART_CLONE},
		{"aten::reshape", PART_SHAPE},
		{"aten::flatten", PART_SHAPE},
	};

	for (size_t at = 0; at < sizeof(parts) / sizeof(parts[0]); at++)
		if (!strcmp(name, parts[at].name))
			return parts[at].part;
	return PART_NONE;
}

/* What makes this copy; COPIER_COUNT none. */
static enum copier copier_of(struct copiers *copiers, const struct span *span,
			     int64_t end_ns)
{
	switch ((enum part)copiers->parts[span->name]) {
	case PART_ONEDNN: return COPIER_ONEDNN;
	case PART_CONTIGUOUS: return COPIER_CONTIGUOUS;
	case PART_CLONE:
		return span->start_ns < copiers->shape_end_ns ? COPIER_SHAPE
							      : COPIER_COUNT;
	case PART_SHAPE:
		if (span->start_ns < copiers->shape_end_ns)
			return COPIER_COUNT;
		copiers->shape_end_ns = end_ns;
		copiers->shape = span->name;
		return COPIER_COUNT;
	case PART_NONE: break;
	}
	return COPIER_COUNT;
}

static void count(struct copier_sum *sum, uint32_t name,
		  const struct span *span, int64_t dur_ns)
{
	sum->name = name;
	sum->copy = span->name;
	sum->within = name == span->name ? TIMELINE_NONE : name;
	sum->calls++;
	sum->ns += (double)dur_ns;
	if (dur_ns <= sum->longest_ns)
		return;
	sum->longest_ns = dur_ns;
	sum->longest_at_ns = span->start_ns;
}

/* In typical steps of the critical thread. */
static void count_copiers(const struct verdict_facts *facts,
			  struct copiers *copiers)
{
	const struct timeline *timeline = facts->timeline;
	const struct timeline_lane *lane =
		timeline_lane(timeline, facts->split.lane);

	copiers->parts = memory_zeroed(timeline->names.count + 1, 1);
	for (uint32_t at = 0; at < timeline->names.count; at++)
		copiers->parts[at] = (unsigned char)part_of(
			timeline_name_text(timeline, at));
	for (size_t i = 0; lane && i < lane->count; i++) {
		const struct span *span = &lane->spans[i];
		int64_t dur_ns;
		enum copier copier;

		if (!copiers->parts[span->name] ||
		    span->start_ns < copiers->counted_ns ||
		    !is_judged(facts, span->start_ns))
			continue;
		dur_ns = timeline_dur_ns(timeline, facts->split.lane, span);
		copier = copier_of(copiers, span, span->start_ns + dur_ns);
		if (copier == COPIER_COUNT)
			continue;
		copiers->counted_ns = span->start_ns + dur_ns;
		count(&copiers->sums[copier],
		      copier == COPIER_SHAPE ? copiers->shape : span->name,
		      span, dur_ns);
	}
	free(copiers->parts);
}

bool rule_copied_layout(const struct verdict_facts *facts,
			struct finding *finding)
{
	struct copiers copiers = {.shape_end_ns = INT64_MIN,
				  .counted_ns = INT64_MIN};
	const struct copier_sum *most = &copiers.sums[0];
	struct in_line line;

	count_copiers(facts, &copiers);
	for (size_t at = 0; at < COPIER_COUNT; at++) {
		finding->saved_ns += copiers.sums[at].ns;
		if (copiers.sums[at].ns > most->ns)
			most = &copiers.sums[at];
	}
	if (!most->calls || !is_worth(facts, finding->saved_ns, SHARE_HIGH_MIN))
		return false;
	line = in_line(facts, most->copy, most->within);
	say(&finding->figure,
	    "%s a step to copy tensors to another layout (%s, %.0f calls%s)",
	    quantity_time(finding->saved_ns / steps_of(facts)).text,
	    short_name(timeline_name_text(facts->timeline, most->name)).text,
	    most->calls / steps_of(facts), line.text);
	say(&finding->threshold, "%.0f %% of the step", 100 * SHARE_HIGH_MIN);
	say(&finding->next,
	    "keep one layout from the input on (model and input to "
	    "memory_format=torch.channels_last), or use operators that take "
	    "strides.%s",
	    ask_for_lines(facts, &line));
	say_place(facts, finding, most->longest_at_ns, TIMELINE_NONE,
		  most->name);
	return true;
}
