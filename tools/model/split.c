/* SPDX-License-Identifier: MIT */
/*
 * split.c - one sweep over the critical thread's slices, the GPU's work and the
 * steps, all in the order of time.
 */
#include "tools/model/split.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/model/host_cover.h"
#include "tools/model/step_phases.h"
#include "tools/model/gpu_behind.h"
#include "tools/model/work_beside.h"
#include "tools/util/memory.h"
#include "tools/util/numbers.h"

/* A thread's side lanes follow it at this distance. */
#define SIDE_LANE      10000000
/* A gap as short as this between two kernels is the cost of a launch. */
#define LAUNCH_GAP_NS  50000
/* Another thread is judged where it works so many times as long. */
#define WORKER_MIN     2
/* And for so much of the time: one part in so many. */
#define WORK_MIN_PART  50
/* Without samples, where what is recorded of it takes so many times as long:
 * the first one may do other work, of which nothing is recorded. */
#define RECORDED_MIN   10
/* Waits for locks that are no chance. */
#define CONTENTION_MIN 10

static const struct {
	enum share share;
	enum gap gap;
} of_host[HOST_KINDS] = {
	[HOST_PLAIN] = {SHARE_HOST, GAP_HOST},
	[HOST_STEP] = {SHARE_HOST, GAP_HOST},
	[HOST_SAMPLE] = {SHARE_HOST, GAP_HOST},
	[HOST_SAMPLE_ALLOC] = {SHARE_HOST, GAP_HOST},
	[HOST_LAUNCH] = {SHARE_HOST, GAP_HOST},
	[HOST_OMP] = {SHARE_OMP_WORK, GAP_OMP},
	[HOST_OMP_TEAM] = {SHARE_OMP_WAIT, GAP_OMP},
	[HOST_OMP_WAIT] = {SHARE_OMP_WAIT, GAP_OMP},
	[HOST_OMP_LOCK] = {SHARE_OMP_WAIT, GAP_OMP},
	[HOST_COPY] = {SHARE_COPY, GAP_HOST},
	[HOST_SYNC] = {SHARE_SYNC, GAP_HOST},
	[HOST_ALLOC] = {SHARE_ALLOC, GAP_ALLOC},
	[HOST_COMM] = {SHARE_COMM, GAP_COMM},
	[HOST_DATA] = {SHARE_DATA, GAP_DATA},
	[HOST_OFF] = {SHARE_OFF, GAP_OFF},
};

/* The host's own code, where there are samples. */
static const enum share of_cover[] = {
	[COVER_OFF] = SHARE_OFF,
	[COVER_PYTHON] = SHARE_PYTHON,
	[COVER_NATIVE] = SHARE_NATIVE,
	[COVER_ALLOC] = SHARE_ALLOC,
};

struct sweep {
	struct split *split;
	const struct timeline *timeline;
	struct host_cover cover;
	struct work_beside beside;
	int64_t processors; /* 0 not known */
	bool has_contention;
	bool is_covered;    /* samples say what the thread does */
	enum cover covered; /* at the present moment */
	struct gpu_behind behind;
	size_t next_unseen, next_work, step;
	int64_t end_ns[GPU_KINDS]; /* of what runs now, by kind */
	bool is_idle, has_run;
	bool has_parts; /* what is in a region and no part of it is a wait */
	enum host_kind idle_begin; /* what the host did when the gap began */
	int64_t idle_start_ns, idle_ns[GAP_COUNT];
	int64_t idle_copies_ns;	       /* of the gap so far */
	int64_t longest_ns[GAP_COUNT]; /* pieces of the gap */
	uint32_t longest[GAP_COUNT];
};

static void begin_gap(struct sweep *sweep, int64_t ns, enum host_kind kind)
{
	sweep->is_idle = true;
	sweep->idle_begin = kind;
	sweep->idle_start_ns = ns;
	sweep->idle_copies_ns = 0;
	memset(sweep->idle_ns, 0, sizeof(sweep->idle_ns));
	memset(sweep->longest_ns, 0, sizeof(sweep->longest_ns));
	memset(sweep->longest, 0xff, sizeof(sweep->longest));
}

/* What the host did most in the gap is its cause; but where that is code of its
 * own, and it had waited for the GPU till then, the wait is. */
static enum gap cause_of(const struct sweep *sweep, int64_t dur_ns)
{
	enum gap cause = GAP_HOST;

