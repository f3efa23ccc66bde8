/* SPDX-License-Identifier: MIT */
/*
 * heap_pprof.c - an account as pprof's profile.proto, gzipped.
 *
 * The few fields that are needed are encoded here: a protobuf is tags, varints
 * and lengths.  Each stack is a sample with all its costs; a function is one
 * location for each line of it.
 */
#include "tools/memory/heap_view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "tools/util/memory.h"

/* Numbers of profile.proto. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_DURATION = 10,
	PROFILE_DEFAULT_TYPE = 14,
	TYPE_NAME = 1,
	TYPE_UNIT = 2,
	SAMPLE_LOCATIONS = 1,
	SAMPLE_VALUES = 2,
	SAMPLE_LABEL = 3,
	LABEL_KEY = 1,
	LABEL_TEXT = 2,
	LOCATION_ID = 1,
	LOCATION_LINE = 4,
	LINE_FUNCTION = 1,
	LINE_NUMBER = 2,
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_FILE = 4,
};

static const struct {
	const char *name, *unit;
	enum heap_cost cost;
} types[] = {
	{"peak_space", "bytes", HEAP_COST_PEAK},
	{"inuse_space", "bytes", HEAP_COST_LIVE},
	{"alloc_space", "bytes", HEAP_COST_BYTES},
	{"alloc_objects", "count", HEAP_COST_CALLS},
	{"temporary_objects", "count", HEAP_COST_TEMPORARY},
};

#define TYPES (sizeof(types) / sizeof(types[0]))

struct pprof {
	struct heap_view *view;
	struct text_buffer out;
	struct text_buffer locations; /* of the stack that is walked */
	struct key_table texts;	      /* 0 is "" */
	struct key_table functions;   /* texts of name and file */
	struct key_table lines;	      /* function and line: a location */
};

static void put_varint(struct text_buffer *to, uint64_t value)
{
	char bytes[10];
	size_t len = 0;

	do {
		bytes[len++] =
			(char)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
		value >>= 7;
	} while (value);
	text_buffer_add(to, bytes, len);
}

static void put_number(struct text_buffer *to, unsigned int field,
		       uint64_t value)
{
	put_varint(to, (uint64_t)field << 3);
	put_varint(to, value);
}

static void put_bytes(struct text_buffer *to, unsigned int field,
		      const char *bytes, size_t len)
{
	put_varint(to, (uint64_t)field << 3 | 2);
	put_varint(to, len);
	text_buffer_add(to, bytes, len);
}

/* A message of two numbers. */
static void put_pair(struct text_buffer *to, unsigned int field,
		     unsigned int first, uint64_t one, unsigned int second,
		     uint64_t other)
{
	struct text_buffer pair = {0};

	put_number(&pair, first, one);
	put_number(&pair, second, other);
	put_bytes(to, field, pair.data, pair.len);
	text_buffer_free(&pair);
}

static uint32_t text_number(struct pprof *pprof, const char *text)
{
	struct text_buffer clean = {0};
	uint32_t number;

	text_buffer_add_printable(&clean, text, strlen(text), 4096);
	number = key_table_number(&pprof->texts, clean.data ? clean.data : "",
				  clean.len);
	text_buffer_free(&clean);
	return number;
}

static uint32_t function_number(struct pprof *pprof,
				const struct heap_place *place)
{
	const uint32_t key[] = {
		text_number(pprof, place->function),
		text_number(pprof, place->file ? place->file : place->module),
	};
	const size_t known = pprof->functions.count;
	const uint32_t number =
		key_table_number(&pprof->functions, key, sizeof(key));
	struct text_buffer function = {0};

	if (number < known)
		return number + 1;
	put_number(&function, FUNCTION_ID, number + 1);
	put_number(&function, FUNCTION_NAME, key[0]);
	put_number(&function, FUNCTION_FILE, key[1]);
	put_bytes(&pprof->out, PROFILE_FUNCTION, function.data, function.len);
	text_buffer_free(&function);
	return number + 1;
}

