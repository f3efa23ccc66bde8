/* SPDX-License-Identifier: MIT */
/* heap_json.c - `traceprof memory --json`: one object a file, in bytes and
 * nanoseconds. */
#include "tools/memory/heap_view.h"

#ifdef HAVE_YAJL

#include <string.h>
#include <yajl/yajl_gen.h>

static void key(yajl_gen gen, const char *text)
{
	yajl_gen_string(gen, (const unsigned char *)text, strlen(text));
}

static void integer(yajl_gen gen, const char *name, int64_t value)
{
	key(gen, name);
	yajl_gen_integer(gen, value);
}

static void text(yajl_gen gen, const char *name, const char *value)
{
	struct text_buffer clean = {0};

	key(gen, name);
	text_buffer_add_printable(&clean, value, strlen(value), 4096);
	yajl_gen_string(gen, (const unsigned char *)clean.data, clean.len);
	text_buffer_free(&clean);
}

static bool add_place(void *arg, const struct heap_place *place)
{
	yajl_gen gen = arg;

	yajl_gen_map_open(gen);
	text(gen, "function", place->function);
	text(gen, "module", place->module);
	if (place->file) {
		text(gen, "file", place->file);
		integer(gen, "line", place->line);
	}
	yajl_gen_map_close(gen);
	return true;
}

static void add_row(struct heap_view *view, yajl_gen gen,
		    const struct heap_row *row)
{
	yajl_gen_map_open(gen);
	for (int i = 0; i < HEAP_COST_GROWTH; i++)
		integer(gen, heap_cost_word((enum heap_cost)i), row->cost[i]);
	if (row->cost[HEAP_COST_GROWTH]) {
		integer(gen, "growth", row->cost[HEAP_COST_GROWTH]);
		integer(gen, "growth_low", (int64_t)row->low);
		integer(gen, "growth_high", (int64_t)row->high);
	}
	integer(gen, "peak_blocks", row->peak_blocks);
	integer(gen, "live_blocks", row->live_blocks);
	integer(gen, "frees", row->frees);
	integer(gen, "stacks", (int64_t)row->stacks);
	key(gen, "suppressed");
	yajl_gen_bool(gen, row->is_suppressed);
	key(gen, "stack");
	yajl_gen_array_open(gen);
	heap_stack_walk(view->log, row->heaviest->stack, add_place, gen);
	yajl_gen_array_close(gen);
	yajl_gen_map_close(gen);
}

static void add_growth(struct heap_view *view, yajl_gen gen, uint32_t space)
{
	const struct heap_growth growth =
		heap_growth_space(view->account, space);

	key(gen, "growth");
	yajl_gen_map_open(gen);
	text(gen, "for_each",
	     view->account->points_are_steps ? "step" : "part");
	integer(gen, "points", (int64_t)view->account->points);
	integer(gen, "left_out",
		(int64_t)heap_growth_warmup(view->account->points));
	key(gen, "known");
	yajl_gen_bool(gen, growth.is_known);
	key(gen, "grows");
	yajl_gen_bool(gen, growth.grows);
	if (growth.is_known) {
		integer(gen, "slope", (int64_t)growth.slope);
		integer(gen, "low", (int64_t)growth.low);
		integer(gen, "high", (int64_t)growth.high);
	}
	yajl_gen_map_close(gen);
}

static void add_space(struct heap_view *view, yajl_gen gen, uint32_t space)
{
	const struct heap_sum *sum = &view->account->sums[space];
	char name[64];
	size_t count;

	heap_space_name(view->log, space, name, sizeof(name));
	yajl_gen_map_open(gen);
	text(gen, "memory", name);
	integer(gen, "peak_bytes", sum->peak);
	integer(gen, "peak_ns", sum->peak_ns - view->log->start_ns);
	integer(gen, "allocations", sum->calls);
	integer(gen, "bytes", sum->bytes);
	integer(gen, "frees", sum->frees);
	integer(gen, "temporary", sum->temporary);
	integer(gen, "live_bytes", sum->live);
	integer(gen, "live_blocks", sum->live_blocks);
	integer(gen, "strange_frees", sum->strange_frees);
	add_growth(view, gen, space);
	count = heap_rows_sort(view->rows, space, HEAP_COST_BYTES);
	key(gen, "places");
	yajl_gen_array_open(gen);
	for (size_t i = 0; i < count; i++)
		add_row(view, gen, heap_rows_at(view->rows, i));
	yajl_gen_array_close(gen);
	yajl_gen_map_close(gen);
}

static void print(void *arg, const char *bytes, size_t len)
{
	fwrite(bytes, 1, len, arg);
}

void heap_print_json(struct heap_view *view, FILE *out)
{
	yajl_gen gen = yajl_gen_alloc(NULL);

	yajl_gen_config(gen, yajl_gen_print_callback, print, out);
	yajl_gen_map_open(gen);
	text(gen, "file", view->file);
	integer(gen, "run_ns", view->log->end_ns - view->log->start_ns);
	integer(gen, "sample_bytes", view->log->sample_bytes);
	integer(gen, "stacks_refused", view->log->stacks_refused);
	integer(gen, "stacks_untaken", view->log->stacks_untaken);
	integer(gen, "events_lost",
		view->log->metadata.dropped > 0 ? view->log->metadata.dropped
						: 0);
	key(gen, "memories");
	yajl_gen_array_open(gen);
	for (uint32_t i = 0; i < view->log->space_count; i++)
		add_space(view, gen, i);
	yajl_gen_array_close(gen);
	yajl_gen_map_close(gen);
	yajl_gen_free(gen);
}
#else
void heap_print_json(struct heap_view *view, FILE *out)
{
	(void)view;
	(void)out;
}
#endif
