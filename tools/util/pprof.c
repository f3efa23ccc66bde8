/* SPDX-License-Identifier: MIT */
/* pprof.c - the few fields of profile.proto that are needed; see pprof.h. */
#include "tools/util/pprof.h"

#include <errno.h>
#include <unistd.h>
#include <zlib.h>

#include "tools/util/proto.h"

#define TEXT_MAX_BYTES 4096

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

static uint32_t text_number(struct pprof *pprof, const char *text)
{
	struct text_buffer clean = {0};
	uint32_t number;

	text_buffer_add_printable(&clean, text, strlen(text), TEXT_MAX_BYTES);
	number = key_table_number(&pprof->texts, clean.data ? clean.data : "",
				  clean.len);
	text_buffer_free(&clean);
	return number;
}

/* A message of two numbers. */
static void put_pair(struct text_buffer *to, unsigned int field,
		     unsigned int first, uint64_t one, unsigned int second,
		     uint64_t other)
{
	struct text_buffer pair = {0};

	proto_uint(&pair, first, one);
	proto_uint(&pair, second, other);
	proto_message(to, field, &pair);
	text_buffer_free(&pair);
}

void pprof_begin(struct pprof *pprof)
{
	*pprof = (struct pprof){0};
	text_number(pprof, "");
}

void pprof_kind(struct pprof *pprof, const char *name, const char *unit)
{
	put_pair(&pprof->out, PROFILE_SAMPLE_TYPE, TYPE_NAME,
		 text_number(pprof, name), TYPE_UNIT, text_number(pprof, unit));
}

static uint32_t function_number(struct pprof *pprof, const char *function,
				const char *file)
{
	const uint32_t key[] = {text_number(pprof, function),
				text_number(pprof, file)};
	const size_t known = pprof->functions.count;
	const uint32_t number =
		key_table_number(&pprof->functions, key, sizeof(key));

	if (number == known) {
		proto_uint(&pprof->part, FUNCTION_ID, number + 1);
		proto_uint(&pprof->part, FUNCTION_NAME, key[0]);
		proto_uint(&pprof->part, FUNCTION_FILE, key[1]);
		proto_message(&pprof->out, PROFILE_FUNCTION, &pprof->part);
	}
	return number + 1;
}

void pprof_frame(struct pprof *pprof, const char *function, const char *file,
		 int line)
{
	const uint32_t key[] = {function_number(pprof, function, file),
				line > 0 ? (uint32_t)line : 0};
	const size_t known = pprof->lines.count;
	const uint32_t number =
		key_table_number(&pprof->lines, key, sizeof(key));

	proto_varint(&pprof->stack, number + 1);
	if (number < known)
		return;
	proto_uint(&pprof->part, LOCATION_ID, number + 1);
	put_pair(&pprof->part, LOCATION_LINE, LINE_FUNCTION, key[0],
		 LINE_NUMBER, key[1]);
	proto_message(&pprof->out, PROFILE_LOCATION, &pprof->part);
}

void pprof_sample(struct pprof *pprof, const int64_t *values, size_t count,
		  const char *label, const char *text)
{
	struct text_buffer sample = {0};

	for (size_t i = 0; i < count; i++)
		proto_varint(&pprof->part, (uint64_t)values[i]);
	proto_message(&sample, SAMPLE_LOCATIONS, &pprof->stack);
	proto_message(&sample, SAMPLE_VALUES, &pprof->part);
	if (label)
		put_pair(&sample, SAMPLE_LABEL, LABEL_KEY,
			 text_number(pprof, label), LABEL_TEXT,
			 text_number(pprof, text));
	proto_message(&pprof->out, PROFILE_SAMPLE, &sample);
	text_buffer_free(&sample);
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

int pprof_end(struct pprof *pprof, const char *shown_first, int64_t ns,
	      FILE *out)
{
	int rc;

	if (ns)
		proto_uint(&pprof->out, PROFILE_DURATION, (uint64_t)ns);
	proto_uint(&pprof->out, PROFILE_DEFAULT_TYPE,
		   text_number(pprof, shown_first));
	for (size_t i = 0; i < pprof->texts.count; i++) {
		size_t len;
		const char *text = key_table_key(&pprof->texts, i, &len);

		proto_bytes(&pprof->out, PROFILE_STRING, text, len);
	}
	rc = print_gzipped(&pprof->out, out);
	text_buffer_free(&pprof->out);
	text_buffer_free(&pprof->stack);
	text_buffer_free(&pprof->part);
	key_table_free(&pprof->texts);
	key_table_free(&pprof->functions);
	key_table_free(&pprof->lines);
	return rc;
}
