/* SPDX-License-Identifier: MIT */
/*
 * rules_openmp.c - how teams share out their work.
 */
#include "tools/verdict/rules.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/model/statistics.h"
#include "tools/util/memory.h"
#include "tools/util/numbers.h"

/* The regions' own slices by name: a number of facts->regions. */
static uint32_t *regions_by_name(const struct verdict_facts *facts)
{
	const struct timeline *timeline = facts->timeline;
	uint32_t *regions =
		memory_zeroed(timeline->names.count + 1, sizeof(*regions));

	for (uint32_t at = 0; at < timeline->names.count; at++) {
		const struct timeline_name *row = timeline_name(timeline, at);

		regions[at] = TIMELINE_NONE;
		if (row->host != HOST_OMP && row->host != HOST_OMP_TEAM)
			continue;
		if (!strcmp(timeline_category(timeline, at), TIMELINE_MEMBERS))
			continue;
		for (uint32_t i = 0; i < facts->region_count; i++)
			if (!strcmp(facts->regions[i].name,
				    timeline_name_text(timeline, at)))
				regions[at] = i;
	}
	return regions;
}

/* How much of each region's time lies in the steps that are judged: what sets a
 * run up is none of their business.  To be freed. */
static double *parts_in_steps(const struct verdict_facts *facts)
{
	const struct timeline *timeline = facts->timeline;
	const size_t count = facts->region_count + 1;
	double *all = memory_zeroed(count, sizeof(*all));
	double *parts = memory_zeroed(count, sizeof(*parts));
	uint32_t *regions = regions_by_name(facts);

	for (uint32_t at = 0; at < timeline->lanes.table.count; at++) {
		const struct timeline_lane *lane = timeline_lane(timeline, at);

		for (size_t i = 0; i < lane->count; i++) {
			const struct span *span = &lane->spans[i];
			const uint32_t region = regions[span->name];
			double ns;

			if (region == TIMELINE_NONE)
				continue;
			ns = (double)timeline_dur_ns(timeline, at, span);
			all[region] += ns;
			if (is_judged(facts, span->start_ns))
				parts[region] += ns;
		}
	}
	for (size_t at = 0; at < facts->region_count; at++)
		parts[at] = all[at] > 0 ? parts[at] / all[at]
					: facts->regions_in_steps;
	free(regions);
	free(all);
	return parts;
}

/* What a region's figures stand for: of thinned ones some are in the file. */
static double weight_of(const struct verdict_facts *facts,
			const struct region_total *region, const double *parts)
{
	const double part = parts[region - facts->regions];
	const struct trace_sampled_row *row;

	if (region->is_estimated || !facts->sampled)
		return part;
	row = trace_sampled_find(facts->sampled, "parallel", region->name);
	if (!row || row->drawn <= 0)
		return part;
	return part * (double)row->seen / (double)row->drawn;
}

static double team_of(const struct region_total *region)
{
	return region->team_max > 0 ? (double)region->team_max : 1;
}

static bool is_short(const struct region_total *region)
{
	return region->elapsed_ns < SHORT_REGION_NS * region->calls;
}

/* The place of a region: its longest slice. */
static void say_region(const struct verdict_facts *facts,
		       struct finding *finding,
		       const struct region_total *region)
{
	const struct timeline *timeline = facts->timeline;

	for (uint32_t at = 0; at < timeline->names.count; at++) {
		const struct timeline_name *row = timeline_name(timeline, at);

		if (strcmp(timeline_name_text(timeline, at), region->name) ||
		    !strcmp(timeline_category(timeline, at), TIMELINE_MEMBERS))
			continue;
		say_place(facts, finding, row->longest_at_ns, row->longest_lane,
			  at);
		return;
	}
}

/* Without its worst call, which may be the machine's doing. */
static double usual_uneven(const struct region_total *region)
{
	return (double)region->uneven_ns -
	       (region->calls > 1 ? (double)region->worst_ns : 0);
}

static double usual_imbalance(const struct region_total *region)
{
	const double worst = (double)region->uneven_ns - usual_uneven(region);

	return region->mean_ns > 0
		       ? (region->longest_ns - worst / team_of(region)) /
				 region->mean_ns
		       : 0;
}

/* What a region costs that its rule is about; 0 where it is silent. */
typedef double region_rule(const struct region_total *region);

