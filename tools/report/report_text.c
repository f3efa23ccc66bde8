/* SPDX-License-Identifier: MIT */
/*
 * report_text.c - the report as tables.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/util/numbers.h"
#include "tools/report/report.h"
#include "tools/util/short_name.h"
#include "tools/util/table.h"
#include "tools/util/text_wrap.h"

/* Of the report that is printed: --long, and a terminal where all of a name has
 * no room. */
static bool shows_whole, is_narrow, is_very_narrow;
static const struct key_table *functions;

#define NARROW	    120u
/* Below this a name has more to tell than a percentile. */
#define VERY_NARROW 100u
#define REGION	    " [omp parallel "

static const char *whole_name(const char *name)
{
	char *const *whole = key_table_find(functions, name, strlen(name));

	return whole ? *whole : name;
}

static void name_cell(struct table *table, const char *name,
		      unsigned int indent)
{
	struct text_buffer text = {0};
	char *region;

	text_buffer_cut(&text, 0);
	if (!*name)
		name = "(no name)";
	if (shows_whole)
		name = whole_name(name);
	/* Of one without templates table_print() cuts the middle. */
	if (shows_whole || (is_narrow && !strchr(name, '<')))
		text_buffer_add_printable(&text, name, strlen(name), SIZE_MAX);
	else
		short_name_add(&text, name);
	region = is_narrow ? strstr(text.data, REGION) : NULL;
	if (region) /* " [#1]" */
		memmove(region + 2, region + strlen(REGION),
			strlen(region + strlen(REGION)) + 1);
	table_cell(table, "%*s%s", (int)indent, "", text.data);
	text_buffer_free(&text);
}

static struct table *new_table(const char *const *headers, size_t columns)
{
	return table_new(shows_whole ? TABLE_WHOLE : TABLE_NUMBERS, headers,
			 columns);
}

static void time_cell(struct table *table, double ns)
{
	table_cell(table, "%s", quantity_time(ns).text);
}

/* What is wrong with the file comes before all that it says. */
static void print_file(const struct report *report, FILE *out)
{
	if (report->choice.is_one_of_many)
		fprintf(out, "%s\n", report->file);
	if (report->warning)
		text_wrap_print(out, 2, "%s\n", report->warning);
}

/* An event that was recorded may be several entries, a slice with its arrows
 * and counters; names of lanes and steps are of none. */
static void print_facts(const struct report *report, FILE *out)
{
	const int64_t entries = (int64_t)report->facts.events;
	const int64_t recorded = report->metadata.in_file;
	char more[64] = "";

	if (recorded >= 0)
		snprintf(more, sizeof(more), "%" PRId64 " recorded event%s, ",
			 recorded, plural(recorded));
	text_wrap_print(out, 2, "%s%" PRId64 " %s, %s\n", more, entries,
			recorded < 0   ? entries == 1 ? "event" : "events"
			: entries == 1 ? "entry in the file"
				       : "entries in the file",
			quantity_time((double)report_wall_ns(report)).text);
	for (size_t at = 0; at < report->note_count; at++)
		text_wrap_print(out, 2, "note: %s\n", report->notes[at]);
	if (report->metadata.is_recovered)
		fputs("note: recovered after the program's death\n", out);
}

static void print_steps(const struct report *report, FILE *out)
{
	const struct report_steps *steps = &report->steps;
	const int64_t whole = steps->count - steps->cut;
	char cut[60] = "";

	if (!steps->count)
		return;
	if (steps->cut && whole)
		snprintf(cut, sizeof(cut), " (%" PRId64 " cut by the end)",
			 steps->cut);
	text_wrap_print(out, 2,
			"\nSteps: %" PRId64
			"%s, mean %s, min %s, max %s (step %" PRId64 ")\n",
			steps->count, cut,
			quantity_time((double)steps->total_ns /
				      (double)(whole ? whole : steps->count))
				.text,
			quantity_time((double)steps->min_ns).text,
			quantity_time((double)steps->max_ns).text,
			steps->slowest);
}

