/* SPDX-License-Identifier: MIT */
/*
 * rules_idle.c - what a step, or a GPU, waits for.
 */
#include "tools/verdict/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"

#include "tools/util/numbers.h"

/* The worst place of a kind of time on the critical thread: the longest slice
 * of that kind. */
/* What a thread waits for decides what helps. */
enum wait_for { FOR_LOCK, FOR_THREAD, FOR_TIME, FOR_MESSAGE, FOR_COUNT };

static const char *const helps[] = {
	[FOR_LOCK] = "look at who holds what it waits for: a lock, a queue.",
	[FOR_THREAD] = "look at what the threads that it waits for do, and let "
		       "it do a part of that.",
	[FOR_TIME] = "see whether it has to sleep so long.",
	[FOR_MESSAGE] = "look at who is to send what it waits for.",
};

/* Those that begin from then on. */
static bool say_longest(const struct verdict_facts *facts,
			struct finding *finding, enum host_kind kind,
			int64_t from_ns)
{
	const struct timeline *timeline = facts->timeline;
	const struct timeline_lane *lane;
	const struct span *worst = NULL;
	int64_t worst_ns = -1;

	if (!timeline->lanes.table.count)
		return false;
	lane = timeline_lane(timeline, facts->split.lane);
	for (size_t at = 0; at < lane->count; at++) {
		const struct span *span = &lane->spans[at];

		const int64_t ns =
			timeline_dur_ns(timeline, facts->split.lane, span);

		if (timeline_name(timeline, span->name)->host != kind ||
		    span->start_ns < from_ns ||
		    !is_judged(facts, span->start_ns) || ns <= worst_ns)
			continue;
		worst = span;
		worst_ns = ns;
	}
	if (worst)
		say_place(facts, finding, worst->start_ns, TIMELINE_NONE,
			  worst->name);
	return worst;
}

const char *wait_call(const char *name)
{
	return strncmp(name, "wait: ", 6) ? name : name + 6;
}

/* How long the critical thread waits in each call of each place, in the steps
 * that are judged: by name, to be freed. */
static double *waits_by_name(const struct verdict_facts *facts,
			     enum host_kind kind)
{
	const struct timeline *timeline = facts->timeline;
	const uint32_t of = facts->split.lane;
	double *ns = memory_zeroed(timeline->names.count + 1, sizeof(*ns));

	if (of >= timeline->lanes.table.count)
		return ns;
	for (size_t at = 0; at < timeline_lane(timeline, of)->count; at++) {
		const struct span *span =
			&timeline_lane(timeline, of)->spans[at];

		if (timeline_name(timeline, span->name)->host == kind &&
		    is_judged(facts, span->start_ns))
			ns[span->name] +=
				(double)timeline_dur_ns(timeline, of, span);
	}
	return ns;
}

void say_waits(const struct verdict_facts *facts, enum host_kind kind,
	       char *text, size_t bytes)
{
	const struct timeline *timeline = facts->timeline;
	double *ns = waits_by_name(facts, kind);
	double all = 0;
	uint32_t most = 0;

	for (uint32_t at = 0; at < timeline->names.count; at++) {
		all += ns[at];
		if (ns[at] > ns[most])
			most = at;
	}
	text[0] = '\0';
	if (all > 0 && ns[most] > MOST_WAITS_MIN * all &&
	    timeline_name(timeline, most)->site)
		snprintf(text, bytes, ", most of it %s in %s",
			 wait_call(timeline_name_text(timeline, most)),
			 short_name(timeline_name(timeline, most)->site).text);
	free(ns);
}

uint32_t longest_wait(const struct verdict_facts *facts, double *most_ns)
{
	static const enum host_kind kinds[] = {HOST_OFF, HOST_DATA, HOST_COMM};
	const struct timeline *timeline = facts->timeline;
	uint32_t most = TIMELINE_NONE;

	*most_ns = 0;
	for (size_t kind = 0; kind < sizeof(kinds) / sizeof(*kinds); kind++) {
		double *ns = waits_by_name(facts, kinds[kind]);

		for (uint32_t at = 0; at < timeline->names.count; at++)
			if (ns[at] > *most_ns &&
			    !strncmp(timeline_name_text(timeline, at),
				     "wait: ", 6)) {
				most = at;
				*most_ns = ns[at];
			}
		free(ns);
	}
	return most;
}