/* Adds that up over the regions; the one with most of it, NULL none. */
static const struct region_total *
worst_region(const struct verdict_facts *facts, region_rule *rule,
	     double *saved_ns)
{
	const struct region_total *worst = NULL;
	double most = 0, *parts = parts_in_steps(facts);

	for (size_t at = 0; at < facts->region_count; at++) {
		const struct region_total *region = &facts->regions[at];
		double saved = 0;

		if (region->calls)
			saved = rule(region) * weight_of(facts, region, parts);
		if (saved <= 0)
			continue;
		*saved_ns += saved;
		if (saved > most) {
			most = saved;
			worst = region;
		}
	}
	free(parts);
	return worst;
}

/* What comes to one thread now and to another then may be the machine's
 * doing. */
static double imbalance_of(const struct region_total *region)
{
	if (usual_imbalance(region) < IMBALANCE_MIN || is_short(region) ||
	    (double)region->steady_ns < STEADY_MIN * (double)region->uneven_ns)
		return 0;
	return usual_uneven(region) / team_of(region);
}

/* Nearly all is done by one member at a time, now by this and then by that one:
 * who comes first takes a single block. */
static double serial_of(const struct region_total *region)
{
	const double team = team_of(region);

	if (region->calls < SERIAL_CALLS_MIN || is_short(region) ||
	    region->team_max < 2 ||
	    usual_imbalance(region) < 1 + SERIAL_WORK_MIN * (team - 1))
		return 0;
	return usual_uneven(region) / team;
}

/* A member that finds no processor looks as if it had more to do. */
static bool rule_serial(const struct verdict_facts *facts,
			struct finding *finding)
{
	const struct region_total *worst;

	finding->saved_ns = 0;
	worst = worst_region(facts, serial_of, &finding->saved_ns);
	finding->saved_ns -= unscheduled(facts) * (double)facts->split.total_ns;
	if (!worst || !is_worth(facts, finding->saved_ns, SHARE_HIGH_MIN))
		return false;
	say(&finding->figure,
	    "in %s one member works while the others wait, now this and then "
	    "that one: the longest works %.2f times as long as the mean one",
	    short_name(worst->name).text, usual_imbalance(worst));
	say(&finding->threshold,
	    "%.0f %% of what one member alone would be, and %.0f %% of the "
	    "step",
	    100 * SERIAL_WORK_MIN, 100 * SHARE_HIGH_MIN);
	say(&finding->next, "share out what a single or master block, or a "
			    "lock, lets one thread do (a loop, tasks).");
	say_region(facts, finding, worst);
	return true;
}

bool rule_imbalance(const struct verdict_facts *facts, struct finding *finding)
{
	const struct region_total *worst;
	bool is_dynamic;
	int64_t threads;
	uint32_t first;

	if (idle_threads_of(facts, &threads, &first))
		return false;
	worst = worst_region(facts, imbalance_of, &finding->saved_ns);
	/* Where one thread found fewer processors free than another, it would
	 * be longer than the mean by this, had all the same to do. */
	if (worst)
		finding->saved_ns -=
			trace_metadata_unevenly_scheduled(facts->metadata) *
			(double)facts->split.total_ns *
			(1 - 1 / team_of(worst));
	if (!worst || !is_worth(facts, finding->saved_ns, SHARE_MIN))
		return rule_serial(facts, finding);
	is_dynamic = strstr(facts->timeline->schedule, "dynamic") ||
		     strstr(facts->timeline->schedule, "guided");
	say(&finding->figure,
	    "in %s the longest member works %.2f times as long as the mean one",
	    short_name(worst->name).text, usual_imbalance(worst));
	say(&finding->threshold, "%.2f, and %.0f %% of the step", IMBALANCE_MIN,
	    100 * SHARE_MIN);
	say(&finding->next, "%s",
	    is_dynamic ? "make chunks smaller, or begin with the largest "
			 "pieces of work."
		       : "try schedule(dynamic) or schedule(guided), or split "
			 "the work by its cost; in a library's loop, fewer "
			 "threads.");
	say_region(facts, finding, worst);
	return true;
}

static uint32_t number_of(const struct timeline *timeline,
			  const struct timeline_name *row)
{
	return (uint32_t)(row - timeline_name(timeline, 0));
}

