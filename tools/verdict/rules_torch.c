/* SPDX-License-Identifier: MIT */
/*
 * rules_torch.c - what operators and lines of Python take of the host's time.
 */
#include "tools/verdict/rules.h"

#include <stdlib.h>
#include <string.h>

#include "tools/util/numbers.h"

/* What the critical thread is innermost in, in typical steps, by name. */
struct self_time {
	const struct verdict_facts *facts;
	double *ns;
	bool only_data;
};

static void add_piece(void *arg, int64_t start_ns, int64_t end_ns,
		      enum host_kind kind, uint32_t name)
{
	struct self_time *self = arg;

	if (name != TIMELINE_NONE && is_judged(self->facts, start_ns) &&
	    (!self->only_data || kind == HOST_DATA))
		self->ns[name] += (double)(end_ns - start_ns);
}

/* One number for each name, to be freed. */
static double *self_times(const struct verdict_facts *facts, bool only_data)
{
	struct self_time self = {facts, NULL, only_data};
	struct timeline *timeline = facts->timeline;

	self.ns = calloc(timeline->names.count + 1, sizeof(*self.ns));
	if (self.ns && facts->split.lane < timeline->lanes.table.count)
		timeline_walk(timeline, facts->split.lane, add_piece, &self);
	return self.ns;
}

/* How often each begins on the critical thread in a typical step, by name, to
 * be freed.  NULL: that thread isn't known. */
static double *calls_a_step(const struct verdict_facts *facts)
{
	const struct timeline *timeline = facts->timeline;
	const struct timeline_lane *lane =
		timeline_lane(timeline, facts->split.lane);
	double *calls =
		lane ? calloc(timeline->names.count + 1, sizeof(*calls)) : NULL;

	for (size_t i = 0; calls && i < lane->count; i++)
		if (lane->spans[i].name < timeline->names.count &&
		    is_judged(facts, lane->spans[i].start_ns))
			calls[lane->spans[i].name]++;
	for (size_t at = 0; calls && at < timeline->names.count; at++)
		calls[at] /= steps_of(facts);
	return calls;
}

static uint32_t find(const struct timeline *timeline, const char *name)
{
	for (uint32_t at = 0; at < timeline->names.count; at++)
		if (!strcmp(timeline_name_text(timeline, at), name) &&
		    !strcmp(timeline_category(timeline, at), "cpu_op"))
			return at;
	return TIMELINE_NONE;
}

/* Names of operators: "aten::add"; not "net::Layer::run [omp parallel #1]". */
static bool is_operator(const struct timeline *timeline, uint32_t name)
{
	const char *text = timeline_name_text(timeline, name);

	return !strcmp(timeline_category(timeline, name), "cpu_op") &&
	       strstr(text, "::") && !strstr(text, " [omp ");
}

/* What the critical thread's operators take that lie in no other, by name:
 * those the program calls itself.  To be freed. */
static double *outer_times(const struct verdict_facts *facts)
{
	const struct timeline *timeline = facts->timeline;
	double *ns = calloc(timeline->names.count + 1, sizeof(*ns));
	const struct timeline_lane *lane =
		timeline_lane(timeline, facts->split.lane);
	int64_t end_ns = INT64_MIN;

	for (size_t i = 0; ns && lane && i < lane->count; i++) {
		const struct span *span = &lane->spans[i];

		if (span->start_ns < end_ns ||
		    !is_operator(timeline, span->name))
			continue;
		end_ns = span->start_ns +
			 timeline_dur_ns(timeline, facts->split.lane, span);
		ns[span->name] += (double)(end_ns - span->start_ns);
	}
	return ns;
}

/* Operators that are called so often that the calls are what they take: their
 * time in all, and of those that the program calls the one that takes most. */
static double short_operators(const struct verdict_facts *facts,
			      const double *self, const double *calls,
			      uint32_t *most)
{
	const struct timeline *timeline = facts->timeline;
	double *outer = outer_times(facts);
	double sum = 0;

	*most = TIMELINE_NONE;
	for (uint32_t at = 0; at < timeline->names.count; at++) {
		const struct timeline_name *row = timeline_name(timeline, at);

		if (self[at] <= 0 || !is_operator(timeline, at) ||
		    row->self_ns / row->calls >= SHORT_OPERATOR_NS ||
		    calls[at] < OPERATORS_MIN)
			continue;
		sum += self[at];
		if (outer &&
		    (*most == TIMELINE_NONE || outer[at] > outer[*most]))
			*most = at;
	}
	free(outer);
	return sum;
}

/* Do most of them serve to read single values? */
static bool is_item(const struct verdict_facts *facts, const double *calls,
		    uint32_t most)
{
	const uint32_t item = find(facts->timeline, "aten::item");

	return item != TIMELINE_NONE && calls[item] >= 0.4 * calls[most];
}

static void say_item(const struct verdict_facts *facts, struct finding *finding,
		     const double *calls)
{
	const uint32_t name = find(facts->timeline, "aten::item");
	const struct timeline_name *row = timeline_name(facts->timeline, name);

	say(&finding->figure,
	    "%.0f calls of .item() a step (aten::item) and of what picks "
	    "their elements",
	    calls[name]);
	say(&finding->next, "keep the values in a tensor and read them at once "
			    "(tolist()); on a GPU each call waits for it.");
	say_place(facts, finding, row->longest_at_ns, row->longest_lane, name);
}

