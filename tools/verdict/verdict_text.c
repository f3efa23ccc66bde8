/* SPDX-License-Identifier: MIT */
/*
 * verdict_text.c - the verdict in a few lines.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tools/model/sample_time.h"
#include "tools/model/step_phases.h"
#include "tools/util/numbers.h"
#include "tools/util/text_buffer.h"
#include "tools/util/text_wrap.h"
#include "tools/verdict/python_lines.h"
#include "tools/verdict/rules.h"
#include "tools/verdict/pool_text.h"
#include "tools/verdict/split_text.h"

#define BEHIND_MIN	0.2
/* Names that are said, and what each takes of the time at least. */
#define NAMES		3u
#define NAME_MIN	0.02
#define WAITS_NAMED_MIN 0.20 /* of the time, in one call of one place */
/* Of the samples, of which one in so many is timed. */
#define TIMED_EACH	16
#define CUT_LEAST	10
#define CUT_MIN		0.10
/* Of the processor time, for one name to be what to begin with; and of the time
 * that somebody had a processor at all. */
#define LEAD_MIN	0.30
#define LEAD_BUSY_MIN	0.50
/* Calls that tell their line; of fewer nothing is said. */
#define LINE_CALLS_MIN	20

static unsigned int add_line(struct text_buffer *lines, unsigned int indent,
			     unsigned int columns, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static unsigned int add_line(struct text_buffer *lines, unsigned int indent,
			     unsigned int columns, const char *format, ...)
{
	unsigned int count = 0;
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) >= 0) {
		count = text_wrap_add(lines, text, indent, columns);
		free(text);
	}
	va_end(args);
	return count;
}

/* What a GPU did that the file has nothing of. */
static unsigned int add_behind(struct text_buffer *lines,
			       const struct verdict *verdict,
			       unsigned int columns)
{
	const struct split *split = &verdict->facts.split;

	if (!split->total_ns ||
	    (double)split->behind_ns < BEHIND_MIN * (double)split->total_ns)
		return 0;
	return add_line(lines, 2, columns,
			"for %.0f %% of these steps the GPU was busy with what "
			"was launched before this file begins: it is behind "
			"the host",
			100 * (double)split->behind_ns /
				(double)split->total_ns);
}

/* "by phase: 61.0 % backward, 27.0 % forward, ..."; what is in none is not
 * named. */
static unsigned int add_phases_of(struct text_buffer *lines,
				  int64_t ns[STEP_PHASES], double total,
				  const char *whose, unsigned int columns)
{
	struct text_buffer text = {0};
	unsigned int count = 0;

	text_buffer_cut(&text, 0);
	for (unsigned int named = 0; named < STEP_PHASES; named++) {
		unsigned int most = 0;

		for (unsigned int at = 1; at < STEP_PHASES; at++)
			if (ns[at] > ns[most])
				most = at;
		if ((double)ns[most] < NAMED_MIN * total)
			break;
		text_buffer_format(&text, "%s%.1f %% %s", named ? ", " : whose,
				   100 * (double)ns[most] / total,
				   phases_text((enum step_phase)most));
		ns[most] = 0;
	}
	if (text.len)
		count = text_wrap_add(lines, text.data, 2, columns);
	text_buffer_free(&text);
	return count;
}

/* Of the GPU's work, by where it was launched, and of the host's time. */
static unsigned int add_phases(struct text_buffer *lines,
			       const struct verdict *verdict,
			       unsigned int columns)
{
	const struct split *split = &verdict->facts.split;
	const struct timeline *timeline = verdict->facts.timeline;
	int64_t ns[STEP_PHASES], all_ns;
	unsigned int count = 0;

	if (phases_gpu(timeline, split, ns, &all_ns))
		count += add_phases_of(lines, ns, (double)all_ns,
				       "phases of the GPU's work: ", columns);
	if (phases_sum(timeline, split, ns))
		count += add_phases_of(lines, ns, (double)split->total_ns,
				       split->uses_gpu ? "phases of the host: "
						       : "by phase: ",
				       columns);
	return count;
}

