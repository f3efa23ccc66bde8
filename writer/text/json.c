/* SPDX-License-Identifier: MIT */
/*
 * json.c - text of JSON values, appended to a buffer that grows by itself.
 *
 * The writer spends most of its own time here (compression aside), so numbers
 * are made by hand, eight digits at once, and strings are copied in
 * runs of bytes that need no thought.
 */
#include "writer/text/json.h"
#include "writer/text/digits.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define DOUBLE_BYTES                                                           \
	40	      /* of a double with 17 digits, and some locale's point */
#define ESCAPED_MAX 6 /* \u00XX */

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

int json_open(struct json *json, size_t bytes)
{
	void *data;

	memset(json, 0, sizeof(*json));
	bytes = align_up(bytes ? bytes : 1, PAGE_BYTES);
	data = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (data == MAP_FAILED)
		return -ENOMEM;
	json->data = data;
	json->room = bytes;
	return 0;
}

void json_close(struct json *json)
{
	if (json->data)
		munmap(json->data, json->room);
	memset(json, 0, sizeof(*json));
}

bool json_grow(struct json *json, size_t more)
{
	size_t room = json->room * 2;
	void *data;

	if (more > SIZE_MAX / 4 || room < json->room) {
		json->failed = true;
		return false;
	}
	if (room < json->used + more)
		room = align_up(json->used + more, PAGE_BYTES);
	data = json->data ? mremap(json->data, json->room, room, MREMAP_MAYMOVE)
			  : MAP_FAILED;
	if (data == MAP_FAILED) {
		json->failed = true;
		return false;
	}
	json->data = data;
	json->room = room;
	return true;
}

/* Length of the valid UTF-8 character at `text`, which begins with a byte of
 * 0x80 or above; 0 where there is none.  Table 3-7 of the Unicode standard. */
static size_t utf8_length(const unsigned char *text, size_t len)
{
	unsigned char low = 0x80, high = 0xbf;
	size_t need;

	if (text[0] >= 0xc2 && text[0] <= 0xdf) {
		need = 2;
	} else if (text[0] >= 0xe0 && text[0] <= 0xef) {
		need = 3;
		if (text[0] == 0xe0)
			low = 0xa0; /* shorter forms exist */
		if (text[0] == 0xed)
			high = 0x9f; /* surrogates */
	} else if (text[0] >= 0xf0 && text[0] <= 0xf4) {
		need = 4;
		if (text[0] == 0xf0)
			low = 0x90;
		if (text[0] == 0xf4)
			high = 0x8f; /* beyond U+10FFFF */
	} else {
		return 0;
	}
	if (len < need || text[1] < low || text[1] > high)
		return 0;
	for (size_t i = 2; i < need; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	}
	return need;
}

static inline bool is_plain(unsigned char byte)
{
	return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
}

/* Eight bytes at once: all plain?  The usual test for a byte that is zero, or
 * below a bound; a borrow can only make it see more than there is after a
 * byte that it saw rightly. */
static inline bool are_plain(uint64_t bytes)
{
	const uint64_t ones = 0x0101010101010101, highs = ones << 7;
	const uint64_t quote = bytes ^ ones * '"';
	const uint64_t slash = bytes ^ ones * '\\';

	return !((bytes | ((bytes - ones * 0x20) & ~bytes) |
		  ((quote - ones) & ~quote) | ((slash - ones) & ~slash)) &
		 highs);
}

/* One ASCII byte that must be escaped, at `out`.  Returns its end. */
static char *escape(char *out, unsigned char byte)
{
	static const char letters[] = "\b\f\n\r\t\"\\";
	static const char names[] = "bfnrt\"\\";
	const char *letter = byte ? strchr(letters, byte) : NULL;

	*out++ = '\\';
	if (letter) {
		*out++ = names[letter - letters];
		return out;
	}
	memcpy(out, "u00", 3);
	out[3] = "0123456789abcdef"[byte >> 4];
	out[4] = "0123456789abcdef"[byte & 15];
	return out + 5;
}