	for (unsigned int at = 0; at < GAP_COUNT; at++)
		if (sweep->idle_ns[at] > sweep->idle_ns[cause])
			cause = (enum gap)at;
	if (cause != GAP_HOST)
		return cause;
	if (sweep->idle_begin == HOST_SYNC)
		return GAP_SYNC;
	if (sweep->idle_begin == HOST_COPY)
		return GAP_COPY;
	return dur_ns <= LAUNCH_GAP_NS ? GAP_LAUNCH : GAP_HOST;
}

static void end_gap(struct sweep *sweep, int64_t ns)
{
	int64_t sum = 0;
	enum gap cause;
	struct split_gap *gap;

	sweep->is_idle = false;
	for (unsigned int at = 0; at < GAP_COUNT; at++)
		sum += sweep->idle_ns[at];
	if (!sum || !sweep->has_run) /* before the first work, or in no step */
		return;
	cause = cause_of(sweep, ns - sweep->idle_start_ns);
	gap = &sweep->split->gaps[cause];
	gap->count++;
	saturate_into(&gap->ns, sum);
	saturate_into(&gap->copies_ns, sweep->idle_copies_ns);
	if (sum <= gap->worst_ns)
		return;
	gap->worst_ns = sum;
	gap->worst_at_ns = sweep->idle_start_ns;
	gap->name = sweep->longest[cause == GAP_SYNC || cause == GAP_COPY ||
						   cause == GAP_LAUNCH
					   ? GAP_HOST
					   : cause];
}

/* One of several threads that work may begin late, and end early. */
static bool is_before_or_after(const struct sweep *sweep, int64_t start_ns,
			       int64_t end_ns)
{
	const struct host_cover *cover = &sweep->cover;

	return sweep->split->is_busiest && cover->count &&
	       (end_ns <= cover->pieces[0].start_ns ||
		start_ns >= cover->pieces[cover->count - 1].end_ns);
}

/* A step waits for all that its thread waits for.  Without steps a thread may
 * just have nothing to do while others work, but for locks that it waits for
 * again and again. */
static bool is_waited_for(const struct sweep *sweep, uint32_t name)
{
	return sweep->split->has_steps ||
	       (sweep->has_contention && name != TIMELINE_NONE &&
		timeline_name(sweep->timeline, name)->is_lock);
}

/* Does that wait end with a thread? */
static bool is_join(const struct timeline *timeline, uint32_t name)
{
	return name != TIMELINE_NONE &&
	       strstr(timeline_name_text(timeline, name), "_join");
}

/* Is it a wait for somebody, and no sleep? */
static bool is_wait(const struct timeline *timeline, uint32_t name)
{
	return name != TIMELINE_NONE &&
	       !strncmp(timeline_name_text(timeline, name), "wait: ", 6) &&
	       !strstr(timeline_name_text(timeline, name), "sleep");
}

/* Off the processor; how long it waited while other threads worked. */
static int64_t count_beside(struct sweep *sweep, int64_t start_ns,
			    int64_t end_ns, uint32_t name, bool is_typical)
{
	const bool is_beside = is_before_or_after(sweep, start_ns, end_ns);
	int64_t some_ns;
	const double ns = work_beside_ns(
		&sweep->beside, start_ns, end_ns,
		is_waited_for(sweep, name) ? sweep->processors : 1, &some_ns);

	if (is_typical)
		sweep->split->beside_ns +=
			is_beside ? (double)(end_ns - start_ns) : ns;
	return !is_beside && is_wait(sweep->timeline, name) ? some_ns : 0;
}

static bool is_behind(const struct sweep *sweep, int64_t ns)
{
	return ns < sweep->behind.until_ns;
}

/* [start, end) in one step or in none, with the GPU in one state. */
static void count(struct sweep *sweep, int64_t start_ns, int64_t end_ns,
		  enum host_kind kind, uint32_t name)
{
	struct split *split = sweep->split;
	struct split_step *step = NULL;
	const int64_t dur_ns = end_ns - start_ns;
	int64_t others_ns = 0;
	enum share share = of_host[kind].share;
	const enum gap gap = of_host[kind].gap;

