/* SPDX-License-Identifier: MIT */
/* heap_json.c - `traceprof memory --json`: one object a file, in bytes and
 * nanoseconds. */
#include "tools/memory/heap_view.h"

#ifdef HAVE_YAJL

#include "tools/util/json_print.h"

static bool add_place(void *arg, const struct heap_place *place)
{
	yajl_gen gen = arg;

	yajl_gen_map_open(gen);
	json_print_text(gen, "function", place->function);
	json_print_text(gen, "module", place->module);
	if (place->file) {
		json_print_text(gen, "file", place->file);
		json_print_integer(gen, "line", place->line);
	}
	yajl_gen_map_close(gen);
	return true;
}

/* By which cost a place is spoken of first: what grows, what is live at the
 * end, what was at the peak. */
static enum heap_cost most_telling(const struct heap_row *row)
{
	static const enum heap_cost order[] = {HEAP_COST_GROWTH, HEAP_COST_LIVE,
					       HEAP_COST_PEAK};

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (row->cost[order[i]] > 0)
			return order[i];
	return HEAP_COST_BYTES;
}

static void add_row(struct heap_view *view, yajl_gen gen,
		    const struct heap_row *row)
{
	yajl_gen_map_open(gen);
	for (int i = 0; i < HEAP_COST_GROWTH; i++)
		json_print_integer(gen, heap_cost_word((enum heap_cost)i),
				   row->cost[i]);
	if (row->cost[HEAP_COST_GROWTH]) {
		json_print_integer(gen, "growth", row->cost[HEAP_COST_GROWTH]);
		json_print_integer(gen, "growth_low", (int64_t)row->low);
		json_print_integer(gen, "growth_high", (int64_t)row->high);
	}
	json_print_integer(gen, "peak_blocks", row->peak_blocks);
	json_print_integer(gen, "live_blocks", row->live_blocks);
	json_print_integer(gen, "frees", row->frees);
	json_print_integer(gen, "stacks", (int64_t)row->stacks);
	json_print_bool(gen, "suppressed", row->is_suppressed);
	json_print_list(gen, "stack");
	heap_stack_walk(view->log,
			heap_row_heaviest(row, most_telling(row))->stack,
			add_place, gen);
	yajl_gen_array_close(gen);
	yajl_gen_map_close(gen);
}

static void add_growth(struct heap_view *view, yajl_gen gen, uint32_t space)
{
	const struct heap_growth growth =
		heap_growth_space(view->account, space);

	json_print_object(gen, "growth");
	json_print_text(gen, "for_each",
			view->account->points_are_steps ? "step" : "part");
	json_print_integer(gen, "points", (int64_t)view->account->points);
	json_print_integer(gen, "left_out",
			   (int64_t)heap_growth_warmup(view->account->points));
	json_print_bool(gen, "known", growth.is_known);
	json_print_bool(gen, "grows", growth.grows);
	if (growth.is_known) {
		json_print_integer(gen, "slope", (int64_t)growth.slope);
		json_print_integer(gen, "low", (int64_t)growth.low);
		json_print_integer(gen, "high", (int64_t)growth.high);
	}
	yajl_gen_map_close(gen);
}

static void add_space(struct heap_view *view, yajl_gen gen, uint32_t space)
{
	const struct heap_sum *sum = &view->account->sums[space];
	const struct heap_space *of = &view->log->spaces[space];
	char name[64];
	size_t count;

	heap_space_name(view->log, space, name, sizeof(name));
	yajl_gen_map_open(gen);
	json_print_text(gen, "memory", name);
	json_print_integer(gen, "peak_bytes", sum->peak);
	json_print_integer(gen, "peak_ns", sum->peak_ns - view->log->start_ns);
	if (of->reserved_peak > of->used_then) {
		json_print_integer(gen, "reserved_peak_bytes",
				   of->reserved_peak);
		json_print_integer(gen, "used_then_bytes", of->used_then);
	}
	if (heap_knows_other(view, space)) {
		const bool is_asked = view->log->is_asked;

		json_print_integer(
			gen, is_asked ? "held_peak_bytes" : "asked_peak_bytes",
			sum->other.peak);
		json_print_integer(gen, is_asked ? "held_bytes" : "asked_bytes",
				   sum->other.bytes);
		json_print_integer(
			gen, is_asked ? "held_live_bytes" : "asked_live_bytes",
			sum->other.live);
	}
	json_print_integer(gen, "allocations", sum->calls);
	json_print_integer(gen, "bytes", sum->bytes);
	json_print_integer(gen, "frees", sum->frees);
	if (heap_log_knows_temporary(view->log))
		json_print_integer(gen, "temporary", sum->temporary);
	json_print_integer(gen, "foreign", sum->foreign);
	json_print_integer(gen, "live_bytes", sum->live);
	json_print_integer(gen, "live_blocks", sum->live_blocks);
	json_print_integer(gen, "strange_frees", sum->strange_frees);
	add_growth(view, gen, space);
	count = heap_rows_sort(view->rows, space, HEAP_COST_BYTES);
	json_print_list(gen, "places");
	for (size_t i = 0; i < count; i++)
		add_row(view, gen, heap_rows_at(view->rows, i));
	yajl_gen_array_close(gen);
	yajl_gen_map_close(gen);
}

void heap_print_json(struct heap_view *view, FILE *out)
{
	yajl_gen gen = json_print_begin(out, true);

	json_print_text(gen, "file", view->file);
	json_print_integer(gen, "run_ns",
			   view->log->end_ns - view->log->start_ns);
	json_print_text(gen, "measure", view->log->is_asked ? "asked" : "held");
	json_print_integer(gen, "sample_bytes", view->log->sample_bytes);
	if (view->log->samples_refused > 0)
		json_print_integer(gen, "samples_refused",
				   view->log->samples_refused);
	if (view->log->thinned_mask)
		json_print_integer(gen, "thinned_one_in",
				   view->log->thinned_mask + 1);
	if (view->log->ended_ns >= 0)
		json_print_integer(gen, "ended_ns",
				   view->log->ended_ns - view->log->start_ns);
	json_print_integer(gen, "stacks_refused", view->log->stacks_refused);
	json_print_integer(gen, "stacks_shortened",
			   view->log->stacks_shortened);
	json_print_integer(gen, "stacks_untaken", view->log->stacks_untaken);
	json_print_integer(gen, "events_lost",
			   view->log->metadata.dropped > 0
				   ? view->log->metadata.dropped
				   : 0);
	json_print_list(gen, "memories");
	for (uint32_t i = 0; i < view->log->space_count; i++)
		add_space(view, gen, i);
	yajl_gen_array_close(gen);
	json_print_end(gen);
}
#else
void heap_print_json(struct heap_view *view, FILE *out)
{
	(void)view;
	(void)out;
}
#endif