/* The part of a name's time that its usual calls make, the longest ones cut to
 * twice what three of four stay below: a thread that another process keeps off
 * its processor lets its team wait, seldom but long. */
static double usual_part(const struct timeline *timeline,
			 const struct timeline_name *row)
{
	const uint32_t name = number_of(timeline, row);
	double *waits = memory_zeroed((size_t)row->calls + 1, sizeof(*waits));
	double sum = 0, usual = 0, most;
	size_t count = 0;

	for (uint32_t at = 0; at < timeline->lanes.table.count; at++) {
		const struct timeline_lane *lane = timeline_lane(timeline, at);

		for (size_t i = 0; i < lane->count; i++)
			if (lane->spans[i].name == name &&
			    count < (size_t)row->calls)
				waits[count++] = (double)timeline_dur_ns(
					timeline, at, &lane->spans[i]);
	}
	most = 2 * statistics_quantile(waits, count, 0.75);
	for (size_t at = 0; at < count; at++) {
		sum += waits[at];
		usual += waits[at] < most ? waits[at] : most;
	}
	free(waits);
	return sum > 0 ? usual / sum : 0;
}

static double even_waits_of(const struct region_total *region)
{
	return is_short(region)
		       ? 0
		       : (double)(region->judged_ns - region->uneven_ns) /
				 team_of(region);
}

/* Long waits of regions whose members work evenly in sum. */
bool rule_barrier(const struct verdict_facts *facts, struct finding *finding)
{
	const struct timeline_name *waits =
		timeline_find(facts->timeline, TIMELINE_WAITS, "barrier wait");
	const struct region_total *worst = NULL;
	double most;

	if (waits)
		worst = worst_region(facts, even_waits_of, &finding->saved_ns);
	if (!worst)
		return false;
	most = facts->regions_in_steps * (double)waits->sum_ns / team_of(worst);
	if (finding->saved_ns > most)
		finding->saved_ns = most;
	finding->saved_ns *= usual_part(facts->timeline, waits);
	if (!is_worth(facts, finding->saved_ns, SHARE_HIGH_MIN))
		return false;
	say(&finding->figure,
	    "%" PRId64 " waits at barriers, %s on average, though the members "
	    "work evenly over the whole region",
	    waits->calls,
	    quantity_time((double)waits->sum_ns / (double)waits->calls).text);
	say(&finding->threshold, "%.0f %% of the step", 100 * SHARE_HIGH_MIN);
	say(&finding->next, "join loops with nowait, or give each thread the "
			    "same part in each phase.");
	say_region(facts, finding, worst);
	return true;
}

/* What is no work of regions that are over before it pays. */
static double fork_of(const struct region_total *region)
{
	const double elapsed = (double)region->elapsed_ns;
	const double fork = elapsed - (double)region->work_ns / team_of(region);

	if (region->calls < SHORT_REGIONS_MIN || !is_short(region) ||
	    region->team_max < 2 || region->work_ns <= 0 ||
	    fork < FORK_SHARE_MIN * elapsed)
		return 0;
	return fork;
}

bool rule_short_regions(const struct verdict_facts *facts,
			struct finding *finding)
{
	const struct region_total *worst =
		worst_region(facts, fork_of, &finding->saved_ns);

	if (!worst || !is_worth(facts, finding->saved_ns, SHARE_MIN))
		return false;
	say(&finding->figure,
	    "%" PRId64 " calls of %s take %s each, %.0f %% of it to begin and "
	    "end",
	    worst->calls, short_name(worst->name).text,
	    quantity_time((double)worst->elapsed_ns / (double)worst->calls)
		    .text,
	    100 - 100 * (double)worst->work_ns / team_of(worst) /
			    (double)worst->elapsed_ns);
	say(&finding->threshold, "%s, %.0f %%, and %.0f %% of the step",
	    quantity_time(SHORT_REGION_NS).text, 100 * FORK_SHARE_MIN,
	    100 * SHARE_MIN);
	say(&finding->next,
	    "put the region around the outer loop, use if(n > LIMIT), or fewer "
	    "threads.");
	say_region(facts, finding, worst);
	return true;
}