	if (sweep->step < split->count &&
	    split->steps[sweep->step].start_ns <= start_ns)
		step = &split->steps[sweep->step];
	if (sweep->end_ns[GPU_KERNEL] > start_ns)
		share = SHARE_GPU;
	else if (sweep->end_ns[GPU_COMM] > start_ns)
		share = SHARE_COMM;
	else if (sweep->end_ns[GPU_COPY] > start_ns ||
		 sweep->end_ns[GPU_FILL] > start_ns)
		share = SHARE_COPY;
	else if (!sweep->is_idle)
		begin_gap(sweep, start_ns, kind);
	if (kind == HOST_OMP_TEAM && share == SHARE_OMP_WAIT &&
	    !sweep->has_parts)
		share = SHARE_OMP_WORK;
	if (share == SHARE_HOST && sweep->is_covered)
		share = of_cover[sweep->covered];
	if (sweep->is_idle && step && !step->is_slow) {
		sweep->idle_ns[gap] += dur_ns;
		if (share == SHARE_COPY)
			sweep->idle_copies_ns += dur_ns;
	}
	if (sweep->is_idle && dur_ns > sweep->longest_ns[gap]) {
		sweep->longest_ns[gap] = dur_ns;
		sweep->longest[gap] = name;
	}
	if (share == SHARE_OFF)
		others_ns = count_beside(sweep, start_ns, end_ns, name,
					 step && !step->is_slow);
	if (step && !step->is_slow && is_behind(sweep, start_ns))
		split->behind_ns += dur_ns;
	if (step) {
		step->ns[share] += dur_ns - others_ns;
		step->ns[SHARE_OTHERS] += others_ns;
	}
	if (step && share == SHARE_HOST &&
	    (name == TIMELINE_NONE || kind == HOST_STEP))
		step->unseen_ns += dur_ns;
	if (!step || step->is_slow) {
		split->outside[share] += dur_ns - others_ns;
		split->outside[SHARE_OTHERS] += others_ns;
	}
}

/* Work that isn't in the file: of a kernel, for all that is known. */
static void take_unseen(struct sweep *sweep, int64_t now_ns)
{
	const struct gpu_behind *behind = &sweep->behind;

	while (sweep->next_unseen < behind->count &&
	       behind->unseen[sweep->next_unseen].start_ns <= now_ns) {
		const int64_t end_ns =
			behind->unseen[sweep->next_unseen++].end_ns;

		if (end_ns > sweep->end_ns[GPU_KERNEL])
			sweep->end_ns[GPU_KERNEL] = end_ns;
		if (end_ns > now_ns && sweep->is_idle)
			end_gap(sweep, now_ns);
	}
}

static void take_work(struct sweep *sweep, int64_t now_ns)
{
	const struct timeline *timeline = sweep->timeline;

	take_unseen(sweep, now_ns);
	while (sweep->next_work < timeline->work_count &&
	       timeline->work[sweep->next_work].start_ns <= now_ns) {
		const struct gpu_work *work =
			&timeline->work[sweep->next_work++];
		const int64_t end_ns =
			work->start_ns + timeline_work_ns(timeline, work);
		const enum gpu_kind kind = timeline_row(timeline, work)->kind;

		if (end_ns > sweep->end_ns[kind])
			sweep->end_ns[kind] = end_ns;
		if (end_ns > now_ns && sweep->is_idle)
			end_gap(sweep, now_ns);
		sweep->has_run = true;
	}
}

/* The next moment after now at which a step or the GPU's state changes. */
static int64_t next_change(const struct sweep *sweep, int64_t now_ns,
			   int64_t end_ns)
{
	const struct timeline *timeline = sweep->timeline;
	const struct split *split = sweep->split;
	const struct gpu_behind *behind = &sweep->behind;

	if (sweep->next_unseen < behind->count &&
	    behind->unseen[sweep->next_unseen].start_ns < end_ns)
		end_ns = behind->unseen[sweep->next_unseen].start_ns;
	if (sweep->next_work < timeline->work_count &&
	    timeline->work[sweep->next_work].start_ns < end_ns)
		end_ns = timeline->work[sweep->next_work].start_ns;
	for (unsigned int at = 0; at < GPU_KINDS; at++)
		if (sweep->end_ns[at] > now_ns && sweep->end_ns[at] < end_ns)
			end_ns = sweep->end_ns[at];
	if (sweep->step < split->count) {
		const struct split_step *step = &split->steps[sweep->step];
		const int64_t step_end_ns = step->start_ns + step->dur_ns;

		if (step->start_ns > now_ns && step->start_ns < end_ns)
			end_ns = step->start_ns;
		else if (step_end_ns > now_ns && step_end_ns < end_ns)
			end_ns = step_end_ns;
	}
	return end_ns;
}

