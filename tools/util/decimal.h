/* SPDX-License-Identifier: MIT */
/*
 * decimal.h - numbers of a trace, read from their text.
 *
 * Times are written as microseconds with three decimals.  They never go
 * through a double, which could not hold an absolute time to the nanosecond.
 */
#ifndef TOOLS_DECIMAL_H
#define TOOLS_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

/* Microseconds as JSON number text into nanoseconds.
 * 0 exact, 1 more than three decimals (the value is rounded), -EINVAL not a
 * number, -ERANGE too large for 64 bits. */
int decimal_to_ns(const char *text, size_t len, int64_t *ns);

/* JSON integer text.  0, -EINVAL not an integer, -ERANGE. */
int decimal_to_integer(const char *text, size_t len, int64_t *value);

#endif
