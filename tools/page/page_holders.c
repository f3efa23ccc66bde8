/* SPDX-License-Identifier: MIT */
/*
 * page_holders.c - who held each memory at its peak, as `traceprof memory` has
 * it.
 */
#include "tools/page/page.h"

#ifdef HAVE_YAJL

#include <stdlib.h>

#include "tools/memory/heap_view.h"
#include "tools/util/json_print.h"

#define PLACES 20u /* of each memory */
#define FRAMES 4u

static void add_memory(yajl_gen gen, struct heap_log *log,
		       struct heap_rows *rows,
		       const struct heap_account *account, uint32_t space)
{
	const size_t count = heap_rows_sort(rows, space, HEAP_COST_PEAK);
	char name[64];

	heap_space_name(log, space, name, sizeof(name));
	yajl_gen_map_open(gen);
	json_print_text(gen, "memory", name);
	json_print_integer(gen, "peak_bytes", account->sums[space].peak);
	json_print_list(gen, "places");
	for (size_t at = 0; at < count && at < PLACES; at++) {
		const struct heap_row *row = heap_rows_at(rows, at);
		struct text_buffer text = {0};

		heap_stack_text(log,
				heap_row_heaviest(row, HEAP_COST_PEAK)->stack,
				FRAMES, &text);
		yajl_gen_map_open(gen);
		json_print_integer(gen, "at_peak_bytes",
				   row->cost[HEAP_COST_PEAK]);
		json_print_integer(gen, "blocks", row->peak_blocks);
		json_print_text(gen, "name", text.data);
		yajl_gen_map_close(gen);
		text_buffer_free(&text);
	}
	yajl_gen_array_close(gen);
	yajl_gen_map_close(gen);
}

char *page_holders(const char *file)
{
	const struct leak_list none = {0};
	struct heap_account account;
	struct heap_rows rows;
	struct heap_log log;
	char *text = NULL;
	size_t len;
	FILE *out;

	if (heap_log_read(&log, file, NULL) < 0 || !log.has_stacks) {
		heap_log_free(&log);
		return NULL;
	}
	heap_account_make(&account, &log, INT64_MIN, INT64_MAX);
	heap_rows_make(&rows, &log, &account, &none);
	out = open_memstream(&text, &len);
	if (out) {
		yajl_gen gen = json_print_begin(out, false);

		if (log.ended_ns >= 0)
			json_print_integer(gen, "ended_ns",
					   log.ended_ns - log.start_ns);
		json_print_list(gen, "memories");
		for (uint32_t at = 0; at < log.space_count; at++)
			add_memory(gen, &log, &rows, &account, at);
		yajl_gen_array_close(gen);
		json_print_end(gen);
		fclose(out);
	}
	heap_rows_free(&rows);
	heap_account_free(&account);
	heap_log_free(&log);
	return text;
}

#else

char *page_holders(const char *file)
{
	(void)file;
	return NULL;
}

#endif
