/* SPDX-License-Identifier: MIT */
/*
 * rules_gpu.c - what a GPU is busy with.
 */
#include "tools/verdict/rules.h"

#include <stdlib.h>

#include "tools/util/memory.h"
#include "tools/util/numbers.h"

/* Kernels that run in the judged steps. */
struct kernels {
	double count, ns;
	double launched; /* of them, not before the file begins */
	double worst_ns;
	int64_t worst_at_ns;
	uint32_t worst;
};

/* In a step that isn't in the file, though it runs in one that is. */
static bool is_launched_before(const struct verdict_facts *facts,
			       const struct gpu_work *work)
{
	return facts->split.is_part &&
	       timeline_is_earlier(facts->timeline, work);
}

static void add(const struct verdict_facts *facts, struct kernels *kernels,
		const struct gpu_work *work)
{
	const double ns = (double)timeline_work_ns(facts->timeline, work);

	kernels->count++;
	kernels->ns += ns;
	kernels->launched += !is_launched_before(facts, work);
	if (ns < kernels->worst_ns)
		return;
	kernels->worst_ns = ns;
	kernels->worst_at_ns = work->start_ns;
	kernels->worst = timeline_row(facts->timeline, work)->name;
}

static struct kernels count_kernels(const struct verdict_facts *facts,
				    bool (*takes)(const char *name))
{
	const struct timeline *timeline = facts->timeline;
	struct kernels kernels = {.worst = TIMELINE_NONE};
	/* Of each name: 0 not asked yet, else 1 and what was answered. */
	unsigned char *taken = memory_zeroed(timeline->names.count + 1, 1);

	for (size_t at = 0; at < timeline->work_count; at++) {
		const struct gpu_work *work = &timeline->work[at];

		const struct gpu_row *row = timeline_row(timeline, work);

		if (row->kind != GPU_KERNEL)
			continue;
		if (!taken[row->name])
			taken[row->name] =
				1 + (!takes || takes(timeline_name_text(
						       timeline, row->name)));
		if (taken[row->name] > 1 && is_judged(facts, work->start_ns))
			add(facts, &kernels, work);
	}
	free(taken);
	return kernels;
}

/* A piece of work is on a stream, not on a thread. */
static void say_work(const struct verdict_facts *facts, struct finding *finding,
		     const struct kernels *kernels)
{
	uint32_t lane = TIMELINE_NONE;

	if (kernels->worst != TIMELINE_NONE)
		lane = timeline_name(facts->timeline, kernels->worst)
			       ->longest_lane;
	say_place(facts, finding, kernels->worst_at_ns, lane, kernels->worst);
}

bool rule_small_kernels(const struct verdict_facts *facts,
			struct finding *finding)
{
	const struct split_gap *gaps = facts->split.gaps;
	const struct kernels kernels = count_kernels(facts, NULL);

	finding->saved_ns =
		(double)gaps[GAP_LAUNCH].ns + (double)gaps[GAP_HOST].ns;
	if (!is_launch_bound(facts) ||
	    kernels.launched < KERNELS_MIN * steps_of(facts) ||
	    kernels.ns > SHORT_KERNEL_NS * kernels.count ||
	    !is_worth(facts, finding->saved_ns, SHARE_MIN))
		return false;
	say(&finding->figure,
	    "%.0f kernels a step of %s on average: the GPU waits for launches",
	    kernels.launched / steps_of(facts),
	    quantity_time(kernels.ns / kernels.count).text);
	say(&finding->threshold, "%d a step, %s, and %.0f %% of the step idle",
	    KERNELS_MIN, quantity_time(SHORT_KERNEL_NS).text, 100 * SHARE_MIN);
	say(&finding->next,
	    "launch them as one CUDA graph (torch.compile with "
	    "mode=\"reduce-overhead\"), fuse them, or make the batch larger.");
	say_work(facts, finding, &kernels);
	return true;
}

/* What the kernels of a name leave of the multiprocessors, from 0 to 1. */
static double lack_of(const struct timeline_name *row)
{
	if (row->sum_ns < SHORT_KERNEL_NS * row->calls || row->sum_ns <= 0)
		return 0;
	return row->idle_ns / (double)row->sum_ns;
}

bool rule_low_occupancy(const struct verdict_facts *facts,
			struct finding *finding)
{
	const struct timeline *timeline = facts->timeline;
	const struct gpu_work *worst = NULL;
	double most = 0;
	uint32_t name;