static void on_piece(void *arg, int64_t start_ns, int64_t end_ns,
		     enum host_kind kind, uint32_t name)
{
	struct sweep *sweep = arg;
	const struct split *split = sweep->split;

	while (start_ns < end_ns) {
		int64_t until_ns;

		while (sweep->step < split->count &&
		       split->steps[sweep->step].start_ns +
				       split->steps[sweep->step].dur_ns <=
			       start_ns)
			sweep->step++;
		take_work(sweep, start_ns);
		until_ns = next_change(sweep, start_ns, end_ns);
		if (sweep->is_covered)
			sweep->covered = host_cover_at(&sweep->cover, start_ns,
						       &until_ns);
		count(sweep, start_ns, until_ns, kind, name);
		start_ns = until_ns;
	}
}

/* The lane of the thread beside which steps are drawn. */
static uint32_t thread_of(const struct timeline *timeline, uint32_t lane)
{
	const char *key = key_table_key(&timeline->lanes.table, lane, NULL);
	long long pid, tid;
	char text[64];

	if (sscanf(key, "%lld %lld", &pid, &tid) != 2)
		return lane;
	snprintf(text, sizeof(text), "%lld %lld", pid, tid % SIDE_LANE);
	for (uint32_t at = 0; at < timeline->lanes.table.count; at++)
		if (!strcmp(text,
			    key_table_key(&timeline->lanes.table, at, NULL)))
			return at;
	return lane;
}

/* Is it a process's first thread? */
static bool is_main(const struct timeline *timeline, uint32_t lane)
{
	long long pid, tid;

	return sscanf(key_table_key(&timeline->lanes.table, lane, NULL),
		      "%lld %lld", &pid, &tid) == 2 &&
	       pid == tid;
}

/* What is on a thread's lane, and on that of its samples. */
static size_t weigh(const struct timeline *timeline, uint32_t at)
{
	const uint32_t samples = host_cover_lane(timeline, at);
	size_t weight = timeline_lane(timeline, at)->count;

	if (host_cover_is_lane(timeline, at))
		return 0;
	if (samples != TIMELINE_NONE)
		weight += timeline_lane(timeline, samples)->count;
	return weight;
}

/* Our own isn't the program's. */
static bool is_writer(struct timeline *timeline, uint32_t lane)
{
	const char *label = timeline_lane(timeline, lane)->label;

	return label && !strncmp(label, "traceprof writer", 16);
}

/* The one that launches most, else the main thread, else the fullest. */
static uint32_t busiest(struct timeline *timeline)
{
	uint32_t best = 0;
	size_t most = 0;

	for (uint32_t at = 0; at < timeline->lanes.table.count; at++) {
		size_t weight = weigh(timeline, at);

		if (timeline->launch_count)
			weight = timeline_lane(timeline, at)->launch_count;
		else if (weight && is_main(timeline, at))
			weight = SIZE_MAX;
		else if (is_writer(timeline, at))
			weight = 0;
		if (weight > most) {
			most = weight;
			best = at;
		}
	}
	return best;
}

static void add_recorded(void *arg, int64_t start_ns, int64_t end_ns,
			 enum host_kind kind, uint32_t name)
{
	int64_t *sum_ns = arg;

	if (name != TIMELINE_NONE && kind != HOST_STEP && kind != HOST_OFF)
		saturate_into(sum_ns, end_ns - start_ns);
}

/* The time of a thread in which something is recorded, 0 of other lanes.  A
 * master's waits count: so it has no less than its team. */
static int64_t recorded_of_thread(struct timeline *timeline, uint32_t lane)
{
	long long pid, tid;
	int64_t sum_ns = 0;

	if (sscanf(key_table_key(&timeline->lanes.table, lane, NULL),
		   "%lld %lld", &pid, &tid) == 2 &&
	    tid < SIDE_LANE)
		timeline_walk(timeline, lane, add_recorded, &sum_ns);
	return sum_ns;
}

static bool has_samples(const struct timeline *timeline)
{
	for (uint32_t at = 0; at < timeline->lanes.table.count; at++)
		if (host_cover_is_lane(timeline, at))
			return true;
	return false;
}

/* Does the thread wait for others to end? */
static bool joins(const struct timeline *timeline, uint32_t lane)
{
	const struct timeline_lane *of = timeline_lane(timeline, lane);

	for (size_t at = 0; at < of->count; at++)
		if (is_join(timeline, of->spans[at].name))
			return true;
	return false;
}

