/* SPDX-License-Identifier: MIT */
/*
 * numbers.c - JSON number text into integers, and numbers with units.
 */
#include "tools/util/numbers.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* As many digits fit in any case, those of the scale included. */
#define PLAIN_DIGITS 18

static bool is_digit(const char *at, const char *end)
{
	return at < end && *at >= '0' && *at <= '9';
}

static const char *skip_digits(const char *at, const char *end)
{
	while (is_digit(at, end))
		at++;
	return at;
}

/* What follows the "e". */
static int read_exponent(const char *at, const char *end, long *exponent)
{
	const bool down = at < end && *at == '-';

	at += at < end && (*at == '-' || *at == '+');
	if (at == end || skip_digits(at, end) != end)
		return -EINVAL;
	for (; at < end; at++) {
		*exponent = *exponent * 10 + (*at - '0');
		if (*exponent > 1000)
			return -ERANGE;
	}
	if (down)
		*exponent = -*exponent;
	return 0;
}

/* The digits from `at` to `end`, a point among them left out, as a number with
 * so many digits before the point; rounded half up, 1 when rounded. */
static int combine(const char *at, const char *end, long digits, int64_t *value)
{
	uint64_t sum = 0;
	int rounded = 0;

	for (; at < end || digits > 0; at++) {
		const int digit = at < end ? *at - '0' : 0;

		if (at < end && *at == '.')
			continue;
		if (digits-- > 0) {
			if (sum > ((uint64_t)INT64_MAX - 10) / 10)
				return -ERANGE;
			sum = sum * 10 + (uint64_t)digit;
			continue;
		}
		sum += digits == -1 && digit >= 5;
		rounded |= digit != 0;
	}
	*value = (int64_t)sum;
	return rounded;
}

/* A plain one, as most are: few digits, no more decimals than counted. */
static bool read_plain(const char *text, size_t len, int scale, int64_t *value)
{
	const char *const end = text + len;
	const bool negative = len && *text == '-';
	const char *at = text + negative;
	const char *last = at;
	uint64_t sum = 0;

	for (; is_digit(at, end); at++)
		sum = sum * 10 + (uint64_t)(*at - '0');
	if (at == last || at - last > PLAIN_DIGITS - scale)
		return false;
	if (at < end && *at == '.') {
		last = ++at;
		for (; scale && is_digit(at, end); at++, scale--)
			sum = sum * 10 + (uint64_t)(*at - '0');
		if (at == last)
			return false;
	}
	for (; scale; scale--)
		sum *= 10;
	*value = negative ? -(int64_t)sum : (int64_t)sum;
	return at == end;
}

/* The number times ten to the power of scale; 1 when it has more decimals. */
static int read_number(const char *text, size_t len, long scale, int64_t *value)
{
	const char *const end = text + len;
	const bool negative = len && *text == '-';
	const char *const whole = text + negative;
	const char *const point = skip_digits(whole, end);
	const char *last = point;
	long exponent = 0;
	int status = 0;

	if (last < end && *last == '.')
		last = skip_digits(point + 1, end);
	if (point == whole || last == point + 1)
		return -EINVAL;
	if (last < end)
		status = *last == 'e' || *last == 'E'
				 ? read_exponent(last + 1, end, &exponent)
				 : -EINVAL;
	if (status)
		return status;
	status = combine(whole, last, point - whole + exponent + scale, value);
	if (negative)
		*value = -*value;
	if (status >= 0 && !exponent && last - point > scale + 1)
		return 1;
	return status;
}

int decimal_to_ns(const char *text, size_t len, int64_t *ns)
{
	return read_plain(text, len, 3, ns) ? 0 : read_number(text, len, 3, ns);
}

int decimal_to_integer(const char *text, size_t len, int64_t *value)
{
	for (size_t at = 0; at < len; at++)
		if (text[at] == '.' || text[at] == 'e' || text[at] == 'E')
			return -EINVAL;
	return read_plain(text, len, 0, value)
		       ? 0
		       : read_number(text, len, 0, value);
}

/* Four digits in all, but whole numbers in the smallest unit. */
static struct quantity scale(double value, double step,
			     const char *const *units)
{
	struct quantity quantity;
	int decimals = 0;

	while (units[1] && fabs(value) >= step * 0.99995) {
		value /= step;
		units++;
		decimals = fabs(value) < 9.9995	  ? 3
			   : fabs(value) < 99.995 ? 2
			   : fabs(value) < 999.95 ? 1
						  : 0;
	}
	snprintf(quantity.text, sizeof(quantity.text), "%.*f %s", decimals,
		 value, *units);
	return quantity;
}

struct quantity quantity_time(double ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s", NULL};

	return scale(ns, 1000, units);
}

struct quantity quantity_bytes(double bytes)
{
	static const char *const units[] = {"B",   "KiB", "MiB",
					    "GiB", "TiB", NULL};

	return scale(bytes, 1024, units);
}

struct quantity quantity_rate(double bytes, double ns)
{
	struct quantity quantity = {"-"};

	if (ns > 0)
		snprintf(quantity.text, sizeof(quantity.text), "%.2f GB/s",
			 bytes / ns);
	return quantity;
}

struct quantity quantity_share(double part, double whole)
{
	struct quantity quantity = {"-"};

	if (whole > 0)
		snprintf(quantity.text, sizeof(quantity.text), "%.1f %%",
			 100 * part / whole);
	return quantity;
}
