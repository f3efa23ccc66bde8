/* SPDX-License-Identifier: MIT */
/*
 * rules_torch.c - what operators and lines of Python take of the host's time.
 */
#include "tools/verdict/rules.h"

#include <stdlib.h>
#include <string.h>

#include "tools/util/numbers.h"
#include "tools/util/text_buffer.h"
#include "tools/verdict/operator_turns.h"
#include "tools/verdict/python_lines.h"

/* Calls of Python are recorded in so much of what they are to stand for. */
#define TOLD_MIN     0.1
/* Of the calls whose line is known so many are the program's own. */
#define STRAIGHT_MIN 0.1

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

/* Operators that lie in no other: those the program calls itself. */
struct outer {
	double ns;
	double calls; /* a typical step */
};

/* A loop of C++'s over a list of tensors, which is what the rule advises. */
static bool is_foreach(const struct timeline *timeline, uint32_t name)
{
	return strstr(timeline_name_text(timeline, name), "::_foreach_");
}

/* How much of the operators' time lies in those. */
static double foreach_share(const struct timeline *timeline,
			    const struct outer *outer)
{
	double all = 0, lists = 0;

	for (uint32_t at = 0; outer && at < timeline->names.count; at++) {
		all += outer[at].ns;
		lists += is_foreach(timeline, at) ? outer[at].ns : 0;
	}
	return all > 0 ? lists / all : 0;
}

/* The critical thread's, by name; to be freed. */
static struct outer *outer_calls(const struct verdict_facts *facts)
{
	const struct timeline *timeline = facts->timeline;
	struct outer *outer = calloc(timeline->names.count + 1, sizeof(*outer));
	const struct timeline_lane *lane =
		timeline_lane(timeline, facts->split.lane);
	int64_t end_ns = INT64_MIN;

	for (size_t i = 0; outer && lane && i < lane->count; i++) {
		const struct span *span = &lane->spans[i];

		if (span->start_ns < end_ns ||
		    !is_operator(timeline, span->name))
			continue;
		end_ns = span->start_ns +
			 timeline_dur_ns(timeline, facts->split.lane, span);
		outer[span->name].ns += (double)(end_ns - span->start_ns);
		if (is_judged(facts, span->start_ns))
			outer[span->name].calls += 1 / steps_of(facts);
	}
	return outer;
}

/* What runs backward no line of the program calls. */
static bool is_engine(const struct timeline *timeline, uint32_t name)
{
	return !strncmp(timeline_name_text(timeline, name), "autograd::engine",
			16);
}

/* Of the names in `wanted` the one that takes most by `outer`; where lines are
 * known and a tenth of what they tell is called straight from the program, the
 * one that is called so most often: a package's loop isn't the program's. */
static uint32_t most_of(const struct verdict_facts *facts, const bool *wanted,
			const struct outer *outer)
{
	const struct timeline *timeline = facts->timeline;
	uint32_t most = TIMELINE_NONE;
	double all, sum = 0;
	double *straight = called_straight(facts, &all);

	for (uint32_t at = 0; straight && at < timeline->names.count; at++)
		sum += wanted[at] ? straight[at] : 0;
	for (uint32_t at = 0; at < timeline->names.count; at++) {
		const bool is_better =
			most == TIMELINE_NONE ||
			(is_engine(timeline, most) && !is_engine(timeline, at));

		if (!wanted[at] || (!is_better && is_engine(timeline, at)))
			continue;
		if (is_better ||
		    (straight && sum > 0 && sum >= STRAIGHT_MIN * all
			     ? straight[at] > straight[most]
			     : outer[at].ns > outer[most].ns))
			most = at;
	}
	free(straight);
	return most;
}

/* Operators that are called so often that the calls are what they take: their
 * time in all, how often the program calls one of them in a step, and of those
 * it calls the one that takes most. */