/* The first thread may do nothing but wait for those that work.  A team's
 * regions are on its lane, whoever works.  Of threads that are made anew for
 * each batch none tells of the run: who joins them does. */
static void prefer_worker(struct split *split, struct timeline *timeline)
{
	const uint32_t chosen = split->lane;
	const bool is_sampled = has_samples(timeline);
	const int64_t life_min_ns =
		is_sampled && joins(timeline, chosen) ? split->all_ns / 2 : 0;
	int64_t life_ns = 0;
	int64_t most_ns =
		is_sampled
			? WORKER_MIN *
				  work_of_thread(timeline, chosen, &life_ns)
			: RECORDED_MIN * recorded_of_thread(timeline, chosen);

	/* Of an idle program nobody works; its first thread waits for work. */
	if (is_sampled && most_ns < split->all_ns / WORK_MIN_PART)
		most_ns = split->all_ns / WORK_MIN_PART;
	/* Else nobody knows what the others did meanwhile. */
	if (!is_sampled && most_ns < split->all_ns / 2)
		most_ns = split->all_ns / 2;
	if (timeline->launch_count || timeline_lane(timeline, chosen)->parts)
		return;
	for (uint32_t at = 0; at < timeline->lanes.table.count; at++) {
		int64_t ns;

		if (at == chosen || host_cover_is_lane(timeline, at))
			continue;
		ns = is_sampled ? work_of_thread(timeline, at, &life_ns)
				: recorded_of_thread(timeline, at);
		if (ns > most_ns && (!is_sampled || life_ns >= life_min_ns)) {
			most_ns = ns;
			split->lane = at;
			split->is_busiest = true;
		}
	}
}

static void choose_lane(struct split *split, struct timeline *timeline)
{
	if (!timeline->lanes.table.count)
		return;
	split->lane = split->has_steps
			      ? thread_of(timeline, timeline->steps[0].lane)
			      : busiest(timeline);
	if (!timeline_lane(timeline, split->lane)->count &&
	    weigh(timeline, busiest(timeline)) &&
	    !is_writer(timeline, busiest(timeline)))
		split->lane = busiest(timeline);
	if (!split->has_steps)
		prefer_worker(split, timeline);
}

/* Without steps.  What was imported and loaded before a training isn't it. */
static void take_whole(struct split *split, const struct timeline *timeline,
		       int64_t until_ns)
{
	int64_t start_ns, end_ns;

	split->is_training = phases_span(timeline, &start_ns, &end_ns);
	if (!split->is_training) {
		start_ns = timeline->start_ns;
		end_ns = timeline->end_ns;
	}
	/* The run goes on after the last slice. */
	if (!split->is_training && timeline->recorded_ns > end_ns &&
	    timeline->recorded_ns <= until_ns)
		end_ns = timeline->recorded_ns;
	split->count = 1;
	split->steps[0] = (struct split_step){
		.number = -1,
		.start_ns = start_ns,
		.dur_ns = saturate_subtract(end_ns, start_ns),
		.live_bytes = -1};
}

/* What follows the loop is in a last step that nothing ends. */
static bool has_whole(const struct timeline *timeline)
{
	for (size_t at = 0; at < timeline->step_count; at++)
		if (!timeline->steps[at].is_cut)
			return true;
	return false;
}

/* Those of one thread that don't overlap; one that crosses the thread's slices,
 * often the last, is on the lane beside it. */
static void take_steps(struct split *split, const struct timeline *timeline,
		       int64_t until_ns)
{
	const bool leaves_cut = has_whole(timeline);
	int64_t last_ns = INT64_MIN;
	const uint32_t thread =
		timeline->step_count
			? thread_of(timeline, timeline->steps[0].lane)
			: 0;

	split->steps =
		memory_zeroed(timeline->step_count + 1, sizeof(*split->steps));
	for (size_t at = 0; at < timeline->step_count; at++) {
		const struct timeline_step *step = &timeline->steps[at];
		const int64_t end_ns = step->start_ns + step->dur_ns;

		if ((step->lane != timeline->steps[0].lane &&
		     thread_of(timeline, step->lane) != thread) ||
		    step->start_ns < last_ns || end_ns > until_ns ||
		    !step->dur_ns || end_ns <= timeline->began_ns ||
		    (step->is_cut && leaves_cut))
			continue;
		last_ns = end_ns;
		split->steps[split->count++] =
			(struct split_step){.number = step->number,
					    .start_ns = step->start_ns,
					    .dur_ns = step->dur_ns,
					    .live_bytes = step->live_bytes};
	}
	split->has_steps = split->count > 0;
	if (!split->has_steps && timeline->end_ns > timeline->start_ns)
		take_whole(split, timeline, until_ns);
}

