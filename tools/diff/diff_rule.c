/* SPDX-License-Identifier: MIT */
/*
 * diff_rule.c - what a build fails by: "step>3%" and its like.
 *
 * A time breaks a rule only if it also differs by more than noise.  What can't
 * be judged is said, and is no success: a rule that never fires is worse than
 * none.
 */
#include "tools/diff/diff.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/util/color.h"
#include "tools/util/numbers.h"

#define FORM "want step, peak, growth or name:GLOB, then >, then a limit"

static int parse_subject(struct diff_rule *rule, const char *text, size_t len)
{
	static const char *const words[] = {[DIFF_STEP] = "step",
					    [DIFF_PEAK] = "peak",
					    [DIFF_GROWTH] = "growth"};

	if (!strncmp(text, "name:", 5) && len > 5 &&
	    len - 5 < sizeof(rule->glob)) {
		memcpy(rule->glob, text + 5, len - 5);
		rule->glob[len - 5] = '\0';
		rule->subject = DIFF_NAME;
		return 0;
	}
	for (unsigned int at = 0; at <= DIFF_GROWTH; at++)
		if (words[at] && len == strlen(words[at]) &&
		    !strncmp(text, words[at], len)) {
			rule->subject = (enum diff_subject)at;
			return 0;
		}
	return -EINVAL;
}

/* What a limit's unit makes of it; 0: unknown, or not of this subject. */
static double unit_of(const struct diff_rule *rule, const char *unit)
{
	static const struct {
		const char *name;
		double factor;
	} times[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}},
	  bytes[] = {{"", 1},	       {"B", 1},	   {"KB", 1e3},
		     {"MB", 1e6},      {"GB", 1e9},	   {"KiB", 1024},
		     {"MiB", 1048576}, {"GiB", 1073741824}};
	const bool is_time =
		rule->subject == DIFF_STEP || rule->subject == DIFF_NAME;

	for (size_t at = 0; is_time && at < sizeof(times) / sizeof(*times);
	     at++)
		if (!strcmp(unit, times[at].name))
			return times[at].factor;
	for (size_t at = 0; !is_time && at < sizeof(bytes) / sizeof(*bytes);
	     at++)
		if (!strcmp(unit, bytes[at].name))
			return bytes[at].factor;
	return 0;
}

int diff_rule_parse(struct diff_rule *rule, const char *text, char *why,
		    size_t why_bytes)
{
	const char *above = strrchr(text, '>');
	double factor;
	char *unit;

	*rule = (struct diff_rule){.text = text};
	if (!above || parse_subject(rule, text, (size_t)(above - text))) {
		snprintf(why, why_bytes, "\"%.100s\": " FORM, text);
		return -EINVAL;
	}
	rule->limit = strtod(above + 1, &unit);
	rule->is_percent = !strcmp(unit, "%") && rule->subject != DIFF_GROWTH;
	factor = rule->is_percent ? 1 : unit_of(rule, unit);
	if (unit == above + 1 || !(rule->limit >= 0) || factor <= 0) {
		snprintf(why, why_bytes,
			 "\"%.100s\": the limit is a number of 0 or more and "
			 "%s",
			 text,
			 rule->subject == DIFF_GROWTH ? "B, KB, MB or GB"
			 : rule->subject == DIFF_PEAK ? "%, B, KB, MB or GB"
						      : "%, ns, us, ms or s");
		return -EINVAL;
	}
	rule->limit *= factor;
	return 0;
}

static double percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : part > 0 ? INFINITY : 0;
}

static bool exceeds(const struct diff_rule *rule, double change, double from)
{
	return (rule->is_percent ? percent(change, from) : change) >
	       rule->limit;
}

static enum diff_outcome unknown(const struct diff_rule *rule, FILE *out,
				 const char *why)
{
	fprintf(out, "cannot judge %s: %s\n", rule->text, why);
	return DIFF_UNKNOWN;
}

static enum diff_outcome judge_step(const struct diff_rule *rule,
				    const struct diff *diff, FILE *out)
{
	const struct comparison *steps = &diff->steps;

	if (!diff->has_steps)
		return unknown(rule, out, "a run has no steps");
	if (!exceeds(rule, steps->shift, steps->median_a))
		return DIFF_HELD;
	if (!diff->steps_differ) {
		fprintf(out,
			"held: %s: the step takes %+.1f %%, which is no more "
			"than noise; equal runs may differ by %.1f %%\n",
			rule->text, percent(steps->shift, steps->median_a),
			percent(steps->noise, steps->median_a));
		return DIFF_HELD;
	}
	fprintf(out, "%sbroken%s: %s: the step takes %s more (%+.1f %%)\n",
		color_begin(out, COLOR_BAD), color_end(out), rule->text,
		quantity_time(steps->shift).text,
		percent(steps->shift, steps->median_a));
	return DIFF_BROKEN;
}

static enum diff_outcome judge_names(const struct diff_rule *rule,
				     const struct diff *diff, FILE *out)
{
	enum diff_outcome outcome = DIFF_HELD;
	bool found = false;

	if (!diff->has_steps)
		return unknown(rule, out, "a run has no steps");
	for (size_t at = 0; at < diff->name_count; at++) {
		const struct diff_name *name = &diff->names[at];
		const double change = name->mean_ns[1] - name->mean_ns[0];

		if (fnmatch(rule->glob, name->name, 0))
			continue;
		found = true;
		if (!name->differs || !exceeds(rule, change, name->mean_ns[0]))
			continue;
		fprintf(out,
			"%sbroken%s: %s: %.100s takes %s more in a step (%+.1f "
			"%%)\n",
			color_begin(out, COLOR_BAD), color_end(out), rule->text,
			name->name, quantity_time(change).text,
			percent(change, name->mean_ns[0]));
		outcome = DIFF_BROKEN;
	}
	return found ? outcome : unknown(rule, out, "no such name");
}

static enum diff_outcome judge_peak(const struct diff_rule *rule,
				    const struct diff *diff, FILE *out)
{
	const double from = (double)diff->run[0].peak_bytes;
	const double change = (double)diff->run[1].peak_bytes - from;

	if (diff->run[0].peak_bytes < 0 || diff->run[1].peak_bytes < 0)
		return unknown(rule, out, "a run has no heap");
	if (!exceeds(rule, change, from))
		return DIFF_HELD;
	fprintf(out,
		"%sbroken%s: %s: the heap's peak is %s higher (%+.1f %%)\n",
		color_begin(out, COLOR_BAD), color_end(out), rule->text,
		quantity_bytes(change).text, percent(change, from));
	return DIFF_BROKEN;
}

static enum diff_outcome judge_growth(const struct diff_rule *rule,
				      const struct diff *diff, FILE *out)
{
	const double change = diff->growth_bytes[1] - diff->growth_bytes[0];

	if (!diff->has_steps)
		return unknown(rule, out, "a run has no steps");
	if (change <= rule->limit)
		return DIFF_HELD;
	fprintf(out, "%sbroken%s: %s: the heap grows by %s more in each step\n",
		color_begin(out, COLOR_BAD), color_end(out), rule->text,
		quantity_bytes(change).text);
	return DIFF_BROKEN;
}

enum diff_outcome diff_rule_judge(const struct diff_rule *rule,
				  const struct diff *diff, FILE *out)
{
	switch (rule->subject) {
	case DIFF_STEP: return judge_step(rule, diff, out);
	case DIFF_NAME: return judge_names(rule, diff, out);
	case DIFF_PEAK: return judge_peak(rule, diff, out);
	case DIFF_GROWTH: return judge_growth(rule, diff, out);
	}
	return DIFF_UNKNOWN;
}
