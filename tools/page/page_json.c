/* SPDX-License-Identifier: MIT */
/*
 * page_json.c - what page.js draws, as JSON.
 *
 * Shares of a bin are in percent.  Times are milliseconds from the start.
 */
#include "tools/page/page.h"

#ifdef HAVE_YAJL

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/model/statistics.h"
#include "tools/util/json_print.h"
#include "tools/util/memory.h"

#define BIN_SAMPLES (PAGE_SAMPLES / PAGE_BINS)

/* null where it isn't known. */
static void number(yajl_gen gen, double value)
{
	char text[40];
	const int len = snprintf(text, sizeof(text), "%.10g", value);

	if (isfinite(value))
		yajl_gen_number(gen, text, (size_t)len);
	else
		yajl_gen_null(gen);
}

static double since_ms(const struct page *page, int64_t ns)
{
	return (double)(ns - page->start_ns) / 1e6;
}

static void add_shares(yajl_gen gen, const struct page_lane *lane)
{
	static const char *const words[] = {
#define X(name, text) #name,
		PAGE_CLASSES(X)
#undef X
	};
	unsigned int sums[PAGE_BINS][CLASS_COUNT] = {{0}};
	bool used[CLASS_COUNT] = {false};

	for (size_t at = 0; at < PAGE_SAMPLES; at++) {
		const unsigned char class = lane->classes[at];

		sums[at / BIN_SAMPLES][class]++;
		used[class] = true;
	}
	json_print_object(gen, "shares");
	for (int class = CLASS_MARKED; class < CLASS_COUNT; class ++) {
		if (!used[class])
			continue;
		json_print_list(gen, words[class]);
		for (size_t bin = 0; bin < PAGE_BINS; bin++)
			yajl_gen_integer(gen, (sums[bin][class] * 100 +
					       BIN_SAMPLES / 2) /
						      BIN_SAMPLES);
		yajl_gen_array_close(gen);
	}
	yajl_gen_map_close(gen);
}

static void add_lane(yajl_gen gen, const struct page_lane *lane)
{
	char text[64];

	snprintf(text, sizeof(text),
		 lane->is_device ? "GPU %lld" : "thread %lld",
		 (long long)(lane->is_device ? lane->pid : lane->tid));
	yajl_gen_map_open(gen);
	json_print_text(gen, "name", lane->label ? lane->label : text);
	json_print_bool(gen, "gpu", lane->is_gpu);
	json_print_bool(gen, "device", lane->is_device);
	json_print_number(gen, "used", (double)lane->used / PAGE_SAMPLES);
	add_shares(gen, lane);
	yajl_gen_map_close(gen);
}

static void add_lanes(yajl_gen gen, const struct page *page, size_t most)
{
	size_t count;
	const struct page_lane **lanes = page_lanes(page, &count);

	json_print_list(gen, "lanes");
	for (size_t at = 0; at < count && at < most; at++)
		add_lane(gen, lanes[at]);
	yajl_gen_array_close(gen);
	json_print_number(gen, "lanes_left_out",
			  (double)(page->lanes_left_out > 0) +
				  (double)(count > most ? count - most : 0));
	free(lanes);
}

static int compare_doubles(const void *left, const void *right)
{
	const double a = *(const double *)left, b = *(const double *)right;

	return a < b ? -1 : a > b;
}

/* [number of the first, its start, shortest, median, longest] of each group. */
static void add_groups(yajl_gen gen, const struct page *page, size_t most)
{
	const size_t size = (page->step_count + most - 1) / most;
	double *values = memory_zeroed(size + 1, sizeof(*values));

	json_print_integer(gen, "group", (int64_t)size);
	json_print_list(gen, "points");
	for (size_t at = 0; at < page->step_count; at += size) {
		size_t count = 0;

		for (size_t i = at; i < at + size && i < page->step_count; i++)
			values[count++] = (double)page->steps[i].dur_ns / 1e6;
		qsort(values, count, sizeof(*values), compare_doubles);
		yajl_gen_array_open(gen);
		number(gen, (double)page->steps[at].number);
		number(gen, since_ms(page, page->steps[at].start_ns));
		number(gen, values[0]);
		number(gen, statistics_median(values, count));
		number(gen, values[count - 1]);
		yajl_gen_array_close(gen);
	}
	yajl_gen_array_close(gen);
	free(values);
}

static void add_steps(yajl_gen gen, const struct page *page, size_t most)
{
	static const int percents[] = {5, 50, 95, 99};
	const size_t count = page->step_count;
	double *all = memory_zeroed(count + 1, sizeof(*all));
	char name[8];

	for (size_t at = 0; at < count; at++)
		all[at] = (double)page->steps[at].dur_ns / 1e6;
	json_print_object(gen, "steps");
	json_print_integer(gen, "count", (int64_t)count);
	for (size_t at = 0; count && at < 4; at++) {
		snprintf(name, sizeof(name), "p%d", percents[at]);
		json_print_number(
			gen, name,
			statistics_quantile(all, count, percents[at] / 100.0));
	}
	if (count)
		add_groups(gen, page, most);
	yajl_gen_map_close(gen);
	free(all);
}

/* Where the step went, by the verdict. */
static void add_split(yajl_gen gen, const struct split *split)
{
	json_print_list(gen, "split");
	for (int at = 0; at < SHARE_COUNT && split->total_ns > 0; at++) {
		if (split->ns[at] <= 0)
			continue;
		yajl_gen_map_open(gen);
		json_print_text(gen, "what",
				split->uses_gpu && at == SHARE_HOST
					? "host-bound"
					: split_share_text(at));
		json_print_text(gen, "key", split_share_key(at));
		json_print_number(gen, "share",
				  (double)split->ns[at] /
					  (double)split->total_ns);
		yajl_gen_map_close(gen);
	}
	yajl_gen_array_close(gen);
}

