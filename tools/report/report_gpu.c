/* SPDX-License-Identifier: MIT */
/*
 * report_gpu.c - GPUs and their streams, as tables.
 */
#include <inttypes.h>

#include "tools/util/quantity.h"
#include "tools/report/report.h"
#include "tools/util/table.h"

static void print_device(const struct report *report, unsigned int number,
			 FILE *out)
{
	const double wall = (double)report_wall_ns(report);
	const struct report_device *device = &report->devices[number];
	const struct report_memory *memory = &device->memory;
	const double busy = (double)busy_time_sum(&device->busy);

	if (device->used)
		fprintf(out,
			"\nGPU %u: busy %s of the time; kernels %s, copies %s "
			"and memsets %s, summed over streams\n",
			number, quantity_share(busy, wall).text,
			quantity_time((double)device->sum_ns[STREAM_KERNEL])
				.text,
			quantity_time((double)device->sum_ns[STREAM_COPY]).text,
			quantity_time((double)device->sum_ns[STREAM_FILL])
				.text);
	if (memory->allocs)
		fprintf(out,
			"GPU %u memory: %" PRIu64 " allocations, %" PRIu64
			" frees, peak %s\n",
			number, memory->allocs, memory->frees,
			quantity_bytes((double)memory->peak_bytes).text);
}

static void stream_row(struct table *table, const struct stream_total *row,
		       double wall)
{
	const double busy = (double)busy_time_sum(&row->busy);
	const int64_t moving = row->sum_ns[STREAM_COPY];

	table_cell(table, "%s", quantity_time(busy).text);
	table_cell(table, "%s", quantity_share(busy, wall).text);
	for (int work = 0; work < STREAM_WORKS; work++)
		table_cell(table, "%" PRIu64, row->calls[work]);
	table_cell(table, "%s",
		   quantity_time((double)row->sum_ns[STREAM_KERNEL]).text);
	table_cell(table, "%s", quantity_time((double)moving).text);
	table_cell(table, "%s", quantity_bytes((double)row->bytes).text);
	table_cell(table, "GPU %u stream %" PRId64, row->device, row->stream);
}

static void print_streams(const struct report *report, FILE *out)
{
	static const char *const headers[] = {
		"busy",	       "% wall",    "kernels", "copies", "memsets",
		"kernel time", "copy time", "bytes",   "stream"};
	const double wall = (double)report_wall_ns(report);
	const struct stream_totals *streams = &report->streams;
	const size_t top = report->choice.top;
	struct table *table;

	if (!streams->count)
		return;
	fputc('\n', out);
	table = table_new(TABLE_NUMBERS, headers, 9);
	for (size_t at = 0; at < streams->count; at++)
		if (!top || at < top)
			stream_row(table, &streams->rows[at], wall);
	table_print(table, out);
	if (top && streams->count > top)
		fprintf(out, "and %zu more streams\n", streams->count - top);
}

void report_print_gpus(const struct report *report, FILE *out)
{
	print_streams(report, out);
	for (unsigned int at = 0; at < REPORT_DEVICES_MAX; at++)
		print_device(report, at, out);
}