/* A time that may be an estimate. */
static void guess_cell(struct table *table, double ns, bool is_estimated)
{
	table_cell(table, "%s%s", is_estimated ? "~" : "",
		   quantity_time(ns).text);
}

static void region_row(struct table *table, const struct region_total *region)
{
	const double wait = (double)region->wait_ns;

	if (region->calls)
		table_cell(table, "%" PRId64, region->calls);
	else /* only parts of it are in the file */
		table_cell(table, "-");
	if (region->team_min == region->team_max)
		table_cell(table, "%" PRId64, region->team_max);
	else
		table_cell(table, "%" PRId64 "-%" PRId64, region->team_min,
			   region->team_max);
	time_cell(table, (double)region->elapsed_ns);
	guess_cell(table, (double)region->work_ns, region->is_estimated);
	guess_cell(table, wait, region->is_estimated);
	table_cell(table, "%s",
		   quantity_share(wait, (double)region->work_ns + wait).text);
	if (region->imbalance > 0)
		table_cell(table, "%.2f", region->imbalance);
	else
		table_cell(table, "-");
	name_cell(table, region->name, 0);
}

static void print_regions(const struct report *report, FILE *out)
{
	static const char *const headers[] = {
		"calls", "team",   "elapsed",  "work",
		"wait",	 "wait %", "max/mean", "OpenMP region"};
	const size_t top = report->choice.top;
	struct table *table;

	if (!report->region_count)
		return;
	fputc('\n', out);
	table = new_table(headers, 8);
	for (size_t at = 0; at < report->region_count; at++)
		if (!top || at < top)
			region_row(table, &report->region_list[at]);
	table_print(table, out);
	if (top && report->region_count > top)
		text_wrap_print(out, 2, "and %zu more regions\n",
				report->region_count - top);
	if (report->metadata.thinned > 0)
		text_wrap_print(out, 2,
				"~ estimated: %" PRId64
				" calls were counted and timed, but not drawn "
				"(TRACEPROF_MAX_OVERHEAD)\n",
				report->metadata.thinned);
	report_print_short(report, out);
}

static bool is_gpu(const char *category)
{
	return !strcmp(category, "kernel") || !strcmp(category, "gpu_memcpy") ||
	       !strcmp(category, "gpu_memset");
}

/* Which columns a table has. */
struct columns {
	bool bytes, self, gpu, gpu_self, each, p95, wide;
	const char *headers[16];
	size_t count;
};

static void set_headers(struct columns *columns, bool on_gpu, const char *title)
{
	const struct {
		bool is_there;
		const char *header;
	} all[] = {
		{true, "calls"},
		{true, "total"},
		{columns->self, "self"},
		{columns->gpu, "GPU"},
		{columns->gpu_self, "GPU self"},
		{columns->each, "avg"},
		{columns->wide, "median"},
		{columns->p95, "p95"},
		{columns->wide, "p99"},
		{columns->wide, "min"},
		{columns->each, "max"},
		{columns->wide, "stddev"},
		{true, on_gpu ? "% GPU" : "% wall"},
		{columns->bytes, "bytes"},
		{columns->bytes, "rate"},
		{true, title},
	};

	columns->count = 0;
	for (size_t at = 0; at < sizeof(all) / sizeof(all[0]); at++)
		if (all[at].is_there)
			columns->headers[columns->count++] = all[at].header;
}

static void optional_cell(struct table *table, bool is_there, double ns)
{
	if (is_there)
		time_cell(table, ns);
}

/* Of calls that somebody else counted this isn't known. */
static void known_cell(struct table *table, bool is_there,
		       const struct total *row, double ns)
{
	if (row->histogram)
		optional_cell(table, is_there, ns);
	else if (is_there)
		table_cell(table, "-");
}

