/* SPDX-License-Identifier: MIT */
/*
 * rules_copy.c - what the host does to a GPU: copies, waits, launches.
 */
#include "tools/verdict/rules.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"
#include "tools/util/numbers.h"
#include "tools/verdict/sync_sites.h"

/* Copies of one kind: how many, and how long the host was in their calls. */
struct copies {
	int64_t count, ns, bytes;
	int64_t worst_ns, worst_at_ns;
	uint32_t lane, name;
};

static const char *name_of(const struct timeline *timeline,
			   const struct gpu_work *work)
{
	return timeline_name_text(timeline, timeline_row(timeline, work)->name);
}

static bool is_copy(const struct timeline *timeline,
		    const struct gpu_work *work)
{
	return timeline_row(timeline, work)->kind == GPU_COPY;
}

static bool is_blocking(const struct verdict_facts *facts,
			const struct launch *launch,
			const struct gpu_work *work)
{
	const char *call = timeline_name_text(facts->timeline, launch->name);

	return !strstr(call, "Async") ||
	       strstr(name_of(facts->timeline, work), "Pageable");
}

static void add(struct copies *copies, const struct verdict_facts *facts,
		const struct launch *launch, const struct gpu_work *work,
		uint32_t lane)
{
	const int64_t ns = timeline_launch_ns(facts->timeline, lane, launch);

	copies->count++;
	saturate_into(&copies->ns, ns);
	saturate_into(&copies->bytes, work->bytes);
	if (ns < copies->worst_ns)
		return;
	copies->worst_ns = ns;
	copies->worst_at_ns = launch->start_ns;
	copies->lane = lane;
	copies->name = timeline_row(facts->timeline, work)->name;
}

/* The copies of all steps: those that block, and small ones, each sort apart;
 * small ones that come back block for their result. */
static void count_copies(const struct verdict_facts *facts,
			 struct copies *blocking, struct copies *small,
			 struct copies *results)
{
	const struct timeline *timeline = facts->timeline;
	uint32_t lane;

	memset(blocking, 0, sizeof(*blocking));
	memset(small, 0, sizeof(*small));
	memset(results, 0, sizeof(*results));
	for (size_t at = 0; at < timeline->work_count; at++) {
		const struct gpu_work *work = &timeline->work[at];
		const struct launch *launch;

		if (!is_copy(timeline, work))
			continue;
		launch = timeline_launch_of(timeline, work->correlation, &lane);
		if (!launch || !is_judged(facts, launch->start_ns))
			continue;
		if (work->bytes > SMALL_COPY_BYTES) {
			if (is_blocking(facts, launch, work))
				add(blocking, facts, launch, work, lane);
		} else if (strstr(name_of(timeline, work), "DtoH") &&
			   is_blocking(facts, launch, work)) {
			add(results, facts, launch, work, lane);
		} else {
			add(small, facts, launch, work, lane);
		}
	}
}

bool rule_blocking_copies(const struct verdict_facts *facts,
			  struct finding *finding)
{
	const struct split *split = &facts->split;
	const struct split_gap *after = &split->gaps[GAP_COPY];
	struct copies blocking, small, results;
	double in_copies;

	count_copies(facts, &blocking, &small, &results);
	in_copies = (double)split->ns[SHARE_COPY];
	if ((double)blocking.ns < in_copies)
		in_copies = (double)blocking.ns;
	finding->saved_ns = in_copies;
	if (blocking.count > results.count)
		finding->saved_ns += (double)(after->ns - after->copies_ns);
	if (!blocking.count || !is_worth(facts, finding->saved_ns, SHARE_MIN))
		return false;
	say(&finding->figure,
	    "the host waits in %.*f copies a step, %s each of %s",
	    split->has_steps ? 1 : 0, (double)blocking.count / steps_of(facts),
	    quantity_time((double)blocking.ns / (double)blocking.count).text,
	    quantity_bytes((double)blocking.bytes / (double)blocking.count)
		    .text);
	say(&finding->threshold, "%.0f %% of the step", 100 * SHARE_MIN);
	say(&finding->next,
	    "pin the memory (pin_memory=True, cudaHostAlloc) and copy "
	    "asynchronously (non_blocking=True, cudaMemcpyAsync on a stream of "
	    "its own).");
	say_place(facts, finding, blocking.worst_at_ns, blocking.lane,
		  blocking.name);
	return true;
}

bool rule_small_copies(const struct verdict_facts *facts,
		       struct finding *finding)
{
	struct copies blocking, small, results;
	double each;

	count_copies(facts, &blocking, &small, &results);
	each = (double)small.count / steps_of(facts);
	if (each < COPIES_MIN)
		return false;
	finding->saved_ns = (double)small.ns * (1 - 1 / each);
	if (!is_worth(facts, finding->saved_ns, SHARE_MIN))
		return false;
	say(&finding->figure, "%.0f copies of %s on average a step", each,
	    quantity_bytes((double)small.bytes / (double)small.count).text);
	say(&finding->threshold, "%d copies up to %s, and %.0f %% of the step",
	    COPIES_MIN, quantity_bytes(SMALL_COPY_BYTES).text, 100 * SHARE_MIN);
	say(&finding->next, "gather them into one buffer and copy that once.");
	say_place(facts, finding, small.worst_at_ns, small.lane, small.name);
	return true;
}

