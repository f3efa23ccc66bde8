/* SPDX-License-Identifier: MIT */
/* heap_text.c - `traceprof memory` for people. */
#include "tools/memory/heap_view.h"

#include <inttypes.h>
#include <string.h>

#include "tools/memory/heap_branches.h"
#include "tools/util/numbers.h"
#include "tools/util/table.h"
#include "tools/util/text_wrap.h"

#define SHARE_OF_GROWTH 0.97

void heap_space_name(const struct heap_log *log, uint32_t space, char *text,
		     size_t bytes)
{
	const struct heap_space *of = &log->spaces[space];

	if (of->type == HEAP_TYPE_PINNED)
		snprintf(text, bytes, "pinned memory");
	else if (of->type == HEAP_TYPE_MAPPED)
		snprintf(text, bytes, "mapped by the program");
	else if (of->type == HEAP_TYPE_DRIVER)
		snprintf(text, bytes, "GPU %" PRId64 ", of the driver",
			 of->device);
	else if (!of->type)
		snprintf(text, bytes, "host memory");
	else
		snprintf(text, bytes, "GPU %" PRId64, of->device);
}

bool heap_knows_other(const struct heap_view *view, uint32_t space)
{
	const struct heap_log *log = view->log;

	/* Of some stacks of sums alone it isn't. */
	return log->has_spare && !log->spaces[space].type &&
	       !(log->row_count && log->is_left_out);
}

struct table *heap_table_new(const struct heap_view *view,
			     const char *const *headers, size_t columns)
{
	return table_new(view->is_long ? TABLE_WHOLE : TABLE_NUMBERS, headers,
			 columns);
}

static size_t shown(const struct heap_view *view, size_t count)
{
	return view->top && view->top < count ? view->top : count;
}

static struct quantity amount(enum heap_cost cost, int64_t value)
{
	struct quantity plain;

	if (cost != HEAP_COST_CALLS && cost != HEAP_COST_TEMPORARY &&
	    cost != HEAP_COST_FOREIGN)
		return quantity_bytes((double)value);
	snprintf(plain.text, sizeof(plain.text), "%" PRId64, value);
	return plain;
}

/* In a second; "6250", not "6.25e+03". */
static struct quantity rate(int64_t count, double ns)
{
	const double rate = ns > 0 ? (double)count * 1e9 / ns : 0;
	struct quantity plain;

	snprintf(plain.text, sizeof(plain.text), rate < 100 ? "%.3g" : "%.0f",
		 rate);
	return plain;
}

static int64_t blocks_of(const struct heap_row *row, enum heap_cost cost)
{
	switch (cost) {
	case HEAP_COST_PEAK: return row->peak_blocks;
	case HEAP_COST_LIVE: return row->live_blocks;
	default: return row->cost[HEAP_COST_CALLS];
	}
}

/* Where one way to a place has less than this of it, the ways are told. */
#define ONE_WAY	  0.9
#define WAYS	  4
/* ... those that have as much of the place, of places with as much of all. */
#define WAY_MIN	  0.03
#define PLACE_MIN 0.02

struct place_print {
	struct heap_view *view;
	struct table *table;
	const struct heap_row *row;
	enum heap_cost cost;
	double whole; /* what 100 % are */
	/* The cells before the last one. */
	void (*numbers)(struct place_print *print, int64_t amount,
			int64_t blocks);
};

/* " < caller < ..." of a stack's text, without the place itself. */
static const char *callers(const char *text)
{
	const char *after = strstr(text, " < ");

	return after ? after : " (nobody above it)";
}

static void print_ways(struct place_print *print,
		       const struct heap_branches *branches)
{
	const double all = (double)print->row->cost[print->cost];
	size_t left = print->row->stacks;
	size_t at;

	for (at = 0; at < branches->table.count && at < WAYS; at++) {
		const struct heap_branch *way = heap_branches_at(branches, at);

		if ((double)way->amount < WAY_MIN * all)
			break;
		print->numbers(print, way->amount, way->blocks);
		table_cell(print->table, "   %s",
			   callers(heap_branches_text(branches, at)));
		left -= way->stacks;
	}
	if (left && at) {
		print->numbers(print, INT64_MIN, 0);
		table_cell(print->table, "    and %zu more stacks", left);
	}
}