static double waits_of(const struct region_total *region)
{
	const double waits = (double)region->elapsed_ns -
			     (double)region->work_ns / team_of(region);

	return region->work_ns > 0 && waits > 0 ? waits : 0;
}

/* Waits that no other rule has a reason for: each is too little by itself, or
 * lies between two.  Much in sum is said nevertheless. */
bool rule_waits(const struct verdict_facts *facts, struct finding *finding)
{
	const double waits = (double)facts->split.ns[SHARE_OMP_WAIT] +
			     (double)facts->split.ns[SHARE_OMP_UNEVEN];
	const struct region_total *worst;
	double calls;

	if (facts->are_waits_named)
		return false;
	worst = worst_region(facts, waits_of, &finding->saved_ns);
	if (finding->saved_ns > waits)
		finding->saved_ns = waits;
	if (!worst || !is_worth(facts, finding->saved_ns, SHARE_HIGH_MIN))
		return false;
	calls = (double)worst->calls;
	say(&finding->figure,
	    "threads of teams wait for %.0f %% of the step; most in %s, "
	    "%" PRId64 " call%s of %s, %s of it no work",
	    100 * waits / (double)facts->split.total_ns,
	    short_name(worst->name).text, worst->calls,
	    worst->calls == 1 ? "" : "s",
	    quantity_time((double)worst->elapsed_ns / calls).text,
	    quantity_time(waits_of(worst) / calls).text);
	say(&finding->threshold,
	    "%.0f %% of the step that no other finding names",
	    100 * SHARE_HIGH_MIN);
	say(&finding->next, "%s",
	    is_short(worst)
		    ? "give each region more work (join loops, the region "
		      "around the outer one), or fewer threads."
		    : "see that each thread has a processor of its own "
		      "(OMP_NUM_THREADS, OMP_PROC_BIND, top) and the same "
		      "part of each loop.");
	say_region(facts, finding, worst);
	return true;
}

/* Threads that took part in teams. */
static int64_t members_of(const struct timeline *timeline, int64_t *most_ns)
{
	int64_t count = 0;

	*most_ns = 0;
	for (uint32_t at = 0; at < timeline->lanes.table.count; at++) {
		const struct timeline_lane *lane = timeline_lane(timeline, at);

		count += lane->parts >= IDLE_PARTS_MIN;
		if (lane->work_ns > *most_ns)
			*most_ns = lane->work_ns;
	}
	return count;
}

/* Members of a team of that name; 1 not known. */
static int64_t team_of_name(const struct verdict_facts *facts,
			    const uint32_t *regions, uint32_t name)
{
	const int64_t team = regions[name] == TIMELINE_NONE
				     ? 1
				     : facts->regions[regions[name]].team_max;

	return team > 1 ? team : 1;
}

/* A team whose members begin teams of their own: how many threads that makes;
 * 0 there is none.  within_ns: how long the thread that steps was in regions
 * that make more of them than there are processors; INT64_MAX another one was,
 * too. */
static int64_t nested_threads(const struct verdict_facts *facts, int64_t cpus,
			      int64_t *within_ns)
{
	const struct timeline *timeline = facts->timeline;
	uint32_t *regions = regions_by_name(facts);
	int64_t most = 0;

	*within_ns = 0;

	for (uint32_t at = 0; at < timeline->lanes.table.count; at++) {
		const struct timeline_lane *lane = timeline_lane(timeline, at);
		int64_t outer_end_ns = INT64_MIN, outer = 1, outer_ns = 0;

		for (size_t i = 0; i < lane->count; i++) {
			const struct span *span = &lane->spans[i];
			const int64_t team =
				team_of_name(facts, regions, span->name);
			const int64_t nested =
				timeline_name(timeline, span->name)
					->nested_team;

			if (team < 2)
				continue;
			if (span->start_ns < outer_end_ns) {
				if (nested > 1 && outer * nested > most)
					most = outer * nested;
				if (nested < 2 || outer * nested <= cpus)
					continue;
				if (at != facts->split.lane)
					outer_ns = INT64_MAX;
				*within_ns = outer_ns > INT64_MAX - *within_ns
						     ? INT64_MAX
						     : *within_ns + outer_ns;
				outer_ns = 0;
				continue;
			}
			outer = team;
			outer_end_ns = span->start_ns +
				       timeline_dur_ns(timeline, at, span);
			outer_ns = split_typical_ns(
				&facts->split, span->start_ns, outer_end_ns);
		}
	}
	free(regions);
	return most;
}

