/* SPDX-License-Identifier: MIT */
/*
 * report_json.c - the report for programs: one object a file, times in
 * nanoseconds.
 */
#include "tools/report/report.h"

#ifdef HAVE_YAJL

#include <stdlib.h>
#include <string.h>

#include "tools/model/step_phases.h"
#include "tools/util/json_print.h"
#include "tools/util/numbers.h"
#include "tools/util/text_buffer.h"

/* Numbers of a struct and their keys; all are int64_t. */
struct field {
	const char *key;
	size_t offset;
};

/* clang-format off */
#define ROW(key, type, member) {key, offsetof(struct type, member)}

static const struct field steps_fields[] = {
	ROW("total_ns", report_steps, total_ns), ROW("min_ns", report_steps, min_ns),
	ROW("max_ns", report_steps, max_ns), ROW("slowest", report_steps, slowest),
	ROW("cut", report_steps, cut), {0},
}, region_fields[] = {
	ROW("calls", region_total, calls), ROW("team_min", region_total, team_min),
	ROW("team_max", region_total, team_max), ROW("elapsed_ns", region_total, elapsed_ns),
	ROW("work_ns", region_total, work_ns), ROW("wait_ns", region_total, wait_ns),
	ROW("uneven_ns", region_total, uneven_ns), {0},
}, memory_fields[] = {
	ROW("event_allocs", report_memory, allocs), ROW("event_frees", report_memory, frees),
	ROW("event_alloc_bytes", report_memory, alloc_bytes),
	ROW("event_free_bytes", report_memory, free_bytes),
	ROW("event_peak_bytes", report_memory, peak_bytes), {0},
}, heap_fields[] = {
	ROW("calls", trace_metadata, heap_calls), ROW("frees", trace_metadata, heap_frees),
	ROW("bytes", trace_metadata, heap_bytes), ROW("live_bytes", trace_metadata, heap_live_bytes),
	ROW("peak_bytes", trace_metadata, heap_peak_bytes),
	ROW("calls_before", trace_metadata, heap_calls_before),
	ROW("frees_before", trace_metadata, heap_frees_before),
	ROW("bytes_before", trace_metadata, heap_bytes_before),
	ROW("asked_bytes", trace_metadata, heap_asked_bytes),
	ROW("asked_bytes_before", trace_metadata, heap_asked_before), {0},
}, sum_fields[] = {
	ROW("kernel_ns", report_device, sum_ns[WORK_KERNEL]),
	ROW("copy_ns", report_device, sum_ns[WORK_COPY]),
	ROW("memset_ns", report_device, sum_ns[WORK_FILL]), {0},
}, call_fields[] = {
	ROW("kernels", report_device, calls[WORK_KERNEL]),
	ROW("copies", report_device, calls[WORK_COPY]),
	ROW("memsets", report_device, calls[WORK_FILL]), {0},
}, account_fields[] = {
	ROW("seen", trace_metadata, seen), ROW("written", trace_metadata, written),
	ROW("cut", trace_metadata, cut), ROW("dropped", trace_metadata, dropped),
	ROW("outside", trace_metadata, outside), ROW("past_max", trace_metadata, past_max),
	ROW("unwritable", trace_metadata, unwritable), ROW("unnamed", trace_metadata, unnamed),
	ROW("waits_lost", trace_metadata, waits_lost),
	ROW("unrecorded_calls", trace_metadata, unrecorded_calls),
	ROW("missed_calls", trace_metadata, missed_calls), {0},
}, node_fields[] = {
	ROW("calls", scope_node, calls), ROW("total_ns", scope_node, total_ns),
	ROW("self_ns", scope_node, self_ns), {0},
}, managed_fields[] = {
	ROW("gpu_faults", report_managed, gpu_faults),
	ROW("host_faults", report_managed, host_faults),
	ROW("to_gpu_bytes", report_managed, to_gpu_bytes),
	ROW("to_host_bytes", report_managed, to_host_bytes), {0},
};
/* clang-format on */

static void put_fields(yajl_gen gen, const void *base,
		       const struct field *fields)
{
	for (; fields->key; fields++)
		json_print_integer(gen, fields->key,
				   *(const int64_t *)((const char *)base +
						      fields->offset));
}

/* Only where it is so. */
static void put_estimated(yajl_gen gen, bool is_estimated)
{
	if (!is_estimated)
		return;
	json_print_bool(gen, "estimated", true);
}

struct json_print {
	const struct report *report;
	const struct tally *tally;
	yajl_gen gen;
};