/* One row, and below it the ways that lead there, if there are several. */
static void print_place(struct place_print *print)
{
	const struct heap_row *row = print->row;
	const double all = (double)row->cost[print->cost];
	struct heap_branches branches;
	const char *text, *end;

	heap_branches_make(&branches, print->view->log, row, print->cost,
			   print->view->frames);
	text = heap_branches_text(&branches, 0);
	end = strstr(text, " < ");
	print->numbers(print, row->cost[print->cost],
		       blocks_of(row, print->cost));
	if ((double)heap_branches_at(&branches, 0)->amount >= ONE_WAY * all ||
	    all < PLACE_MIN * print->whole || print->view->frames == 1) {
		const size_t others =
			row->stacks - heap_branches_at(&branches, 0)->stacks;

		if (others)
			table_cell(print->table, "%s  (and %zu more)", text,
				   others);
		else
			table_cell(print->table, "%s", text);
	} else {
		table_cell(print->table, "%.*s, by",
			   (int)(end ? (size_t)(end - text) : strlen(text)),
			   text);
		print_ways(print, &branches);
	}
	heap_branches_free(&branches);
}

static void cost_numbers(struct place_print *print, int64_t cost,
			 int64_t blocks)
{
	if (cost == INT64_MIN) {
		for (int i = 0; i < 3; i++)
			table_cell(print->table, "%s", "");
		return;
	}
	table_cell(print->table, "%s", amount(print->cost, cost).text);
	table_cell(print->table, "%s",
		   quantity_share((double)cost, print->whole).text);
	table_cell(print->table, "%" PRId64, blocks);
}

/* The places that cost most; `whole` is what 100 % are. */
static void print_table(struct heap_view *view, uint32_t space,
			enum heap_cost cost, int64_t whole, const char *title,
			FILE *out)
{
	static const char *const headers[] = {"amount", "share", "blocks",
					      "where"};
	const size_t count = heap_rows_sort(view->rows, space, cost);
	const size_t most = shown(view, count);
	struct place_print print = {.view = view,
				    .cost = cost,
				    .whole = (double)whole,
				    .numbers = cost_numbers};

	if (!count)
		return;
	text_wrap_print(out, 2, "\n%s\n", title);
	print.table = heap_table_new(view, headers, 4);
	for (size_t i = 0; i < most; i++) {
		print.row = heap_rows_at(view->rows, i);
		print_place(&print);
	}
	table_print(print.table, out);
	if (most < count)
		text_wrap_print(out, 2, "and %zu more place%s\n", count - most,
				count - most == 1 ? "" : "s");
}

static void print_suppressed(const struct heap_view *view, uint32_t space,
			     FILE *out)
{
	int64_t bytes = 0;
	const size_t places = heap_rows_suppressed(view->rows, space, &bytes);

	if (places)
		text_wrap_print(
			out, 2,
			"\nleft out by --suppressions: %s live at the end, of "
			"%zu place%s\n",
			quantity_bytes((double)bytes).text, places,
			places == 1 ? "" : "s");
}

/* From points to what people count in. */
static double per_unit(const struct heap_view *view, double slope)
{
	const struct heap_log *log = view->log;

	if (view->account->points_are_steps || log->end_ns <= log->start_ns)
		return slope;
	return slope * (double)view->account->points * 1e9 /
	       (double)(log->end_ns - log->start_ns);
}

static const char *unit(const struct heap_view *view)
{
	return view->account->points_are_steps ? "step" : "second";
}

static void growth_numbers(struct place_print *print, int64_t slope,
			   int64_t blocks)
{
	const struct heap_row *row = print->row;
	const struct heap_view *view = print->view;
	char text[80] = "";

	(void)blocks;
	if (slope == INT64_MIN) {
		table_cell(print->table, "%s", "");
		table_cell(print->table, "%s", "");
		return;
	}
	if (slope == row->cost[HEAP_COST_GROWTH])
		snprintf(text, sizeof(text), "%s to %s",
			 quantity_bytes(per_unit(view, row->low)).text,
			 quantity_bytes(per_unit(view, row->high)).text);
	table_cell(print->table, "%s",
		   quantity_bytes(per_unit(view, (double)slope)).text);
	table_cell(print->table, "%s", text);
}

static void print_growing(struct heap_view *view, size_t count, double sum,
			  FILE *out)
{
	static const char *const headers[] = {"growth", "interval", "where"};
	struct place_print print = {.view = view,
				    .cost = HEAP_COST_GROWTH,
				    .whole = sum,
				    .numbers = growth_numbers,
				    .table = heap_table_new(view, headers, 3)};

	for (size_t i = 0; i < shown(view, count); i++) {
		print.row = heap_rows_at(view->rows, i);
		print_place(&print);
	}
	table_print(print.table, out);
}

/* How many places explain most of it, and how many per cent: whole ones, so
 * that 100 are all of it. */
