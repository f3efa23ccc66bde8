/* SPDX-License-Identifier: MIT */
/* hot_text.c - functions by their time, and paths for other tools. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/host/hot.h"
#include "tools/util/memory.h"
#include "tools/util/numbers.h"

/* With fewer samples, or with more of those asked for, no rate is said. */
#define RATE_LEAST	 20
#define RATE_MIN	 0.8
/* So much of the processes' time without a sample is said. */
#define UNSAMPLED_MIN	 0.1
#define UNSAMPLED_MIN_NS 50e6

static const struct hot *sorted; /* for the comparison alone */

static const struct hot_function *function_of(const struct hot *hot,
					      uint32_t name)
{
	return key_table_row(&hot->names, name);
}

static int64_t change(const struct hot_function *function)
{
	return llabs(function->self_ns - function->before_self_ns);
}

static int by_self(const void *left, const void *right)
{
	const struct hot_function *a =
		function_of(sorted, *(const uint32_t *)left);
	const struct hot_function *b =
		function_of(sorted, *(const uint32_t *)right);

	if (a->self_ns != b->self_ns)
		return a->self_ns > b->self_ns ? -1 : 1;
	return a->total_ns > b->total_ns ? -1 : a->total_ns < b->total_ns;
}

static int by_change(const void *left, const void *right)
{
	const struct hot_function *a =
		function_of(sorted, *(const uint32_t *)left);
	const struct hot_function *b =
		function_of(sorted, *(const uint32_t *)right);

	if (change(a) != change(b))
		return change(a) > change(b) ? -1 : 1;
	return by_self(left, right);
}

static uint32_t *order(const struct hot *hot, bool is_compared)
{
	uint32_t *list = memory_zeroed(hot->names.count, sizeof(*list));

	for (size_t i = 0; i < hot->names.count; i++)
		list[i] = (uint32_t)i;
	sorted = hot;
	qsort(list, hot->names.count, sizeof(*list),
	      is_compared ? by_change : by_self);
	return list;
}

static double share(int64_t part, int64_t whole)
{
	return whole ? 100 * (double)part / (double)whole : 0;
}

static void print_change(const struct hot_function *function,
			 const struct hot_node *all, const char *text,
			 FILE *out)
{
	const int64_t ns = function->self_ns - function->before_self_ns;
	const double before = share(function->before_self_ns, all->before_ns);
	const double after = share(function->self_ns, all->total_ns);
	char time[40];

	snprintf(time, sizeof(time), "%c%s", ns < 0 ? '-' : '+',
		 quantity_time((double)llabs(ns)).text);
	fprintf(out, "%8.1f %8.1f %+7.1f %10s  %8lld  %s\n", before, after,
		after - before, time, (long long)function->samples, text);
}

static void print_row(const struct hot *hot, uint32_t name, bool is_compared,
		      FILE *out)
{
	const struct hot_function *function = function_of(hot, name);
	const struct hot_node *all = &hot->nodes[0];
	const double self = share(function->self_ns, all->total_ns);
	const double total = share(function->total_ns, all->total_ns);
	const char *text = key_table_key(&hot->names, name, NULL);

	if (is_compared)
		print_change(function, all, text, out);
	else
		fprintf(out, "%7.1f %7.1f  %10s  %8lld  ", self, total,
			quantity_time((double)function->self_ns).text,
			(long long)function->samples);
	if (!is_compared && hot->has_regions)
		fprintf(out, "%9.1f  ",
			share(function->region_ns, function->self_ns));
	if (!is_compared && hot->has_gpu)
		fprintf(out, "%8.1f  ",
			share(function->idle_ns, function->self_ns));
	if (!is_compared)
		fprintf(out, "%s\n", text);
}

/* What was going on meanwhile. */
static void print_phases(const struct hot *hot, FILE *out)
{
	int64_t region_ns = 0, idle_ns = 0;

	for (size_t i = 0; i < hot->names.count; i++) {
		region_ns += function_of(hot, (uint32_t)i)->region_ns;
		idle_ns += function_of(hot, (uint32_t)i)->idle_ns;
	}
	if (hot->has_regions)
		fprintf(out,
			"in OpenMP regions %.1f %%, between them %.1f %%\n",
			share(region_ns, hot->nodes[0].total_ns),
			100 - share(region_ns, hot->nodes[0].total_ns));
	if (hot->has_gpu)
		fprintf(out,
			"while the GPU was idle, between its first work and "
			"its last, %.1f %%\n",
			share(idle_ns, hot->nodes[0].total_ns));
}

/* The processes had much more of the processors than samples tell of. */
static void print_unsampled(const struct hot *hot, FILE *out)
{
	const int64_t all_ns = hot_tasks_all_ns(&hot->tasks);
	const int64_t sampled_ns = hot->nodes[0].total_ns;

	if (!hot->is_part && (double)(all_ns - sampled_ns) > UNSAMPLED_MIN_NS &&
	    (double)sampled_ns < (1 - UNSAMPLED_MIN) * (double)all_ns)
		fprintf(out,
			"the processes had %s: the rest has no samples "
			"(threads that had none, traceprof's own)\n",
			quantity_time((double)all_ns).text);
}

/* How exact shares are: where each sample stands for another time, by as many
 * equal ones as tell as much. */