/* What sums that others made don't have. */
static void put_more(yajl_gen gen, const struct total *row)
{
	if (row->self_ns >= 0 && row->histogram)
		json_print_integer(gen, "self_ns", row->self_ns);
	if (row->gpu_ns)
		json_print_integer(gen, "gpu_ns", row->gpu_ns);
	if (row->gpu_self_ns)
		json_print_integer(gen, "gpu_self_ns", row->gpu_self_ns);
	if (!row->histogram)
		return;
	json_print_integer(gen, "sum_ns", row->sum_ns);
	json_print_integer(gen, "median_ns", total_quantile_ns(row, 0.5));
	json_print_integer(gen, "p95_ns", total_quantile_ns(row, 0.95));
	json_print_integer(gen, "p99_ns", total_quantile_ns(row, 0.99));
	json_print_number(gen, "stddev_ns", total_deviation_ns(row));
}

static void put_category(void *arg, const char *category)
{
	const struct json_print *print = arg;
	const struct report_choice *choice = &print->report->choice;
	yajl_gen gen = print->gen;
	struct total *rows;
	size_t count;

	rows = tally_list(print->tally, category, choice->order, &count);
	yajl_gen_map_open(gen);
	json_print_text(gen, "category", category);
	json_print_list(gen, "names");
	for (size_t at = 0; at < count; at++) {
		const struct total *row = &rows[at];

		if (choice->top && at >= choice->top)
			break;
		yajl_gen_map_open(gen);
		json_print_text(gen, "name", row->name);
		json_print_integer(gen, "calls", row->calls);
		json_print_integer(gen, "total_ns", row->total_ns);
		json_print_integer(gen, "avg_ns", row->sum_ns / row->calls);
		json_print_integer(gen, "min_ns", row->min_ns);
		json_print_integer(gen, "max_ns", row->max_ns);
		put_more(gen, row);
		if (row->bytes)
			json_print_integer(gen, "bytes", row->bytes);
		put_estimated(gen, row->is_estimated);
		yajl_gen_map_close(gen);
	}
	yajl_gen_array_close(gen);
	yajl_gen_map_close(gen);
	free(rows);
}

static void put_regions(const struct report *report, yajl_gen gen)
{
	json_print_list(gen, "regions");
	for (size_t at = 0; at < report->region_count; at++) {
		const struct region_total *region = &report->region_list[at];

		yajl_gen_map_open(gen);
		json_print_text(gen, "name", region->name);
		put_fields(gen, region, region_fields);
		json_print_number(gen, "max_over_mean", region->imbalance);
		put_estimated(gen, region->is_estimated);
		yajl_gen_map_close(gen);
	}
	yajl_gen_array_close(gen);
}

static void put_streams(const struct report *report, yajl_gen gen)
{
	const struct report_device **streams = report_streams(report);

	json_print_list(gen, "streams");
	for (size_t at = 0; at < report->streams.count; at++) {
		const struct report_device *row = streams[at];

		yajl_gen_map_open(gen);
		json_print_integer(gen, "device", row->device);
		json_print_integer(gen, "stream", row->stream);
		json_print_integer(gen, "busy_ns", busy_time_sum(&row->busy));
		put_fields(gen, row, call_fields);
		put_fields(gen, row, sum_fields);
		json_print_integer(gen, "bytes", row->bytes);
		yajl_gen_map_close(gen);
	}
	yajl_gen_array_close(gen);
	free(streams);
}

/* In FLOP a second; the roof only where it is known. */
static void put_blas(const struct report *report, yajl_gen gen)
{
	struct peak peak;
	bool has_peak;
	struct blas_row *list =
		report_blas_list(&report->blas, &peak, &has_peak);

	json_print_list(gen, "blas");
	for (size_t at = 0; at < report->blas.rows.count; at++) {
		const struct blas_row *row = &list[at];

		yajl_gen_map_open(gen);
		json_print_text(gen, "name", row->function);
		json_print_text(gen, "site", row->site);
		json_print_integer(gen, "calls", row->calls);
		json_print_integer(gen, "total_ns", row->time_ns);
		json_print_integer(gen, "uncounted", row->uncounted);
		json_print_number(gen, "flops", row->flops);
		json_print_number(gen, "bytes", row->bytes);
		if (row->has_roof) {
			json_print_number(gen, "rate",
					  row->flops * 1e9 /
						  (double)row->counted_ns);
			json_print_number(gen, "roof", row->roof);
			json_print_text(gen, "bound",
					row->is_memory_bound ? "memory"
							     : "compute");
		}
		yajl_gen_map_close(gen);
	}
	yajl_gen_array_close(gen);
	free(list);
}