static void total_row(struct table *table, const struct total *row,
		      double whole, const struct columns *columns)
{
	table_cell(table, "%s%" PRId64, row->is_estimated ? "~" : "",
		   row->calls);
	guess_cell(table, (double)row->total_ns, row->is_estimated);
	if (columns->self && row->self_ns < 0)
		table_cell(table, "-");
	else
		optional_cell(table, columns->self, (double)row->self_ns);
	optional_cell(table, columns->gpu, (double)row->gpu_ns);
	optional_cell(table, columns->gpu_self, (double)row->gpu_self_ns);
	optional_cell(table, columns->each,
		      (double)row->sum_ns / (double)row->calls);
	known_cell(table, columns->wide, row,
		   (double)total_quantile_ns(row, 0.5));
	known_cell(table, columns->p95, row,
		   (double)total_quantile_ns(row, 0.95));
	known_cell(table, columns->wide, row,
		   (double)total_quantile_ns(row, 0.99));
	optional_cell(table, columns->wide, (double)row->min_ns);
	optional_cell(table, columns->each, (double)row->max_ns);
	known_cell(table, columns->wide, row, total_deviation_ns(row));
	table_cell(table, "%s",
		   quantity_share((double)row->total_ns, whole).text);
	if (columns->bytes) {
		table_cell(table, "%s",
			   quantity_bytes((double)row->bytes).text);
		table_cell(
			table, "%s",
			quantity_rate((double)row->bytes, (double)row->total_ns)
				.text);
	}
	name_cell(table, row->name, 0);
}

struct category_print {
	const struct report *report;
	const struct tally *tally;
	FILE *out;
};

static void choose_columns(struct columns *columns,
			   const struct category_print *print,
			   const char *category, const struct total *rows,
			   size_t count)
{
	const bool is_tally = print->tally == &print->report->tally;
	bool differs = false;

	*columns = (struct columns){.wide = print->report->choice.wide};
	columns->bytes =
		(is_gpu(category) && strcmp(category, "kernel") != 0) ||
		!strcmp(category, REPORT_PEERS);
	/* From where to where a copy goes stands in its name. */
	columns->each = columns->wide || !columns->bytes || !is_very_narrow;
	columns->p95 = columns->wide || (!columns->bytes && !is_very_narrow);
	for (size_t at = 0; at < count; at++) {
		columns->self |= is_tally && rows[at].self_ns >= 0;
		columns->gpu |= rows[at].gpu_ns > 0;
		columns->gpu_self |= rows[at].gpu_self_ns > 0;
		differs |= rows[at].gpu_self_ns != rows[at].gpu_ns;
	}
	columns->gpu_self &= differs && !is_very_narrow;
}

/* Totals are sums of all threads. */
static void explain_share(const struct total *rows, size_t count, double whole,
			  FILE *out)
{
	bool exceeds = false;

	for (size_t at = 0; at < count; at++)
		exceeds |= (double)rows[at].total_ns > whole;
	if (exceeds && whole > 0)
		text_wrap_print(out, 2,
				"above 100 %% of the wall: what is done at the "
				"same time, by several threads say, adds up\n");
}

static void print_category(void *arg, const char *category)
{
	const struct category_print *print = arg;
	const struct report *report = print->report;
	const size_t top = report->choice.top;
	const bool on_gpu = is_gpu(category);
	const double whole = (double)(on_gpu ? report_gpu_ns(report)
					     : report_wall_ns(report));
	struct columns columns;
	struct table *table;
	struct total *rows;
	size_t count;

	/* Events are moments, counted with the calls that record them. */
	if (!strcmp(category, REPORT_MEMBERS) ||
	    !strcmp(category, "cuda_event"))
		return;
	rows = tally_list(print->tally, category, report->choice.order, &count);
	choose_columns(&columns, print, category, rows, count);
	set_headers(&columns, on_gpu, category[0] ? category : "(no category)");
	fputc('\n', print->out);
	table = new_table(columns.headers, columns.count);
	for (size_t at = 0; at < count; at++)
		if (!top || at < top)
			total_row(table, &rows[at], whole, &columns);
	table_print(table, print->out);
	if (top && count > top)
		text_wrap_print(print->out, 2, "and %zu more names\n",
				count - top);
	explain_share(rows, top && top < count ? top : count, whole,
		      print->out);
	free(rows);
}