static size_t explain(struct heap_view *view, size_t count, double *sum,
		      int *percent)
{
	double part = 0;
	size_t needed = 0;

	*sum = 0;
	for (size_t i = 0; i < count; i++)
		*sum += (double)heap_rows_at(view->rows, i)
				->cost[HEAP_COST_GROWTH];
	while (needed < count && part < SHARE_OF_GROWTH * *sum)
		part += (double)heap_rows_at(view->rows, needed++)
				->cost[HEAP_COST_GROWTH];
	*percent = needed < count ? (int)(part / *sum * 100) : 100;
	return needed;
}

static void print_no_growth(const struct heap_view *view, uint32_t space,
			    FILE *out)
{
	const bool has_pools = !view->log->spaces[space].type &&
			       heap_log_has_python(view->log);
	char least[128] = "";

	if (view->log->sample_bytes && !view->log->spaces[space].type)
		snprintf(least, sizeof(least),
			 ", that samples can tell: less than about %s a %s "
			 "is seen with TRACEPROF_MALLOC=sites",
			 quantity_bytes(per_unit(view, heap_growth_least(
							       view->account)))
				 .text,
			 unit(view));
	text_wrap_print(out, 2, "\ngrowth: none, from %s to %s%s%s\n",
			unit(view), unit(view), least,
			has_pools ? " (Python's objects of up to 512 bytes "
				    "count only in runs with "
				    "PYTHONMALLOC=malloc, as of traceprof "
				    "record --memory)"
				  : "");
}

static void print_growth(struct heap_view *view, uint32_t space, FILE *out)
{
	const struct heap_growth growth =
		heap_growth_space(view->account, space);
	const size_t warmup = heap_growth_warmup(view->account->points);
	const size_t count =
		heap_rows_sort(view->rows, space, HEAP_COST_GROWTH);
	char left[80] = "";
	size_t needed;
	int percent;
	double sum;

	if (!growth.is_known) {
		if (heap_growth_is_seldom(view->account, space))
			text_wrap_print(out, 2,
					"\ngrowth: not known, the file says "
					"too seldom what was live\n");
		else if (view->account->points_are_steps)
			text_wrap_print(
				out, 2,
				"\ngrowth: not known, there are too few steps "
				"(%zu)\n",
				view->account->points);
		else
			text_wrap_print(
				out, 2,
				"\ngrowth: not known, there are no steps, and "
				"the run took less than %d s\n",
				HEAP_SECONDS_MIN);
		return;
	}
	needed = explain(view, count, &sum, &percent);
	if (!count) {
		print_no_growth(view, space, out);
		return;
	}
	if (view->account->points_are_steps)
		snprintf(left, sizeof(left),
			 " (the first %zu steps are left out)", warmup);
	text_wrap_print(out, 2, "\ngrowth: +%s a %s, %zu %s %d %% of it%s\n",
			quantity_bytes(per_unit(view, sum)).text, unit(view),
			needed,
			needed == 1 ? "place explains" : "places explain",
			percent, left);
	print_growing(view, count, sum, out);
}

static void print_sizes(const struct heap_view *view,
			const struct heap_sum *sum, FILE *out)
{
	static const char *const headers[] = {"up to", "blocks", "share"};
	struct table *table = table_new(TABLE_NUMBERS, headers, 3);

	fprintf(out, "\nsizes of blocks%s\n",
		view->log->is_asked && view->log->row_count ? " (held)" : "");
	for (int i = 0; i < HEAP_SIZES; i++) {
		if (!sum->sizes[i])
			continue;
		table_cell(table, "%s",
			   quantity_bytes((double)(INT64_C(1) << i)).text);
		table_cell(table, "%" PRId64, sum->sizes[i]);
		table_cell(table, "%s",
			   quantity_share((double)sum->sizes[i],
					  (double)sum->calls)
				   .text);
	}
	table_print(table, out);
}

/* Of an allocator that keeps what it once got. */
static void print_reserved(const struct heap_space *space, FILE *out)
{
	if (space->reserved_peak > space->used_then)
		text_wrap_print(
			out, 2,
			"its allocator held %s at most, of which %s were in "
			"use then\n",
			quantity_bytes((double)space->reserved_peak).text,
			quantity_share((double)space->used_then,
				       (double)space->reserved_peak)
				.text);
}

static bool is_part(const struct heap_view *view)
{
	return view->from_ns > view->log->start_ns ||
	       view->to_ns < view->log->end_ns;
}