static double short_operators(const struct verdict_facts *facts,
			      const double *self, const double *calls,
			      uint32_t *most, double *called)
{
	const struct timeline *timeline = facts->timeline;
	struct outer *outer = outer_calls(facts);
	bool *wanted = calloc(timeline->names.count + 1, sizeof(*wanted));
	double sum = 0;

	*called = 0;
	*most = TIMELINE_NONE;
	for (uint32_t at = 0; at < timeline->names.count; at++) {
		const struct timeline_name *row = timeline_name(timeline, at);

		if (self[at] <= 0 || !is_operator(timeline, at) ||
		    is_foreach(timeline, at) ||
		    row->self_ns / row->calls >= SHORT_OPERATOR_NS ||
		    calls[at] < OPERATORS_MIN)
			continue;
		sum += self[at];
		if (outer)
			*called += outer[at].calls;
		if (wanted)
			wanted[at] = true;
	}
	if (outer && wanted)
		*most = most_of(facts, wanted, outer);
	sum *= 1 - foreach_share(timeline, outer);
	free(wanted);
	free(outer);
	return sum;
}

/* Do most of those that the program calls serve to read single values?  To pick
 * one takes two or three; a loop that reads one beside its work takes more. */
static bool is_item(const struct verdict_facts *facts, const double *calls,
		    double called)
{
	const uint32_t item = find(facts->timeline, "aten::item");

	return item != TIMELINE_NONE &&
	       calls[item] * OPERATORS_AN_ITEM >= called;
}

static void say_item(const struct verdict_facts *facts, struct finding *finding,
		     const double *calls)
{
	const uint32_t name = find(facts->timeline, "aten::item");
	const struct timeline_name *row = timeline_name(facts->timeline, name);
	const struct in_line line = in_line(facts, name, TIMELINE_NONE);

	say(&finding->figure,
	    "%.0f calls of .item() a step (aten::item) and of what picks "
	    "their elements%s",
	    calls[name], line.text);
	say(&finding->next,
	    "keep the values in a tensor and read them at once "
	    "(tolist()); on a GPU each call waits for it.%s",
	    ask_for_lines(facts, &line));
	say_place(facts, finding, row->longest_at_ns, row->longest_lane, name);
}

static void say_at_once(const struct verdict_facts *facts,
			struct finding *finding, const struct in_line *line)
{
	say(&finding->next,
	    "do them at once: one larger tensor, "
	    "torch._foreach_*, an optimizer with foreach=True, "
	    "torch.compile.%s",
	    ask_for_lines(facts, line));
}

static void say_loop(const struct verdict_facts *facts, struct finding *finding,
		     uint32_t name, const double *calls)
{
	const struct timeline_name *row = timeline_name(facts->timeline, name);
	const struct in_line line = in_line(facts, name, TIMELINE_NONE);

	say(&finding->figure,
	    "%.0f calls of %s a step, %s each: a loop of Python over small "
	    "tensors%s",
	    calls[name],
	    short_name(timeline_name_text(facts->timeline, name)).text,
	    quantity_time((double)row->sum_ns / (double)row->calls).text,
	    line.text);
	say_at_once(facts, finding, &line);
	say_place(facts, finding, row->longest_at_ns, row->longest_lane, name);
}

/* Where none of them comes so often, or takes less, but several do together. */
static bool is_in_turn(const struct verdict_facts *facts,
		       struct finding *finding)
{
	const struct operator_turns turns = operator_turns(facts);
	const struct timeline_name *row;
	struct text_buffer names = {0};

	if (!turns.count || turns.ns <= finding->saved_ns ||
	    !is_worth(facts, turns.ns, SHARE_HIGH_MIN))
		return false;
	finding->saved_ns = turns.ns;
	text_buffer_cut(&names, 0);
	for (size_t at = 0; at < turns.count && at < TURN_NAMED; at++)
		text_buffer_format(
			&names, "%s%s", at ? ", " : "",
			short_name(timeline_name_text(facts->timeline,
						      turns.names[at]))
				.text);
	if (turns.count > TURN_NAMED)
		text_buffer_format(&names, " and %zu more",
				   turns.count - TURN_NAMED);
	say(&finding->figure,
	    "%.0f calls a step, in turn, of %s, %s each: a loop of Python over "
	    "small tensors%s",
	    turns.calls, names.data,
	    quantity_time(turns.ns / (turns.calls * steps_of(facts))).text,
	    turns.line.text);
	text_buffer_free(&names);
	row = timeline_name(facts->timeline, turns.names[0]);
	say_at_once(facts, finding, &turns.line);
	say_place(facts, finding, row->longest_at_ns, row->longest_lane,
		  turns.names[0]);
	return true;
}

