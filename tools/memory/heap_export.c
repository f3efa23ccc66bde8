/* SPDX-License-Identifier: MIT */
/* heap_export.c - stacks for flame graphs and speedscope; see heap_view.h. */
#include "tools/memory/heap_view.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"

const char *heap_cost_word(enum heap_cost cost)
{
	static const char *const words[] = {
		[HEAP_COST_PEAK] = "peak",
		[HEAP_COST_LIVE] = "live",
		[HEAP_COST_BYTES] = "bytes",
		[HEAP_COST_CALLS] = "calls",
		[HEAP_COST_TEMPORARY] = "temporary",
		[HEAP_COST_FOREIGN] = "foreign",
		[HEAP_COST_GROWTH] = "growth",
	};

	return words[cost];
}

/* The names of one stack's frames, innermost first. */
struct frame_names {
	struct key_table *table;
	uint32_t *numbers;
	size_t count, capacity;
};

static bool add_name(void *arg, const struct heap_place *place)
{
	struct frame_names *names = arg;
	struct text_buffer text = {0};
	const char *where;

	text_buffer_add_printable(&text, place->function,
				  strlen(place->function), 200);
	text_buffer_format(&text, place->file ? " (" : " [");
	where = place->file ? place->file : place->module;
	text_buffer_add_printable(&text, where, strlen(where), PATH_MAX);
	if (place->file)
		text_buffer_format(&text, ":%d)", place->line);
	else
		text_buffer_format(&text, "]");
	names->numbers = memory_grow(names->numbers, names->count,
				     &names->capacity, sizeof(uint32_t));
	names->numbers[names->count++] =
		key_table_number(names->table, text.data, text.len);
	text_buffer_free(&text);
	return true;
}

static void take_names(struct heap_view *view, const struct heap_site *site,
		       struct frame_names *names)
{
	names->count = 0;
	heap_stack_walk(view->log, site->stack, add_name, names);
}

/* A ";" parts frames there. */
static void put_frame(const char *name, FILE *out)
{
	fputc(';', out);
	for (; *name; name++)
		fputc(*name == ';' ? ',' : *name, out);
}

void heap_print_folded(struct heap_view *view, enum heap_cost cost,
		       bool is_inverted, FILE *out)
{
	struct key_table table = {0};
	struct frame_names names = {.table = &table};

	for (size_t i = 0; i < heap_account_sites(view->account); i++) {
		const struct heap_site *site =
			heap_account_site(view->account, i);
		const int64_t value = heap_site_cost(site, cost);
		char space[64];

		if (value <= 0)
			continue;
		take_names(view, site, &names);
		heap_space_name(view->log, site->space, space, sizeof(space));
		fputs(space, out);
		for (size_t at = 0; at < names.count; at++) {
			const size_t place =
				is_inverted ? at : names.count - 1 - at;

			put_frame(key_table_key(&table, names.numbers[place],
						NULL),
				  out);
		}
		fprintf(out, " %" PRId64 "\n", value);
	}
	free(names.numbers);
	key_table_free(&table);
}

static void print_quoted(const char *text, FILE *out)
{
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

static void print_samples(struct heap_view *view, enum heap_cost cost,
			  struct frame_names *names, FILE *out)
{
	bool any = false;

	for (size_t i = 0; i < heap_account_sites(view->account); i++) {
		const struct heap_site *site =
			heap_account_site(view->account, i);

		if (heap_site_cost(site, cost) <= 0)
			continue;
		take_names(view, site, names);
		fputs(any ? ",\n[" : "\n[", out);
		any = true;
		for (size_t at = names->count; at--;)
			fprintf(out, "%" PRIu32 "%s", names->numbers[at],
				at ? "," : "");
		fputs("]", out);
	}
}

static int64_t print_weights(const struct heap_view *view, enum heap_cost cost,
			     FILE *out)
{
	int64_t sum = 0;
	bool any = false;

	for (size_t i = 0; i < heap_account_sites(view->account); i++) {
		const int64_t value = heap_site_cost(
			heap_account_site(view->account, i), cost);

		if (value <= 0)
			continue;
		fprintf(out, "%s%" PRId64, any ? "," : "", value);
		any = true;
		sum += value;
	}
	return sum;
}

void heap_print_speedscope(struct heap_view *view, enum heap_cost cost,
			   FILE *out)
{
	const bool is_number = cost == HEAP_COST_CALLS ||
			       cost == HEAP_COST_TEMPORARY ||
			       cost == HEAP_COST_FOREIGN;
	struct key_table table = {0};
	struct frame_names names = {.table = &table};
	int64_t sum;

	fputs("{\"$schema\":"
	      "\"https://www.speedscope.app/file-format-schema.json\",\n"
	      "\"exporter\":\"traceprof\",\"name\":",
	      out);
	print_quoted(view->file, out);
	fprintf(out,
		",\n\"profiles\":[{\"type\":\"sampled\",\"name\":\"%s\","
		"\"unit\":\"%s\",\"startValue\":0,\"samples\":[",
		heap_cost_word(cost), is_number ? "none" : "bytes");
	print_samples(view, cost, &names, out);
	fputs("],\n\"weights\":[", out);
	sum = print_weights(view, cost, out);
	fprintf(out, "],\"endValue\":%" PRId64 "}],\n\"shared\":{\"frames\":[",
		sum);
	for (size_t i = 0; i < table.count; i++) {
		fputs(i ? ",\n{\"name\":" : "\n{\"name\":", out);
		print_quoted(key_table_key(&table, i, NULL), out);
		fputc('}', out);
	}
	fputs("]}}\n", out);
	free(names.numbers);
	key_table_free(&table);
}
