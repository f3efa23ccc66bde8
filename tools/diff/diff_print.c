/* SPDX-License-Identifier: MIT */
/*
 * diff_print.c - a comparison for people and for programs.
 */
#include "tools/diff/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/util/color.h"
#include "tools/util/memory.h"
#include "tools/util/numbers.h"
#include "tools/util/table.h"
#include "tools/util/text_buffer.h"
#include "tools/util/text_wrap.h"

#ifdef HAVE_YAJL
#include "tools/util/json_print.h"
#endif

/* Less isn't worth a line. */
#define DISTURBED_SAID 0.05

static double change_percent(double from, double to)
{
	return from > 0 ? 100 * (to - from) / from : 0;
}

static void print_run(const struct diff *diff, const char *const *titles,
		      int side, FILE *out)
{
	const struct run *run = &diff->run[side];
	struct text_buffer text = {0};

	text_buffer_format(&text, "%c  %s: ", 'A' + side, titles[side]);
	if (run->runs > 1)
		text_buffer_format(&text, "%u runs, ", run->runs);
	else if (run->files > 1)
		text_buffer_format(&text, "%u files, ", run->files);
	if (!run->step_count)
		text_buffer_format(&text, "no steps");
	else
		text_buffer_format(&text, "%zu step%s, median %s",
				   run->step_count,
				   run->step_count == 1 ? "" : "s",
				   quantity_time(side ? diff->steps.median_b
						      : diff->steps.median_a)
					   .text);
	if (run->peak_bytes >= 0)
		text_buffer_format(
			&text, ", heap peak %s",
			quantity_bytes((double)run->peak_bytes).text);
	text_wrap_print(out, 2, "%s\n", text.data);
	text_buffer_free(&text);
	if (run_disturbed(run) > DISTURBED_SAID)
		text_wrap_print(
			out, 2,
			"   for %.0f %% of its time it found no processor "
			"free\n",
			100 * run_disturbed(run));
	if (run_others(run) > DISTURBED_SAID)
		text_wrap_print(
			out, 2,
			"   other programs had %.0f %% of the processors: "
			"several runs of each tell more\n",
			100 * run_others(run));
	if (run->lost > 0)
		text_wrap_print(
			out, 2,
			"   %lld events of it were lost: its sums are too "
			"small\n",
			(long long)run->lost);
}

static void print_steps(const struct diff *diff, FILE *out)
{
	const struct comparison *steps = &diff->steps;

	if (!diff->has_steps) {
		text_wrap_print(out, 2,
				"Without steps in both runs nothing tells a "
				"change from noise; these are sums.\n");
		return;
	}
	if (diff->steps_differ)
		text_wrap_print(
			out, 2,
			"The step is %s%s%s in B: %+.1f %% (%+.1f to %+.1f %%, "
			"p %s %.2g).\n",
			color_begin(out,
				    steps->shift > 0 ? COLOR_BAD : COLOR_GOOD),
			steps->shift > 0 ? "slower" : "faster", color_end(out),
			100 * steps->shift / steps->median_a,
			100 * steps->low / steps->median_a,
			100 * steps->high / steps->median_a,
			steps->p < 1e-4 ? "<" : "=", fmax(steps->p, 1e-4));
	else
		text_wrap_print(
			out, 2,
			"The step's difference is within noise: %+.1f %% "
			"(%+.1f to %+.1f %%, p = %.2g); equal runs may differ "
			"by %.1f %%.\n",
			100 * steps->shift / steps->median_a,
			100 * steps->low / steps->median_a,
			100 * steps->high / steps->median_a, steps->p,
			100 * steps->noise / steps->median_a);
	for (int side = 0; side < 2; side++)
		if (diff->growth_bytes[side] > 0)
			text_wrap_print(
				out, 2, "In %c the heap grows by %s a step.\n",
				'A' + side,
				quantity_bytes(diff->growth_bytes[side]).text);
}

static void name_cell(struct table *table, const char *text)
{
	struct text_buffer name = {0};

	text_buffer_add_printable(&name, text, strlen(text), 100);
	table_cell(table, "%s", name.data);
	text_buffer_free(&name);
}

static void name_row(struct table *table, const struct diff_name *name)
{
	const double change = name->mean_ns[1] - name->mean_ns[0];

	for (int side = 0; side < 2; side++) {
		if (name->in[side])
			table_cell(table, "%s",
				   quantity_time(name->mean_ns[side]).text);
		else
			table_cell(table, "-");
	}
	table_cell(table, "%s%s", change < 0 ? "-" : "+",
		   quantity_time(fabs(change)).text);
	if (name->in[0] && name->in[1])
		table_cell(table, "%+.1f %%",
			   change_percent(name->mean_ns[0], name->mean_ns[1]));
	else
		table_cell(table, "%s", name->in[0] ? "gone" : "new");
	name_cell(table, name->category);
	name_cell(table, name->name);
}