static void say_gap(const struct verdict_facts *facts, struct finding *finding,
		    const struct split_gap *gap)
{
	say_place(facts, finding, gap->worst_at_ns, TIMELINE_NONE, gap->name);
}

bool is_launch_bound(const struct verdict_facts *facts)
{
	const struct split_gap *gaps = facts->split.gaps;
	const double launches = (double)gaps[GAP_LAUNCH].count;

	return launches >= LAUNCH_GAPS_MIN *
				   (launches + (double)gaps[GAP_HOST].count) &&
	       launches > 0;
}

/* Many gaps a step, none of them long: no piece of work is to blame, the host
 * takes too long from one kernel to the next. */
static bool is_slow_to_launch(const struct verdict_facts *facts)
{
	const struct split_gap *gap = &facts->split.gaps[GAP_HOST];
	const double count = (double)gap->count;

	return count >= GAPS_MANY * steps_of(facts) &&
	       (double)gap->ns < GAP_LONG_NS * count;
}

/* Where the host waits for the GPU once a step, what it does then is to blame
 * and not the waiting. */
bool rule_idle_host(const struct verdict_facts *facts, struct finding *finding)
{
	const struct split_gap *gaps = facts->split.gaps;
	const struct split_gap *gap = &gaps[GAP_HOST];

	finding->saved_ns = (double)gap->ns;
	if (syncs_of(facts) < SYNCS_MIN) {
		finding->saved_ns += (double)gaps[GAP_SYNC].ns;
		if (gaps[GAP_SYNC].ns > gap->ns)
			gap = &gaps[GAP_SYNC];
	}
	if (is_launch_bound(facts) ||
	    !is_worth(facts, finding->saved_ns, SHARE_HIGH_MIN))
		return false;
	if (is_slow_to_launch(facts)) {
		say(&finding->figure,
		    "the GPU idles %s a step, in %.0f gaps of %s on average: "
		    "so long the host takes from one kernel to the next",
		    quantity_time(finding->saved_ns / steps_of(facts)).text,
		    (double)gap->count / steps_of(facts),
		    quantity_time((double)gap->ns / (double)gap->count).text);
		say(&finding->next,
		    "give it more at a time: a larger batch, torch.compile "
		    "(mode=\"reduce-overhead\" launches CUDA graphs), fused "
		    "operators and optimizers.");
	} else {
		say(&finding->figure,
		    "the GPU idles %s a step while the host is busy with other "
		    "code",
		    quantity_time(finding->saved_ns / steps_of(facts)).text);
		say(&finding->next,
		    "do that work earlier, on another thread, or while the GPU "
		    "still has kernels queued.");
	}
	say(&finding->threshold, "%.0f %% of the step", 100 * SHARE_HIGH_MIN);
	say_gap(facts, finding, gap);
	return true;
}

bool rule_idle_openmp(const struct verdict_facts *facts,
		      struct finding *finding)
{
	const struct split_gap *gap = &facts->split.gaps[GAP_OMP];

	finding->saved_ns = (double)gap->ns;
	if (!is_worth(facts, finding->saved_ns, SHARE_HIGH_MIN))
		return false;
	say(&finding->figure,
	    "the GPU idles %s a step while the host is in OpenMP's regions "
	    "and barriers",
	    quantity_time((double)gap->ns / steps_of(facts)).text);
	say(&finding->threshold, "%.0f %% of the step", 100 * SHARE_HIGH_MIN);
	say(&finding->next, "launch the GPU's work before the region, or move "
			    "the region's work to the GPU.");
	say_gap(facts, finding, gap);
	return true;
}