/* The recording began a good while before anything that is judged. */
static bool begins_late(const struct verdict_facts *facts)
{
	const struct timeline *timeline = facts->timeline;
	const int64_t all_ns = timeline->recorded_ns - timeline->began_ns;

	return timeline->began_ns && !timeline_is_part(timeline) &&
	       timeline->start_ns - timeline->began_ns > all_ns / 100;
}

static unsigned int add_step(struct text_buffer *lines,
			     const struct verdict *verdict,
			     unsigned int columns)
{
	const struct split *split = &verdict->facts.split;
	const struct timeline *timeline = verdict->facts.timeline;
	const int64_t number = verdict->facts.metadata->part;
	char thread[100] = "", part[80] = "", last[80] = "", of[40] = "";

	if (split->is_busiest)
		say_lane(&verdict->facts, thread, sizeof(thread),
			 TIMELINE_NONE);
	if (split->is_training)
		snprintf(part, sizeof(part), " of %s recorded",
			 quantity_time((double)verdict->facts.wall_ns).text);
	else if (!split->has_steps && begins_late(&verdict->facts))
		snprintf(part, sizeof(part), " of %s",
			 quantity_time((double)(timeline->recorded_ns -
						timeline->began_ns))
				 .text);
	if (number > 0)
		snprintf(of, sizeof(of), "part %" PRId64 " of ", number);
	if (!split->has_steps)
		return add_line(
			lines, 2, columns,
			"Verdict: no steps found, so on %s%s, %s%s%s%s:",
			number > 0 ? of : "",
			split->is_training ? "the training"
			: number > 0	   ? "the recording"
			: part[0]	   ? "all since the first slice"
					   : "the whole recording",
			quantity_time((double)split->total_ns).text, part,
			thread, thread[0] ? " (works most)" : "");
	if (split->has_before)
		split_text_last(&verdict->facts, last, sizeof(last));
	if (split->count == 1)
		return add_line(lines, 2, columns,
				"Verdict%s: 1 step%s, %s:", last, part,
				quantity_time(split->median_ns).text);
	return add_line(
		lines, 2, columns,
		"Verdict%s: %zu steps%s, median %s, p5-p95 %s to %s:", last,
		split->count, part, quantity_time(split->median_ns).text,
		quantity_time(split->p5_ns).text,
		quantity_time(split->p95_ns).text);
}

/* What is said of the typical steps is said of no more of the run. */
static unsigned int add_covered(struct text_buffer *lines,
				const struct verdict *verdict,
				unsigned int columns)
{
	const struct verdict_facts *facts = &verdict->facts;
	const double covered = verdict_covered(verdict);
	const double between = split_between(&facts->split);
	char others[60] = "";

	if (covered <= 0)
		return 0;
	if (between >= SHARE_HIGH_MIN)
		snprintf(others, sizeof(others),
			 "; from first to last %.0f %% lie between them",
			 100 * between);
	return add_line(lines, 2, columns,
			"the typical steps, %.*f %% of the %s%s:",
			covered < 0.1, 100 * covered,
			facts->split.has_before ? "time" : "recording", others);
}

static unsigned int add_finding(struct text_buffer *lines,
				const struct verdict *verdict, size_t number,
				bool has_place, unsigned int columns)
{
	const struct finding *finding = &verdict->findings[number];
	const char *place = has_place ? finding->place : NULL;
	const double share = 100 * finding->share;
	char saved[32] = "";

	if (finding->saved_ns > 0)
		snprintf(saved, sizeof(saved), "up to %.1f %%: ", share);
	return add_line(lines, 3, columns, "%zu. %s%s [%s; from %s].%s%s%s%s%s",
			number + !verdict_is_spoilt(verdict), saved,
			finding->figure ? finding->figure : "",
			finding->rule->name,
			finding->threshold ? finding->threshold : "",
			place ? " Worst: " : "", place ? place : "",
			place ? "." : "", finding->next ? " Next: " : "",
			finding->next ? finding->next : "");
}

/* Whose names are said: of the trace's slices, with or without those of Python
 * functions, or of functions that samples met. */
