/* SPDX-License-Identifier: MIT */
/*
 * rules_copy.c - what the host does to a GPU: copies, waits, launches.
 */
#include "tools/verdict/rules.h"

#include <string.h>

#include "tools/util/numbers.h"

/* Copies of one kind: how many, and how long the host was in their calls. */
struct copies {
	int64_t count, ns, bytes;
	int64_t worst_ns, worst_at_ns;
	uint32_t lane, name;
};

static bool is_blocking(const struct verdict_facts *facts,
			const struct launch *launch,
			const struct gpu_work *work)
{
	const char *call = timeline_name_text(facts->timeline, launch->name);

	return !strstr(call, "Async") ||
	       strstr(timeline_name_text(facts->timeline, work->name),
		      "Pageable");
}

static void add(struct copies *copies, const struct launch *launch,
		const struct gpu_work *work, uint32_t lane)
{
	copies->count++;
	saturate_into(&copies->ns, launch->dur);
	saturate_into(&copies->bytes, work->bytes);
	if (launch->dur < copies->worst_ns)
		return;
	copies->worst_ns = launch->dur;
	copies->worst_at_ns = launch->start_ns;
	copies->lane = lane;
	copies->name = work->name;
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

		if (work->kind != GPU_COPY)
			continue;
		launch = timeline_launch_of(timeline, work->correlation, &lane);
		if (!launch || !is_judged(facts, launch->start_ns))
			continue;
		if (work->bytes > SMALL_COPY_BYTES) {
			if (is_blocking(facts, launch, work))
				add(blocking, launch, work, lane);
		} else if (strstr(timeline_name_text(timeline, work->name),
				  "DtoH") &&
			   is_blocking(facts, launch, work)) {
			add(results, launch, work, lane);
		} else {
			add(small, launch, work, lane);
		}
	}
}

bool rule_blocking_copies(const struct verdict_facts *facts,
			  struct finding *finding)
{
	const struct split *split = &facts->split;
	struct copies blocking, small, results;
	double in_copies;

	count_copies(facts, &blocking, &small, &results);
	in_copies = (double)split->ns[SHARE_COPY];
	if ((double)blocking.ns < in_copies)
		in_copies = (double)blocking.ns;
	finding->saved_ns = in_copies;
	if (blocking.count > results.count)
		finding->saved_ns += (double)split->gaps[GAP_COPY].ns;
	if (!blocking.count || !is_worth(facts, finding->saved_ns, SHARE_MIN))
		return false;
	say(&finding->figure,
	    "the host waits in %.1f copies a step, %s each of %s",
	    (double)blocking.count / steps_of(facts),
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

/* Calls of typical steps that wait, and the name with most of them. */
static double count_syncs(const struct verdict_facts *facts, uint32_t *name)
{
	const struct timeline *timeline = facts->timeline;
	const struct timeline_lane *lane;
	int64_t most = 0;
	double calls = 0;

	*name = TIMELINE_NONE;
	if (!timeline->lanes.table.count)
		return 0;
	lane = timeline_lane(timeline, facts->split.lane);
	for (size_t at = 0; at < lane->count; at++) {
		const struct timeline_name *row =
			timeline_name(timeline, lane->spans[at].name);

		if (row->host != HOST_SYNC ||
		    !is_judged(facts, lane->spans[at].start_ns))
			continue;
		calls++;
		if (row->calls > most) {
			most = row->calls;
			*name = lane->spans[at].name;
		}
	}
	return calls;
}

double syncs_of(const struct verdict_facts *facts)
{
	struct copies blocking, small, results;
	uint32_t name;

	count_copies(facts, &blocking, &small, &results);
	return (count_syncs(facts, &name) + (double)results.count) /
	       steps_of(facts);
}

bool rule_needless_sync(const struct verdict_facts *facts,
			struct finding *finding)
{
	const struct split *split = &facts->split;
	struct copies blocking, small, results;
	const struct split_gap *gap = &split->gaps[GAP_SYNC];
	uint32_t name;
	double calls = count_syncs(facts, &name);

	count_copies(facts, &blocking, &small, &results);
	calls += (double)results.count;
	finding->saved_ns = (double)gap->ns;
	if (results.count >= blocking.count) {
		finding->saved_ns += (double)split->gaps[GAP_COPY].ns;
		if (split->gaps[GAP_COPY].ns > gap->ns) {
			gap = &split->gaps[GAP_COPY];
			name = results.name;
		}
	}
	if (calls < SYNCS_MIN * steps_of(facts) ||
	    !is_worth(facts, finding->saved_ns, SHARE_MIN))
		return false;
	say(&finding->figure,
	    "%.1f waits for the GPU a step, after each of which it has "
	    "nothing to do",
	    calls / steps_of(facts));
	say(&finding->threshold, "%.1f a step, and %.0f %% of it", SYNCS_MIN,
	    100 * SHARE_MIN);
	say(&finding->next,
	    "read results back (.item(), .cpu(), print) once in many steps, "
	    "and synchronise by events alone.");
	say_place(facts, finding, gap->worst_at_ns, TIMELINE_NONE, name);
	return true;
}
