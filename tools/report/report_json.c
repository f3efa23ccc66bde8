/* SPDX-License-Identifier: MIT */
/*
 * report_json.c - the report for programs: one object a file, times in
 * nanoseconds.
 */
#ifdef HAVE_YAJL

#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_gen.h>

#include "tools/report/report.h"
#include "tools/util/utf8.h"

struct json_print {
	const struct report *report;
	const struct tally *tally;
	yajl_gen gen;
};

/* What is not UTF-8 in a name becomes '?': the output shall be JSON. */
static void put_text(yajl_gen gen, const char *text)
{
	char *copy = strdup(text);
	size_t len = copy ? strlen(copy) : 0;

	for (size_t at = 0; at < len;) {
		const size_t step = utf8_sequence(copy + at, len - at);

		if (!step)
			copy[at] = '?';
		at += step ? step : 1;
	}
	yajl_gen_string(gen, (const unsigned char *)(copy ? copy : ""), len);
	free(copy);
}

static void put_pair(yajl_gen gen, const char *key, const char *text)
{
	put_text(gen, key);
	put_text(gen, text);
}

static void put_number(yajl_gen gen, const char *key, int64_t value)
{
	put_text(gen, key);
	yajl_gen_integer(gen, value);
}

static void put_total(yajl_gen gen, const struct total *row)
{
	yajl_gen_map_open(gen);
	put_pair(gen, "name", row->name);
	put_number(gen, "calls", (int64_t)row->calls);
	put_number(gen, "total_ns", row->total_ns);
	put_number(gen, "avg_ns", row->total_ns / (int64_t)row->calls);
	put_number(gen, "min_ns", row->min_ns);
	put_number(gen, "max_ns", row->max_ns);
	if (row->bytes)
		put_number(gen, "bytes", (int64_t)row->bytes);
	yajl_gen_map_close(gen);
}

static void put_category(void *arg, const char *category)
{
	const struct json_print *print = arg;
	const struct report_choice *choice = &print->report->choice;
	struct total *rows;
	size_t count;

	rows = tally_list(print->tally, category, choice->order, &count);
	yajl_gen_map_open(print->gen);
	put_pair(print->gen, "category", category);
	put_text(print->gen, "names");
	yajl_gen_array_open(print->gen);
	for (size_t at = 0; at < count; at++)
		if (!choice->top || at < choice->top)
			put_total(print->gen, &rows[at]);
	yajl_gen_array_close(print->gen);
	yajl_gen_map_close(print->gen);
	free(rows);
}

static void put_regions(const struct report *report, yajl_gen gen)
{
	put_text(gen, "regions");
	yajl_gen_array_open(gen);
	for (size_t at = 0; at < report->region_count; at++) {
		const struct region_total *region = &report->region_list[at];

		yajl_gen_map_open(gen);
		put_pair(gen, "name", region->name);
		put_number(gen, "calls", (int64_t)region->calls);
		put_number(gen, "team_min", region->team_min);
		put_number(gen, "team_max", region->team_max);
		put_number(gen, "elapsed_ns", region->elapsed_ns);
		put_number(gen, "work_ns", region->work_ns);
		put_number(gen, "wait_ns", region->wait_ns);
		put_number(gen, "uneven_ns", region->uneven_ns);
		put_text(gen, "max_over_mean");
		yajl_gen_double(gen, region->imbalance);
		yajl_gen_map_close(gen);
	}
	yajl_gen_array_close(gen);
}

static void put_steps(const struct report *report, yajl_gen gen)
{
	const struct report_steps *steps = &report->steps;

	put_text(gen, "steps");
	yajl_gen_map_open(gen);
	put_number(gen, "count", (int64_t)steps->count);
	if (steps->count) {
		put_number(gen, "total_ns", steps->total_ns);
		put_number(gen, "min_ns", steps->min_ns);
		put_number(gen, "max_ns", steps->max_ns);
		put_number(gen, "slowest", steps->slowest);
	}
	yajl_gen_map_close(gen);
}

static void put_memory(yajl_gen gen, const struct report_memory *memory)
{
	put_number(gen, "event_allocs", (int64_t)memory->allocs);
	put_number(gen, "event_frees", (int64_t)memory->frees);
	put_number(gen, "event_alloc_bytes", memory->alloc_bytes);
	put_number(gen, "event_free_bytes", memory->free_bytes);
	put_number(gen, "event_peak_bytes", memory->peak_bytes);
}

static void put_heap(const struct report *report, yajl_gen gen)
{
	const struct report_heap *heap = &report->heap;

	put_text(gen, "heap");
	yajl_gen_map_open(gen);
	if (heap->calls >= 0) {
		put_number(gen, "calls", heap->calls);
		put_number(gen, "frees", heap->frees);
		put_number(gen, "bytes", heap->bytes);
		put_number(gen, "live_bytes", heap->live_bytes);
		put_number(gen, "peak_bytes", heap->peak_bytes);
	}
	put_memory(gen, &report->heap_events);
	yajl_gen_map_close(gen);
}

static void put_sums(yajl_gen gen, const int64_t sum_ns[STREAM_WORKS])
{
	put_number(gen, "kernel_ns", sum_ns[STREAM_KERNEL]);
	put_number(gen, "copy_ns", sum_ns[STREAM_COPY]);
	put_number(gen, "memset_ns", sum_ns[STREAM_FILL]);
}