bool rule_short_operators(const struct verdict_facts *facts,
			  struct finding *finding)
{
	double *self = self_times(facts, false);
	double *calls = calls_a_step(facts);
	uint32_t most = TIMELINE_NONE;
	double called = 0;
	bool is_found;

	finding->saved_ns = self && calls ? short_operators(facts, self, calls,
							    &most, &called)
					  : 0;
	is_found = most != TIMELINE_NONE &&
		   is_worth(facts, finding->saved_ns, SHARE_HIGH_MIN);
	if (is_found && is_item(facts, calls, called))
		say_item(facts, finding, calls);
	else if (is_in_turn(facts, finding))
		is_found = true;
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

bool is_own_function(const struct timeline *timeline, uint32_t name)
{
	const char *text = timeline_name_text(timeline, name);

	return !strcmp(timeline_category(timeline, name), "python_function") &&
	       strstr(text, ".py(") && strncmp(text, "torch/", 6) &&
	       !strstr(text, "<module>");
}

/* Of the steps that are judged, the part in which calls of Python are recorded:
 * they end where they cost too much.  0: too little to judge by. */
static double told_share(const struct verdict_facts *facts)
{
	const struct split *split = &facts->split;
	const int64_t ended_ns = facts->metadata->python_ended_ns;
	double told = 0;

	if (ended_ns < 0)
		return 1;
	for (size_t at = 0; at < split->count; at++) {
		const struct split_step *step = &split->steps[at];
		const int64_t until_ns = ended_ns - step->start_ns;

		if (!step->is_slow && until_ns > 0)
			told += (double)(until_ns < step->dur_ns
						 ? until_ns
						 : step->dur_ns);
	}
	told = split->total_ns > 0 ? told / (double)split->total_ns : 0;
	return told >= TOLD_MIN ? told : 0;
}

/* The function of Python whose own code takes most. */
bool rule_python(const struct verdict_facts *facts, struct finding *finding)
{
	const struct timeline *timeline = facts->timeline;
	const double told = told_share(facts);
	const double interpreted = (double)facts->split.ns[SHARE_PYTHON];
	const bool has_samples =
		facts->metadata->sample > 0 && facts->split.sampled_ns > 0;
	double *self = NULL;
	uint32_t name = TIMELINE_NONE;

	for (uint32_t at = 0; told > 0 && at < timeline->names.count; at++) {
		if (!is_own_function(timeline, at))
			continue;
		if (!self)
			self = self_times(facts, false);
		if (self && (name == TIMELINE_NONE || self[at] > self[name]))
			name = at;
	}
	finding->saved_ns = name != TIMELINE_NONE ? self[name] / told : 0;
	free(self);
	/* What it calls that isn't told (an operator on arrays, Cython), and
	 * waits, are its own too: of these samples know. */
	if (has_samples && interpreted < finding->saved_ns)
		finding->saved_ns = interpreted;
	if (!is_worth(facts, finding->saved_ns, FUNCTION_MIN))
		return false;
	say(&finding->figure, "%s a step in the code of %s%s",
	    quantity_time(finding->saved_ns / steps_of(facts)).text,
	    short_name(timeline_name_text(timeline, name)).text,
	    told < 1 ? ", by the part of which calls are recorded" : "");
	say(&finding->threshold, "%.0f %% of the step", 100 * FUNCTION_MIN);
	say(&finding->next,
	    "take its loop out of Python: whole arrays, or a function that is "
	    "compiled.%s",
	    has_samples ? ""
			: " Operators on arrays and Cython count as its own: "
			  "TRACEPROF_SAMPLE=499 tells them apart.");
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