/* Past the size limit a file has no events, but still exact sums. */
static void print_exact(const struct report *report, FILE *out)
{
	struct category_print print = {report, &report->exact, out};

	if (report->metadata.detail_ended_ns < 0)
		return;
	text_wrap_print(
		out, 2,
		"\nThe events end %s after the start, where the file had "
		"reached its size limit.  Sums of the whole window:\n",
		quantity_time((double)(report->metadata.detail_ended_ns -
				       report_start_ns(report)))
			.text);
	tally_categories(&report->exact, print_category, &print);
}

/* Of blocks that were thinned. */
static void print_sampled(const struct report *report, FILE *out)
{
	for (size_t at = 0; at < report->sampled.count; at++) {
		const struct trace_sampled_row *row = &report->sampled.rows[at];

		if (row->part && row->share && trace_sampled_is_heap(row))
			text_wrap_print(out, 2,
					"  %" PRId64 " of %" PRId64
					" %s are events: of small blocks %s "
					"(TRACEPROF_MAX_OVERHEAD)\n",
					row->drawn, row->seen,
					strcmp(row->part, "free")
						? "allocations"
						: "frees",
					row->share);
	}
}

/* An event tells what other threads had sometime before or after it. */
static int64_t highest_total(const struct report_memory *events,
			     const struct trace_metadata *heap)
{
	return heap->heap_peak_bytes >= 0 &&
			       heap->heap_peak_bytes < events->peak_bytes
		       ? heap->heap_peak_bytes
		       : events->peak_bytes;
}

static int64_t known(int64_t number)
{
	return number > 0 ? number : 0;
}

static void print_heap(const struct report *report, FILE *out)
{
	const struct report_memory *events = &report->heap_events;
	const struct trace_metadata *heap = &report->metadata;
	const int64_t calls = heap->heap_calls + known(heap->heap_calls_before);
	const int64_t frees = heap->heap_frees + known(heap->heap_frees_before);

	if (heap->heap_calls >= 0)
		text_wrap_print(
			out, 2,
			"\nHeap: %" PRId64 " allocation%s of %s %s, %" PRId64
			" free%s,\n  peak %s%s, live at the end %s\n",
			calls, plural(calls),
			quantity_bytes((double)(heap->heap_bytes +
						known(heap->heap_bytes_before)))
				.text,
			trace_metadata_is_windowed(heap)
				? "until this file was finished"
			: heap->heap_calls_before >= 0 ? "in all"
						       : "while recorded",
			frees, plural(frees),
			trace_metadata_peak_is_least(heap) ? "at least " : "",
			quantity_bytes((double)heap->heap_peak_bytes).text,
			quantity_bytes((double)heap->heap_live_bytes).text);
	if (heap->heap_asked_bytes >= 0)
		text_wrap_print(
			out, 2, "  sizes of blocks; asked for were %s\n",
			quantity_bytes((double)(heap->heap_asked_bytes +
						known(heap->heap_asked_before)))
				.text);
	if (heap->heap_calls_before > 0)
		text_wrap_print(
			out, 2,
			"  before the recording: %" PRId64
			" allocation%s of %s, %" PRId64 " free%s\n",
			heap->heap_calls_before,
			plural(heap->heap_calls_before),
			quantity_bytes((double)heap->heap_bytes_before).text,
			heap->heap_frees_before,
			plural(heap->heap_frees_before));
	if (events->allocs || events->frees)
		text_wrap_print(
			out, 2,
			"%sHeap events: %" PRId64
			" allocation%s of %s, %" PRId64
			" free%s of %s,\n  highest total %s\n",
			heap->heap_calls >= 0 ? "" : "\n", events->allocs,
			plural(events->allocs),
			quantity_bytes((double)events->alloc_bytes).text,
			events->frees, plural(events->frees),
			quantity_bytes((double)events->free_bytes).text,
			quantity_bytes((double)highest_total(events, heap))
				.text);
	print_sampled(report, out);
}