/* Calls of typical steps that wait. */
static double count_syncs(const struct verdict_facts *facts)
{
	const struct timeline *timeline = facts->timeline;
	const struct timeline_lane *lane;
	double calls = 0;

	if (!timeline->lanes.table.count)
		return 0;
	lane = timeline_lane(timeline, facts->split.lane);
	for (size_t at = 0; at < lane->count; at++)
		calls += timeline_name(timeline, lane->spans[at].name)->host ==
				 HOST_SYNC &&
			 is_judged(facts, lane->spans[at].start_ns);
	return calls;
}

double syncs_of(const struct verdict_facts *facts)
{
	struct copies blocking, small, results;

	count_copies(facts, &blocking, &small, &results);
	return (count_syncs(facts) + (double)results.count) / steps_of(facts);
}

/* When the host began to read small results; to be freed. */
static int64_t *result_times(const struct verdict_facts *facts, size_t *count)
{
	const struct timeline *timeline = facts->timeline;
	int64_t *times = NULL;
	size_t capacity = 0;
	uint32_t lane;

	*count = 0;
	for (size_t at = 0; at < timeline->work_count; at++) {
		const struct gpu_work *work = &timeline->work[at];
		const struct launch *launch;

		if (!is_copy(timeline, work) ||
		    work->bytes > SMALL_COPY_BYTES ||
		    !strstr(name_of(timeline, work), "DtoH"))
			continue;
		launch = timeline_launch_of(timeline, work->correlation, &lane);
		if (!launch || lane != facts->split.lane ||
		    !is_blocking(facts, launch, work))
			continue;
		times = memory_grow(times, *count, &capacity, sizeof(*times));
		times[(*count)++] = launch->start_ns;
	}
	return times;
}

/* "; most of all (9 of 10) cudaStreamSynchronize at f.c(3): f, in aten::item, in
 * train.py(7): step", and its longest wait as the place. */
static void say_site(const struct verdict_facts *facts, struct finding *finding,
		     char *text, size_t bytes)
{
	const struct timeline *timeline = facts->timeline;
	const struct timeline_name *call;
	struct sync_site most;
	size_t copies, len;
	int64_t *times = result_times(facts, &copies);

	text[0] = '\0';
	if (sync_sites_most(facts, times, copies, &most)) {
		call = timeline_name(timeline, most.call);
		len = (size_t)snprintf(
			text, bytes, "; %" PRId64 " of %" PRId64 " in %s%s%s",
			most.calls, most.all_calls,
			short_name(timeline_name_text(timeline, most.call))
				.text,
			call->site ? " at " : "", call->site ? call->site : "");
		for (int at = 0; at < 2 && len < bytes; at++) {
			const uint32_t name = at ? most.line : most.op;

			if (name == TIMELINE_NONE)
				continue;
			len += (size_t)snprintf(
				text + len, bytes - len, ", in %s",
				short_name(timeline_name_text(timeline, name))
					.text);
		}
		if (most.line == TIMELINE_NONE && most.asked > 0 && len < bytes)
			snprintf(text + len, bytes - len, ", most from %s",
				 short_name(called_lines_text(&timeline->called,
							      most.from))
					 .text);
		say_place(facts, finding, most.longest_at_ns, TIMELINE_NONE,
			  most.call);
	}
	free(times);
}

bool rule_needless_sync(const struct verdict_facts *facts,
			struct finding *finding)
{
	const struct split *split = &facts->split;
	struct copies blocking, small, results;
	const struct split_gap *gap = &split->gaps[GAP_SYNC];
	char site[400];
	double calls = count_syncs(facts);

	count_copies(facts, &blocking, &small, &results);
	calls += (double)results.count;
	finding->saved_ns = (double)gap->ns;
	if (results.count >= blocking.count)
		finding->saved_ns += (double)split->gaps[GAP_COPY].ns;
	if (calls < SYNCS_MIN * steps_of(facts) ||
	    !is_worth(facts, finding->saved_ns, SHARE_MIN))
		return false;
	say_site(facts, finding, site, sizeof(site));
	say(&finding->figure,
	    "%.*f waits for the GPU a step, after each of which it has "
	    "nothing to do%s",
	    split->has_steps ? 1 : 0, calls / steps_of(facts), site);
	say(&finding->threshold, "%.1f a step, and %.0f %% of it", SYNCS_MIN,
	    100 * SHARE_MIN);
	say(&finding->next,
	    "read results back (.item(), .cpu(), print) once in many steps, "
	    "and synchronise by events alone.");
	return true;
}
