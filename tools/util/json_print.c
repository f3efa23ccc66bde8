/* SPDX-License-Identifier: MIT */
/* json_print.c - JSON for programs; see json_print.h. */
#ifdef HAVE_YAJL

#include "tools/util/json_print.h"

#include <math.h>
#include <string.h>

#include "tools/util/memory.h"
#include "tools/util/text_buffer.h"

static void to_file(void *arg, const char *text, size_t len)
{
	fwrite(text, 1, len, arg);
}

yajl_gen json_print_begin(FILE *out, bool indented)
{
	yajl_gen gen = yajl_gen_alloc(NULL);

	if (!gen)
		memory_exhausted();
	yajl_gen_config(gen, yajl_gen_beautify, indented);
	yajl_gen_config(gen, yajl_gen_indent_string, "  ");
	yajl_gen_config(gen, yajl_gen_print_callback, to_file, out);
	yajl_gen_map_open(gen);
	return gen;
}

void json_print_end(yajl_gen gen)
{
	yajl_gen_map_close(gen);
	yajl_gen_free(gen);
}

static size_t sound_length(const char *text, size_t len)
{
	size_t at = 0, step;

	while (at < len && (step = utf8_sequence(text + at, len - at)))
		at += step;
	return at;
}

void json_print_string(yajl_gen gen, const char *text)
{
	const size_t len = strlen(text);
	size_t at = sound_length(text, len);
	struct text_buffer clean = {0};

	if (at == len) {
		yajl_gen_string(gen, (const unsigned char *)text, len);
		return;
	}
	text_buffer_add(&clean, text, len);
	while (at < len) {
		clean.data[at++] = '?';
		at += sound_length(text + at, len - at);
	}
	yajl_gen_string(gen, (const unsigned char *)clean.data, len);
	text_buffer_free(&clean);
}

void json_print_text(yajl_gen gen, const char *key, const char *text)
{
	json_print_string(gen, key);
	json_print_string(gen, text);
}

void json_print_integer(yajl_gen gen, const char *key, int64_t value)
{
	json_print_string(gen, key);
	yajl_gen_integer(gen, value);
}

void json_print_number(yajl_gen gen, const char *key, double value)
{
	json_print_string(gen, key);
	yajl_gen_double(gen, isfinite(value) ? value : 0);
}

void json_print_bool(yajl_gen gen, const char *key, bool value)
{
	json_print_string(gen, key);
	yajl_gen_bool(gen, value);
}

void json_print_object(yajl_gen gen, const char *key)
{
	json_print_string(gen, key);
	yajl_gen_map_open(gen);
}

void json_print_list(yajl_gen gen, const char *key)
{
	json_print_string(gen, key);
	yajl_gen_array_open(gen);
}

#endif
