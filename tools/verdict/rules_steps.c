/* SPDX-License-Identifier: MIT */
/*
 * rules_steps.c - the heap from step to step, the processors, and what the
 * recording itself takes.
 */
#include "tools/verdict/rules.h"

#include <inttypes.h>
#include <stdlib.h>

#include "tools/model/statistics.h"
#include "tools/util/memory.h"
#include "tools/util/numbers.h"

/* A run without steps goes on after its last slice. */
static int64_t whole_ns(const struct verdict_facts *facts)
{
	return facts->wall_ns > facts->split.all_ns ? facts->wall_ns
						    : facts->split.all_ns;
}

/* The time in which the kernel counted, of which a window is a part. */
static int64_t counted_ns(const struct verdict_facts *facts)
{
	const int64_t lived_ns = facts->metadata->lived_ns;

	return lived_ns > whole_ns(facts) ? lived_ns : whole_ns(facts);
}

/* How much of what is counted falls into the judged steps.  Of a whole run it
 * is counted from the program's first call on, long before anything is drawn.
 */
static double share_in_steps(const struct verdict_facts *facts)
{
	const int64_t counted = trace_metadata_is_part(facts->metadata)
					? facts->wall_ns
					: counted_ns(facts);
	const double share =
		counted > 0 ? (double)facts->split.total_ns / (double)counted
			    : 0;

	/* What is drawn may take less than what was recorded. */
	return share < 1 ? share : 1;
}

static double in_steps(const struct verdict_facts *facts, double ns)
{
	return ns * share_in_steps(facts);
}

/* What threads of a team do at once takes its time once. */
static double beside_each_other(const struct verdict_facts *facts)
{
	const struct split *split = &facts->split;
	const double regions = (double)split->ns[SHARE_OMP_WORK] +
			       (double)split->ns[SHARE_OMP_WAIT] +
			       (double)split->ns[SHARE_OMP_UNEVEN];
	const double part =
		split->total_ns > 0 ? regions / (double)split->total_ns : 0;
	int64_t team = facts->timeline->team_max;

	if (facts->metadata->cpus > 0 && team > facts->metadata->cpus)
		team = facts->metadata->cpus;
	return team > 1 ? 1 - part + part / (double)team : 1;
}

bool rule_churn(const struct verdict_facts *facts, struct finding *finding)
{
	const struct trace_sums own = trace_metadata_own(facts->metadata);
	const double calls = (double)own.heap_calls;
	double sampled;

	/* What a program loads before its steps allocates, too, and how much of
	 * all that was isn't known. */
	if (calls <= 0 || (share_in_steps(facts) < COUNTED_MIN &&
			   facts->metadata->sample <= 0))
		return false;
	finding->saved_ns =
		in_steps(facts, calls * MALLOC_NS) * beside_each_other(facts);
	/* Where samples tell what it took, that is the most. */
	sampled = in_steps(facts, (double)facts->split.alloc_ns);
	if (facts->metadata->sample > 0 && sampled < finding->saved_ns)
		finding->saved_ns = sampled;
	if (!is_worth(facts, finding->saved_ns, SHARE_MIN))
		return false;
	say(&finding->figure, "%.0f allocations a step of %s on average",
	    in_steps(facts, calls) / steps_of(facts),
	    quantity_bytes((double)own.heap_bytes / calls).text);
	say(&finding->threshold, "%d ns each, %.0f %% of the step", MALLOC_NS,
	    100 * SHARE_MIN);
	say(&finding->next,
	    "find the callers (%straceprof memory%s) and keep their blocks, or "
	    "take them from an arena.",
	    trace_metadata_names_blocks(facts->metadata)
		    ? ""
		    : "TRACEPROF_MALLOC=sampled, ",
	    trace_metadata_names_blocks(facts->metadata) ? " of this file"
							 : "");
	return true;
}

bool rule_large_blocks(const struct verdict_facts *facts,
		       struct finding *finding)
{
	const struct timeline *timeline = facts->timeline;

