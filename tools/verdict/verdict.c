/* SPDX-License-Identifier: MIT */
/*
 * verdict.c - the table of rules, and what they find.
 */
#include "tools/verdict/verdict.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tools/trace/trace_last.h"
#include "tools/trace/trace_part.h"
#include "tools/util/memory.h"
#include "tools/util/numbers.h"
#include "tools/util/short_name.h"
#include "tools/verdict/rules.h"

/* Of two that would save the same, the first one comes first. */
const struct rule verdict_rules[] = {
	{"losses", rule_losses, true, false},
	{"died-in-step", rule_died, true, true},
	{"data-starved", rule_data_starved, false, false},
	{"blocking-copies", rule_blocking_copies, false, false},
	{"needless-sync", rule_needless_sync, false, false},
	{"copied-layout", rule_copied_layout, false, false},
	{"short-operators", rule_short_operators, false, false},
	{"python", rule_python, false, false},
	{"compiled-again", rule_compiled_again, false, true},
	{"compiling", rule_compiling, true, false},
	{"small-copies", rule_small_copies, false, false},
	{"small-kernels", rule_small_kernels, false, false},
	{"idle-alloc", rule_idle_alloc, false, false},
	{"gpu-start", rule_gpu_start, true, false},
	{"idle-openmp", rule_idle_openmp, false, false},
	{"idle-host", rule_idle_host, false, false},
	{"exposed-comm", rule_exposed_comm, false, false},
	{"serial-streams", rule_serial_streams, false, false},
	{"layout", rule_layout, false, false},
	{"memory-bound", rule_memory_bound, false, false},
	{"low-occupancy", rule_low_occupancy, false, false},
	{"compute-bound", rule_compute_bound, false, false},
	{"throttled", rule_throttled, true, false},
	{"oversubscribed", rule_oversubscribed, true, false},
	{"idle-threads", rule_idle_threads, false, false},
	{"few-threads", rule_few_threads, false, false},
	{"imbalance", rule_imbalance, false, false},
	{"critical", rule_critical, false, false},
	{"barrier", rule_barrier, false, false},
	{"short-regions", rule_short_regions, false, false},
	{"gil", rule_gil, false, false},
	{"off-cpu", rule_off_cpu, false, false},
	{"churn", rule_churn, true, false},
	{"large-blocks", rule_large_blocks, false, false},
	{"page-faults", rule_page_faults, true, false},
	{"growth", rule_growth, true, false},
	{"first-step", rule_first_step, true, true},
	{"nth-step", rule_nth_step, true, true},
	{"outliers", rule_outliers, true, true},
	{"no-processor", rule_no_processor, true, false},
	{"crowded", rule_crowded, true, false},
	{"own-cost", rule_own_cost, true, false},
	{"waits", rule_waits, false, false}, /* that none above names */
	{NULL, NULL, false, false},
};

bool is_worth(const struct verdict_facts *facts, double saved_ns, double share)
{
	return facts->split.total_ns > 0 &&
	       saved_ns >= share * (double)facts->split.total_ns;
}

bool is_worth_of_all(const struct verdict_facts *facts, double saved_ns)
{
	return facts->split.all_ns > 0 &&
	       saved_ns >= SHARE_MIN * (double)facts->split.all_ns;
}

