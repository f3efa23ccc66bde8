/* SPDX-License-Identifier: MIT */
/*
 * rules_compile.c - functions that are compiled again and again, or once for
 * most of a short run.
 *
 * JAX tells three parts of each compilation, PyTorch one; by the function and
 * the line that called for it they are one function's.
 */
#include "tools/verdict/rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"
#include "tools/util/numbers.h"

/* A thread's side lanes follow it at this distance. */
#define SIDE_LANE 10000000

#define JAX	  "jax.jit: "
#define TORCH	  "torch.compile: "

/* What was compiled, the row of its key. */
struct compiled {
	int64_t count, ns;
	int64_t first_ns, last_ns; /* when they began */
	int64_t longest_ns, longest_at_ns;
	uint32_t longest, longest_lane; /* its name, and where */
	bool is_jax;
};

struct period {
	int64_t start_ns, end_ns;
	uint32_t lane;
};

struct compilations {
	const struct verdict_facts *facts;
	struct key_table functions; /* struct compiled */
	struct period *periods;	    /* of those that are wanted */
	size_t count, capacity;
	int64_t least; /* so many times they come at least, */
	bool is_rest;  /* ... or it is the others that are wanted */
};

/* Where the name of a function begins and how long it is; 0 it says none. */
static size_t function_in(const char **name, bool *is_jax, bool *is_whole)
{
	static const char *const parts[] = {"compile ", "lower ", "trace "};
	const char *end;

	*is_jax = !strncmp(*name, JAX, sizeof(JAX) - 1);
	if (!*is_jax && strncmp(*name, TORCH, sizeof(TORCH) - 1) != 0)
		return 0;
	*name += *is_jax ? sizeof(JAX) - 1 : sizeof(TORCH) - 1;
	*is_whole = !*is_jax || !strncmp(*name, parts[0], strlen(parts[0]));
	if (!*is_jax) {
		end = strstr(*name, " [");
		/* Backward passes have no names. */
		return end && strchr(*name, '(') ? (size_t)(end - *name) : 0;
	}
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (!strncmp(*name, parts[i], strlen(parts[i]))) {
			*name += strlen(parts[i]);
			return strstr(*name, ", ") ? strlen(*name) : 0;
		}
	return 0;
}

typedef void each_part(struct compilations *all, struct compiled *function,
		       bool is_whole, uint32_t name, struct period period);

static void count(struct compilations *all, struct compiled *function,
		  bool is_whole, uint32_t name, struct period period)
{
	const int64_t dur_ns = period.end_ns - period.start_ns;

	(void)all;
	if (!function->ns || period.start_ns < function->first_ns)
		function->first_ns = period.start_ns;
	if (!function->ns || period.start_ns > function->last_ns)
		function->last_ns = period.start_ns;
	function->count += is_whole;
	saturate_into(&function->ns, dur_ns);
	if (dur_ns <= function->longest_ns)
		return;
	function->longest_ns = dur_ns;
	function->longest_at_ns = period.start_ns;
	function->longest = name;
	function->longest_lane = period.lane;
}

/* Where there are no steps what comes in the beginning alone may be one
 * function that JAX makes of several arrays' shapes. */
static bool comes_again(const struct compilations *all,
			const struct compiled *one)
{
	const struct split *split = &all->facts->split;

	return one->count >= all->least &&
	       (!all->least || split->has_steps ||
		(double)(one->last_ns - one->first_ns) >=
			COMPILED_SPREAD * (double)split->total_ns);
}

static bool is_wanted(const struct compilations *all,
		      const struct compiled *one)
{
	return comes_again(all, one) != all->is_rest;
}

static void add_period(struct compilations *all, struct period period)
{
	all->periods = memory_grow(all->periods, all->count, &all->capacity,
				   sizeof(*all->periods));
	all->periods[all->count++] = period;
}

static void collect(struct compilations *all, struct compiled *function,
		    bool is_whole, uint32_t name, struct period period)
{
	(void)is_whole;
	(void)name;
	if (!is_wanted(all, function))
		return;
	add_period(all, period);
}

/* All parts of compilations that begin in steps. */
static void each(struct compilations *all, each_part *part)
{
	const struct timeline *timeline = all->facts->timeline;

	for (uint32_t at = 0; at < timeline->lanes.table.count; at++) {
		const struct timeline_lane *lane = timeline_lane(timeline, at);

		for (size_t i = 0; i < lane->count; i++) {
			const struct span *span = &lane->spans[i];
			const char *name =
				timeline_name_text(timeline, span->name);
			struct compiled *function;
			bool is_jax, is_whole;
			const size_t len =
				function_in(&name, &is_jax, &is_whole);

			if (!len || !is_in_step(all->facts, span->start_ns))
				continue;
			function = key_table_row(
				&all->functions,
				key_table_number(&all->functions, name, len));
			function->is_jax = is_jax;
			part(all, function, is_whole, span->name,
			     (struct period){span->start_ns,
					     span->start_ns +
						     timeline_dur_ns(timeline,
								     at, span),
					     at});
		}
	}
}

