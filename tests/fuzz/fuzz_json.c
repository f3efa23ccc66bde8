/* SPDX-License-Identifier: MIT */
/*
 * fuzz_json.c - any bytes as a name, and as a number: what json.c makes is JSON
 * that yajl takes with its UTF-8 checks on, and holds no raw control character
 * and no surrogate escape.
 */
#include "tests/fuzz/fuzz_input.h"

#include "writer/text/json.h"
#include <math.h>
#include <string.h>
#include <yajl/yajl_parse.h>

static void assert_json(const char *text, size_t len)
{
	yajl_handle parser = yajl_alloc(NULL, NULL, NULL);

	if (yajl_parse(parser, (const unsigned char *)text, len) !=
		    yajl_status_ok ||
	    yajl_complete_parse(parser) != yajl_status_ok)
		abort();
	yajl_free(parser);
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)text[i] < ' ')
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct json json;
	const char *text = (const char *)data;
	uint64_t word = 0;
	double value;

	if (!json.data && json_open(&json, 4096))
		abort();
	json_clear(&json);
	memcpy(&word, data, size < sizeof(word) ? size : sizeof(word));
	memcpy(&value, &word, sizeof(value));
	json_raw(&json, "[");
	json_string(&json, text, size);
	json_raw(&json, ",\"a ");
	json_text(&json, text, size);
	json_raw(&json, " z\",");
	json_u64(&json, word);
	json_raw(&json, ",");
	json_i64(&json, (int64_t)word);
	json_raw(&json, ",");
	json_micros(&json, (int64_t)word);
	json_raw(&json, ",");
	json_double(&json, value);
	json_raw(&json, "]");
	if (json.failed)
		abort();
	assert_json(json.data, json.used);
	for (size_t i = 0; i + 4 < json.used; i++) {
		if (!memcmp(json.data + i, "\\ud", 3) &&
		    (i == 0 || json.data[i - 1] != '\\'))
			abort();
	}
	return 0;
}
