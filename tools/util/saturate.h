/* SPDX-License-Identifier: MIT */
/*
 * saturate.h - sums that stop at the ends of 64 bits.
 *
 * Times and sizes come from files that anybody may have written.
 */
#ifndef TOOLS_SATURATE_H
#define TOOLS_SATURATE_H

#include <stdint.h>

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

#endif
