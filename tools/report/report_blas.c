/* SPDX-License-Identifier: MIT */
/* report_blas.c - BLAS by call site and roof; see report_blas.h. */
#include "tools/report/report_blas.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"
#include "tools/util/numbers.h"
#include "tools/util/table.h"
#include "tools/util/text_wrap.h"

/* By its name: dgemm_, cblas_dgemm, scipy_cblas_dgemm64_. */
static bool is_double(const char *name)
{
	if (!strncmp(name, "scipy_", 6))
		name += 6;
	if (!strncmp(name, "cblas_", 6))
		name += 6;
	return *name == 'd' || *name == 'z';
}

void report_blas_slice(struct report_blas *blas,
		       const struct trace_event *event)
{
	const struct trace_value *name = &event->field[FIELD_NAME];
	const struct trace_value site = trace_event_arg(event, "Call site");
	int64_t flops = 0, bytes = 0;
	struct blas_row *row;

	/* The work of one inside another is the other's; one that asks how much
	 * space it takes does none. */
	if (site.type != TRACE_STRING ||
	    trace_event_arg(event, "inner").type != TRACE_ABSENT ||
	    trace_event_arg(event, "query").type != TRACE_ABSENT)
		return;
	blas->rows.row_bytes = sizeof(struct blas_row);
	text_buffer_cut(&blas->key, 0);
	text_buffer_add(&blas->key, name->text, name->len + 1);
	text_buffer_add(&blas->key, site.text, site.len + 1);
	row = key_table_row(
		&blas->rows,
		key_table_number(&blas->rows, blas->key.data, blas->key.len));
	row->is_double = is_double(name->text);
	row->is_gpu = !strncmp(name->text, "cublas", 6);
	row->calls++;
	saturate_into(&row->time_ns, event->dur_ns);
	if (!trace_event_integer(event, "flops", &flops) || flops <= 0) {
		row->uncounted++;
		return;
	}
	trace_event_integer(event, "bytes", &bytes);
	saturate_into(&row->counted_ns, event->dur_ns);
	row->flops += (double)flops;
	row->bytes += (double)bytes;
}

void report_blas_entry(struct report_blas *blas,
		       const struct trace_entry *entry)
{
	if (entry->value.type == TRACE_STRING &&
	    !strcmp(entry->path, "host_name"))
		snprintf(blas->host, sizeof(blas->host), "%s",
			 entry->value.text);
}

void report_blas_free(struct report_blas *blas)
{
	key_table_free(&blas->rows);
	text_buffer_free(&blas->key);
}

static int by_time(const void *a, const void *b)
{
	const struct blas_row *left = a, *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns > right->time_ns ? -1 : 1;
	return strcmp(left->function, right->function);
}

struct blas_row *report_blas_list(const struct report_blas *blas,
				  struct peak *peak, bool *has_peak)
{
	const size_t count = blas->rows.count;
	struct blas_row *list = memory_zeroed(count + 1, sizeof(*list));

	*has_peak = blas->host[0] && !peak_read(blas->host, peak);
	for (size_t i = 0; i < count; i++) {
		struct blas_row *row = &list[i];
		double flops, memory;

		*row = *(struct blas_row *)key_table_row(&blas->rows, i);
		row->function = key_table_key(&blas->rows, i, NULL);
		row->site = row->function + strlen(row->function) + 1;
		if (!*has_peak || row->is_gpu || row->bytes <= 0 ||
		    row->counted_ns <= 0)
			continue;
		flops = row->is_double ? peak->double_flops : peak->float_flops;
		memory = row->flops / row->bytes * peak->memory_bytes;
		row->has_roof = true;
		row->is_memory_bound = memory < flops;
		row->roof = memory < flops ? memory : flops;
	}
	qsort(list, count, sizeof(*list), by_time);
	return list;
}

static void print_row(struct table *table, const struct blas_row *row)
{
	const double rate =
		row->counted_ns > 0 ? row->flops / (double)row->counted_ns : 0;

	table_cell(table, "%" PRId64, row->calls);
	table_cell(table, "%s", quantity_time((double)row->time_ns).text);
	if (row->is_gpu || row->counted_ns <= 0)
		table_cell(table, "-");
	else
		table_cell(table, "%.3g", rate);
	if (row->bytes > 0)
		table_cell(table, "%.3g", row->flops / row->bytes);
	else
		table_cell(table, "-");
	if (row->has_roof)
		table_cell(table, "%s of %.3g, %s",
			   quantity_share(rate * 1e9, row->roof).text,
			   row->roof / 1e9,
			   row->is_memory_bound ? "memory" : "compute");
	else
		table_cell(table, row->is_gpu ? "on the GPU" : "-");
	table_cell(table, "%s < %s", row->function, row->site);
}

void report_blas_print(const struct report_blas *blas, size_t top, FILE *out)
{
	static const char *const headers[] = {"calls",	     "total",
					      "GFLOP/s",     "FLOP/byte",
					      "of its roof", "BLAS < caller"};
	const size_t count = blas->rows.count;
	struct table *table;
	struct blas_row *list;
	struct peak peak;
	bool has_peak;

	if (!count)
		return;
	list = report_blas_list(blas, &peak, &has_peak);
	fputc('\n', out);
	table = table_new(TABLE_NUMBERS, headers, 6);
	for (size_t i = 0; i < count; i++)
		if (!top || i < top)
			print_row(table, &list[i]);
	table_print(table, out);
	if (top && count > top)
		text_wrap_print(out, 2, "and %zu more\n", count - top);
	if (has_peak)
		text_wrap_print(
			out, 2,
			"The roof is what all %" PRId64
			" processors of %s do at most with that many FLOP a "
			"byte: %.3g GFLOP/s (double), %.3g (float), %.3g GB/s "
			"of memory (traceprof peak)\n",
			peak.cores, peak.host, peak.double_flops / 1e9,
			peak.float_flops / 1e9, peak.memory_bytes / 1e9);
	else
		text_wrap_print(
			out, 2,
			"How far that is from the roof isn't known: run "
			"traceprof peak on %s\n",
			blas->host[0] ? blas->host : "the machine");
	free(list);
}