enum names { NAMES_ALL, NAMES_OTHERS, NAMES_PYTHON, NAMES_NATIVE };

static bool is_python(const struct timeline *timeline, uint32_t name)
{
	return !strcmp(timeline_category(timeline, name), "python_function");
}

/* NAMES_ALL: there are no samples. */
static enum names names_of_samples(const struct timeline *timeline)
{
	bool has_native = false, has_python = false;

	for (uint32_t at = 0; at < timeline->names.count; at++) {
		has_native |=
			timeline_is_sample(timeline_name(timeline, at)->host);
		has_python |= is_python(timeline, at);
	}
	if (!has_native)
		return NAMES_ALL;
	return has_python ? NAMES_PYTHON : NAMES_NATIVE;
}

/* Is it work, of the kind that most of the time goes to?  sampled: how long
 * each had the processor by samples, NULL where slices are asked for. */
static int64_t work_of(const struct verdict *verdict, uint32_t name,
		       enum names names, const struct sample_time *sampled)
{
	const struct timeline *timeline = verdict->facts.timeline;
	const struct split *split = &verdict->facts.split;
	const struct timeline_name *row = timeline_name(timeline, name);

	/* A module alone says nothing beside functions that have names. */
	if (sampled)
		return names == NAMES_PYTHON && row->text[0] == '[' &&
				       timeline_is_sample(row->host)
			       ? 0
			       : sampled[name].ns;
	if (is_python(timeline, name) &&
	    (names == NAMES_OTHERS || waits_in_python(row->text)))
		return 0;
	if (split->ns[SHARE_GPU] * 2 > split->total_ns)
		return row->is_gpu ? row->sum_ns : 0;
	return !row->is_gpu && (row->host == HOST_PLAIN ||
				row->host == HOST_OMP)
		       ? row->self_ns
		       : 0;
}

/* The name of most work below so much, and how much that is. */
static uint32_t next_name(const struct verdict *verdict, enum names names,
			  const struct sample_time *sampled, int64_t *most_ns)
{
	const struct timeline *timeline = verdict->facts.timeline;
	const int64_t below = *most_ns;
	uint32_t most = TIMELINE_NONE;

	*most_ns = 0;
	for (uint32_t at = 0; at < timeline->names.count; at++) {
		const int64_t ns = work_of(verdict, at, names, sampled);

		/* Phases say no more than the step does. */
		if (ns > *most_ns && ns < below &&
		    strncmp(timeline_name_text(timeline, at), "phase: ", 7)) {
			*most_ns = ns;
			most = at;
		}
	}
	return most;
}

static const char *names_head(const struct verdict *verdict, enum names names,
			      const struct split *in)
{
	if (names < NAMES_PYTHON)
		return "most work in all: ";
	if (!in)
		return "most processor time in all, by samples: ";
	return verdict->facts.split.has_steps
		       ? "most processor time in these steps, by samples: "
		       : "most processor time, by samples: ";
}

/* Of a line the function in which most of it is spent, where there is one. */
static void add_most(struct text_buffer *text, const struct timeline *timeline,
		     const struct sample_time *time, uint32_t line)
{
	if (timeline_name(timeline, line)->is_spin)
		text_buffer_format(text, " (turns round until there is work)");
	else if (time->most != line && time->most_ns * 2 > time->ns)
		text_buffer_format(
			text, " (most in %s)",
			short_name(timeline_name_text(timeline, time->most))
				.text);
}

/* The names that took most, by what they did themselves; of samples those in
 * these steps, NULL: all. */