static void put_devices(const struct report *report, yajl_gen gen)
{
	json_print_list(gen, "devices");
	for (unsigned int at = 0; at < REPORT_DEVICES_MAX; at++) {
		const struct report_device *device = &report->devices[at];

		if (!report_is_used(device) && !device->memory.allocs)
			continue;
		yajl_gen_map_open(gen);
		json_print_integer(gen, "device", at);
		json_print_integer(gen, "busy_ns",
				   busy_time_sum(&device->busy));
		put_fields(gen, device, sum_fields);
		put_fields(gen, &device->memory, memory_fields);
		if (device->throttled_ns) {
			json_print_integer(gen, "throttled_ns",
					   device->throttled_ns);
			json_print_text(gen, "throttling", device->throttling);
		}
		yajl_gen_map_close(gen);
	}
	yajl_gen_array_close(gen);
}

static void put_tree(const struct report *report, yajl_gen gen)
{
	const struct scope_tree *tree = &report->tree;

	json_print_list(gen, "scopes");
	for (size_t at = 0; at < tree->printed_count; at++) {
		const struct scope_node *node = tree->printed[at];

		yajl_gen_map_open(gen);
		json_print_integer(gen, "depth", node->depth);
		json_print_text(gen, "name",
				key_table_key(node->depth
						      ? &tree->names
						      : &report->lanes.table,
					      node->name, NULL));
		put_fields(gen, node, node_fields);
		yajl_gen_map_close(gen);
	}
	yajl_gen_array_close(gen);
}

static void put_lines(yajl_gen gen, const char *key, char *const *lines,
		      size_t count)
{
	json_print_list(gen, key);
	for (size_t at = 0; at < count; at++)
		json_print_string(gen, lines[at]);
	yajl_gen_array_close(gen);
}

static void put_phases_of(yajl_gen gen, const char *key,
			  const int64_t ns[STEP_PHASES])
{
	json_print_object(gen, key);
	for (unsigned int at = 0; at < STEP_PHASES; at++)
		json_print_integer(gen, phases_text((enum step_phase)at),
				   ns[at]);
	yajl_gen_map_close(gen);
}

static void put_phases(yajl_gen gen, const struct verdict *verdict)
{
	const struct split *split = &verdict->facts.split;
	int64_t ns[STEP_PHASES], all_ns;

	if (phases_sum(verdict->facts.timeline, split, ns))
		put_phases_of(gen, "phases_ns", ns);
	if (phases_gpu(verdict->facts.timeline, split, ns, &all_ns))
		put_phases_of(gen, "gpu_phases_ns", ns);
	if (split->behind_ns)
		json_print_integer(gen, "behind_ns", split->behind_ns);
	if (split->earlier_kernels)
		json_print_integer(gen, "earlier_kernels",
				   split->earlier_kernels);
}

/* The step, where its time went, and what was found. */
static void put_judged(const struct report *report, yajl_gen gen)
{
	const struct verdict *verdict = &report->judged;
	const struct split *split = &verdict->facts.split;

	json_print_object(gen, "step");
	json_print_integer(gen, "count",
			   split->has_steps ? (int64_t)split->count : 0);
	json_print_integer(gen, "typical", (int64_t)split->typical);
	json_print_integer(gen, "median_ns", (int64_t)split->median_ns);
	json_print_integer(gen, "p5_ns", (int64_t)split->p5_ns);
	json_print_integer(gen, "p95_ns", (int64_t)split->p95_ns);
	json_print_integer(gen, "total_ns", split->total_ns);
	json_print_integer(gen, "unseen_ns", split->unseen_ns);
	json_print_object(gen, "split_ns");
	for (unsigned int at = 0; at < SHARE_COUNT; at++)
		json_print_integer(gen, split_share_key((enum share)at),
				   split->ns[at]);
	yajl_gen_map_close(gen);
	put_phases(gen, verdict);
	put_estimated(gen, split->is_estimated);
	yajl_gen_map_close(gen);
	json_print_list(gen, "findings");
	for (size_t at = 0; at < verdict->count; at++) {
		const struct finding *finding = &verdict->findings[at];

		yajl_gen_map_open(gen);
		json_print_text(gen, "rule", finding->rule->name);
		json_print_number(gen, "share", finding->share);
		json_print_integer(gen, "saved_ns", (int64_t)finding->saved_ns);
		json_print_text(gen, "figure",
				finding->figure ? finding->figure : "");
		json_print_text(gen, "threshold",
				finding->threshold ? finding->threshold : "");
		json_print_text(gen, "next",
				finding->next ? finding->next : "");
		if (finding->place) {
			json_print_text(gen, "place", finding->place);
			json_print_integer(gen, "at_ns", finding->at_ns);
			json_print_integer(gen, "step", finding->step);
		}
		yajl_gen_map_close(gen);
	}
	yajl_gen_array_close(gen);
}