	finding->saved_ns = in_steps(facts, (double)timeline->large_bytes *
						    FAULT_NS_PER_BYTE);
	if (timeline->large_blocks < TEMPORARIES_MIN ||
	    !is_worth(facts, finding->saved_ns, SHARE_MIN))
		return false;
	say(&finding->figure,
	    "%" PRId64 " blocks of %s on average are freed at once; the kernel "
	    "clears their pages each time",
	    timeline->large_blocks,
	    quantity_bytes((double)timeline->large_bytes /
			   (double)timeline->large_blocks)
		    .text);
	say(&finding->threshold, "%d such blocks, %.0f %% of the step",
	    TEMPORARIES_MIN, 100 * SHARE_MIN);
	say(&finding->next, "keep such buffers from step to step.");
	say_place(facts, finding, timeline->large_at_ns, TIMELINE_NONE,
		  TIMELINE_NONE);
	return true;
}

/* What samples' threads were given, of which the kernel clears each page; huge
 * ones are counted as one. */
bool rule_page_faults(const struct verdict_facts *facts,
		      struct finding *finding)
{
	const struct trace_tasks *tasks = &facts->metadata->tasks;
	const double run_ns = (double)tasks->process_ns;
	double cost_ns, threads;

	if (tasks->faults < FAULTS_MIN || run_ns <= 0)
		return false;
	cost_ns = (double)tasks->faults * PAGE_BYTES * FAULT_NS_PER_BYTE;
	threads = (double)facts->metadata->program_ns / run_ns;
	finding->saved_ns = cost_ns / run_ns / (threads > 1 ? threads : 1) *
			    (double)facts->split.total_ns;
	if (!is_worth(facts, finding->saved_ns, SHARE_HIGH_MIN))
		return false;
	say(&finding->figure,
	    "%" PRId64 " page faults: memory that was given back, or never "
	    "touched before, and that the kernel clears page by page",
	    tasks->faults);
	say(&finding->threshold, "%.2f us each, %.0f %% of the time",
	    PAGE_BYTES * FAULT_NS_PER_BYTE / 1000, 100 * SHARE_HIGH_MIN);
	say(&finding->next,
	    "keep large buffers and use them again; traceprof report --hot "
	    "names the functions that touch them first.");
	return true;
}

bool rule_growth(const struct verdict_facts *facts, struct finding *finding)
{
	const struct split *split = &facts->split;
	double *series, trend, all;
	size_t count = 0;

	if (split->count < GROWTH_STEPS_MIN || !split->has_steps)
		return false;
	series = memory_zeroed(split->count, sizeof(*series));
	for (size_t at = 0; at < split->count; at++)
		if (split->steps[at].live_bytes >= 0)
			series[count++] = (double)split->steps[at].live_bytes;
	trend = count == split->count ? statistics_trend(series, count) : 0;
	all = trend * (double)count;
	if (all < GROWTH_BYTES_MIN || all < GROWTH_MIN * series[count - 1]) {
		free(series);
		return false;
	}
	say(&finding->figure, "the heap grows by %s a step, to %s",
	    quantity_bytes(trend).text, quantity_bytes(series[count - 1]).text);
	free(series);
	say(&finding->threshold, "a trend at 95 %%, %s and %.0f %% of the heap",
	    quantity_bytes(GROWTH_BYTES_MIN).text, 100 * GROWTH_MIN);
	say(&finding->next, "find who keeps it: traceprof memory%s.",
	    trace_metadata_names_blocks(facts->metadata)
		    ? ", of this file"
		    : ", of a run with TRACEPROF_MALLOC=sites");
	say_place(facts, finding, split->steps[split->count - 1].start_ns,
		  TIMELINE_NONE, TIMELINE_NONE);
	return true;
}

/* Of that, not of what it wanted to run: it may have slept for most. */
double unscheduled(const struct verdict_facts *facts)
{
	const struct trace_metadata *metadata = facts->metadata;
	const double share = trace_metadata_unscheduled(metadata);
	const double wanted =
		(double)metadata->ran_ns + (double)metadata->unscheduled_ns;
	const double wall = (double)counted_ns(facts);

	return wall > wanted ? share * wanted / wall : share;
}

/* What other programs can have had of the processors that this one may use;
 * 1 not known. */
static double others_at_most(const struct trace_metadata *metadata)
{
	const double all = (double)metadata->processors_ns;
	const double ours = (double)metadata->lived_ns * (double)metadata->cpus;

	if (all <= 0 || ours <= 0)
		return 1;
	return trace_metadata_others(metadata) * (ours < all ? all / ours : 1);
}