static int64_t first_work_ns(const struct timeline *timeline)
{
	int64_t first = timeline->work_count ? INT64_MAX : INT64_MIN;

	for (size_t at = 0; at < timeline->work_count; at++)
		if (timeline->work[at].start_ns < first)
			first = timeline->work[at].start_ns;
	return first;
}

/* What a program gets before it gives the GPU any work, it gets once; the first
 * call of all makes the GPU ready. */
bool rule_idle_alloc(const struct verdict_facts *facts, struct finding *finding)
{
	const struct timeline *timeline = facts->timeline;
	const struct split *split = &facts->split;
	const int64_t from_ns = first_work_ns(timeline);
	const struct timeline_lane *lane =
		timeline->lanes.table.count
			? timeline_lane(timeline, split->lane)
			: NULL;

	finding->saved_ns = (double)split->ns[SHARE_ALLOC];
	for (size_t at = 0; lane && at < lane->count; at++) {
		const struct span *span = &lane->spans[at];

		if (span->start_ns < from_ns &&
		    is_judged(facts, span->start_ns) &&
		    timeline_name(timeline, span->name)->host == HOST_ALLOC)
			finding->saved_ns -= (double)timeline_dur_ns(
				timeline, split->lane, span);
	}
	if (!is_worth(facts, finding->saved_ns, SHARE_MIN) ||
	    !say_longest(facts, finding, HOST_ALLOC, from_ns))
		return false;
	say(&finding->figure,
	    "%s a step in calls that get and free a GPU's memory",
	    quantity_time(finding->saved_ns / steps_of(facts)).text);
	say(&finding->threshold, "%.0f %% of the step", 100 * SHARE_MIN);
	say(&finding->next, "keep buffers from step to step, or take them from "
			    "a pool (cudaMallocAsync, a caching allocator).");
	return true;
}

static bool is_cuda_call(const struct timeline *timeline, uint32_t name)
{
	return !strncmp(timeline_category(timeline, name), "cuda_", 5);
}

/* The longest call before the GPU's first work, where the whole of a run is
 * judged: it makes the GPU ready, in a tenth of a second and more. */
bool rule_gpu_start(const struct verdict_facts *facts, struct finding *finding)
{
	const struct timeline *timeline = facts->timeline;
	const int64_t until_ns = first_work_ns(timeline);
	const struct span *longest = NULL;

	if (facts->split.has_steps || timeline_is_part(timeline))
		return false;
	for (uint32_t of = 0; of < timeline->lanes.table.count; of++) {
		const struct timeline_lane *lane = timeline_lane(timeline, of);

		for (size_t at = 0; at < lane->count; at++) {
			const struct span *span = &lane->spans[at];
			const double ns =
				(double)timeline_dur_ns(timeline, of, span);

			if (span->start_ns >= until_ns ||
			    ns <= finding->saved_ns ||
			    !is_cuda_call(timeline, span->name))
				continue;
			finding->saved_ns = ns;
			longest = span;
		}
	}
	if (!longest || !is_worth(facts, finding->saved_ns, SHARE_HIGH_MIN))
		return false;
	say(&finding->figure,
	    "the GPU is made ready in %s, in %s, once in a run",
	    quantity_time(finding->saved_ns).text,
	    timeline_name_text(timeline, longest->name));
	say(&finding->threshold, "%.0f %% of the time", 100 * SHARE_HIGH_MIN);
	say(&finding->next,
	    "nothing in the program: judge a longer run, or its "
	    "steps alone (TRACEPROF_STEP).");
	say_place(facts, finding, longest->start_ns, TIMELINE_NONE,
		  longest->name);
	return true;
}

static bool has_name(const struct timeline *timeline, const char *part)
{
	for (uint32_t at = 0; at < timeline->names.count; at++)
		if (strstr(timeline_name_text(timeline, at), part))
			return true;
	return false;
}

/* Is most of the time for data spent on writing them, and on waiting till they
 * are on the disk? */