static void add_finding(yajl_gen gen, const struct page *page,
			const struct finding *finding)
{
	yajl_gen_map_open(gen);
	json_print_text(gen, "rule", finding->rule->name);
	json_print_number(gen, "share", finding->share);
	json_print_text(gen, "figure", finding->figure);
	json_print_text(gen, "threshold", finding->threshold);
	json_print_text(gen, "place", finding->place ? finding->place : "");
	json_print_text(gen, "next", finding->next ? finding->next : "");
	if (finding->at_ns != INT64_MIN)
		json_print_number(gen, "at_ms", since_ms(page, finding->at_ns));
	if (finding->step >= 0)
		json_print_integer(gen, "step", finding->step);
	yajl_gen_map_close(gen);
}

static void add_verdict(yajl_gen gen, const struct page *page)
{
	const struct verdict *verdict = &page->report.judged;

	add_split(gen, &verdict->facts.split);
	json_print_bool(gen, "estimated", verdict->facts.split.is_estimated);
	json_print_number(gen, "unseen", verdict_unseen(verdict));
	json_print_list(gen, "findings");
	for (size_t at = 0; at < verdict->count; at++)
		add_finding(gen, page, &verdict->findings[at]);
	yajl_gen_array_close(gen);
}

static void add_values(yajl_gen gen, const char *name, const double *values)
{
	json_print_list(gen, name);
	for (size_t bin = 0; bin < PAGE_BINS; bin++)
		number(gen, values[bin]);
	yajl_gen_array_close(gen);
}

/* Of memory and of what is only counted at most so many each. */
static void add_series(yajl_gen gen, const struct page *page, size_t most)
{
	size_t room[2] = {most, most}, shown = 0;

	json_print_list(gen, "series");
	for (size_t at = 0; at < page->series.count; at++) {
		const struct page_series *series =
			key_table_row(&page->series, at);

		if (!room[series->is_bytes])
			continue;
		room[series->is_bytes]--;
		shown++;
		yajl_gen_map_open(gen);
		json_print_text(gen, "name",
				key_table_key(&page->series, at, NULL));
		json_print_bool(gen, "bytes", series->is_bytes);
		json_print_number(gen, "peak", (double)series->peak);
		json_print_number(gen, "peak_ms",
				  since_ms(page, series->peak_ns));
		add_values(gen, "high", series->high);
		add_values(gen, "last", series->last);
		yajl_gen_map_close(gen);
	}
	yajl_gen_array_close(gen);
	json_print_bool(gen, "series_left_out",
			page->series_left_out || shown < page->series.count);
}

/* Not a lane beside its thread's, unless it holds the thread's samples. */
static bool is_drawn(const struct report_lane *lane, const char *key)
{
	const char *tid = strchr(key, ' ');
	const char *end = lane->label ? strrchr(lane->label, ' ') : NULL;

	return !tid || strtoll(tid, NULL, 10) < PAGE_SIDE_LANES ||
	       (end && !strcmp(end, " samples"));
}

/* [depth, name, milliseconds], each after what it is in; of narrow ones the
 * innermost are left out. */
static void add_flame(yajl_gen gen, const struct page *page, size_t rows)
{
	const struct scope_tree *tree = &page->report.tree;
	double least = 0;
	uint32_t below = UINT32_MAX;
	bool is_side = false;

	json_print_list(gen, "flame");
	for (size_t at = 0; at < tree->printed_count; at++) {
		const struct scope_node *node = tree->printed[at];
		const struct report_lane *lane =
			key_table_row(&page->report.lanes.table, node->name);

		if (!node->depth) {
			is_side = !is_drawn(
				lane, key_table_key(&page->report.lanes.table,
						    node->name, NULL));
			least = (double)node->total_ns / (double)rows / 2;
		}
		if (is_side || node->depth > below)
			continue;
		below = (double)node->total_ns < least ? node->depth
						       : UINT32_MAX;
		if (below != UINT32_MAX)
			continue;
		yajl_gen_array_open(gen);
		yajl_gen_integer(gen, node->depth);
		json_print_string(
			gen,
			node->depth
				? key_table_key(&tree->names, node->name, NULL)
			: lane->label ? lane->label
				      : key_table_key(&page->report.lanes.table,
						      node->name, NULL));
		number(gen, (double)node->total_ns / 1e6);
		yajl_gen_array_close(gen);
	}
	yajl_gen_array_close(gen);
}

static void add_facts(yajl_gen gen, const struct page *page)
{
	const char *text = page->facts.data;

	json_print_list(gen, "facts");
	for (size_t at = 0; at < page->fact_count; at++) {
		yajl_gen_array_open(gen);
		for (int part = 0; part < 2; part++) {
			json_print_string(gen, text);
			text += strlen(text) + 1;
		}
		yajl_gen_array_close(gen);
	}
	yajl_gen_array_close(gen);
}

void page_print_json(const struct page *page, size_t rows, FILE *out)
{
	yajl_gen gen = json_print_begin(out, false);

	json_print_number(gen, "wall_ms", (double)page->wall_ns / 1e6);
	json_print_integer(gen, "bins", PAGE_BINS);
	add_steps(gen, page, rows);
	add_verdict(gen, page);
	add_lanes(gen, page, rows / 16 + 1);
	add_series(gen, page, rows / 64 + 1);
	add_flame(gen, page, rows);
	add_facts(gen, page);
	json_print_end(gen);
}

#else

void page_print_json(const struct page *page, size_t rows, FILE *out)
{
	(void)page;
	(void)rows;
	(void)out;
}

#endif
