/* SPDX-License-Identifier: MIT */
/*
 * rules_slow.c - steps that are not like the others.
 */
#include "tools/verdict/rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"

#define OTHER_BYTES 160

/* In which part of the step the slow ones are slower. */
static const char *excess_of(const struct verdict_facts *facts, size_t slow)
{
	const struct split *split = &facts->split;
	enum share most = SHARE_HOST;
	double most_ns = 0;

	for (unsigned int at = 0; at < SHARE_COUNT; at++) {
		const double mean = (double)split->ns[at] / steps_of(facts);
		const double more = (double)split->steps[slow].ns[at] - mean;

		if (more > most_ns) {
			most_ns = more;
			most = (enum share)at;
		}
	}
	return split_share_text(most);
}

/* How many of each name there are, to be freed. */
static size_t *spans_by_name(const struct timeline *timeline,
			     const struct timeline_lane *lane)
{
	size_t *count =
		memory_zeroed(timeline->names.count + 1, sizeof(*count));

	for (size_t at = 0; at < lane->count; at++)
		count[lane->spans[at].name]++;
	return count;
}

/* What a slow step has and the others have not. */
struct other {
	char text[OTHER_BYTES]; /* ", most of it in ...", or "" */
	uint32_t compiled;	/* a compilation; TIMELINE_NONE it is none */
};

/* What frameworks compile is drawn beside the thread, over slices of its own
 * that take as long. */
static bool say_compiled(const struct verdict_facts *facts, size_t slow,
			 double more_ns, struct other *other)
{
	const struct compiled_in in =
		compiled_in(facts, &facts->split.steps[slow]);
	char number[40] = "";

	if (in.longest == TIMELINE_NONE || (double)in.ns <= more_ns / 2)
		return false;
	if ((double)in.longest_ns <= more_ns / 2)
		snprintf(number, sizeof(number),
			 "%zu compilations, the longest ", in.count);
	snprintf(other->text, sizeof(other->text), ", most of it in %s%s",
		 number,
		 short_name(timeline_name_text(facts->timeline, in.longest))
			 .text);
	other->compiled = in.longest;
	return true;
}

/* The longest slice in a slow step, of those that most steps don't have: where
 * it is half of what that step takes more.  Compilations that have a finding of
 * their own are not what it's about. */
static struct other what_is_other(const struct verdict_facts *facts,
				  size_t slow, bool is_compiled_again)
{
	const struct timeline *timeline = facts->timeline;
	const struct split_step *step = &facts->split.steps[slow];
	const double more =
		(double)step->dur_ns - split_median_at(&facts->split, slow);
	struct other other = {"", TIMELINE_NONE};
	const struct timeline_lane *lane;
	uint32_t name = TIMELINE_NONE;
	int64_t longest = 0;
	size_t *count;

	if (facts->split.lane >= timeline->lanes.table.count ||
	    (!is_compiled_again && say_compiled(facts, slow, more, &other)))
		return other;
	lane = timeline_lane(timeline, facts->split.lane);
	count = spans_by_name(timeline, lane);
	for (size_t at = 0; at < lane->count; at++) {
		const struct span *span = &lane->spans[at];
		const int64_t ns =
			timeline_dur_ns(timeline, facts->split.lane, span);

		if (span->start_ns < step->start_ns ||
		    span->start_ns + ns > step->start_ns + step->dur_ns ||
		    2 * count[span->name] >= facts->split.count ||
		    ns <= longest)
			continue;
		longest = ns;
		name = span->name;
	}
	if ((double)longest > more / 2)
		snprintf(other.text, sizeof(other.text), ", most of it in %s",
			 short_name(timeline_name_text(timeline, name)).text);
	free(count);
	return other;
}

static double excess_ns(const struct split *split, size_t step)
{
	return (double)split->steps[step].dur_ns - split->median_ns;
}

static bool is_first(const struct split *split)
{
	return split->count >= STEPS_MIN && split->has_steps &&
	       !split->has_before && !split->is_after &&
	       (double)split->steps[0].dur_ns >=
		       SLOW_STEP_MIN * split->median_ns;
}

bool rule_first_step(const struct verdict_facts *facts, struct finding *finding)
{
	const struct split *split = &facts->split;
	struct other other;

	if (!is_first(split))
		return false;
	finding->saved_ns = excess_ns(split, 0);
	if (!is_worth_of_all(facts, finding->saved_ns))
		return false;
	other = what_is_other(facts, 0, false);
	say(&finding->figure,
	    "step %" PRId64
	    ", the first one here, takes %.1f times the median, more in "
	    "%s%s",
	    split->steps[0].number,
	    (double)split->steps[0].dur_ns / split->median_ns,
	    excess_of(facts, 0), other.text);
	say(&finding->threshold,
	    "%.1f times the median, and %.0f %% of all steps", SLOW_STEP_MIN,
	    100 * SHARE_MIN);
	say(&finding->next, "warm up before you measure (--skip-first), and "
			    "move compiling, loading and first allocations out "
			    "of the loop.");
	say_place(facts, finding, split->steps[0].start_ns, TIMELINE_NONE,
		  TIMELINE_NONE);
	return true;
}

static bool is_slow(const struct split *split, size_t step)
{
	return (double)split->steps[step].dur_ns >=
	       NTH_STEP_MIN * split->median_ns;
}