void split_make(struct split *split, struct timeline *timeline,
		int64_t until_ns, int64_t python_until_ns, int64_t processors,
		bool has_slept, bool is_part)
{
	struct sweep sweep = {.split = split,
			      .timeline = timeline,
			      .processors = processors,
			      .behind = {.until_ns = INT64_MIN}};

	memset(split, 0, sizeof(*split));
	take_steps(split, timeline, until_ns);
	split_choose_side(split, python_until_ns);
	split_find_slow(split);
	choose_lane(split, timeline);
	split->uses_gpu = timeline->work_count > 0;
	split->is_part = is_part;
	if (is_part)
		gpu_behind_find(&sweep.behind, timeline);
	split->earlier_kernels = sweep.behind.kernels;
	split->earlier_ns = sweep.behind.kernels_ns;
	/* A step may end after the last slice. */
	for (size_t at = 0; at < split->count; at++) {
		const struct split_step *step = &split->steps[at];

		if (step->start_ns + step->dur_ns > timeline->end_ns)
			timeline->end_ns = step->start_ns + step->dur_ns;
	}
	if (split->count) {
		sweep.has_parts =
			timeline_lane(timeline, split->lane)->parts > 0;
		host_cover_make(&sweep.cover, timeline, split->lane);
		sweep.is_covered =
			sweep.cover.pieces ||
			(has_slept && (is_main(timeline, split->lane) ||
				       !weigh(timeline, split->lane)));
		sweep.has_contention =
			timeline_lock_waits(timeline, split->lane) >=
			CONTENTION_MIN;
		work_beside_make(&sweep.beside, timeline, split->lane);
		split->alloc_ns = sweep.beside.alloc_ns;
		split->sampled_ns = sweep.beside.all_ns;
		timeline_walk(timeline, split->lane, on_piece, &sweep);
		work_beside_free(&sweep.beside);
		host_cover_free(&sweep.cover);
	}
	gpu_behind_free(&sweep.behind);
	split_add_up(split);
}

static void move(struct split_step *step, enum share from, enum share to,
		 double part)
{
	const int64_t ns = (int64_t)(part * (double)step->ns[from]);

	step->ns[from] -= ns;
	step->ns[to] += ns;
}

void split_adjust(struct split *split, double uneven, int64_t undrawn_ns)
{
	const int64_t host_ns =
		saturate_add(split->ns[SHARE_HOST], split->outside[SHARE_HOST]);
	double part = 0;

	if (undrawn_ns > 0 && host_ns > 0)
		part = (double)undrawn_ns / (double)host_ns;
	split->is_estimated = undrawn_ns > 0;
	split->total_ns = 0;
	split->unseen_ns = 0;
	split->typical = 0;
	memset(split->ns, 0, sizeof(split->ns));
	for (size_t at = 0; at < split->count; at++) {
		move(&split->steps[at], SHARE_HOST, SHARE_OMP_WORK,
		     part < 1 ? part : 1);
		if (split->steps[at].unseen_ns >
		    split->steps[at].ns[SHARE_HOST])
			split->steps[at].unseen_ns =
				split->steps[at].ns[SHARE_HOST];
		move(&split->steps[at], SHARE_OMP_WAIT, SHARE_OMP_UNEVEN,
		     uneven < 1 ? uneven : 1);
	}
	split_add_up(split);
}

int64_t split_typical_ns(const struct split *split, int64_t start_ns,
			 int64_t end_ns)
{
	size_t low = 0, high = split->count;
	int64_t sum_ns = 0;

	/* The first step that ends later. */
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct split_step *step = &split->steps[middle];

		if (step->start_ns + step->dur_ns <= start_ns)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < split->count && split->steps[low].start_ns < end_ns;
	     low++) {
		const struct split_step *step = &split->steps[low];
		const int64_t step_end_ns = step->start_ns + step->dur_ns;
		const int64_t from_ns =
			step->start_ns > start_ns ? step->start_ns : start_ns;

		if (!step->is_slow)
			sum_ns +=
				(step_end_ns < end_ns ? step_end_ns : end_ns) -
				from_ns;
	}
	return sum_ns;
}

void split_free(struct split *split)
{
	free(split->steps);
	memset(split, 0, sizeof(*split));
}
