/* SPDX-License-Identifier: MIT */
/*
 * json.h - text of JSON values, appended to a buffer that grows by itself.
 *
 * It knows syntax: escaping, numbers, microseconds.  It doesn't know which
 * fields an event has, and it neither nests nor puts commas: the caller writes
 * those with json_raw(), whose length is known when compiling.
 *
 * The buffer is memory of its own mapping, so nothing here goes through the
 * program's malloc, and nothing here depends on its locale.  Where the buffer
 * can't grow, `failed` is set, what doesn't fit is left out, and the caller
 * looks at `failed` once per event: text from before it (json_mark) is whole.
 *
 * Where somebody asks for notes on the text (fields.h), each number's end is
 * noted here; where lines begin and names end, the caller says.
 */
#ifndef WRITER_JSON_H
#define WRITER_JSON_H

#include "writer/text/fields.h"
#include <string.h>

/* `used` bytes of text at `data`, not terminated. */
struct json {
	char *data;
	size_t used;
	size_t room;
	bool failed;	       /* something was left out */
	struct fields *fields; /* notes on it for a coder; NULL nobody asks */
};

/* Maps a first piece of at least `bytes`.  0 or -ENOMEM. */
int json_open(struct json *json, size_t bytes);
void json_close(struct json *json);

/* Room for `more` bytes.  False: not to be had, and `failed` is set. */
COLD bool json_grow(struct json *json, size_t more);

/* Empties it; what is mapped stays. */
static inline void json_clear(struct json *json)
{
	json->used = 0;
	json->failed = false;
	if (json->fields)
		fields_clear(json->fields);
}

/* Where an event begins, so that half of one can be taken back:
 * json_back(json, json_mark(json)) changes nothing. */
static inline size_t json_mark(const struct json *json)
{
	return json->used;
}

static inline void json_back(struct json *json, size_t mark)
{
	json->used = mark;
	json->failed = false;
	if (json->fields)
		fields_back(json->fields, mark);
}

/* A line begins; see fields_line(). */
static inline void json_line(struct json *json, uint64_t like,
			     unsigned int kind)
{
	if (json->fields)
		fields_line(json->fields, json->used, like, kind);
}

/* A field ends. */
static inline void json_field(struct json *json)
{
	if (json->fields)
		fields_end(json->fields, json->used);
}

/* The field that ended last has a value that may come again. */
static inline void json_recurs(struct json *json)
{
	if (json->fields)
		fields_recurs(json->fields);
}

static inline bool json_fits(struct json *json, size_t more)
{
	return likely(more <= json->room - json->used) || json_grow(json, more);
}

/* `len` bytes as they are: they must be valid JSON where they land. */
static inline void json_bytes(struct json *json, const char *text, size_t len)
{
	if (likely(json_fits(json, len))) {
		memcpy(json->data + json->used, text, len);
		json->used += len;
	}
}

/* A literal as it is: json_raw(json, ",\"args\":{"). */
#define json_raw(json, literal)                                                \
	json_bytes(json, "" literal, sizeof(literal) - 1)

static inline void json_char(struct json *json, char c)
{
	if (likely(json_fits(json, 1)))
		json->data[json->used++] = c;
}

/* The inside of a string, without the quotes, so that a name can be put
 * together from parts.  Escapes '"', '\' and every byte below 0x20; other
 * ASCII, 0x7f too, and valid UTF-8 pass as they are; each byte that is not part
 * of valid UTF-8 becomes U+FFFD.  Never a surrogate escape.  A character must
 * not be split over two calls. */
void json_text(struct json *json, const char *text, size_t len);

/* The same with the quotes. */
void json_string(struct json *json, const char *text, size_t len);

/* Whole numbers. */
void json_u64(struct json *json, uint64_t value);
void json_i64(struct json *json, int64_t value);

/* Nanoseconds as microseconds with exactly three decimals; below 0 is 0. */
void json_micros(struct json *json, int64_t ns);

/* The shortest of 15 to 17 significant digits that reads back as the same
 * number, whole numbers without a point.  JSON has no NaN and no infinity:
 * the caller leaves the key out when !isfinite(value), and what arrives here
 * all the same becomes 0. */
void json_double(struct json *json, double value);

/* One of the above after a comma and its key, a literal. */
#define json_pair_u64(json, key, value)                                        \
	(json_raw(json, ",\"" key "\":"), json_u64(json, value))
#define json_pair_i64(json, key, value)                                        \
	(json_raw(json, ",\"" key "\":"), json_i64(json, value))
#define json_pair_double(json, key, value)                                     \
	(json_raw(json, ",\"" key "\":"), json_double(json, value))
#define json_pair_micros(json, key, ns)                                        \
	(json_raw(json, ",\"" key "\":"), json_micros(json, (int64_t)(ns)))
#define json_pair_text(json, key, text, len)                                   \
	(json_raw(json, ",\"" key "\":"), json_string(json, text, len))

#endif