static bool is_writing(const struct verdict_facts *facts)
{
	const struct timeline *timeline = facts->timeline;
	double writing = 0;

	for (uint32_t at = 0; at < timeline->names.count; at++) {
		const struct timeline_name *row = timeline_name(timeline, at);
		const char *name = timeline_name_text(timeline, at);

		if (row->host == HOST_DATA &&
		    (strstr(name, "wait: fsync") ||
		     strstr(name, "wait: fdatasync") || strstr(name, "write")))
			writing += (double)row->self_ns;
	}
	return writing > 0.5 * (double)facts->split.ns[SHARE_DATA];
}

static void say_writing(const struct verdict_facts *facts,
			struct finding *finding)
{
	char where[WAITS_BYTES];

	say_waits(facts, HOST_DATA, where, sizeof(where));
	say(&finding->figure,
	    "%s a step is spent waiting until data are written%s",
	    quantity_time(finding->saved_ns / steps_of(facts)).text, where);
	say(&finding->next,
	    "sync once for many records, write larger pieces, or let another "
	    "thread do it.");
}

/* What its workers do isn't in the trace of the process that waits. */
static void say_loader(const struct verdict_facts *facts,
		       struct finding *finding, bool by_workers)
{
	const struct timeline *timeline = facts->timeline;

	if (by_workers) {
		say(&finding->next,
		    "%s name the line; load ahead: more workers (num_workers, "
		    "prefetch_factor), cheaper decoding, or a faster disk.",
		    facts->metadata->has_children && facts->metadata->sample > 0
			    ? "the workers' traces"
			    : "TRACEPROF_CHILDREN=all TRACEPROF_SAMPLE=499 "
			      "writes traces of the workers, which");
		return;
	}
	say(&finding->next,
	    "%sload ahead: %s cheaper decoding, or a faster disk.",
	    function_of_data(facts) == TIMELINE_NONE &&
			    has_name(timeline, "(DataLoader)")
		    ? "TRACEPROF_PYTHON=1 names the function; "
		    : "",
	    has_name(timeline, "_SingleProcessDataLoaderIter")
		    ? "the data loader has no workers (num_workers=0);"
		    : "more workers (num_workers, prefetch_factor),");
}

bool rule_data_starved(const struct verdict_facts *facts,
		       struct finding *finding)
{
	const struct timeline *timeline = facts->timeline;
	const struct split *split = &facts->split;
	const bool by_workers =
		has_name(timeline, "_MultiProcessingDataLoaderIter") &&
		!has_name(timeline, "_SingleProcessDataLoaderIter");
	char where[WAITS_BYTES] = "";
	uint32_t function;

	finding->saved_ns = (double)split->ns[SHARE_DATA];
	if (!is_worth(facts, finding->saved_ns, SHARE_MIN) ||
	    !say_longest(facts, finding, HOST_DATA, INT64_MIN))
		return false;
	say(&finding->threshold, "%.0f %% of the step", 100 * SHARE_MIN);
	if (is_writing(facts)) {
		say_writing(facts, finding);
		return true;
	}
	function = by_workers ? TIMELINE_NONE : function_of_data(facts);
	if (function == TIMELINE_NONE)
		say_waits(facts, HOST_DATA, where, sizeof(where));
	say(&finding->figure, "%s a step is spent waiting for data%s%s%s",
	    quantity_time(finding->saved_ns / steps_of(facts)).text,
	    function == TIMELINE_NONE ? "" : ", most of all for ",
	    function == TIMELINE_NONE
		    ? ""
		    : short_name(timeline_name_text(facts->timeline, function))
			      .text,
	    where);
	if (!has_name(timeline, "DataLoader")) {
		say(&finding->next, "read larger pieces at once, or ahead on "
				    "another thread; or from a faster disk.");
		return true;
	}
	say_loader(facts, finding, by_workers);
	return true;
}

/* Is most of it calls of the C library that wait for a message, which may be
 * anybody's? */