static void say_loop(const struct verdict_facts *facts, struct finding *finding,
		     uint32_t name, const double *calls)
{
	const struct timeline_name *row = timeline_name(facts->timeline, name);

	say(&finding->figure,
	    "%.0f calls of %s a step, %s each: a loop of Python over small "
	    "tensors",
	    calls[name],
	    short_name(timeline_name_text(facts->timeline, name)).text,
	    quantity_time((double)row->sum_ns / (double)row->calls).text);
	say(&finding->next, "do them at once: one larger tensor, "
			    "torch._foreach_*, an optimizer with foreach=True, "
			    "torch.compile.");
	say_place(facts, finding, row->longest_at_ns, row->longest_lane, name);
}

bool rule_short_operators(const struct verdict_facts *facts,
			  struct finding *finding)
{
	double *self = self_times(facts, false);
	double *calls = calls_a_step(facts);
	uint32_t most = TIMELINE_NONE;
	bool is_found;

	finding->saved_ns =
		self && calls ? short_operators(facts, self, calls, &most) : 0;
	is_found = most != TIMELINE_NONE &&
		   is_worth(facts, finding->saved_ns, SHARE_HIGH_MIN);
	if (is_found && is_item(facts, calls, most))
		say_item(facts, finding, calls);
	else if (is_found)
		say_loop(facts, finding, most, calls);
	if (is_found)
		say(&finding->threshold,
		    "%d of less than %d us, %.0f %% of the step", OPERATORS_MIN,
		    SHORT_OPERATOR_NS / 1000, 100 * SHARE_HIGH_MIN);
	free(calls);
	free(self);
	return is_found;
}

/* In typical steps of the critical thread.  The copies lie in it. */
static double time_of(const struct verdict_facts *facts, uint32_t name,
		      double *calls)
{
	const struct timeline *timeline = facts->timeline;
	const struct timeline_lane *lane =
		timeline_lane(timeline, facts->split.lane);
	double ns = 0;

	for (size_t i = 0; lane && i < lane->count; i++) {
		const struct span *span = &lane->spans[i];

		if (span->name != name || !is_judged(facts, span->start_ns))
			continue;
		*calls += 1;
		ns += (double)timeline_dur_ns(timeline, facts->split.lane,
					      span);
	}
	return ns;
}

bool rule_copied_layout(const struct verdict_facts *facts,
			struct finding *finding)
{
	const uint32_t name = find(facts->timeline, "aten::contiguous");
	const struct timeline_name *row;
	double calls = 0;

	if (name == TIMELINE_NONE)
		return false;
	row = timeline_name(facts->timeline, name);
	finding->saved_ns = time_of(facts, name, &calls);
	if (!is_worth(facts, finding->saved_ns, SHARE_HIGH_MIN))
		return false;
	say(&finding->figure,
	    "%s a step to copy tensors to another layout "
	    "(aten::contiguous, %.0f calls)",
	    quantity_time(finding->saved_ns / steps_of(facts)).text,
	    calls / steps_of(facts));
	say(&finding->threshold, "%.0f %% of the step", 100 * SHARE_HIGH_MIN);
	say(&finding->next, "keep one layout from the input on "
			    "(memory_format=torch.channels_last), or use "
			    "operators that take strides.");
	say_place(facts, finding, row->longest_at_ns, row->longest_lane, name);
	return true;
}

bool is_own_function(const struct timeline *timeline, uint32_t name)
{
	const char *text = timeline_name_text(timeline, name);

	return !strcmp(timeline_category(timeline, name), "python_function") &&
	       strstr(text, ".py(") && strncmp(text, "torch/", 6) &&
	       !strstr(text, "<module>");
}

/* The function of Python whose own code takes most. */
bool rule_python(const struct verdict_facts *facts, struct finding *finding)
{
	const struct timeline *timeline = facts->timeline;
	double *self = NULL;
	uint32_t name = TIMELINE_NONE;

	for (uint32_t at = 0; at < timeline->names.count; at++) {
		if (!is_own_function(timeline, at))
			continue;
		if (!self)
			self = self_times(facts, false);
		if (self && (name == TIMELINE_NONE || self[at] > self[name]))
			name = at;
	}
	finding->saved_ns = name != TIMELINE_NONE ? self[name] : 0;
	free(self);
	if (!is_worth(facts, finding->saved_ns, FUNCTION_MIN))
		return false;
	say(&finding->figure, "%s a step in the code of %s",
	    quantity_time(finding->saved_ns / steps_of(facts)).text,
	    short_name(timeline_name_text(timeline, name)).text);
	say(&finding->threshold, "%.0f %% of the step", 100 * FUNCTION_MIN);
	say(&finding->next, "take its loop out of Python: whole arrays, or a "
			    "function that is compiled.");
	say_place(facts, finding, timeline_name(timeline, name)->longest_at_ns,
		  timeline_name(timeline, name)->longest_lane, name);
	return true;
}

/* "DataLoader collate: train.py(3): rows", which the library draws where calls
 * of Python aren't recorded. */
static bool is_part_of_data(const struct timeline *timeline, uint32_t name)
{
	const char *text = timeline_name_text(timeline, name);

	return !strncmp(text, "DataLoader collate: ", 20) ||
	       !strncmp(text, "DataLoader fetch: ", 18);
}

uint32_t function_of_data(const struct verdict_facts *facts)
{
	const struct timeline *timeline = facts->timeline;
	double *self = self_times(facts, true);
	uint32_t name = TIMELINE_NONE;

	for (uint32_t at = 0; self && at < timeline->names.count; at++)
		if (self[at] > 0 &&
		    (is_own_function(timeline, at) ||
		     is_part_of_data(timeline, at)) &&
		    (name == TIMELINE_NONE ||
		     timeline_name(timeline, at)->sum_ns >
			     timeline_name(timeline, name)->sum_ns))
			name = at;
	free(self);
	return name;
}