/* What the writer says of its file, and what was added up beside it. */
static void put_sums(const struct report *report, yajl_gen gen)
{
	const struct trace_metadata *metadata = &report->metadata;

	json_print_object(gen, "heap");
	if (metadata->heap_calls >= 0) {
		put_fields(gen, metadata, heap_fields);
		json_print_bool(gen, "peak_is_least",
				trace_metadata_peak_is_least(metadata));
	}
	put_fields(gen, &report->heap_events, memory_fields);
	yajl_gen_map_close(gen);
	json_print_object(gen, "managed_memory");
	put_fields(gen, &report->managed, managed_fields);
	yajl_gen_map_close(gen);
	json_print_object(gen, "pinned");
	put_fields(gen, &report->pinned, memory_fields);
	yajl_gen_map_close(gen);
	if (metadata->seen >= 0) {
		json_print_object(gen, "account");
		put_fields(gen, metadata, account_fields);
		yajl_gen_map_close(gen);
	}
	json_print_object(gen, "cost");
	json_print_integer(gen, "hooks_ns",
			   metadata->hooks_ns > 0 ? metadata->hooks_ns : 0);
	json_print_integer(gen, "writer_ns",
			   metadata->writer_ns > 0 ? metadata->writer_ns : 0);
	yajl_gen_map_close(gen);
}

static void put_breaks(const struct report *report, yajl_gen gen)
{
	const struct report_breaks *breaks = &report->breaks;

	if (!breaks->reasons.count)
		return;
	json_print_list(gen, "graph_breaks");
	for (size_t at = 0; at < breaks->reasons.count; at++) {
		const struct report_break *found = report_break(breaks, at);

		yajl_gen_map_open(gen);
		json_print_text(gen, "reason",
				key_table_key(&breaks->reasons, at, NULL));
		json_print_integer(gen, "compilations", found->count);
		json_print_integer(gen, "in_vain_ns", found->in_vain_ns);
		yajl_gen_map_close(gen);
	}
	yajl_gen_array_close(gen);
}

/* With samples `report --hot` has them, and more of each. */
static void put_threads(const struct report *report, yajl_gen gen)
{
	const struct hot_tasks *tasks = &report->tasks;

	if (report->metadata.sample || !tasks->count)
		return;
	json_print_list(gen, "threads");
	for (size_t at = 0; at < tasks->count; at++) {
		const struct hot_task *task = &tasks->rows[at];

		yajl_gen_map_open(gen);
		json_print_text(gen, "name", task->name);
		json_print_integer(gen, "tid", task->tid);
		json_print_integer(gen, "ran_ns", task->ran_ns);
		json_print_integer(gen, "ready_ns", task->ready_ns);
		json_print_integer(gen, "wall_ns", task->wall_ns);
		yajl_gen_map_close(gen);
	}
	yajl_gen_array_close(gen);
}

static void put_report(const struct report *report, yajl_gen gen)
{
	struct json_print print = {report, &report->tally, gen};

	json_print_text(gen, "file", report->file);
	if (report->warning)
		json_print_text(gen, "warning", report->warning);
	json_print_integer(gen, "events", (int64_t)report->facts.events);
	json_print_integer(gen, "wall_ns", report_wall_ns(report));
	json_print_object(gen, "steps");
	json_print_integer(gen, "count", report->steps.count);
	if (report->steps.count)
		put_fields(gen, &report->steps, steps_fields);
	yajl_gen_map_close(gen);
	put_judged(report, gen);
	put_regions(report, gen);
	json_print_list(gen, "categories");
	tally_categories(&report->tally, put_category, &print);
	print.tally = &report->side;
	tally_categories(&report->side, put_category, &print);
	yajl_gen_array_close(gen);
	if (report->metadata.detail_ended_ns >= 0) {
		json_print_integer(
			gen, "detail_ended_ns",
			saturate_subtract(report->metadata.detail_ended_ns,
					  report_start_ns(report)));
		json_print_list(gen, "whole_window");
		print.tally = &report->exact;
		tally_categories(&report->exact, put_category, &print);
		yajl_gen_array_close(gen);
	}
	if (report->metadata.python_ended_ns >= 0)
		json_print_integer(
			gen, "python_ended_ns",
			saturate_subtract(report->metadata.python_ended_ns,
					  report_start_ns(report)));
	if (report->choice.tree)
		put_tree(report, gen);
	put_devices(report, gen);
	put_streams(report, gen);
	put_breaks(report, gen);
	put_blas(report, gen);
	put_threads(report, gen);
	put_sums(report, gen);
	put_lines(gen, "notes", report->notes, report->note_count);
	put_lines(gen, "remarks", report->remarks, report->remark_count);
}

void report_print_json(const struct report *report, FILE *out)
{
	yajl_gen gen = json_print_begin(out, true);

	put_report(report, gen);
	json_print_end(gen);
}

#else

/* Without yajl nothing was read. */
void report_print_json(const struct report *report, FILE *out)
{
	(void)report;
	(void)out;
}

#endif