static void put_streams(const struct report *report, yajl_gen gen)
{
	put_text(gen, "streams");
	yajl_gen_array_open(gen);
	for (size_t at = 0; at < report->streams.count; at++) {
		const struct stream_total *row = &report->streams.rows[at];

		yajl_gen_map_open(gen);
		put_number(gen, "device", row->device);
		put_number(gen, "stream", row->stream);
		put_number(gen, "busy_ns", busy_time_sum(&row->busy));
		put_number(gen, "kernels", (int64_t)row->calls[STREAM_KERNEL]);
		put_number(gen, "copies", (int64_t)row->calls[STREAM_COPY]);
		put_number(gen, "memsets", (int64_t)row->calls[STREAM_FILL]);
		put_sums(gen, row->sum_ns);
		put_number(gen, "bytes", (int64_t)row->bytes);
		yajl_gen_map_close(gen);
	}
	yajl_gen_array_close(gen);
}

static void put_devices(const struct report *report, yajl_gen gen)
{
	put_text(gen, "devices");
	yajl_gen_array_open(gen);
	for (unsigned int at = 0; at < REPORT_DEVICES_MAX; at++) {
		const struct report_device *device = &report->devices[at];

		if (!device->used && !device->memory.allocs)
			continue;
		yajl_gen_map_open(gen);
		put_number(gen, "device", at);
		put_number(gen, "busy_ns", busy_time_sum(&device->busy));
		put_sums(gen, device->sum_ns);
		put_memory(gen, &device->memory);
		yajl_gen_map_close(gen);
	}
	yajl_gen_array_close(gen);
}

static void put_account(const struct report *report, yajl_gen gen)
{
	const struct event_account *account = &report->account;

	if (account->seen < 0)
		return;
	put_text(gen, "account");
	yajl_gen_map_open(gen);
	put_number(gen, "seen", account->seen);
	put_number(gen, "written", account->written);
	put_number(gen, "cut", account->cut);
	put_number(gen, "dropped", account->dropped);
	put_number(gen, "unrecorded_calls", account->unrecorded_calls);
	yajl_gen_map_close(gen);
}

static void put_cost(const struct report *report, yajl_gen gen)
{
	put_text(gen, "cost");
	yajl_gen_map_open(gen);
	put_number(gen, "hooks_ns", report->cost.hooks_ns);
	put_number(gen, "writer_ns", report->cost.writer_ns);
	yajl_gen_map_close(gen);
}

static void put_tree(const struct report *report, yajl_gen gen)
{
	const struct scope_tree *tree = &report->tree;

	put_text(gen, "scopes");
	yajl_gen_array_open(gen);
	for (size_t at = 0; at < tree->node_count; at++) {
		const struct scope_node *node = &tree->nodes[at];

		yajl_gen_map_open(gen);
		put_number(gen, "depth", node->depth);
		put_pair(gen, "name",
			 name_table_text(&tree->names, node->name, NULL));
		put_number(gen, "calls", (int64_t)node->calls);
		put_number(gen, "total_ns", node->total_ns);
		put_number(gen, "self_ns", node->self_ns);
		yajl_gen_map_close(gen);
	}
	yajl_gen_array_close(gen);
}

static void put_lines(yajl_gen gen, const char *key, char *const *lines,
		      size_t count)
{
	put_text(gen, key);
	yajl_gen_array_open(gen);
	for (size_t at = 0; at < count; at++)
		put_text(gen, lines[at]);
	yajl_gen_array_close(gen);
}

static void put_report(const struct report *report, yajl_gen gen)
{
	struct json_print print = {report, &report->tally, gen};

	yajl_gen_map_open(gen);
	put_pair(gen, "file", report->file);
	put_number(gen, "events", (int64_t)report->facts.events);
	put_number(gen, "wall_ns", report_wall_ns(report));
	put_steps(report, gen);
	put_regions(report, gen);
	put_text(gen, "categories");
	yajl_gen_array_open(gen);
	tally_categories(&report->tally, put_category, &print);
	yajl_gen_array_close(gen);
	if (report->detail_ended_ns >= 0) {
		put_number(gen, "detail_ended_ns", report->detail_ended_ns);
		put_text(gen, "whole_window");
		yajl_gen_array_open(gen);
		print.tally = &report->exact;
		tally_categories(&report->exact, put_category, &print);
		yajl_gen_array_close(gen);
	}
	if (report->choice.tree)
		put_tree(report, gen);
	put_devices(report, gen);
	put_streams(report, gen);
	put_heap(report, gen);
	put_account(report, gen);
	put_cost(report, gen);
	put_lines(gen, "notes", report->notes, report->note_count);
	put_lines(gen, "verdict", report->verdict, report->verdict_count);
	yajl_gen_map_close(gen);
}

void report_print_json(const struct report *report, FILE *out)
{
	yajl_gen gen = yajl_gen_alloc(NULL);
	const unsigned char *text;
	size_t len;

	if (!gen)
		return;
	yajl_gen_config(gen, yajl_gen_beautify, 1);
	yajl_gen_config(gen, yajl_gen_indent_string, "  ");
	put_report(report, gen);
	if (yajl_gen_get_buf(gen, &text, &len) == yajl_gen_status_ok)
		fwrite(text, 1, len, out);
	yajl_gen_free(gen);
}

#endif