static bool is_message(const struct verdict_facts *facts)
{
	const struct timeline *timeline = facts->timeline;
	const struct timeline_lane *lane =
		timeline_lane(timeline, facts->split.lane);
	double messages = 0, all = 0;

	for (size_t at = 0; at < lane->count; at++) {
		const struct span *span = &lane->spans[at];
		const double ns = (double)timeline_dur_ns(
			timeline, facts->split.lane, span);

		if (timeline_name(timeline, span->name)->host != HOST_COMM ||
		    !is_judged(facts, span->start_ns))
			continue;
		all += ns;
		if (!strncmp(timeline_name_text(timeline, span->name),
			     "wait: ", 6))
			messages += ns;
	}
	return messages > all / 2;
}

/* Gradients are sent by who trains. */
static const char *help_of_comm(const struct verdict_facts *facts)
{
	if (is_message(facts))
		return helps[FOR_MESSAGE];
	return has_name(facts->timeline, "MPI_") &&
			       !has_name(facts->timeline, "::")
		       ? "begin it earlier and wait for it later "
			 "(MPI_Isend, MPI_Iallreduce), or send less."
		       : "overlap it with the backward pass (smaller buckets, "
			 "bucket_cap_mb), accumulate gradients, or send bf16.";
}

bool rule_exposed_comm(const struct verdict_facts *facts,
		       struct finding *finding)
{
	const struct timeline *timeline = facts->timeline;
	const struct split *split = &facts->split;
	char where[WAITS_BYTES];

	finding->saved_ns = (double)split->ns[SHARE_COMM];
	if (!is_worth(facts, finding->saved_ns, SHARE_MIN))
		return false;
	say_waits(facts, HOST_COMM, where, sizeof(where));
	say(&finding->figure,
	    "%s a step of communication with no computation beside it%s",
	    quantity_time(finding->saved_ns / steps_of(facts)).text, where);
	say(&finding->threshold, "%.0f %% of the step", 100 * SHARE_MIN);
	say(&finding->next, "%s", help_of_comm(facts));
	for (size_t at = 0; at < timeline->work_count; at++)
		if (timeline_row(timeline, &timeline->work[at])->kind ==
			    GPU_COMM &&
		    is_judged(facts, timeline->work[at].start_ns)) {
			const uint32_t name =
				timeline_row(timeline, &timeline->work[at])
					->name;
			const struct timeline_name *row =
				timeline_name(timeline, name);

			say_place(facts, finding, row->longest_at_ns,
				  row->longest_lane, name);
			return true;
		}
	return say_longest(facts, finding, HOST_COMM, INT64_MIN);
}

static enum wait_for wait_for(const char *name)
{
	if (strstr(name, "_join"))
		return FOR_THREAD;
	if (strstr(name, "sleep"))
		return FOR_TIME;
	return strstr(name, "poll") || strstr(name, "select") ||
			       strstr(name, "accept")
		       ? FOR_MESSAGE
		       : FOR_LOCK;
}

/* The waits of the thread that steps. */
struct known_waits {
	double ns[FOR_COUNT], all_ns;
	double others_ns; /* for other processes: these do the work, a
			     compiler's for its driver, or XLA's threads for
			     its call; and for the GIL, of which another rule
			     tells */
	const struct span *worst;
	double worst_ns;
};

static struct known_waits known_waits(const struct verdict_facts *facts)
{
	const struct timeline *timeline = facts->timeline;
	const struct timeline_lane *lane =
		timeline_lane(timeline, facts->split.lane);
	struct known_waits known = {.worst = NULL};

	for (size_t at = 0; at < lane->count; at++) {
		const struct span *span = &lane->spans[at];
		const char *name = timeline_name_text(timeline, span->name);
		const double ns = (double)timeline_dur_ns(
			timeline, facts->split.lane, span);

		if (timeline_name(timeline, span->name)->host != HOST_OFF ||
		    !is_judged(facts, span->start_ns))
			continue;
		if (!strcmp(name, "wait: waitpid") ||
		    !strcmp(name, "wait: system") || strstr(name, "(pipe") ||
		    !strcmp(name, "wait: GIL") ||
		    strncmp(name, "wait: ", 6) != 0) {
			known.others_ns += ns;
			continue;
		}
		known.all_ns += ns;
		known.ns[wait_for(name)] += ns;
		if (ns <= known.worst_ns)
			continue;
		known.worst = span;
		known.worst_ns = ns;
	}
	return known;
}