static void print_rate(const struct hot *hot, int64_t samples, FILE *out)
{
	const double all_ns = (double)hot->nodes[0].total_ns;
	const double rate = (double)samples / (all_ns / 1e9);

	if (hot->is_part || samples < RATE_LEAST || all_ns <= 0 ||
	    rate > RATE_MIN * (double)hot->asked_hz)
		return;
	fprintf(out, "%.0f a second of it, of %lld asked for", rate,
		(long long)hot->asked_hz);
	if (hot->kernel_hz > 0 && hot->kernel_hz < hot->asked_hz)
		fprintf(out, " (this kernel can send %lld)",
			(long long)hot->kernel_hz);
	fprintf(out, ": a share of a half is known to %.1f points\n",
		50 * sqrt(hot->squares) / all_ns);
}

void hot_print(const struct hot *hot, size_t top, bool is_compared, FILE *out)
{
	uint32_t *list = order(hot, is_compared);
	int64_t samples = 0;
	size_t shown = 0;

	for (size_t i = 0; i < hot->count; i++)
		samples += hot->nodes[i].samples;
	if (is_compared)
		fprintf(out, "before: %s; after: ",
			quantity_time((double)hot->nodes[0].before_ns).text);
	fprintf(out, "%s of processor time in %lld sample%s\n",
		quantity_time((double)hot->nodes[0].total_ns).text,
		(long long)samples, plural(samples));
	if (!is_compared) {
		print_rate(hot, samples, out);
		print_unsampled(hot, out);
		print_phases(hot, out);
	}
	fputc('\n', out);
	if (is_compared)
		fputs("before %  after %  change       time   samples  "
		      "function\n",
		      out);
	else
		fprintf(out,
			" self %% total %%        self   samples  "
			"%s%sfunction\n",
			hot->has_regions ? "in region  " : "",
			hot->has_gpu ? "GPU idle  " : "");
	for (size_t i = 0; i < hot->names.count && (!top || shown < top); i++) {
		/* The root is no function. */
		if (list[i] == hot->nodes[0].name)
			continue;
		print_row(hot, list[i], is_compared, out);
		shown++;
	}
	free(list);
	if (!is_compared)
		hot_tasks_print(&hot->tasks, top, out);
}

void hot_print_json(const struct hot *hot, FILE *out)
{
	uint32_t *list = order(hot, false);
	bool any = false;

	fprintf(out, "{\"cpu_ns\":%lld,\"functions\":[",
		(long long)hot->nodes[0].total_ns);
	for (size_t i = 0; i < hot->names.count; i++) {
		const struct hot_function *function = function_of(hot, list[i]);

		if (list[i] == hot->nodes[0].name)
			continue;
		fputs(any ? ",\n{\"name\":" : "\n{\"name\":", out);
		any = true;
		hot_put_json(key_table_key(&hot->names, list[i], NULL), out);
		fprintf(out,
			",\"self_ns\":%lld,\"total_ns\":%lld,\"samples\":%lld",
			(long long)function->self_ns,
			(long long)function->total_ns,
			(long long)function->samples);
		if (hot->has_regions)
			fprintf(out, ",\"in_regions_ns\":%lld",
				(long long)function->region_ns);
		if (hot->has_gpu)
			fprintf(out, ",\"gpu_idle_ns\":%lld",
				(long long)function->idle_ns);
		fputc('}', out);
	}
	fputs("],\n", out);
	hot_tasks_print_json(&hot->tasks, out);
	fputs("}\n", out);
	free(list);
}

/* A ";" parts functions there. */
static void put_path(const struct hot *hot, uint32_t node, FILE *out)
{
	const uint32_t parent = hot->nodes[node].parent;

	if (parent != 0) {
		put_path(hot, parent, out);
		fputc(';', out);
	}
	for (const char *at = hot_name(hot, node); *at; at++)
		fputc(*at == ';' || *at == '\n' ? ',' : *at, out);
}

/* In microseconds. */
void hot_print_folded(const struct hot *hot, FILE *out)
{
	for (uint32_t i = 1; i < hot->count; i++) {
		const int64_t us = (hot->nodes[i].self_ns + 500) / 1000;

		if (!us)
			continue;
		put_path(hot, i, out);
		fprintf(out, " %lld\n", (long long)us);
	}
}

static void put_stack(const struct hot *hot, uint32_t node, FILE *out)
{
	const uint32_t parent = hot->nodes[node].parent;

	if (parent != 0) {
		put_stack(hot, parent, out);
		fputc(',', out);
	}
	fprintf(out, "%u", hot->nodes[node].name);
}

void hot_print_speedscope(const struct hot *hot, const char *title, FILE *out)
{
	const char *comma = "";

	fputs("{\"$schema\":\"https://www.speedscope.app/"
	      "file-format-schema.json\",\"shared\":{\"frames\":[",
	      out);
	for (size_t i = 0; i < hot->names.count; i++) {
		fputs(i ? ",{\"name\":" : "{\"name\":", out);
		hot_put_json(key_table_key(&hot->names, i, NULL), out);
		fputc('}', out);
	}
	fputs("]},\"profiles\":[{\"type\":\"sampled\",\"name\":", out);
	hot_put_json(title, out);
	fprintf(out,
		",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":%lld,"
		"\"samples\":[",
		(long long)hot->nodes[0].total_ns);
	for (uint32_t i = 1; i < hot->count; i++) {
		if (!hot->nodes[i].self_ns)
			continue;
		fprintf(out, "%s[", comma);
		put_stack(hot, i, out);
		fputc(']', out);
		comma = ",";
	}
	fputs("],\"weights\":[", out);
	comma = "";
	for (uint32_t i = 1; i < hot->count; i++) {
		if (!hot->nodes[i].self_ns)
			continue;
		fprintf(out, "%s%lld", comma, (long long)hot->nodes[i].self_ns);
		comma = ",";
	}
	fputs("]}]}\n", out);
}