static void say_fewer(struct finding *finding, int64_t nested, int64_t team,
		      int64_t cpus)
{
	if (nested)
		say(&finding->next,
		    "let no region begin another one "
		    "(OMP_MAX_ACTIVE_LEVELS=1), or give both fewer threads "
		    "(num_threads).");
	else if (team <= cpus)
		say(&finding->next, "let one OpenMP runtime work at a time, "
				    "and no region in another.");
	else
		say(&finding->next,
		    "set OMP_NUM_THREADS=%" PRId64 " or less (a num_threads "
		    "clause goes before it).",
		    cpus);
}

/* The program itself left its threads fewer processors than it had, all of
 * them: so it is not the machine. */
static bool are_bound(const struct trace_metadata *metadata, int64_t threads)
{
	return metadata->bound_cpus > 0 &&
	       metadata->bound_cpus < trace_metadata_processors(metadata) &&
	       metadata->bound_threads >= threads;
}

/* A team that sleeps or waits for files shares no processor, however large it
 * is.  What its threads would have run, had they always found one free, is
 * guessed by the recorded ones, of which one may sleep till another that found
 * none is done; that of teams in teams and of several pools isn't known, since
 * they are in regions at the same time. */
static bool wants_processors(const struct verdict_facts *facts, int64_t cpus)
{
	const struct trace_sums own = trace_metadata_own(facts->metadata);
	const double free =
		1 - trace_metadata_unscheduled_most(facts->metadata);
	double elapsed_ns = 0;

	if (own.processors_ns <= 0 || free <= 0)
		return true;
	for (size_t at = 0; at < facts->region_count; at++)
		elapsed_ns += (double)facts->regions[at].elapsed_ns;
	return (double)own.program_ns / free >=
	       TEAM_RUNS_MIN * (double)cpus * elapsed_ns;
}

bool rule_oversubscribed(const struct verdict_facts *facts,
			 struct finding *finding)
{
	const struct split *split = &facts->split;
	int64_t cpus = trace_metadata_processors(facts->metadata);
	int64_t most_ns, threads = members_of(facts->timeline, &most_ns);
	const int64_t team = facts->timeline->team_max;
	int64_t within_ns, nested = nested_threads(facts, cpus, &within_ns);
	double omp = (double)split->ns[SHARE_OMP_WORK] +
		     (double)split->ns[SHARE_OMP_WAIT] +
		     (double)split->ns[SHARE_OMP_UNEVEN];
	bool is_bound;

	if (threads < team)
		threads = team;
	if (threads < nested)
		threads = nested;
	is_bound = are_bound(facts->metadata, threads);
	if (is_bound)
		cpus = facts->metadata->bound_cpus;
	if (cpus <= 0 || threads <= cpus)
		return false;
	if (threads == team && !nested && !wants_processors(facts, cpus))
		return false;
	/* Regions that begin none in them fit. */
	if (nested && !is_bound && team <= cpus && (double)within_ns < omp)
		omp = (double)within_ns;
	finding->saved_ns = omp * (1 - (double)cpus / (double)threads);
	if (!is_worth(facts, finding->saved_ns, SHARE_MIN))
		return false;
	say(&finding->figure,
	    "%" PRId64 " threads on %" PRId64 " processor%s%s", threads, cpus,
	    cpus == 1 ? "" : "s",
	    is_bound	   ? ", to which the program bound them"
	    : nested	   ? ": nested teams"
	    : team <= cpus ? ": several pools or nested teams at once"
			   : "");
	say(&finding->threshold,
	    "more threads than processors, and %.0f %% of "
	    "the step",
	    100 * SHARE_MIN);
	if (is_bound)
		say(&finding->next,
		    "look what binds them (sched_setaffinity(), OMP_PLACES, "
		    "GOMP_CPU_AFFINITY, KMP_AFFINITY): there are %" PRId64
		    " processors; or set OMP_NUM_THREADS=%" PRId64 ".",
		    trace_metadata_processors(facts->metadata), cpus);
	else
		say_fewer(finding, nested, team, cpus);
	say_place(facts, finding, split->steps[0].start_ns, TIMELINE_NONE,
		  TIMELINE_NONE);
	return true;
}