static void print_pinned(const struct report_memory *pinned, FILE *out)
{
	if (pinned->allocs || pinned->frees)
		text_wrap_print(
			out, 2,
			"\nPinned host memory: %" PRId64
			" blocks of %s, %" PRId64
			" frees of %s, highest total %s\n",
			pinned->allocs,
			quantity_bytes((double)pinned->alloc_bytes).text,
			pinned->frees,
			quantity_bytes((double)pinned->free_bytes).text,
			quantity_bytes((double)pinned->peak_bytes).text);
}

/* The thread's name after "pid tid", when the file gives one. */
static void root_cell(const struct report *report, struct table *table,
		      uint32_t number)
{
	const struct report_lane *lane =
		key_table_row(&report->lanes.table, number);

	table_cell(table, "pid, tid %s%s%s",
		   key_table_key(&report->lanes.table, number, NULL),
		   lane->label ? ": " : "", lane->label ? lane->label : "");
}

static void node_row(const struct report *report, struct table *table,
		     const struct scope_node *node, double whole)
{
	if (node->depth)
		table_cell(table, "%" PRId64, node->calls);
	else
		table_cell(table, "-");
	time_cell(table, (double)node->total_ns);
	if (node->depth)
		time_cell(table, (double)node->self_ns);
	else
		table_cell(table, "-");
	table_cell(table, "%s",
		   quantity_share((double)node->total_ns, whole).text);
	if (node->depth)
		name_cell(table,
			  key_table_key(&report->tree.names, node->name, NULL),
			  node->depth * 2);
	else
		root_cell(report, table, node->name);
}

static void print_tree(const struct report *report, FILE *out)
{
	static const char *const headers[] = {"calls", "total", "self",
					      "% of thread", "scopes"};
	const struct scope_tree *tree = &report->tree;
	struct table *table = new_table(headers, 5);
	double whole = 0;

	fputc('\n', out);
	for (size_t at = 0; at < tree->printed_count; at++) {
		if (!tree->printed[at]->depth)
			whole = (double)tree->printed[at]->total_ns;
		node_row(report, table, tree->printed[at], whole);
	}
	table_print(table, out);
}

static void print_device(const struct report *report, unsigned int number,
			 FILE *out)
{
	const double wall = (double)report_wall_ns(report);
	const struct report_device *device = &report->devices[number];
	const struct report_memory *memory = &device->memory;
	const double busy = (double)busy_time_sum(&device->busy);

	/* In a window a GPU may be behind: it works later on. */
	if (report_is_used(device) && busy > wall)
		text_wrap_print(
			out, 2,
			"\nGPU %u: busy %s with what was launched in %s; "
			"kernels %s, copies %s and memsets %s, summed over "
			"streams\n",
			number, quantity_time(busy).text,
			quantity_time(wall).text,
			quantity_time((double)device->sum_ns[WORK_KERNEL]).text,
			quantity_time((double)device->sum_ns[WORK_COPY]).text,
			quantity_time((double)device->sum_ns[WORK_FILL]).text);
	else if (report_is_used(device))
		text_wrap_print(
			out, 2,
			"\nGPU %u: busy %s of the time; kernels %s, copies %s "
			"and memsets %s, summed over streams\n",
			number, quantity_share(busy, wall).text,
			quantity_time((double)device->sum_ns[WORK_KERNEL]).text,
			quantity_time((double)device->sum_ns[WORK_COPY]).text,
			quantity_time((double)device->sum_ns[WORK_FILL]).text);
	if (device->throttled_ns)
		text_wrap_print(
			out, 2, "GPU %u was throttled %s of the time: %s\n",
			number,
			quantity_share((double)device->throttled_ns, wall).text,
			device->throttling);
	if (memory->allocs)
		text_wrap_print(
			out, 2,
			"GPU %u memory: %" PRId64 " allocations, %" PRId64
			" frees, peak %s\n",
			number, memory->allocs, memory->frees,
			quantity_bytes((double)memory->peak_bytes).text);
	if (memory->reserved_bytes > memory->peak_bytes)
		text_wrap_print(
			out, 2,
			"GPU %u: the program's allocator held %s at most\n",
			number,
			quantity_bytes((double)memory->reserved_bytes).text);
}