/* The last step that began by then, counted from 1; 0 none. */
static size_t begun_by(const struct split *split, int64_t ns)
{
	/* A guess: most questions come in the order of time. */
	static size_t near;
	size_t low = 0, high = split->count;

	if (near && near <= high && split->steps[near - 1].start_ns <= ns)
		low = near;
	if (low < high && split->steps[low].start_ns > ns)
		high = low;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (split->steps[middle].start_ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	near = low;
	return low;
}

/* The step in which it lies, or NULL. */
static const struct split_step *step_with(const struct split *split, int64_t ns)
{
	const size_t at = begun_by(split, ns);
	const struct split_step *step = at ? &split->steps[at - 1] : NULL;

	return step && ns < step->start_ns + step->dur_ns ? step : NULL;
}

bool is_in_step(const struct verdict_facts *facts, int64_t ns)
{
	return step_with(&facts->split, ns) != NULL;
}

bool is_judged(const struct verdict_facts *facts, int64_t ns)
{
	const struct split_step *step = step_with(&facts->split, ns);

	return step && !step->is_slow;
}

double steps_of(const struct verdict_facts *facts)
{
	return facts->split.typical ? (double)facts->split.typical : 1;
}

void say(char **text, const char *format, ...)
{
	va_list args;

	free(*text);
	va_start(args, format);
	if (vasprintf(text, format, args) < 0)
		*text = NULL;
	va_end(args);
}

/* Of a package's file the path begins with the package. */
static const char *from_package(const char *name)
{
	static const char *const before[] = {"/site-packages/",
					     "/dist-packages/", "/lib/python"};

	for (size_t i = 0; *name == '/' && i < sizeof(before) / sizeof(*before);
	     i++) {
		const char *at = strstr(name, before[i]);

		at = at ? strchr(at + strlen(before[i]) - 1, '/') : NULL;
		if (at)
			return at + 1;
	}
	return name;
}

/* The middle is cut out: what tells names apart stands at their ends.  Of
 * Python's that is the function, and the file. */
struct short_name short_name(const char *name)
{
	struct text_buffer whole = {0};
	struct short_name short_text;
	const size_t room = sizeof(short_text.text) - 1, half = (room - 3) / 2;

	text_buffer_cut(&whole, 0);
	short_name_add_from(&whole, from_package(name), room);
	if (whole.len <= room)
		snprintf(short_text.text, room + 1, "%s", whole.data);
	else if (folded_is_python(whole.data))
		snprintf(
			short_text.text, room + 1, "...%s",
			folded_python_end(whole.data + whole.len - (room - 3)));
	else
		snprintf(short_text.text, room + 1, "%.*s...%s", (int)half,
			 whole.data, whole.data + whole.len - half);
	text_buffer_free(&whole);
	return short_text;
}

/* Without the program's name in parentheses and the blank before it. */
static int label_len(const struct timeline *timeline, uint32_t lane)
{
	const char *label = timeline_lane(timeline, lane)->label;
	size_t len = strcspn(label, "(");

	while (len && label[len - 1] == ' ')
		len--;
	return (int)len;
}

/* Lower numbers are GPUs'. */
#define PIDS_FROM 16

/* What is read of a large file's end alone has no labels; a process' first
 * thread bears its number. */
void say_lane(const struct verdict_facts *facts, char *text, size_t bytes,
	      uint32_t lane)
{
	const struct timeline *timeline = facts->timeline;
	const char *key, *space, *tid;
	bool is_main;

	if (lane == TIMELINE_NONE)
		lane = facts->split.lane;
	if (lane >= timeline->lanes.table.count) {
		text[0] = '\0';
		return;
	}
	key = key_table_key(&timeline->lanes.table, lane, NULL);
	space = strchr(key, ' ');
	tid = space ? space + 1 : key;
	is_main = space && strtol(tid, NULL, 10) >= PIDS_FROM &&
		  strlen(tid) == (size_t)(space - key) &&
		  !strncmp(key, tid, (size_t)(space - key));
	if (timeline_lane(timeline, lane)->label)
		snprintf(text, bytes, ", %.*s", label_len(timeline, lane),
			 timeline_lane(timeline, lane)->label);
	else
		snprintf(text, bytes, ", %sthread %.40s",
			 is_main ? "main " : "", tid);
}

void say_place(const struct verdict_facts *facts, struct finding *finding,
	       int64_t ns, uint32_t lane, uint32_t name)
{
	const struct timeline *timeline = facts->timeline;
	const struct timeline_name *row =
		name == TIMELINE_NONE ? NULL : timeline_name(timeline, name);
	const long step = timeline_step_at(timeline, ns);
	/* As viewers, the page and --from count. */
	const int64_t start_ns =
		timeline->began_ns && timeline->began_ns < timeline->start_ns
			? timeline->began_ns
			: timeline->start_ns;
	char where[100], number[40] = "";

	say_lane(facts, where, sizeof(where), lane);
	finding->at_ns = ns;
	finding->step = -1;
	if (step >= 0) {
		finding->step = timeline->steps[step].number;
		snprintf(number, sizeof(number), "step %" PRId64 ", ",
			 finding->step);
	}
	say(&finding->place, "%s%s after the start%s%s%s%s%s", number,
	    quantity_time((double)(ns - start_ns)).text, where, row ? ": " : "",
	    row ? short_name(timeline_name_text(timeline, name)).text : "",
	    row && row->site ? " at " : "", row && row->site ? row->site : "");
}

/* What was counted of sites that aren't drawn call by call. */
static int64_t undrawn_ns(const struct trace_sampled *sampled)
{
	int64_t sum = 0;

	for (size_t at = 0; sampled && at < sampled->count; at++) {
		const struct trace_sampled_row *row = &sampled->rows[at];

		if (row->part && !strcmp(row->part, "parallel") &&
		    row->seen > 0)
			saturate_into(&sum, (int64_t)((double)row->total_ns *
						      (double)row->thinned /
						      (double)row->seen));
	}
	return sum;
}

struct trace_sampled_row all_calls(const struct verdict_facts *facts,
				   const char *part,
				   const struct timeline_name *row)
{
	const struct trace_sampled_row *exact =
		facts->sampled
			? trace_sampled_find(facts->sampled, part, row->text)
			: NULL;

	return exact ? *exact
		     : (struct trace_sampled_row){.seen = row->calls,
						  .total_ns = row->sum_ns};
}

static bool is_lossy(const struct verdict_facts *facts)
{
	const struct trace_metadata *account = facts->metadata;
	const double seen = account->seen > 0 ? (double)account->seen : 1;

	return (double)account->dropped > LOST_MIN * seen ||
	       (double)account->unrecorded_calls > LOST_MIN * seen ||
	       (double)account->unnamed > LOST_MIN * seen ||
	       (account->waits_lost > 0 &&
		(double)account->waits_lost >
			LOST_WAITS_MIN * (double)account->waits_begun) ||
	       account->missing_kernels > 0 || account->gpu_missing > 0 ||
	       (double)account->unsettled_ns >
		       UNSETTLED_MIN * (double)facts->wall_ns ||
	       facts->timeline->left_out;
}

/* Where processors were wanting every other figure is the machine's, too; and
 * nothing of it can be changed in the program. */
static bool goes_first(const struct finding *finding)
{
	return finding->rule->judge == rule_no_processor;
}

bool verdict_is_spoilt(const struct verdict *verdict)
{
	return verdict->count > 1 && goes_first(&verdict->findings[0]);
}

static int compare(const void *left, const void *right)
{
	const struct finding *a = left, *b = right;

	if (goes_first(a) != goes_first(b))
		return goes_first(a) ? -1 : 1;
	if (a->spoils != b->spoils)
		return a->spoils ? -1 : 1;
	if (a->share != b->share)
		return a->share > b->share ? -1 : 1;
	return a->rule < b->rule ? -1 : 1;
}

static void free_finding(struct finding *finding)
{
	free(finding->figure);
	free(finding->threshold);
	free(finding->place);
	free(finding->next);
}

/* A run without steps is one whole. */
static void name_whole(char *text)
{
	char *at;

	while (text && (at = strstr(text, " a step")))
		memcpy(at, " in all", 7);
	while (text && (at = strstr(text, " the step")))
		memcpy(at, " the time", 9);
}

/* Nothing saves more than there is. */
static void set_share(const struct verdict_facts *facts,
		      struct finding *finding)
{
	const double total = finding->rule->is_of_all
				     ? (double)facts->split.all_ns
				     : (double)facts->split.total_ns;

	if (finding->saved_ns > total)
		finding->saved_ns = total;
	finding->share = total > 0 ? finding->saved_ns / total : 0;
}

/* Does it say why threads of a team wait? */
static bool names_waits(const struct rule *rule)
{
	return rule->judge == rule_oversubscribed ||
	       rule->judge == rule_idle_threads ||
	       rule->judge == rule_imbalance || rule->judge == rule_critical ||
	       rule->judge == rule_barrier ||
	       rule->judge == rule_short_regions ||
	       rule->judge == rule_no_processor;
}

static void judge(struct verdict *verdict)
{
	struct verdict_facts *facts = &verdict->facts;
	const size_t count = sizeof(verdict_rules) / sizeof(verdict_rules[0]);

	verdict->findings = memory_zeroed(count, sizeof(*verdict->findings));
	if (!facts->split.has_steps && facts->wall_ns < WHOLE_LEAST_NS)
		return;
	for (const struct rule *rule = verdict_rules; rule->name; rule++) {
		struct finding finding = {
			.rule = rule, .at_ns = INT64_MIN, .step = -1};

		if (facts->is_lossy && !rule->stands_losses)
			continue;
		if (!rule->judge(facts, &finding)) {
			free_finding(&finding);
			continue;
		}
		if (!facts->split.has_steps) {
			name_whole(finding.figure);
			name_whole(finding.threshold);
		}
		set_share(facts, &finding);
		if (names_waits(rule))
			facts->are_waits_named = true;
		if (rule->judge == rule_oversubscribed)
			facts->is_oversubscribed = true;
		verdict->findings[verdict->count++] = finding;
	}
	qsort(verdict->findings, verdict->count, sizeof(*verdict->findings),
	      compare);
}

/* How much of OpenMP's time lies in the steps that are judged. */
static double regions_in_steps(const struct split *split)
{
	double in = 0, out = 0;

	for (unsigned int at = 0; at < SHARE_COUNT; at++)
		if (at == SHARE_OMP_WORK || at == SHARE_OMP_WAIT) {
			in += (double)split->ns[at];
			out += (double)split->outside[at];
		}
	return in + out > 0 ? in / (in + out) : 1;
}

/* Samples were taken, and the first thread had a processor for less than half
 * of the time. */
static bool has_slept(const struct verdict_facts *facts)
{
	const struct trace_metadata *metadata = facts->metadata;

	return metadata->sample > 0 && metadata->ran_ns > 0 &&
	       metadata->ran_ns < facts->wall_ns / 2;
}

/* Samples were taken from the start on, and the first slice of all lies behind
 * the middle of the recording: what comes before is no start. */
static bool is_end_alone(const struct timeline *timeline,
			 const struct trace_metadata *metadata)
{
	return metadata->sample > 0 && timeline->end_ns > timeline->start_ns &&
	       timeline->began_ns && !timeline->step_count &&
	       !timeline_is_part(timeline) &&
	       timeline->start_ns - timeline->began_ns >
		       (timeline->recorded_ns - timeline->began_ns) / 2;
}

void verdict_make(struct verdict *verdict, struct timeline *timeline,
		  const struct trace_metadata *metadata,
		  const struct trace_sampled *sampled,
		  const struct region_total *regions, size_t region_count)
{
	struct verdict_facts *facts = &verdict->facts;
	double judged = 0, uneven = 0;

	if (is_end_alone(timeline, metadata))
		timeline->start_ns = timeline->began_ns;
	*verdict = (struct verdict){
		.facts = {.timeline = timeline,
			  .metadata = metadata,
			  .sampled = sampled,
			  .regions = regions,
			  .region_count = region_count,
			  .wall_ns = timeline->end_ns > timeline->start_ns
					     ? timeline->end_ns -
						       timeline->start_ns
					     : 0}};
	split_make(&facts->split, timeline,
		   metadata->detail_ended_ns >= 0 ? metadata->detail_ended_ns
						  : INT64_MAX,
		   metadata->python_ended_ns, metadata->cpus, has_slept(facts),
		   facts->metadata->outside > 0 || timeline_is_part(timeline));
	facts->split.has_before = timeline_is_part(timeline);
	for (size_t at = 0; at < region_count; at++) {
		judged += (double)regions[at].judged_ns;
		uneven += (double)regions[at].uneven_ns;
	}
	facts->regions_in_steps = regions_in_steps(&facts->split);
	split_adjust(&facts->split, judged > 0 ? uneven / judged : 0,
		     undrawn_ns(sampled));
	facts->is_lossy = is_lossy(facts);
	judge(verdict);
}

double verdict_covered(const struct verdict *verdict)
{
	const struct verdict_facts *facts = &verdict->facts;
	double share;

	if (!facts->split.has_steps || facts->wall_ns < COVERED_LEAST_NS)
		return 0;
	share = (double)facts->split.total_ns / (double)facts->wall_ns;
	return share < COVERED_MIN ? share : 0;
}

double verdict_unseen(const struct verdict *verdict)
{
	const struct verdict_facts *facts = &verdict->facts;
	const double total = (double)facts->split.total_ns;
	double share;

	/* -1: not a file of ours. */
	if (facts->metadata->sample || facts->split.all_ns < UNSEEN_LEAST_NS ||
	    verdict_covered(verdict) > 0)
		return 0;
	/* Drawn beside the thread, on whose own lane nothing is. */
	share = ((double)facts->split.unseen_ns - compiling_ns(facts)) / total;
	return share > UNSEEN_MIN ? share : 0;
}

void verdict_free(struct verdict *verdict)
{
	for (size_t at = 0; at < verdict->count; at++)
		free_finding(&verdict->findings[at]);
	free(verdict->findings);
	split_free(&verdict->facts.split);
	memset(verdict, 0, sizeof(*verdict));
}

/* How many slices CUPTI told of, and how many threads had besides. */
struct sources {
	double gpu, host;
};

/* One file, read for its verdict alone. */
struct reading {
	struct sources here, all; /* of the last part, and of the file */
	struct timeline timeline;
	struct trace_metadata metadata;
	struct trace_sampled sampled;
	struct region_totals regions;
};

static void take(struct reading *reading, const struct trace_event *event)
{
	const struct trace_value part = trace_event_arg(event, "omp");

	timeline_event(&reading->timeline, event);
	if (part.type == TRACE_STRING && trace_event_is_slice(event))
		region_totals_event(
			&reading->regions, event, part.text,
			trace_lanes_number(&reading->timeline.lanes, event));
}

static void count_source(struct sources *sources, const char *category)
{
	/* Drawn without an event of its own. */
	if (!strcmp(category, "gpu_user_annotation") ||
	    !strcmp(category, "overhead"))
		return;
	if (trace_last_is_gpu(category))
		sources->gpu++;
	else
		sources->host++;
}

/* By the file's account; blocks and counts are no slices. */
static void take_kind(struct reading *reading, const struct trace_entry *entry)
{
	static const char by_kind[] = "traceprof.written_by_kind.";
	static const char *const gpu[] = {"cuda_api", "cuda_event", "kernel",
					  "gpu_copy", "gpu_fill",   "gpu_sync"};
	static const char *const host[] = {"omp_region", "scope", "range",
					   "call",	 "wait",  "python"};
	const char *kind = entry->path + sizeof(by_kind) - 1;
	int64_t count;

	if (strncmp(entry->path, by_kind, sizeof(by_kind) - 1) ||
	    decimal_to_integer(entry->value.text, entry->value.len, &count))
		return;
	for (size_t at = 0; at < sizeof(gpu) / sizeof(gpu[0]); at++)
		if (!strcmp(kind, gpu[at]))
			reading->all.gpu += (double)count;
	for (size_t at = 0; at < sizeof(host) / sizeof(host[0]); at++)
		if (!strcmp(kind, host[at]))
			reading->all.host += (double)count;
}

/* What threads had is missing: where the writer was late, it lies before all
 * that CUPTI told. */
static bool lacks_host(const struct reading *reading)
{
	const struct sources *here = &reading->here, *all = &reading->all;

	return here->gpu > 0 && all->gpu > 0 &&
	       all->host > HOST_SHARE_MIN * all->gpu &&
	       here->host / here->gpu < all->host / all->gpu / 2;
}

static bool is_step(const struct trace_event *event)
{
	return !strncmp(event->field[FIELD_NAME].text, "ProfilerStep#", 13);
}

/* Of the last part of a file: what begins before it counts from there on, but
 * a step is whole or none.  The recording's own slice says when it began. */
static void take_last(struct reading *reading, const struct trace_event *event)
{
	const int64_t from_ns = reading->timeline.from_ns;
	struct trace_event cut = *event;

	if (event->ts_ns >= from_ns || event->ts_state == TIME_ABSENT ||
	    trace_value_is(&event->field[FIELD_CAT], "Trace")) {
		if (trace_event_is_slice(event) && !is_step(event))
			count_source(&reading->here,
				     event->field[FIELD_CAT].text);
		take(reading, event);
		return;
	}
	if (!trace_event_is_slice(event) || is_step(event) ||
	    event->ts_ns + event->dur_ns <= from_ns)
		return;
	cut.dur_ns -= from_ns - cut.ts_ns;
	cut.ts_ns = from_ns;
	take(reading, &cut);
}

static void on_event(void *arg, const struct trace_event *event)
{
	struct reading *reading = arg;

	if (timeline_is_part(&reading->timeline))
		take_last(reading, event);
	else
		take(reading, event);
}

static void on_entry(void *arg, const struct trace_entry *entry)
{
	struct reading *reading = arg;

	take_kind(reading, entry);
	trace_metadata_entry(&reading->metadata, entry);
	trace_sampled_entry(&reading->sampled, entry);
}

/* What was counted over the whole recording, as the part has it. */
static int fit(struct reading *reading)
{
	const struct timeline *timeline = &reading->timeline;
	const double all = (double)(timeline->recorded_ns - timeline->began_ns);
	const double here = (double)(timeline->end_ns - timeline->start_ns);
	const double part = all > here ? here / all : 1;

	if (!timeline_is_part(timeline))
		return 0;
	if (timeline->step_count < LAST_STEPS_MIN || lacks_host(reading))
		return -ENODATA;
	trace_metadata_scale(&reading->metadata, part);
	trace_sampled_scale(&reading->sampled, part);
	return 0;
}

static void print(struct reading *reading, unsigned int columns, FILE *out)
{
	struct region_total *regions;
	struct verdict verdict;
	size_t count;

	regions = region_totals_list(&reading->regions, &count);
	for (size_t at = 0; at < count; at++) {
		const struct trace_sampled_row *row = trace_sampled_find(
			&reading->sampled, "parallel", regions[at].name);

		if (row && row->drawn > 0)
			region_total_scale(&regions[at], row);
	}
	verdict_make(&verdict, &reading->timeline, &reading->metadata,
		     &reading->sampled, regions, count);
	verdict_print(&verdict, VERDICT_LINES_MAX, columns, out);
	verdict_free(&verdict);
	free(regions);
}

int verdict_file(const char *path, uint64_t most, unsigned int columns,
		 FILE *out)
{
	struct reading *reading = memory_zeroed(1, sizeof(*reading));
	const struct trace_sink sink = {on_event, on_entry, reading};
	struct trace_facts facts;
	int error;

	timeline_begin(&reading->timeline);
	trace_metadata_begin(&reading->metadata);
	error = most ? trace_read_last(path, most, &sink, &facts,
				       &reading->timeline.from_ns)
		     : trace_read(path, &sink, &facts);
	if (!error) {
		timeline_finish(&reading->timeline);
		error = fit(reading);
	}
	if (!error)
		print(reading, columns, out);
	region_totals_free(&reading->regions);
	trace_sampled_free(&reading->sampled);
	timeline_free(&reading->timeline);
	free(reading);
	return error;
}