int64_t idle_threads_of(const struct verdict_facts *facts, int64_t *threads,
			uint32_t *first)
{
	const struct timeline *timeline = facts->timeline;
	int64_t most_ns, idle = 0;

	*threads = members_of(timeline, &most_ns);
	*first = TIMELINE_NONE;
	for (uint32_t at = 0; at < timeline->lanes.table.count; at++) {
		const struct timeline_lane *lane = timeline_lane(timeline, at);

		if (lane->parts < IDLE_PARTS_MIN ||
		    (double)lane->work_ns >= IDLE_WORK_MAX * (double)most_ns)
			continue;
		idle++;
		if (*first == TIMELINE_NONE)
			*first = at;
	}
	return idle < *threads ? idle : 0;
}

bool rule_idle_threads(const struct verdict_facts *facts,
		       struct finding *finding)
{
	const struct split *split = &facts->split;
	int64_t threads;
	uint32_t first;
	const int64_t idle = idle_threads_of(facts, &threads, &first);

	if (!idle)
		return false;
	finding->saved_ns = (double)split->ns[SHARE_OMP_WORK] +
			    (double)split->ns[SHARE_OMP_WAIT] +
			    (double)split->ns[SHARE_OMP_UNEVEN];
	finding->saved_ns *= (double)idle / (double)threads;
	if (!is_worth(facts, finding->saved_ns, SHARE_MIN))
		return false;
	say(&finding->figure,
	    "%" PRId64 " of %" PRId64 " OpenMP threads have next to no work",
	    idle, threads);
	say(&finding->threshold, "%.0f %% of the busiest one's work",
	    100 * IDLE_WORK_MAX);
	say(&finding->next, "give loops at least as many pieces as threads "
			    "(collapse, smaller chunks), or use fewer "
			    "threads.");
	say_place(facts, finding, split->steps[0].start_ns, first,
		  TIMELINE_NONE);
	return true;
}

static double work_of(const struct region_total *region)
{
	return is_short(region) ? 0 : (double)region->work_ns / team_of(region);
}

/* How many processors nobody used, of those that the program may run on; 0
 * where it used more than its teams do, or they are small for a reason that is
 * seen: two threads of a core may be as slow as one. */
static int64_t free_processors(const struct verdict_facts *facts)
{
	const struct trace_metadata *metadata = facts->metadata;
	const int64_t cpus = trace_metadata_processors(metadata);
	const int64_t team = facts->timeline->team_max;
	const struct trace_sums own = trace_metadata_own(metadata);
	const double idle = trace_metadata_idle(&own);
	int64_t unused;

	if (cpus <= team || idle <= 0 ||
	    (double)own.program_ns >
		    ((double)team + FEW_THREADS_LOOSE) * (double)facts->wall_ns)
		return 0;
	unused = (int64_t)(idle * (double)cpus + FEW_THREADS_LOOSE / 2);
	return team > 1 && team + unused < FEW_THREADS_MIN * team ? 0 : unused;
}

bool rule_few_threads(const struct verdict_facts *facts,
		      struct finding *finding)
{
	const int64_t team = facts->timeline->team_max;
	const int64_t unused = free_processors(facts);
	const struct region_total *worst;

	if (unused <= 0)
		return false;
	worst = worst_region(facts, work_of, &finding->saved_ns);
	finding->saved_ns *= (double)unused / (double)(team + unused);
	if (!worst || !is_worth(facts, finding->saved_ns, SHARE_HIGH_MIN))
		return false;
	say(&finding->figure,
	    "teams have %" PRId64 " thread%s, while %" PRId64 " of %" PRId64
	    " processors had nothing to do; most in %s",
	    team, team == 1 ? "" : "s", unused,
	    trace_metadata_processors(facts->metadata),
	    short_name(worst->name).text);
	say(&finding->threshold,
	    "a team of one, or of a quarter of them, and %.0f %% of the step",
	    100 * SHARE_HIGH_MIN);
	say(&finding->next,
	    "set OMP_NUM_THREADS to %" PRId64 " or less, if the work is "
	    "enough for them; torchrun and batch systems set it to 1.",
	    team + unused);
	say_region(facts, finding, worst);
	return true;
}