static void stream_row(struct table *table, const struct report_device *row,
		       double wall)
{
	const double busy = (double)busy_time_sum(&row->busy);
	const int64_t moving = row->sum_ns[WORK_COPY];

	table_cell(table, "%s", quantity_time(busy).text);
	if (!is_very_narrow)
		table_cell(table, "%s", quantity_share(busy, wall).text);
	for (int work = 0; work < WORK_COUNT; work++)
		table_cell(table, "%" PRId64, row->calls[work]);
	table_cell(table, "%s",
		   quantity_time((double)row->sum_ns[WORK_KERNEL]).text);
	table_cell(table, "%s", quantity_time((double)moving).text);
	table_cell(table, "%s", quantity_bytes((double)row->bytes).text);
	table_cell(table, "GPU %" PRId64 " stream %" PRId64, row->device,
		   row->stream);
}

static void print_streams(const struct report *report, FILE *out)
{
	static const char *const all[] = {"busy",      "% wall",  "kernels",
					  "copies",    "memsets", "kernel time",
					  "copy time", "bytes",	  "stream"};
	static const char *const few[] = {"busy",    "kernels",	    "copies",
					  "memsets", "kernel time", "copy time",
					  "bytes",   "stream"};
	const double wall = (double)report_wall_ns(report);
	const size_t count = report->streams.count;
	const struct report_device **streams;
	const size_t top = report->choice.top;
	struct table *table;

	if (!count)
		return;
	streams = report_streams(report);
	fputc('\n', out);
	table = is_very_narrow ? new_table(few, 8) : new_table(all, 9);
	for (size_t at = 0; at < count; at++)
		if (!top || at < top)
			stream_row(table, streams[at], wall);
	table_print(table, out);
	if (top && count > top)
		text_wrap_print(out, 2, "and %zu more streams\n", count - top);
	free(streams);
}

static void print_gpus(const struct report *report, FILE *out)
{
	print_streams(report, out);
	for (unsigned int at = 0; at < REPORT_DEVICES_MAX; at++)
		print_device(report, at, out);
}

static void print_cost(const struct report *report, FILE *out)
{
	const struct trace_metadata *cost = &report->metadata;

	if (cost->hooks_ns <= 0 && cost->writer_ns <= 0)
		return;
	text_wrap_print(
		out, 2,
		"\nRecording took %s in the program's threads, %s in the "
		"writer's\n",
		quantity_time((double)cost->hooks_ns).text,
		quantity_time((double)cost->writer_ns).text);
}

void report_print_text(const struct report *report, FILE *out)
{
	struct category_print print = {report, &report->tally, out};

	const unsigned int columns = report->choice.columns;

	print_file(report, out);
	verdict_print(&report->judged, VERDICT_LINES_ALL,
		      columns && columns < 80 ? columns : 80, out);
	fputc('\n', out);
	if (!report->choice.is_one_of_many)
		fprintf(out, "%s\n", report->file);
	print_facts(report, out);
	print_steps(report, out);
	shows_whole = report->choice.whole;
	functions = &report->functions;
	is_narrow = !shows_whole && columns && columns < NARROW;
	is_very_narrow = is_narrow && columns < VERY_NARROW;
	if (report->choice.tree) {
		print_tree(report, out);
	} else {
		print_regions(report, out);
		tally_categories(&report->tally, print_category, &print);
		print_exact(report, out);
		report_print_python_end(report, out);
		print.tally = &report->side;
		tally_categories(&report->side, print_category, &print);
	}
	report_breaks_print(&report->breaks, report->choice.top, out);
	report_blas_print(&report->blas, report->choice.top, out);
	print_gpus(report, out);
	if (!report->metadata.sample)
		hot_tasks_print(&report->tasks, report->choice.top, out);
	print_heap(report, out);
	print_pinned(&report->pinned, out);
	report_print_losses(report, out);
	print_cost(report, out);
	if (report->remark_count)
		fputc('\n', out);
	for (size_t at = 0; at < report->remark_count; at++)
		text_wrap_print(out, 2, "%s\n", report->remarks[at]);
}