/* With steps only what differs; without, the largest changes. */
static bool is_shown(const struct diff *diff, const struct diff_name *name)
{
	return name->differs || !diff->has_steps || !name->in[0] ||
	       !name->in[1];
}

static void print_names(const struct diff *diff, size_t top, FILE *out)
{
	static const char *const headers[] = {"A", "B",	       "change",
					      "",  "category", "name"};
	struct table *table = table_new(TABLE_NUMBERS, headers, 6);
	size_t shown = 0, more = 0, same = 0;

	for (size_t at = 0; at < diff->name_count; at++) {
		const struct diff_name *name = &diff->names[at];

		if (!is_shown(diff, name))
			same++;
		else if (top && shown == top)
			more++;
		else
			shown++, name_row(table, name);
	}
	if (shown)
		text_wrap_print(out, 2, "\nBy name, %s:\n",
				diff->has_steps ? "time in a step on average"
						: "time in all");
	table_print(table, out);
	if (more)
		text_wrap_print(out, 2, "%zu more; --top 0 shows all.\n", more);
	if (diff->has_steps && same)
		text_wrap_print(out, 2, "%s%zu name%s the same within noise.\n",
				shown ? "" : "\n", same,
				same == 1 ? " is" : "s are");
}

void diff_print_text(const struct diff *diff, const char *const *titles,
		     size_t top, FILE *out)
{
	print_run(diff, titles, 0, out);
	print_run(diff, titles, 1, out);
	fputc('\n', out);
	print_steps(diff, out);
	print_names(diff, top, out);
}

#ifdef HAVE_YAJL
static void print_comparison(yajl_gen gen, const struct comparison *comparison,
			     bool differs)
{
	json_print_bool(gen, "differs", differs);
	json_print_number(gen, "median_a_ns", comparison->median_a);
	json_print_number(gen, "median_b_ns", comparison->median_b);
	json_print_number(gen, "shift_ns", comparison->shift);
	json_print_number(gen, "shift_low_ns", comparison->low);
	json_print_number(gen, "shift_high_ns", comparison->high);
	json_print_number(gen, "noise_ns", comparison->noise);
	json_print_number(gen, "p", comparison->p);
}

static void print_side(yajl_gen gen, const struct diff *diff, int side,
		       const char *title)
{
	const struct run *run = &diff->run[side];

	json_print_object(gen, side ? "b" : "a");
	json_print_text(gen, "path", title);
	json_print_integer(gen, "files", run->files);
	json_print_integer(gen, "runs", run->runs);
	json_print_number(gen, "without_processor", run_disturbed(run));
	json_print_number(gen, "others_processors", run_others(run));
	json_print_integer(gen, "steps", (long long)run->step_count);
	json_print_integer(gen, "lost_events", run->lost);
	if (run->peak_bytes >= 0) {
		json_print_integer(gen, "heap_peak_bytes", run->peak_bytes);
	}
	json_print_number(gen, "heap_growth_bytes", diff->growth_bytes[side]);
	yajl_gen_map_close(gen);
}

static void print_name(yajl_gen gen, const struct diff_name *name)
{
	yajl_gen_map_open(gen);
	json_print_text(gen, "name", name->name);
	json_print_text(gen, "category", name->category);
	if (name->in[0])
		json_print_number(gen, "mean_a_ns", name->mean_ns[0]);
	if (name->in[1])
		json_print_number(gen, "mean_b_ns", name->mean_ns[1]);
	if (name->in[0] && name->in[1])
		print_comparison(gen, &name->comparison, name->differs);
	yajl_gen_map_close(gen);
}

void diff_print_json(const struct diff *diff, const char *const *titles,
		     FILE *out)
{
	yajl_gen gen = json_print_begin(out, true);

	print_side(gen, diff, 0, titles[0]);
	print_side(gen, diff, 1, titles[1]);
	if (diff->has_steps) {
		json_print_object(gen, "step");
		print_comparison(gen, &diff->steps, diff->steps_differ);
		yajl_gen_map_close(gen);
	}
	json_print_list(gen, "names");
	for (size_t at = 0; at < diff->name_count; at++)
		print_name(gen, &diff->names[at]);
	yajl_gen_array_close(gen);
	json_print_end(gen);
}
#else
void diff_print_json(const struct diff *diff, const char *const *titles,
		     FILE *out)
{
	(void)diff, (void)titles, (void)out;
}
#endif