	for (size_t at = 0; at < timeline->work_count; at++) {
		const struct gpu_work *work = &timeline->work[at];
		const struct gpu_row *row = timeline_row(timeline, work);
		double idle;

		if (row->kind != GPU_KERNEL ||
		    !is_judged(facts, work->start_ns))
			continue;
		idle = (double)timeline_work_ns(timeline, work) *
		       lack_of(timeline_name(timeline, row->name));
		finding->saved_ns += idle;
		if (idle > most) {
			most = idle;
			worst = work;
		}
	}
	if (finding->saved_ns > (double)facts->split.ns[SHARE_GPU])
		finding->saved_ns = (double)facts->split.ns[SHARE_GPU];
	if (!worst || !is_worth(facts, finding->saved_ns, SHARE_HIGH_MIN))
		return false;
	say(&finding->figure,
	    "kernels have fewer blocks than the GPU has multiprocessors; the "
	    "worst one fills %.0f %% of them",
	    100 - 100 * most / (double)timeline_work_ns(timeline, worst));
	say(&finding->threshold, "%.0f %% of the step, kernels of %s and more",
	    100 * SHARE_HIGH_MIN, quantity_time(SHORT_KERNEL_NS).text);
	say(&finding->next, "make the batch larger, launch more blocks, or run "
			    "such kernels side by side on several streams.");
	name = timeline_row(timeline, worst)->name;
	say_place(facts, finding, worst->start_ns,
		  timeline_name(timeline, name)->longest_lane, name);
	return true;
}

/* By name, to be freed. */
static bool *are_memory_bound(const struct timeline *timeline)
{
	bool *are = memory_zeroed(timeline->names.count + 1, sizeof(*are));

	for (uint32_t at = 0; at < timeline->names.count; at++)
		are[at] = timeline_name(timeline, at)->is_gpu &&
			  timeline_is_memory_bound(
				  timeline_name_text(timeline, at));
	return are;
}

/* A row of n such kernels reads and writes n times what one would. */
bool rule_memory_bound(const struct verdict_facts *facts,
		       struct finding *finding)
{
	const struct timeline *timeline = facts->timeline;
	struct kernels kernels = {.worst = TIMELINE_NONE};
	double row_ns = 0, row_count = 0;
	bool *is_bound = are_memory_bound(timeline);

	for (size_t at = 0; at < timeline->work_count; at++) {
		const struct gpu_work *work = &timeline->work[at];

		const struct gpu_row *row = timeline_row(timeline, work);

		if (row->kind != GPU_KERNEL ||
		    !is_judged(facts, work->start_ns))
			continue;
		if (is_bound[row->name]) {
			add(facts, &kernels, work);
			row_ns += (double)timeline_work_ns(timeline, work);
			row_count++;
			continue;
		}
		if (row_count > 1)
			finding->saved_ns += row_ns * (1 - 1 / row_count);
		row_ns = row_count = 0;
	}
	free(is_bound);
	if (row_count > 1)
		finding->saved_ns += row_ns * (1 - 1 / row_count);
	if (kernels.ns < SHORT_KERNEL_NS * kernels.count ||
	    !is_worth(facts, finding->saved_ns, SHARE_HIGH_MIN))
		return false;
	say(&finding->figure,
	    "%s a step in %.0f kernels that do nothing but read and write "
	    "tensors",
	    quantity_time(kernels.ns / steps_of(facts)).text,
	    kernels.launched / steps_of(facts));
	say(&finding->threshold, "rows of them, %.0f %% of the step",
	    100 * SHARE_HIGH_MIN);
	say(&finding->next, "fuse them (torch.compile, fused optimisers and "
			    "norms), or halve their bytes with bf16.");
	say_work(facts, finding, &kernels);
	return true;
}

bool rule_layout(const struct verdict_facts *facts, struct finding *finding)
{
	const struct kernels kernels = count_kernels(facts, timeline_is_layout);

	finding->saved_ns = kernels.ns;
	if (!is_worth(facts, finding->saved_ns, SHARE_MIN))
		return false;
	say(&finding->figure,
	    "%.*f kernels a step only bring tensors into another order",
	    facts->split.has_steps ? 1 : 0, kernels.launched / steps_of(facts));
	say(&finding->threshold, "%.0f %% of the step", 100 * SHARE_MIN);
	say(&finding->next,
	    "keep one layout throughout: memory_format=torch.channels_last for "
	    "model and input.");
	say_work(facts, finding, &kernels);
	return true;
}

bool rule_compute_bound(const struct verdict_facts *facts,
			struct finding *finding)
{
	const struct kernels kernels =
		count_kernels(facts, timeline_is_full_precision);