/* The program bound more of its threads than it left them processors. */
static bool is_bound_tightly(const struct trace_metadata *metadata)
{
	return metadata->bound_cpus > 0 &&
	       metadata->bound_cpus < trace_metadata_processors(metadata) &&
	       metadata->bound_threads > metadata->bound_cpus;
}

static bool may_outnumber(const struct trace_metadata *metadata)
{
	return metadata->program_ns > metadata->lived_ns ||
	       is_bound_tightly(metadata);
}

/* Where the program's threads may outnumber the processors by themselves it is
 * no more than what others had. */
double unscheduled_by_others(const struct verdict_facts *facts)
{
	const struct trace_metadata *metadata = facts->metadata;
	const double share = unscheduled(facts);
	const double most = others_at_most(metadata);

	return may_outnumber(metadata) && most < share ? most : share;
}

/* The first thread sleeps for most of the time: it may wait for its workers.
 * These may outnumber the processors by themselves, so what others had of them
 * is the most that can be said. */
double unscheduled_workers(const struct verdict_facts *facts)
{
	const struct trace_metadata *metadata = facts->metadata;
	const double workers = trace_metadata_unscheduled_tasks(metadata);
	const double others = trace_metadata_others(metadata);

	if (metadata->ran_ns <= 0 ||
	    metadata->ran_ns + metadata->unscheduled_ns > counted_ns(facts) / 2)
		return 0;
	return workers < others ? workers : others;
}

/* The kernel counts since the thread began; the file is a window of that. */
bool unscheduled_is_of_the_run(const struct verdict_facts *facts)
{
	const struct trace_metadata *metadata = facts->metadata;
	const int64_t wanted = metadata->ran_ns + metadata->unscheduled_ns;
	const int64_t counted =
		wanted > metadata->lived_ns ? wanted : metadata->lived_ns;

	return counted > OF_THE_RUN * whole_ns(facts);
}

static const char *who_waits(const struct verdict_facts *facts)
{
	if (unscheduled_workers(facts) > unscheduled_by_others(facts))
		return "the time other threads than the first one";
	return unscheduled_is_of_the_run(facts)
		       ? "the run, of which this is a part, the first thread"
		       : "its time the first thread";
}

bool rule_no_processor(const struct verdict_facts *facts,
		       struct finding *finding)
{
	const double first = unscheduled_by_others(facts);
	const double workers = unscheduled_workers(facts);
	const double share = workers > first ? workers : first;

	finding->saved_ns = share * (double)facts->split.total_ns;
	if (!is_worth(facts, finding->saved_ns, SHARE_MIN))
		return false;
	say(&finding->figure,
	    "for %.0f %% of %s could run, but no processor was free: waits "
	    "and steps are longer than the program makes them",
	    100 * share, who_waits(facts));
	say(&finding->threshold, "%.0f %% of the time", 100 * SHARE_MIN);
	say(&finding->next, "see what else runs (top), and that there are no "
			    "more busy threads than processors; measure again "
			    "then.");
	return true;
}

/* Threads that aren't OpenMP's, or processes: of those nobody counts the busy
 * ones.  Where processors were idle it is the kernel that placed them so. */
bool rule_crowded(const struct verdict_facts *facts, struct finding *finding)
{
	const struct trace_metadata *metadata = facts->metadata;
	const double all = unscheduled(facts);
	const double own = all - unscheduled_by_others(facts);
	const bool is_bound = is_bound_tightly(metadata);
	const int64_t cpus = is_bound ? metadata->bound_cpus
				      : trace_metadata_processors(metadata);

	finding->saved_ns = own * (double)facts->split.total_ns;
	if (facts->is_oversubscribed || own < CROWDED_OF * all || cpus <= 0 ||
	    (double)metadata->program_ns <
		    CROWDED_MIN * (double)cpus * (double)metadata->lived_ns ||
	    !is_worth(facts, finding->saved_ns, SHARE_HIGH_MIN))
		return false;
	say(&finding->figure,
	    "for %.0f %% of %s could run, but other threads or processes of "
	    "the program had the processors",
	    100 * own,
	    unscheduled_is_of_the_run(facts)
		    ? "the run, of which this is a part, the first thread"
		    : "its time the first thread");
	say(&finding->threshold, "%.0f %% of the time", 100 * SHARE_HIGH_MIN);
	say(&finding->next,
	    "keep no more of them busy than processors (%" PRId64
	    "%s): fewer workers, or fewer threads in each.",
	    cpus, is_bound ? ", to which the program bound them" : "");
	return true;
}