static unsigned int add_names(struct text_buffer *lines,
			      const struct verdict *verdict, enum names names,
			      const struct split *in, unsigned int columns)
{
	const struct timeline *timeline = verdict->facts.timeline;
	const double total = (double)verdict->facts.split.total_ns;
	struct sample_time *sampled =
		names >= NAMES_PYTHON ? sample_times(timeline, in) : NULL;
	struct text_buffer text = {0};
	const char *last = "";
	int64_t below = INT64_MAX;
	unsigned int count = 0;

	text_buffer_cut(&text, 0);
	for (unsigned int named = 0; named < NAMES;) {
		const uint32_t most =
			next_name(verdict, names, sampled, &below);

		if ((double)below < NAME_MIN * total)
			break;
		/* A region and its members' shares have one name. */
		if (!strcmp(last, timeline_name_text(timeline, most)))
			continue;
		last = timeline_name_text(timeline, most);
		text_buffer_format(&text, "%s%s %s",
				   named++ ? ", "
					   : names_head(verdict, names, in),
				   short_name(last).text,
				   quantity_time((double)below).text);
		if (sampled)
			add_most(&text, timeline, &sampled[most], most);
	}
	if (text.len)
		count = text_wrap_add(lines, text.data, 2, columns);
	text_buffer_free(&text);
	free(sampled);
	return count;
}

/* Is nothing found that the program does itself? */
static bool is_of_others(const struct verdict *verdict)
{
	for (size_t at = 0; at < verdict->count; at++) {
		const char *rule = verdict->findings[at].rule->name;

		if (strcmp(rule, "own-cost") && strcmp(rule, "no-processor"))
			return false;
	}
	return true;
}

/* No rule knows a cause; but most of the work may lie in one place. */
static unsigned int add_nothing(struct text_buffer *lines,
				const struct verdict *verdict, const char *but,
				unsigned int columns)
{
	const struct timeline *timeline = verdict->facts.timeline;
	const enum names names = names_of_samples(timeline);
	struct sample_time *sampled;
	double all = 0, lead = 0;
	int64_t below = INT64_MAX;
	uint32_t most;

	if (names < NAMES_PYTHON)
		return *but ? 0
			    : add_line(lines, 0, columns,
				       "Nothing stands out%s.",
				       verdict_unseen(verdict)
					       ? " in what is recorded"
					       : "");
	sampled = sample_times(timeline, &verdict->facts.split);
	for (uint32_t at = 0; at < timeline->names.count; at++)
		all += (double)sampled[at].ns;
	most = next_name(verdict, names, sampled, &below);
	if (most != TIMELINE_NONE && !timeline_name(timeline, most)->is_spin &&
	    all >= LEAD_BUSY_MIN * (double)verdict->facts.split.total_ns)
		lead = (double)sampled[most].ns / all;
	free(sampled);
	if (lead < LEAD_MIN)
		return *but ? 0
			    : add_line(lines, 0, columns,
				       "Nothing stands out.");
	return add_line(lines, 2, columns,
			"Nothing%s stands out. Begin where the time goes: %s, "
			"%.0f %% of the processor time.",
			but,
			short_name(timeline_name_text(timeline, most)).text,
			100 * lead);
}

static unsigned int add_spoilt(struct text_buffer *lines,
			       const struct verdict *verdict,
			       unsigned int columns)
{
	const struct verdict_facts *facts = &verdict->facts;
	const bool is_workers =
		unscheduled_workers(facts) > unscheduled_by_others(facts);

	if (!verdict_is_spoilt(verdict))
		return 0;
	return add_line(lines, 2, columns,
			"Busy machine: for %.0f %% of the %s %s found no "
			"processor free [%s]: steps and waits are longer than "
			"the program makes them.",
			100 * verdict->findings[0].share,
			!is_workers && unscheduled_is_of_the_run(facts)
				? "run, of which this is a part,"
				: "time",
			is_workers ? "the other threads" : "the first thread",
			verdict->findings[0].rule->name);
}

/* "by line that calls operators: train.py(20): step 52 %, ..." */
static unsigned int add_lines(struct text_buffer *lines,
			      const struct verdict *verdict,
			      unsigned int columns)
{
	const struct called_lines *called = &verdict->facts.timeline->called;
	struct text_buffer text = {0};
	unsigned int count = 0;
	double all;
	double *calls = called_by_line(&verdict->facts, &all);

	text_buffer_cut(&text, 0);
	for (unsigned int named = 0;
	     calls && all >= LINE_CALLS_MIN && named < NAMES; named++) {
		uint32_t most = 0;

		for (uint32_t at = 1; at < called->lines.count; at++)
			if (calls[at] > calls[most])
				most = at;
		if (calls[most] < NAME_MIN * all)
			break;
		text_buffer_format(
			&text, "%s%s %.0f %%",
			named ? ", " : "by line that calls operators: ",
			short_name(called_lines_text(called, most)).text,
			100 * calls[most] / all);
		calls[most] = 0;
	}
	if (text.len)
		count = text_wrap_add(lines, text.data, 2, columns);
	text_buffer_free(&text);
	free(calls);
	return count;
}