	finding->saved_ns = kernels.ns / 2;
	if (!is_worth(facts, kernels.ns, FULL_PRECISION_MIN))
		return false;
	say(&finding->figure,
	    "%s a step in matrix products of full precision, which leave the "
	    "tensor cores idle",
	    quantity_time(kernels.ns / steps_of(facts)).text);
	say(&finding->threshold, "%.0f %% of the step",
	    100 * FULL_PRECISION_MIN);
	say(&finding->next, "allow TF32 (set_float32_matmul_precision"
			    "(\"high\")) or train in bf16 (autocast).");
	say_work(facts, finding, &kernels);
	return true;
}

/* Busy time of one stream. */
struct stream_sum {
	double ns;
	int64_t first_ns;
	uint32_t name;
	bool is_seen;
};

/* The time in which any of them was busy; work comes by start. */
static double sum_streams(const struct verdict_facts *facts,
			  struct stream_sum *streams, int64_t *begin_ns)
{
	const struct timeline *timeline = facts->timeline;
	int64_t end_ns = INT64_MIN;
	double busy = 0;

	for (size_t at = 0; at < timeline->work_count; at++) {
		const struct gpu_work *work = &timeline->work[at];
		const struct gpu_row *row = timeline_row(timeline, work);
		const int64_t dur_ns = timeline_work_ns(timeline, work);
		const int64_t work_end_ns = work->start_ns + dur_ns;
		struct stream_sum *stream = &streams[row->stream];

		if (!is_judged(facts, work->start_ns))
			continue;
		stream->ns += (double)dur_ns;
		if (!stream->is_seen) {
			stream->is_seen = true;
			stream->first_ns = work->start_ns;
			stream->name = row->name;
		}
		*begin_ns = work->start_ns > end_ns ? work->start_ns : end_ns;
		if (work_end_ns > *begin_ns) {
			busy += (double)(work_end_ns - *begin_ns);
			end_ns = work_end_ns;
		}
	}
	return busy;
}

bool rule_serial_streams(const struct verdict_facts *facts,
			 struct finding *finding)
{
	const size_t count = facts->timeline->streams.count;
	struct stream_sum *streams = memory_zeroed(count + 1, sizeof(*streams));
	struct stream_sum longest = {0}, second = {0};
	double sum = 0, busy;
	int64_t begin_ns;

	busy = sum_streams(facts, streams, &begin_ns);
	for (size_t at = 0; at < count; at++) {
		sum += streams[at].ns;
		if (streams[at].ns > longest.ns) {
			second = longest;
			longest = streams[at];
		} else if (streams[at].ns > second.ns) {
			second = streams[at];
		}
	}
	free(streams);
	finding->saved_ns = busy - longest.ns;
	if (!is_worth(facts, second.ns, STREAM_MIN) ||
	    sum - busy >= OVERLAP_MIN * second.ns ||
	    !is_worth(facts, finding->saved_ns, SHARE_HIGH_MIN))
		return false;
	say(&finding->figure,
	    "%zu streams take turns: %.1f %% of the shorter one's work runs "
	    "beside another's",
	    count, 100 * (sum - busy) / second.ns);
	say(&finding->threshold, "%.0f %% overlap, %.0f %% of the step",
	    100 * OVERLAP_MIN, 100 * SHARE_HIGH_MIN);
	say(&finding->next,
	    "look for what makes one wait for the other: the default stream, "
	    "an event too early, a synchronising call between them.");
	say_place(facts, finding, second.first_ns, TIMELINE_NONE, second.name);
	return true;
}

bool rule_throttled(const struct verdict_facts *facts, struct finding *finding)
{
	const struct timeline *timeline = facts->timeline;
	const double share = facts->wall_ns > 0
				     ? (double)timeline->throttled_ns /
					       (double)facts->wall_ns
				     : 0;

	if (share < SHARE_MIN)
		return false;
	/* How much slower it is isn't known: a third is common. */
	finding->saved_ns = (share < 1 ? share : 1) / 3 *
			    (double)facts->split.ns[SHARE_GPU];
	say(&finding->figure,
	    "the GPU's clock was held down %.0f %% of the "
	    "time: %s",
	    100 * share, timeline->throttling);
	say(&finding->threshold, "%.0f %% of the time", 100 * SHARE_MIN);
	say(&finding->next, "look at its cooling and power limit "
			    "(nvidia-smi -q -d PERFORMANCE).");
	return true;
}