static bool add_place(void *arg, const struct heap_place *place)
{
	struct pprof *pprof = arg;
	const uint32_t key[] = {
		function_number(pprof, place),
		place->file && place->line > 0 ? (uint32_t)place->line : 0,
	};
	const size_t known = pprof->lines.count;
	const uint32_t number =
		key_table_number(&pprof->lines, key, sizeof(key));
	struct text_buffer location = {0};

	put_varint(&pprof->locations, number + 1);
	if (number < known)
		return true;
	put_number(&location, LOCATION_ID, number + 1);
	put_pair(&location, LOCATION_LINE, LINE_FUNCTION, key[0], LINE_NUMBER,
		 key[1]);
	put_bytes(&pprof->out, PROFILE_LOCATION, location.data, location.len);
	text_buffer_free(&location);
	return true;
}

static void add_sample(struct pprof *pprof, const struct heap_site *site)
{
	struct text_buffer sample = {0}, values = {0};
	char space[64];

	text_buffer_cut(&pprof->locations, 0);
	heap_stack_walk(pprof->view->log, site->stack, add_place, pprof);
	if (!pprof->locations.len)
		add_place(pprof, &(struct heap_place){.function = "(no stack)",
						      .module = ""});
	for (size_t i = 0; i < TYPES; i++)
		put_varint(&values,
			   (uint64_t)heap_site_cost(site, types[i].cost));
	put_bytes(&sample, SAMPLE_LOCATIONS, pprof->locations.data,
		  pprof->locations.len);
	put_bytes(&sample, SAMPLE_VALUES, values.data, values.len);
	heap_space_name(pprof->view->log, site->space, space, sizeof(space));
	put_pair(&sample, SAMPLE_LABEL, LABEL_KEY, text_number(pprof, "memory"),
		 LABEL_TEXT, text_number(pprof, space));
	put_bytes(&pprof->out, PROFILE_SAMPLE, sample.data, sample.len);
	text_buffer_free(&sample);
	text_buffer_free(&values);
}

static int print_gzipped(const struct text_buffer *text, FILE *out)
{
	gzFile file;
	int rc = 0;

	fflush(out);
	file = gzdopen(dup(fileno(out)), "wb");
	if (!file)
		return -ENOMEM;
	if (gzwrite(file, text->data, (unsigned int)text->len) !=
	    (int)text->len)
		rc = -EIO;
	return gzclose(file) == Z_OK ? rc : -EIO;
}

int heap_print_pprof(struct heap_view *view, FILE *out)
{
	struct pprof pprof = {.view = view};
	int rc;

	text_number(&pprof, "");
	for (size_t i = 0; i < TYPES; i++)
		put_pair(&pprof.out, PROFILE_SAMPLE_TYPE, TYPE_NAME,
			 text_number(&pprof, types[i].name), TYPE_UNIT,
			 text_number(&pprof, types[i].unit));
	for (size_t i = 0; i < heap_account_sites(view->account); i++)
		add_sample(&pprof, heap_account_site(view->account, i));
	put_number(&pprof.out, PROFILE_DURATION,
		   (uint64_t)(view->log->end_ns - view->log->start_ns));
	put_number(&pprof.out, PROFILE_DEFAULT_TYPE,
		   text_number(&pprof, types[0].name));
	for (size_t i = 0; i < pprof.texts.count; i++) {
		size_t len;
		const char *text = key_table_key(&pprof.texts, i, &len);

		put_bytes(&pprof.out, PROFILE_STRING, text, len);
	}
	rc = print_gzipped(&pprof.out, out);
	text_buffer_free(&pprof.out);
	text_buffer_free(&pprof.locations);
	key_table_free(&pprof.texts);
	key_table_free(&pprof.functions);
	key_table_free(&pprof.lines);
	return rc;
}