bool rule_own_cost(const struct verdict_facts *facts, struct finding *finding)
{
	const struct trace_sums own = trace_metadata_own(facts->metadata);
	const struct timeline *timeline = facts->timeline;
	double threads = 0, hooks;

	for (uint32_t at = 0; at < timeline->lanes.table.count; at++)
		threads += timeline_lane(timeline, at)->count > 0;
	hooks = (double)own.hooks_ns / (threads > 0 ? threads : 1);
	finding->saved_ns = in_steps(facts, hooks);
	if (own.hooks_ns <= 0 ||
	    !is_worth(facts, finding->saved_ns, OWN_COST_MIN))
		return false;
	say(&finding->figure,
	    "recording itself takes %s of the program's "
	    "threads",
	    quantity_time((double)own.hooks_ns).text);
	say(&finding->threshold, "%.0f %% of the time", 100 * OWN_COST_MIN);
	say(&finding->next,
	    "record less: TRACEPROF_MALLOC=counters, %sor some steps alone "
	    "(TRACEPROF_ACTIVE).",
	    facts->metadata->overhead_percent == 1
		    ? ""
		    : "TRACEPROF_MAX_OVERHEAD=1, ");
	return true;
}

/* -1 is none. */
static int64_t some(int64_t count)
{
	return count > 0 ? count : 0;
}

/* What would bring missing kernels, by what the file says of them; NULL:
 * nothing that is known. */
static const char *help_for_kernels(const struct trace_metadata *account)
{
	if (account->has_no_kernels)
		return "another version of CUPTI may have them: "
		       "TRACEPROF_CUPTI names one.";
	if (account->is_taken)
		return "record without the other profiler in the program.";
	if (account->unfinished > 0 && trace_metadata_is_windowed(account))
		return "wait longer for the GPU: raise TRACEPROF_GPU_WAIT_MS, "
		       "and TRACEPROF_EXIT_MS for the end of the program.";
	if (account->unfinished > 0)
		return "let the program wait for the GPU before it ends, or "
		       "raise TRACEPROF_EXIT_MS.";
	if ((account->dropped_records > 0 || account->lost_buffers > 0) &&
	    !trace_metadata_is_windowed(account))
		return "record some steps alone (TRACEPROF_ACTIVE).";
	return NULL;
}

/* What found no room is another matter than what CUPTI never handed over. */
static const char *help_for_losses(const struct verdict_facts *facts)
{
	const struct trace_metadata *account = facts->metadata;
	const char *help = NULL;

	if (facts->timeline->left_out)
		return "record some steps alone (TRACEPROF_ACTIVE).";
	if (account->missing_kernels > 0 || account->gpu_missing > 0)
		help = help_for_kernels(account);
	if (!help && some(account->dropped) + some(account->unrecorded_calls) +
			     some(account->unnamed) + some(account->waits_lost))
		help = "raise TRACEPROF_BUFFER_MB, set TRACEPROF_ON_FULL=wait, "
		       "or record some steps alone.";
	return help;
}

bool rule_losses(const struct verdict_facts *facts, struct finding *finding)
{
	const struct trace_metadata *account = facts->metadata;
	const int64_t lost = some(account->dropped) +
			     some(account->unrecorded_calls) +
			     some(account->unnamed) + some(account->waits_lost);
	const char *next = help_for_losses(facts);

	if (!facts->is_lossy)
		return false;
	finding->spoils = lost > some(account->written);
	if (facts->timeline->left_out)
		say(&finding->figure, "%zu slices are too many to be judged",
		    facts->timeline->left_out);
	else if (account->missing_kernels > 0 || account->gpu_missing > 0)
		say(&finding->figure,
		    "kernels are missing: what is said of the GPU is too "
		    "little");
	else if (account->unsettled_ns > 0)
		say(&finding->figure,
		    "of the last %s records of the GPU may be missing, so "
		    "most causes can't be judged",
		    quantity_time((double)account->unsettled_ns).text);
	else
		say(&finding->figure,
		    "%" PRId64 " events are missing, so most causes can't be "
		    "judged",
		    lost);
	say(&finding->threshold,
	    "%.1f %% of the events, or %.0f %% of the time on the GPU",
	    100 * LOST_MIN, 100 * UNSETTLED_MIN);
	if (next)
		say(&finding->next, "%s", next);
	return true;
}