/* " (1.46 MiB asked for)", behind what blocks hold. */
static void in_other_measure(const struct heap_view *view, uint32_t space,
			     int64_t bytes, char *text, size_t size)
{
	text[0] = '\0';
	if (heap_knows_other(view, space))
		snprintf(text, size,
			 view->log->is_asked ? " (held: %s)"
					     : " (asked for: %s)",
			 quantity_bytes((double)bytes).text);
}

/* What all of it comes to, in a sentence. */
static void print_sums(const struct heap_view *view, uint32_t space,
		       const char *name, FILE *out)
{
	const struct heap_log *log = view->log;
	const struct heap_sum *sum = &view->account->sums[space];
	const double run_ns = (double)(log->end_ns - log->start_ns);
	const double chosen_ns = (double)(view->to_ns - view->from_ns);
	char peak[64], live[64], temporary[64] = "";

	in_other_measure(view, space, sum->other.peak, peak, sizeof(peak));
	in_other_measure(view, space, sum->other.live, live, sizeof(live));
	if (heap_log_knows_temporary(log))
		snprintf(temporary, sizeof(temporary),
			 ", %" PRId64 " temporary (%s)", sum->temporary,
			 quantity_share((double)sum->temporary,
					(double)sum->calls)
				 .text);
	text_wrap_print(
		out, 2,
		"\n%s: peak %s%s after %s of %s; %" PRId64
		" allocation%s of %s (%s a second)%s; at the end %s%s in "
		"%" PRId64 " block%s\n",
		name, quantity_bytes((double)sum->peak).text, peak,
		quantity_time((double)(sum->peak_ns - log->start_ns)).text,
		quantity_time(run_ns).text, sum->calls,
		sum->calls == 1 ? "" : "s",
		quantity_bytes((double)sum->bytes).text,
		rate(sum->calls, chosen_ns).text, temporary,
		quantity_bytes((double)sum->live).text, live, sum->live_blocks,
		sum->live_blocks == 1 ? "" : "s");
	print_reserved(&log->spaces[space], out);
	if (sum->strange_frees)
		text_wrap_print(
			out, 2,
			"%" PRId64 " %s of blocks that this trace doesn't "
			"know\n",
			sum->strange_frees,
			sum->strange_frees == 1 ? "free was" : "frees were");
}

static void print_space(struct heap_view *view, uint32_t space, FILE *out)
{
	const struct heap_log *log = view->log;
	const struct heap_sum *sum = &view->account->sums[space];
	char name[64];

	heap_space_name(log, space, name, sizeof(name));
	if (!sum->calls && !sum->peak && !sum->strange_frees) {
		text_wrap_print(out, 2,
				"\n%s: nothing was allocated or freed%s\n",
				name, is_part(view) ? " then" : "");
		return;
	}
	print_sums(view, space, name, out);
	print_table(view, space, HEAP_COST_PEAK, sum->peak, "who held the peak",
		    out);
	print_table(view, space, HEAP_COST_LIVE, sum->live, "live at the end",
		    out);
	print_suppressed(view, space, out);
	print_growth(view, space, out);
	print_table(view, space, HEAP_COST_CALLS, sum->calls,
		    "most allocations", out);
	print_table(view, space, HEAP_COST_TEMPORARY, sum->temporary,
		    "temporary: freed before the thread's next allocation",
		    out);
	print_table(view, space, HEAP_COST_FOREIGN, sum->calls,
		    "freed by another thread than the one that allocated them",
		    out);
	print_sizes(view, sum, out);
}

static void print_without_stack(const struct heap_log *log, FILE *out)
{
	if (log->stacks_refused > 0)
		text_wrap_print(
			out, 2,
			"without a stack, since there was no room for more: "
			"%" PRId64 " (TRACEPROF_BUFFER_MB)\n",
			log->stacks_refused);
	if (log->stacks_shortened > 0)
		text_wrap_print(
			out, 2,
			"with the innermost frames of their stack alone, since "
			"there was little room left: %" PRId64
			" (TRACEPROF_BUFFER_MB)\n",
			log->stacks_shortened);
	if (log->stacks_untaken > 0)
		text_wrap_print(
			out, 2,
			"without callers, mostly of libraries that began "
			"before ours and of threads as they begin: %" PRId64
			"\n",
			log->stacks_untaken);
}

static void print_sampling(const struct heap_log *log, FILE *out)
{
	if (log->sample_bytes)
		text_wrap_print(
			out, 2,
			"sampled, one block in %s on average: amounts are "
			"estimates\n",
			quantity_bytes((double)log->sample_bytes).text);
	if (log->samples_refused > 0)
		text_wrap_print(out, 2,
				"%" PRId64
				" of the sampled blocks found no place and "
				"are in no estimate: too many lived at once\n",
				log->samples_refused);
}

