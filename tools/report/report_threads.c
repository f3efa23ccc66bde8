/* SPDX-License-Identifier: MIT */
/* report_threads.c - for how long each thread had a core, where no samples were
 * taken, with which `report --hot` has it. */
#include "tools/report/report.h"

#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"
#include "tools/util/table.h"
#include "tools/util/text_wrap.h"

bool report_has_threads(const struct report *report)
{
	return !report->metadata.sample && report->metadata.tasks.threads > 1;
}

static int by_time(const void *a, const void *b)
{
	const struct trace_task *x = a, *y = b;

	return (y->ran_ns > x->ran_ns) - (y->ran_ns < x->ran_ns);
}

static void put_row(struct table *table, const struct trace_task *task)
{
	const double wall = (double)task->wall_ns;
	const double idle =
		wall - (double)task->ran_ns - (double)task->ready_ns;

	table_cell(table, "%s", quantity_time((double)task->ran_ns).text);
	table_cell(table, "%s",
		   quantity_share((double)task->ran_ns, wall).text);
	table_cell(table, "%s", quantity_share(idle > 0 ? idle : 0, wall).text);
	table_cell(table, "%s",
		   quantity_share((double)task->ready_ns, wall).text);
	table_cell(table, "%lld %s", (long long)task->tid, task->name);
}

void report_print_threads(const struct report *report, FILE *out)
{
	static const char *const headers[] = {"ran", "on a core", "idle",
					      "no core", "thread"};
	const struct trace_tasks *tasks = &report->metadata.tasks;
	const size_t count = tasks->threads, top = report->choice.top;
	const size_t shown = top && top < count ? top : count;
	struct trace_task *sorted;
	struct table *table;

	if (!report_has_threads(report))
		return;
	sorted = memory_zeroed(count, sizeof(*sorted));
	memcpy(sorted, tasks->thread, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), by_time);
	table = table_new(TABLE_NUMBERS, headers,
			  sizeof(headers) / sizeof(headers[0]));
	for (size_t at = 0; at < shown; at++)
		put_row(table, &sorted[at]);
	fputc('\n', out);
	table_print(table, out);
	if (tasks->there > shown)
		text_wrap_print(out, 2, "and %zu more threads\n",
				tasks->there - shown);
	free(sorted);
}