static unsigned int add_unseen(struct text_buffer *lines,
			       const struct verdict *verdict,
			       unsigned int columns)
{
	const double share = verdict_unseen(verdict);

	if (!share)
		return 0;
	return add_line(lines, 0, columns,
			"In %.0f %% of the time nothing happens that is "
			"recorded: --sample (TRACEPROF_SAMPLE=499) shows what "
			"does.",
			100 * share);
}

/* What lies deeper than a stack has room for lacks its outermost callers. */
static unsigned int add_cut(struct text_buffer *lines,
			    const struct verdict *verdict, unsigned int columns)
{
	const struct trace_metadata *metadata = verdict->facts.metadata;
	const double all = TIMED_EACH * (double)metadata->timed_samples;

	if (metadata->cut_stacks < CUT_LEAST || all <= 0 ||
	    (double)metadata->cut_stacks < CUT_MIN * all)
		return 0;
	return add_line(lines, 2, columns,
			"but %" PRId64 " samples lie too deep for their "
			"outermost callers to be known: these took more than "
			"that",
			metadata->cut_stacks);
}

static unsigned int add_sampled(struct text_buffer *lines,
				const struct verdict *verdict, enum names names,
				unsigned int columns)
{
	const unsigned int named = add_names(lines, verdict, names,
					     &verdict->facts.split, columns);

	return named ? named + add_cut(lines, verdict, columns) : 0;
}

static bool is_found(const struct verdict *verdict, const char *rule)
{
	for (size_t at = 0; at < verdict->count; at++)
		if (!strcmp(verdict->findings[at].rule->name, rule))
			return true;
	return false;
}

/* What its thread waits in, where no rule says it. */
static unsigned int add_waits(struct text_buffer *lines,
			      const struct verdict *verdict,
			      unsigned int columns)
{
	const struct verdict_facts *facts = &verdict->facts;
	const struct timeline *timeline = facts->timeline;
	const struct timeline_name *row;
	double ns;
	uint32_t most;

	if (is_found(verdict, "off-cpu") || is_found(verdict, "gil") ||
	    is_found(verdict, "data-starved") ||
	    is_found(verdict, "exposed-comm"))
		return 0;
	most = longest_wait(facts, &ns);
	if (most == TIMELINE_NONE ||
	    ns < WAITS_NAMED_MIN * (double)facts->split.total_ns)
		return 0;
	row = timeline_name(timeline, most);
	return add_line(lines, 2, columns, "waits most in %s: %s%s%s",
			wait_call(row->text), quantity_time(ns).text,
			row->site ? ", in " : "",
			row->site ? short_name(row->site).text : "");
}

/* Tasks that have no slices of their own. */
static unsigned int add_tasks(struct text_buffer *lines,
			      const struct verdict *verdict,
			      unsigned int columns)
{
	struct trace_sampled_row sum = {0};

	if (verdict->facts.sampled)
		sum = trace_sampled_sum(verdict->facts.sampled, "explicit");
	if (sum.thinned <= 0)
		return 0;
	return add_line(lines, 2, columns,
			"%" PRId64 " of %" PRId64 " tasks were short and are "
			"counted, not drawn: all took %s, with those in them",
			sum.thinned, sum.seen,
			quantity_time((double)sum.total_ns).text);
}

/* What was sampled outside of the typical steps, too, where these aren't most
 * of it: slices don't tell what the program's own functions did. */
static enum names names_in_all(const struct verdict *verdict,
			       enum names sampled)
{
	const struct split *split = &verdict->facts.split;