static int compare_periods(const void *left, const void *right)
{
	const struct period *a = left, *b = right;

	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* One may be part of another, or run beside it.  In `steps`, if it isn't NULL,
 * what of it began in each step. */
static int64_t covered_ns(struct compilations *all, int64_t *steps)
{
	const struct split *split = &all->facts->split;
	int64_t sum_ns = 0, end_ns = INT64_MIN;
	size_t step = 0;

	if (all->count)
		qsort(all->periods, all->count, sizeof(*all->periods),
		      compare_periods);
	for (size_t at = 0; at < all->count; at++) {
		const struct period *one = &all->periods[at];
		const int64_t from_ns =
			one->start_ns > end_ns ? one->start_ns : end_ns;

		if (one->end_ns <= from_ns)
			continue;
		saturate_into(&sum_ns, one->end_ns - from_ns);
		end_ns = one->end_ns;
		while (steps && step + 1 < split->count &&
		       split->steps[step + 1].start_ns <= one->start_ns)
			step++;
		if (steps)
			saturate_into(&steps[step], one->end_ns - from_ns);
	}
	return sum_ns;
}

/* The function that took most, of those that are wanted; in all of them how
 * many compilations there were, and of how many functions. */
static size_t most_of(const struct compilations *all, int64_t *times,
		      size_t *functions)
{
	size_t most = 0;
	int64_t most_ns = -1;

	*times = 0;
	*functions = 0;
	for (size_t at = 0; at < all->functions.count; at++) {
		const struct compiled *one = key_table_row(&all->functions, at);

		if (!is_wanted(all, one))
			continue;
		*times += one->count;
		(*functions)++;
		if (one->ns > most_ns) {
			most_ns = one->ns;
			most = at;
		}
	}
	return most;
}

/* The thread itself, or what is drawn beside it. */
static bool is_beside(const struct timeline *timeline, uint32_t lane,
		      uint32_t thread)
{
	const struct key_table *lanes = &timeline->lanes.table;
	long long pid, tid, its_pid, its_tid;

	return lane < lanes->count && thread < lanes->count &&
	       sscanf(key_table_key(lanes, lane, NULL), "%lld %lld", &pid,
		      &tid) == 2 &&
	       sscanf(key_table_key(lanes, thread, NULL), "%lld %lld", &its_pid,
		      &its_tid) == 2 &&
	       pid == its_pid && tid % SIDE_LANE == its_tid % SIDE_LANE;
}

static bool is_compilation(const char *name)
{
	return !strncmp(name, JAX, sizeof(JAX) - 1) ||
	       !strncmp(name, TORCH, sizeof(TORCH) - 1);
}

struct compiled_in compiled_in(const struct verdict_facts *facts,
			       const struct split_step *step)
{
	const struct timeline *timeline = facts->timeline;
	const int64_t until_ns = step->start_ns + step->dur_ns;
	struct compilations all = {.facts = facts};
	struct compiled_in in = {.longest = TIMELINE_NONE};

	for (uint32_t at = 0; at < timeline->lanes.table.count; at++) {
		const struct timeline_lane *lane = timeline_lane(timeline, at);

		if (!is_beside(timeline, at, facts->split.lane))
			continue;
		for (size_t i = 0; i < lane->count; i++) {
			const struct span *span = &lane->spans[i];
			const int64_t end_ns =
				span->start_ns +
				timeline_dur_ns(timeline, at, span);

			if (span->start_ns < step->start_ns ||
			    end_ns > until_ns ||
			    !is_compilation(
				    timeline_name_text(timeline, span->name)))
				continue;
			add_period(&all,
				   (struct period){span->start_ns, end_ns, at});
			if (in.count++ &&
			    end_ns - span->start_ns <= in.longest_ns)
				continue;
			in.longest_ns = end_ns - span->start_ns;
			in.longest = span->name;
		}
	}
	in.ns = covered_ns(&all, NULL);
	free(all.periods);
	return in;
}

static void tell(const struct compilations *all, size_t most, size_t functions,
		 struct finding *finding)
{
	const struct compiled *one = key_table_row(&all->functions, most);
	char others[40] = "";

	if (functions > 1)
		snprintf(others, sizeof(others), ", and %zu more",
			 functions - 1);
	say(&finding->figure, "%s is compiled %" PRId64 " times, %s each%s",
	    short_name(key_table_key(&all->functions, most, NULL)).text,
	    one->count,
	    quantity_time((double)one->ns / (double)one->count).text, others);
	say(&finding->threshold, "%d times, and %.0f %% of %s", COMPILED_MIN,
	    100 * SHARE_MIN,
	    all->facts->split.has_steps ? "all steps" : "the time");
	if (one->is_jax)
		say(&finding->next,
		    "call jax.jit once, outside of the loop, and keep shapes, "
		    "dtypes and static arguments the same; "
		    "JAX_EXPLAIN_CACHE_MISSES=1 says what differs.");
	else
		say(&finding->next,
		    "keep shapes and Python's values the same, or compile with "
		    "dynamic=True; TORCH_LOGS=recompiles says what differs.");
	say_place(all->facts, finding, one->longest_at_ns, one->longest_lane,
		  one->longest);
}

static void tell_once(const struct compilations *all, size_t most,
		      size_t functions, struct finding *finding)
{
	const struct compiled *one = key_table_row(&all->functions, most);
	const struct short_name name =
		short_name(key_table_key(&all->functions, most, NULL));
	const struct quantity sum = quantity_time(finding->saved_ns);

	if (functions > 1)
		say(&finding->figure,
		    "%s are spent compiling %zu functions, most of all %s: %s",
		    sum.text, functions, name.text,
		    quantity_time((double)one->ns).text);
	else
		say(&finding->figure, "%s are spent compiling %s", sum.text,
		    name.text);
	say(&finding->threshold, "%.0f %% of the time", 100 * COMPILING_MIN);
	say(&finding->next,
	    "judge a longer run, or its steps alone (traceprof_step() in the "
	    "loop marks them)%s.",
	    one->is_jax ? "; JAX_COMPILATION_CACHE_DIR keeps what is compiled "
			  "for the next run"
			: "");
	say_place(all->facts, finding, one->longest_at_ns, one->longest_lane,
		  one->longest);
}

double compiling_ns(const struct verdict_facts *facts)
{
	struct compilations all = {
		.facts = facts,
		.functions.row_bytes = sizeof(struct compiled),
	};
	double sum_ns;

	each(&all, collect);
	sum_ns = (double)covered_ns(&all, NULL);
	free(all.periods);
	key_table_free(&all.functions);
	return sum_ns;
}

/* Finds what is compiled again; true where it is worth saying. */
static bool find_again(struct compilations *all, size_t *most,
		       size_t *functions, double *saved_ns, int64_t *steps)
{
	int64_t times;

	each(all, count);
	*most = most_of(all, &times, functions);
	if (!*functions)
		return false;
	each(all, collect);
	/* Each has to be compiled once. */
	*saved_ns = (double)covered_ns(all, steps) *
		    (double)(times - (int64_t)*functions) / (double)times;
	return is_worth_of_all(all->facts, *saved_ns);
}

bool rule_compiled_again(const struct verdict_facts *facts,
			 struct finding *finding)
{
	struct compilations all = {
		.facts = facts,
		.functions.row_bytes = sizeof(struct compiled),
		.least = COMPILED_MIN,
	};
	size_t functions, most;
	const bool is_found =
		find_again(&all, &most, &functions, &finding->saved_ns, NULL);

	if (is_found)
		tell(&all, most, functions, finding);
	free(all.periods);
	key_table_free(&all.functions);
	return is_found;
}

int64_t *compiled_again_by_step(const struct verdict_facts *facts)
{
	struct compilations all = {
		.facts = facts,
		.functions.row_bytes = sizeof(struct compiled),
		.least = COMPILED_MIN,
	};
	int64_t *steps = memory_zeroed(facts->split.count + 1, sizeof(*steps));
	size_t functions, most;
	double saved_ns;

	if (!find_again(&all, &most, &functions, &saved_ns, steps))
		memset(steps, 0, facts->split.count * sizeof(*steps));
	free(all.periods);
	key_table_free(&all.functions);
	return steps;
}

/* What a short run does before it works. */
bool rule_compiling(const struct verdict_facts *facts, struct finding *finding)
{
	struct compilations all = {
		.facts = facts,
		.functions.row_bytes = sizeof(struct compiled),
		.least = COMPILED_MIN,
		.is_rest = true,
	};
	size_t functions, most;
	int64_t times;

	if (facts->split.has_steps || timeline_is_part(facts->timeline))
		return false;
	each(&all, count);
	most = most_of(&all, &times, &functions);
	if (functions) {
		each(&all, collect);
		finding->saved_ns = (double)covered_ns(&all, NULL);
	}
	if (functions && is_worth(facts, finding->saved_ns, COMPILING_MIN))
		tell_once(&all, most, functions, finding);
	else
		functions = 0;
	free(all.periods);
	key_table_free(&all.functions);
	return functions > 0;
}
