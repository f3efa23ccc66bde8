/* SPDX-License-Identifier: MIT */
/*
 * digits.h - decimal digits of numbers, eight at once.
 *
 * Each function writes at `out` and returns the end of what it wrote; it may
 * write up to DIGITS_SPARE bytes after that.
 */
#ifndef WRITER_DIGITS_H
#define WRITER_DIGITS_H

#include "collector/system/base.h"
#include <string.h>

#define DIGITS_SPARE	  8u
#define DIGITS_U64_MAX	  (20u + DIGITS_SPARE)
#define DIGITS_MICROS_MAX (21u + DIGITS_SPARE)

/* How many digits a number has. */
static inline unsigned int digits_count(uint64_t value)
{
	/* The smallest number with one digit more than the index. */
	static const uint64_t powers[] = {
		0u,
		10u,
		100u,
		1000u,
		10000u,
		100000u,
		1000000u,
		10000000u,
		100000000u,
		1000000000u,
		10000000000u,
		100000000000u,
		1000000000000u,
		10000000000000u,
		100000000000000u,
		1000000000000000u,
		10000000000000000u,
		100000000000000000u,
		1000000000000000000u,
		10000000000000000000u,
	};
	const unsigned int bits = 64 - (unsigned int)__builtin_clzll(value | 1);
	/* 1233 / 4096 is log10(2), exact enough for 64 bits. */
	const unsigned int least = bits * 1233 >> 12;

	return least + (value >= powers[least]);
}

/* Eight digits, the first in the lowest byte, of a number below 10^8.  Halves,
 * quarters and eighths of it are divided side by side in one word: first by
 * 10^4, then both halves by 100, then all four quarters by 10. */
static inline uint64_t digits_eight(uint32_t value)
{
	const uint64_t high = value / 10000;
	const uint64_t halves = high | (value - high * 10000) << 32;
	const uint64_t hundreds =
		(halves * 10486 >> 20) & UINT64_C(0x0000007f0000007f);
	const uint64_t quarters = hundreds | (halves - hundreds * 100) << 16;
	const uint64_t tens =
		(quarters * 103 >> 10) & UINT64_C(0x000f000f000f000f);

	return (tens | (quarters - tens * 10) << 8) |
	       UINT64_C(0x3030303030303030);
}

/* Writes all `count` digits of a number at `out`; returns their end. */
static inline char *digits_at(char *out, uint64_t value, unsigned int count)
{
	const uint64_t base = 100000000;
	uint64_t eight;

	if (count > 8) {
		const uint64_t rest = value / base;
		const uint64_t low = value - rest * base;

		out = count > 16 ? digits_at(out, rest, count - 8) : out;
		if (count <= 16) {
			eight = digits_eight((uint32_t)rest) >>
				8 * (16 - count);
			memcpy(out, &eight, sizeof(eight));
			out += count - 8;
		}
		value = low;
		count = 8;
	}
	eight = digits_eight((uint32_t)value) >> 8 * (8 - count);
	memcpy(out, &eight, sizeof(eight));
	return out + count;
}

static inline char *digits_u64(char *out, uint64_t value)
{
	return digits_at(out, value, digits_count(value));
}

/* Nanoseconds as microseconds with exactly three decimals. */
static inline char *digits_micros(char *out, uint64_t ns)
{
	const uint64_t base = 100000000;
	const uint64_t high = ns / base;
	uint64_t low, tail;

	if (unlikely(high - 10000000 >= 90000000)) {
		/* Not sixteen digits: whole microseconds, and the rest. */
		out = digits_u64(out, ns / 1000);
		low = digits_eight((uint32_t)(ns % 1000)) >> 40;
		*out = '.';
		memcpy(out + 1, &low, sizeof(uint32_t));
		return out + 4;
	}
	low = digits_eight((uint32_t)high);
	memcpy(out, &low, sizeof(low));
	low = digits_eight((uint32_t)(ns - high * base));
	memcpy(out + 8, &low, sizeof(low));
	tail = low >> 40;
	out[13] = '.';
	memcpy(out + 14, &tail, sizeof(uint32_t));
	return out + 17;
}

#endif