/* The first byte that isn't plain, and all after it. */
static COLD void text_slow(struct json *json, const unsigned char *text,
			   size_t len)
{
	size_t i = 0;
	char *out;

	if (len > SIZE_MAX / 8 || !json_fits(json, len * ESCAPED_MAX)) {
		json->failed = true;
		return;
	}
	out = json->data + json->used;
	while (i < len) {
		size_t whole = 1;

		if (text[i] < 0x80) {
			if (is_plain(text[i]))
				*out++ = (char)text[i];
			else
				out = escape(out, text[i]);
		} else if ((whole = utf8_length(text + i, len - i))) {
			memcpy(out, text + i, whole);
			out += whole;
		} else {
			whole = 1;
			memcpy(out, replacement, sizeof(replacement) - 1);
			out += sizeof(replacement) - 1;
		}
		i += whole;
	}
	json->used = (size_t)(out - json->data);
}

void json_text(struct json *json, const char *text, size_t len)
{
	const unsigned char *bytes = (const unsigned char *)text;
	size_t plain = 0;
	uint64_t eight;

	for (; plain + sizeof(eight) <= len; plain += sizeof(eight)) {
		memcpy(&eight, text + plain, sizeof(eight));
		if (!are_plain(eight))
			break;
	}
	while (plain < len && is_plain(bytes[plain]))
		plain++;
	json_bytes(json, text, plain);
	if (unlikely(plain < len))
		text_slow(json, bytes + plain, len - plain);
}

void json_string(struct json *json, const char *text, size_t len)
{
	json_char(json, '"');
	json_text(json, text, len);
	json_char(json, '"');
}

/* Digits go where they belong, never by way of another buffer: copying a few
 * bytes, whose number isn't known when compiling, costs more than making
 * them. */
void json_u64(struct json *json, uint64_t value)
{
	const unsigned int count = digits_count(value);

	if (unlikely(!json_fits(json, count + DIGITS_SPARE)))
		return;
	digits_at(json->data + json->used, value, count);
	json->used += count;
	json_field(json);
}

void json_i64(struct json *json, int64_t value)
{
	const uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	const unsigned int count = digits_count(size);
	const unsigned int sign = value < 0;

	if (unlikely(!json_fits(json, sign + count + DIGITS_SPARE)))
		return;
	json->data[json->used] = '-'; /* the first digit, where there is none */
	json->used += sign;
	digits_at(json->data + json->used, size, count);
	json->used += count;
	json_field(json);
}

void json_micros(struct json *json, int64_t ns)
{
	char *begin, *end;

	if (unlikely(!json_fits(json, DIGITS_MICROS_MAX)))
		return;
	begin = json->data + json->used;
	end = digits_micros(begin, ns > 0 ? (uint64_t)ns : 0);
	json->used += (size_t)(end - begin);
	json_field(json);
}

/* Appends what snprintf made; whatever the locale has for a decimal point is
 * the one run of bytes that no number contains. */
static void number_without_locale(struct json *json, const char *number)
{
	bool in_point = false;

	for (; *number; number++) {
		if (strchr("0123456789+-e", *number)) {
			json_char(json, *number);
			in_point = false;
		} else if (!in_point) {
			json_char(json, '.');
			in_point = true;
		}
	}
}

void json_double(struct json *json, double value)
{
	char number[DOUBLE_BYTES];

	if (!isfinite(value)) {
		json_char(json, '0');
		return;
	}
	if (fabs(value) < 9007199254740992.0 &&
	    value == (double)(int64_t)value) {
		json_i64(json, (int64_t)value);
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(number, sizeof(number), "%.*g", digits, value);
		if (strtod(number, NULL) == value)
			break;
	}
	number_without_locale(json, number);
	json_field(json);
}