	if (!sampled)
		return NAMES_ALL;
	return verdict_covered(verdict) > 0 &&
			       split->ns[SHARE_GPU] * 2 <= split->total_ns
		       ? sampled
		       : NAMES_OTHERS;
}

/* What stands behind the findings, without so many of its last parts. */
static unsigned int add_parts(struct text_buffer *text,
			      const struct verdict *verdict,
			      unsigned int columns, unsigned int left_out)
{
	const enum names sampled = names_of_samples(verdict->facts.timeline);
	unsigned int used;

	text_buffer_cut(text, 0);
	/* It comes before, and has its room. */
	used = add_unseen(text, verdict, columns);
	text_buffer_cut(text, 0);
	used += add_spoilt(text, verdict, columns);
	used += add_covered(text, verdict, columns);
	used += split_text_sides(text, verdict, columns);
	if (left_out < 1 && !verdict->facts.split.has_steps)
		used += add_line(text, 2, columns,
				 "TRACEPROF_STEP or traceprof_step() marks "
				 "steps: turns of a main loop");
	used += split_text_add(text, verdict, columns);
	used += pool_text_add(text, verdict, columns);
	used += add_behind(text, verdict, columns);
	/* The program's own lines first: they are what can be changed. */
	if (left_out < 3)
		used += sampled ? add_sampled(text, verdict, sampled, columns)
				: add_lines(text, verdict, columns);
	if (left_out < 2)
		used += add_phases(text, verdict, columns);
	if (left_out < 1)
		used += add_names(text, verdict, names_in_all(verdict, sampled),
				  NULL, columns) +
			add_tasks(text, verdict, columns);
	if (left_out < 2)
		used += add_waits(text, verdict, columns);
	return used;
}

/* The first finding is worth more than names. */
static unsigned int add_fitting_parts(struct text_buffer *text,
				      const struct verdict *verdict,
				      unsigned int lines, unsigned int columns)
{
	const size_t first = verdict_is_spoilt(verdict);
	unsigned int left_out = 0, least, used;

	text_buffer_cut(text, 0);
	least = first < verdict->count
			? add_finding(text, verdict, first, true, columns) +
				  (first + 1 < verdict->count)
			: 0;
	do
		used = add_parts(text, verdict, columns, left_out);
	while (used + least > lines && left_out++ < 3);
	return used;
}

/* Those that have room in `lines`, and how many there are besides.  The first
 * one has, at worst without its place. */
static unsigned int add_findings(struct text_buffer *text,
				 const struct verdict *verdict,
				 unsigned int lines, unsigned int columns)
{
	const size_t first = verdict_is_spoilt(verdict);
	unsigned int used = 0;
	size_t at;

	for (at = first; at < verdict->count; at++) {
		const unsigned int last = at + 1 < verdict->count;
		const size_t before = text->len;
		unsigned int more =
			add_finding(text, verdict, at, true, columns);

		if (used + more + last > lines) {
			text_buffer_cut(text, before);
			if (at > first)
				break;
			more = add_finding(text, verdict, at, false, columns);
		}
		used += more;
	}
	if (at < verdict->count)
		text_buffer_format(text, "and %zu more: traceprof report\n",
				   verdict->count - at);
	return used;
}

void verdict_print(const struct verdict *verdict, unsigned int lines,
		   unsigned int columns, FILE *out)
{
	struct text_buffer text = {0}, parts = {0};
	unsigned int used;

	if (verdict->facts.split.total_ns <= 0) {
		fputs("Verdict: none, there is no slice in this file\n", out);
		return;
	}
	/* What is to be done stands first, but for what is judged. */
	used = add_step(&text, verdict, columns);
	used += add_fitting_parts(&parts, verdict,
				  used < lines ? lines - used : 0, columns);
	used += add_findings(&text, verdict, used < lines ? lines - used : 0,
			     columns);
	if (is_of_others(verdict) && used + 3 <= lines)
		add_nothing(&text, verdict, verdict->count ? " else" : "",
			    columns);
	add_unseen(&text, verdict, columns);
	fputs(text.data, out);
	fputs(parts.data, out);
	text_buffer_free(&text);
	text_buffer_free(&parts);
}
