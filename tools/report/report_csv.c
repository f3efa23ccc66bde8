/* SPDX-License-Identifier: MIT */
/*
 * report_csv.c - the tables of a report as one, for spreadsheets.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "tools/report/report.h"

static void put_text(const char *text, FILE *out)
{
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputs("\",", out);
}

struct csv_print {
	const struct report *report;
	FILE *out;
};

static void put_category(void *arg, const char *category)
{
	const struct csv_print *print = arg;
	const struct report_choice *choice = &print->report->choice;
	struct total *rows;
	size_t count;

	rows = tally_list(&print->report->tally, category, choice->order,
			  &count);
	for (size_t at = 0; at < count; at++) {
		const struct total *row = &rows[at];

		if (choice->top && at >= choice->top)
			break;
		put_text(print->report->file, print->out);
		put_text(category, print->out);
		put_text(row->name, print->out);
		fprintf(print->out, "%" PRId64 ",%" PRId64 ",", row->calls,
			row->total_ns);
		if (row->self_ns >= 0)
			fprintf(print->out, "%" PRId64, row->self_ns);
		fprintf(print->out,
			",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64
			",%" PRId64 ",%" PRId64 ",%.0f,%" PRId64 ",%" PRId64
			",%" PRId64 "\n",
			row->sum_ns / row->calls, total_quantile_ns(row, 0.5),
			total_quantile_ns(row, 0.95),
			total_quantile_ns(row, 0.99), row->min_ns, row->max_ns,
			total_deviation_ns(row), row->gpu_ns, row->bytes,
			row->gpu_self_ns);
	}
	free(rows);
}

void report_print_csv(const struct report *report, bool is_first, FILE *out)
{
	struct csv_print print = {report, out};

	if (is_first)
		fputs("file,category,name,calls,total_ns,self_ns,average_ns,"
		      "median_ns,p95_ns,p99_ns,min_ns,max_ns,deviation_ns,"
		      "gpu_ns,bytes,gpu_self_ns\n",
		      out);
	tally_categories(&report->tally, put_category, &print);
}
