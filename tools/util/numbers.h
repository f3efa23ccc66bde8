/* SPDX-License-Identifier: MIT */
/*
 * numbers.h - numbers of a trace, read from text, added up and printed.
 *
 * Times are written as microseconds with three decimals.  They never go
 * through a double, which could not hold an absolute time to the nanosecond.
 * They come from files that anybody may have written, so sums stop at the ends
 * of 64 bits.
 */
#ifndef TOOLS_NUMBERS_H
#define TOOLS_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

/* Microseconds as JSON number text into nanoseconds.
 * 0 exact, 1 more than three decimals (the value is rounded), -EINVAL not a
 * number, -ERANGE too large for 64 bits. */
int decimal_to_ns(const char *text, size_t len, int64_t *ns);

/* JSON integer text.  0, -EINVAL not an integer, -ERANGE. */
int decimal_to_integer(const char *text, size_t len, int64_t *value);

static inline int64_t saturate_add(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return a < 0 ? INT64_MIN : INT64_MAX;
	return sum;
}

static inline int64_t saturate_subtract(int64_t a, int64_t b)
{
	int64_t difference;

	if (__builtin_sub_overflow(a, b, &difference))
		return a < 0 ? INT64_MIN : INT64_MAX;
	return difference;
}

/* *sum += value */
static inline void saturate_into(int64_t *sum, int64_t value)
{
	*sum = saturate_add(*sum, value);
}

/* A short text by value, with a unit, so that several fit one printf(). */
struct quantity {
	char text[32];
};

/* What is put to a word for that many of it: "1 event%s", "2 event%s". */
static inline const char *plural(int64_t count)
{
	return count == 1 ? "" : "s";
}

struct quantity quantity_time(double ns);		   /* 1.234 ms */
struct quantity quantity_bytes(double bytes);		   /* 12.5 MiB */
struct quantity quantity_rate(double bytes, double ns);	   /* 20.97 GB/s */
struct quantity quantity_share(double part, double whole); /* 12.3 % */

#endif