static const char *help_of(const struct known_waits *known)
{
	enum wait_for most = FOR_LOCK;

	for (enum wait_for at = FOR_LOCK; at < FOR_COUNT; at++)
		if (known->ns[at] > known->ns[most])
			most = at;
	return helps[most];
}

/* Without steps samples tell whether somebody worked meanwhile. */
static bool has_few_samples(const struct verdict_facts *facts)
{
	const double samples = (double)facts->metadata->sample *
			       (double)facts->split.total_ns / 1e9;

	return !facts->split.has_steps && facts->metadata->sample > 0 &&
	       samples < SAMPLES_MIN;
}

/* For how much of the time the program's threads had to wait for a processor:
 * the first one as the kernel tells, or others, where other programs left none
 * free. */
static double without_processor(const struct verdict_facts *facts)
{
	const struct trace_metadata *metadata = facts->metadata;
	const struct trace_sums all = {.processors_ns = metadata->processors_ns,
				       .others_ns = metadata->others_ns,
				       .program_ns = metadata->program_ns};
	const double others = trace_metadata_idle(&all) < FREE_MIN
				      ? trace_metadata_others(metadata)
				      : 0;
	const double workers = unscheduled_workers(facts);
	const double first = unscheduled(facts);
	const double own = workers > first ? workers : first;

	return others > own ? others : own;
}

/* A run without steps may wait for what processes do that it started, and for a
 * processor: by so much of the time. */
static double elsewhere(const struct verdict_facts *facts, double share)
{
	const struct split *split = &facts->split;
	const double children =
		(double)facts->metadata->program_ns - (double)split->sampled_ns;

	if (split->has_steps || facts->metadata->sample <= 0)
		return 0;
	return share * (double)split->total_ns + (children > 0 ? children : 0);
}

/* How long a sleep takes is the program's own choice, whoever else has the
 * processors; but who sleeps wakes up late where none is free. */
static double slept(const struct verdict_facts *facts,
		    const struct known_waits *known)
{
	return known->ns[FOR_TIME] - facts->split.beside_ns -
	       elsewhere(facts, unscheduled(facts));
}

/* Where other threads have all processors meanwhile nothing is to be gained.
 */
bool rule_off_cpu(const struct verdict_facts *facts, struct finding *finding)
{
	const struct split *split = &facts->split;
	char where[WAITS_BYTES];
	struct known_waits known;
	double off_ns;

	if (!facts->timeline->lanes.table.count || has_few_samples(facts))
		return false;
	/* What samples alone tell of may be anything. */
	known = known_waits(facts);
	off_ns = (double)split->ns[SHARE_OFF] + (double)split->ns[SHARE_OTHERS];
	finding->saved_ns = off_ns - split->beside_ns - known.others_ns -
			    elsewhere(facts, without_processor(facts));
	if (known.all_ns < finding->saved_ns)
		finding->saved_ns = known.all_ns;
	if (slept(facts, &known) > finding->saved_ns)
		finding->saved_ns = slept(facts, &known);
	if (!is_worth(facts, finding->saved_ns, SHARE_HIGH_MIN) || !known.worst)
		return false;
	say_place(facts, finding, known.worst->start_ns, TIMELINE_NONE,
		  known.worst->name);
	say_waits(facts, HOST_OFF, where, sizeof(where));
	say(&finding->figure,
	    "for %s a step its thread sleeps or waits for another one%s",
	    quantity_time(off_ns / steps_of(facts)).text, where);
	say(&finding->threshold, "%.0f %% of the step", 100 * SHARE_HIGH_MIN);
	say(&finding->next, "%s", help_of(&known));
	return true;
}
