/* SPDX-License-Identifier: MIT */
/*
 * decimal.c - JSON number text into integers.
 */
#include "tools/util/decimal.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>

/* The pieces of a number: digits before and behind the point, and the power of
 * ten that it is multiplied by. */
struct parts {
	const char *whole, *fraction;
	size_t whole_len, fraction_len;
	long exponent;
	bool negative;
};

static size_t digits(const char *text, size_t len)
{
	size_t count = 0;

	while (count < len && isdigit((unsigned char)text[count]))
		count++;
	return count;
}

static int split_exponent(const char *text, size_t len, struct parts *parts)
{
	const bool down = len && text[0] == '-';

	if (len && (text[0] == '-' || text[0] == '+')) {
		text++;
		len--;
	}
	if (!len || digits(text, len) != len)
		return -EINVAL;
	for (size_t at = 0; at < len; at++) {
		parts->exponent = parts->exponent * 10 + (text[at] - '0');
		if (parts->exponent > 1000)
			return -ERANGE;
	}
	if (down)
		parts->exponent = -parts->exponent;
	return 0;
}

static int split(const char *text, size_t len, struct parts *parts)
{
	*parts = (struct parts){.negative = len && text[0] == '-'};
	if (parts->negative) {
		text++;
		len--;
	}
	parts->whole = text;
	parts->whole_len = digits(text, len);
	if (!parts->whole_len)
		return -EINVAL;
	text += parts->whole_len;
	len -= parts->whole_len;
	if (len && text[0] == '.') {
		parts->fraction = text + 1;
		parts->fraction_len = digits(text + 1, len - 1);
		if (!parts->fraction_len)
			return -EINVAL;
		text += 1 + parts->fraction_len;
		len -= 1 + parts->fraction_len;
	}
	if (!len)
		return 0;
	if (text[0] != 'e' && text[0] != 'E')
		return -EINVAL;
	return split_exponent(text + 1, len - 1, parts);
}

/* The digit at a place counted from the first of whole, 0 beyond the end. */
static int digit_at(const struct parts *parts, size_t place)
{
	if (place < parts->whole_len)
		return parts->whole[place] - '0';
	place -= parts->whole_len;
	return place < parts->fraction_len ? parts->fraction[place] - '0' : 0;
}

/* parts times ten to the power of scale, rounded half up; 1 when rounded. */
static int combine(const struct parts *parts, long scale, int64_t *value)
{
	const long wanted = (long)parts->whole_len + parts->exponent + scale;
	const size_t have = parts->whole_len + parts->fraction_len;
	const size_t kept = wanted < 0 ? 0 : (size_t)wanted;
	uint64_t sum = 0;
	int rounded = 0;

	for (size_t place = 0; place < kept; place++) {
		if (sum > ((uint64_t)INT64_MAX - 10) / 10)
			return -ERANGE;
		sum = sum * 10 + (uint64_t)digit_at(parts, place);
	}
	if (wanted >= 0 && kept < have && digit_at(parts, kept) >= 5)
		sum++;
	for (size_t place = kept; place < have; place++)
		rounded |= digit_at(parts, place) != 0;
	*value = parts->negative ? -(int64_t)sum : (int64_t)sum;
	return rounded;
}

int decimal_to_ns(const char *text, size_t len, int64_t *ns)
{
	struct parts parts;
	int error = split(text, len, &parts);

	if (error)
		return error;
	error = combine(&parts, 3, ns);
	if (error >= 0 && !parts.exponent && parts.fraction_len > 3)
		return 1;
	return error;
}

int decimal_to_integer(const char *text, size_t len, int64_t *value)
{
	struct parts parts;
	int error = split(text, len, &parts);

	if (error)
		return error;
	if (parts.fraction || parts.exponent)
		return -EINVAL;
	return combine(&parts, 0, value);
}