/* What the tables can't know. */
static void print_limits(const struct heap_view *view, FILE *out)
{
	const struct heap_log *log = view->log;
	const char *path = NULL;
	size_t missing;

	if (log->metadata.is_unfinished)
		text_wrap_print(out, 2,
				"not finished: this is of the part that "
				"is in the file\n");
	else if (!log->has_stacks && (log->count || log->row_count))
		text_wrap_print(out, 2,
				"no call stacks in this trace: record "
				"with TRACEPROF_STACK=heap\n");
	print_sampling(log, out);
	if (heap_log_has_python(log))
		text_wrap_print(
			out, 2,
			"Python keeps objects of up to 512 bytes in pools "
			"of its own, which are in no sum here unless it "
			"ran with PYTHONMALLOC=malloc (traceprof record "
			"--memory sets it)\n");
	if (log->lost > 0)
		text_wrap_print(out, 2,
				"%" PRId64
				" calls are in no sum: the writer had no "
				"memory for them\n",
				log->lost);
	if (log->thinned_mask)
		text_wrap_print(
			out, 2,
			"thinned by TRACEPROF_MAX_OVERHEAD, one block in "
			"%" PRId64
			" of those below %s: amounts are estimates\n",
			log->thinned_mask + 1,
			quantity_bytes((double)log->thinned_below).text);
	print_without_stack(log, out);
	if (log->metadata.dropped > 0)
		text_wrap_print(out, 2, "%" PRId64 " events were lost\n",
				log->metadata.dropped);
	if (log->ended_ns >= 0)
		text_wrap_print(
			out, 2,
			"%s ended %s after the file's start "
			"(TRACEPROF_MAX_MB): so does this account\n",
			log->ended_ns == log->metadata.small_blocks_ended_ns
				? "small blocks"
				: "detail",
			quantity_time((double)(log->ended_ns - log->start_ns))
				.text);
	missing = source_finder_missing(log->finder, &path);
	if (missing)
		text_wrap_print(
			out, 2,
			"%zu modules are not here as they were recorded, so "
			"their lines are not known: %s%s\n",
			missing, path, missing > 1 ? " and others" : "");
}

/* Small blocks are in the program's sums alone, and of samples these are what
 * is exact: the largest of many estimates lies above the true peak. */
static void print_all(const struct heap_log *log, FILE *out)
{
	const struct trace_metadata *all = &log->metadata;
	const int64_t before =
		all->heap_calls_before > 0 ? all->heap_calls_before : 0;
	const bool is_estimate = log->sample_bytes || log->thinned_mask;
	const char *what = is_estimate ? "estimates" : "what windows have";
	char below[100];

	if (!(log->has_large_alone || is_estimate ||
	      trace_metadata_is_windowed(all)) ||
	    all->heap_calls < 0)
		return;
	snprintf(below, sizeof(below), "%s", what);
	if (log->has_large_alone)
		snprintf(below, sizeof(below),
			 "blocks of %s and more (TRACEPROF_MALLOC=sites has "
			 "all)",
			 quantity_bytes((double)log->large_bytes).text);
	text_wrap_print(
		out, 2,
		"%s the program made %" PRId64
		" allocations, had %s%s at its peak, and %s at the "
		"end; below, %s\n",
		trace_metadata_is_windowed(all) ? "until this file was finished"
						: "in all",
		all->heap_calls + before,
		trace_metadata_peak_is_least(all) ? "at least " : "",
		quantity_bytes((double)all->heap_peak_bytes).text,
		quantity_bytes((double)all->heap_live_bytes).text, below);
}

void heap_print_text(struct heap_view *view, FILE *out)
{
	fprintf(out, "%s\n", view->file);
	if (!view->log->count && !view->log->row_count)
		text_wrap_print(out, 2, "no memory events in this trace%s%s\n",
				view->log->heap_note.len ? ": " : "",
				view->log->heap_note.len
					? view->log->heap_note.data
					: "");
	print_all(view->log, out);
	if (view->log->is_asked)
		text_wrap_print(out, 2,
				"--asked: bytes of the heap are those that "
				"were asked for, not what blocks hold\n");
	if (is_part(view))
		text_wrap_print(out, 2, "from %s to %s after the start alone\n",
				quantity_time((double)(view->from_ns -
						       view->log->start_ns))
					.text,
				quantity_time((double)(view->to_ns -
						       view->log->start_ns))
					.text);
	for (uint32_t i = 0; i < view->log->space_count; i++)
		print_space(view, i, out);
	fputs("\n", out);
	print_limits(view, out);
}