/* Are all steps of this phase slow, and most of what is slow in it? */
static double excess_of_phase(const struct split *split, size_t phase,
			      size_t period)
{
	const size_t first = is_first(split);
	double in = 0, all = 0, most = 0;
	size_t count = 0;

	for (size_t at = phase < first ? phase + period : phase;
	     at < split->count; at += period) {
		if (!is_slow(split, at))
			return 0;
		in += excess_ns(split, at);
		most = excess_ns(split, at) > most ? excess_ns(split, at)
						   : most;
		count++;
	}
	for (size_t at = first; at < split->count; at++)
		all += is_slow(split, at) ? excess_ns(split, at) : 0;
	/* What one of them alone has, a first evaluation's compiling say,
	 * comes at no period. */
	if (most * (double)(count - 1) > NTH_ALONE * (in - most)) {
		in -= most;
		all -= most;
	}
	return in >= NTH_EXCESS_MIN * all ? in : 0;
}

/* Every how many steps one is slow; 0 where they come in no such order. */
static size_t period_of(const struct split *split, size_t *phase,
			double *excess)
{
	for (size_t period = 2; period <= split->count / NTH_TIMES_MIN;
	     period++)
		for (*phase = 0; *phase < period; ++*phase) {
			*excess = excess_of_phase(split, *phase, period);
			if (*excess > 0)
				return period;
		}
	return 0;
}

bool rule_nth_step(const struct verdict_facts *facts, struct finding *finding)
{
	const struct split *split = &facts->split;
	size_t at, period;

	if (split->count > NTH_STEPS_MAX)
		return false;
	period = period_of(split, &at, &finding->saved_ns);
	if (!period || !is_worth_of_all(facts, finding->saved_ns))
		return false;
	if (!at && is_first(split))
		at = period;
	say(&finding->figure,
	    "every %zuth step takes %.1f times the median, more in %s", period,
	    (double)split->steps[at].dur_ns / split->median_ns,
	    excess_of(facts, at));
	say(&finding->threshold,
	    "%.1f times the median, and %.0f %% of all steps", NTH_STEP_MIN,
	    100 * SHARE_MIN);
	say(&finding->next,
	    "look at what is done every %zuth step (logging, "
	    "evaluation, a checkpoint): do it less often or on "
	    "another thread.",
	    period);
	say_place(facts, finding, split->steps[at].start_ns, TIMELINE_NONE,
		  TIMELINE_NONE);
	return true;
}

/* Steps that are slow for more than what is compiled again in them, which has a
 * finding of its own with a cause and a line. */
struct slow_steps {
	size_t count, worst;
	double more_ns;		/* what they take more */
	bool is_compiled_again; /* something is, in the worst */
};

static struct slow_steps slow_steps(const struct verdict_facts *facts)
{
	const struct split *split = &facts->split;
	int64_t *compiled = compiled_again_by_step(facts);
	double usual = 0, most_ns = 0;
	struct slow_steps slow = {0};
	size_t others = 0;

	for (size_t at = 0; at < split->count; at++)
		if ((double)split->steps[at].dur_ns <
		    SLOW_STEP_MIN * split_median_at(split, at)) {
			usual += (double)compiled[at];
			others++;
		}
	usual = others ? usual / (double)others : 0;
	for (size_t at = is_first(split); at < split->count; at++) {
		const double again = (double)compiled[at] - usual;
		const double median = split_median_at(split, at);
		const double dur_ns = (double)split->steps[at].dur_ns -
				      (again > 0 ? again : 0);

		if (dur_ns < SLOW_STEP_MIN * median)
			continue;
		slow.more_ns += dur_ns - median;
		slow.count++;
		if (dur_ns <= most_ns)
			continue;
		most_ns = dur_ns;
		slow.worst = at;
		slow.is_compiled_again = compiled[at] > 0;
	}
	free(compiled);
	return slow;
}

static void say_next(const struct verdict_facts *facts, struct finding *finding,
		     const struct other *other)
{
	const char *name =
		other->compiled == TIMELINE_NONE
			? NULL
			: timeline_name_text(facts->timeline, other->compiled);

	if (!name)
		say(&finding->next,
		    "compare that step with its neighbours in a viewer.");
	else
		say(&finding->next,
		    "keep shapes and Python's values as they were in the steps "
		    "before, or warm up with the others, too; %s says what "
		    "differs.",
		    !strncmp(name, "jax.", 4) ? "JAX_EXPLAIN_CACHE_MISSES=1"
					      : "TORCH_LOGS=recompiles");
}

bool rule_outliers(const struct verdict_facts *facts, struct finding *finding)
{
	const struct split *split = &facts->split;
	struct finding nth = {0};
	struct slow_steps slow;
	const bool is_nth = rule_nth_step(facts, &nth);
	struct other other;

	free(nth.figure);
	free(nth.threshold);
	free(nth.place);
	free(nth.next);
	if (split->count < STEPS_MIN || is_nth)
		return false;
	slow = slow_steps(facts);
	finding->saved_ns = slow.more_ns;
	/* Of more the work varies. */
	if (!slow.count || slow.count * OUTLIERS_OF > split->count ||
	    !is_worth_of_all(facts, finding->saved_ns))
		return false;
	other = what_is_other(facts, slow.worst, slow.is_compiled_again);
	say(&finding->figure,
	    "%zu of %zu steps %s slow, step %" PRId64
	    " takes %.1f times the median, "
	    "more in %s%s",
	    slow.count, split->count, slow.count == 1 ? "is" : "are",
	    split->steps[slow.worst].number,
	    (double)split->steps[slow.worst].dur_ns /
		    split_median_at(split, slow.worst),
	    excess_of(facts, slow.worst), other.text);
	say(&finding->threshold,
	    "%.1f times the median, and %.0f %% of all steps", SLOW_STEP_MIN,
	    100 * SHARE_MIN);
	say_next(facts, finding, &other);
	say_place(facts, finding, split->steps[slow.worst].start_ns,
		  TIMELINE_NONE, TIMELINE_NONE);
	return true;
}
