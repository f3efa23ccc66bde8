/* SPDX-License-Identifier: MIT */
/*
 * histogram.c - counts by size, in parts of powers of two.
 */
#include "tools/util/histogram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"

/* Octave 0 holds 0 to 63; octave n from 64 * 2^(n-1) on. */
static unsigned int octave_of(int64_t value)
{
	if (value < HISTOGRAM_PARTS)
		return 0;
	return 64 - (unsigned int)__builtin_clzll((uint64_t)value) - 6;
}

static unsigned int part_of(int64_t value, unsigned int octave)
{
	if (!octave)
		return (unsigned int)value;
	return (unsigned int)(value >> (octave - 1)) - HISTOGRAM_PARTS;
}

/* The middle of a part. */
static int64_t value_of(unsigned int octave, unsigned int part)
{
	if (!octave)
		return part;
	return ((int64_t)(HISTOGRAM_PARTS + part) << (octave - 1)) +
	       (octave > 1 ? (int64_t)1 << (octave - 2) : 0);
}

void histogram_add(struct histogram *histogram, int64_t value)
{
	unsigned int octave;

	if (value < 0)
		value = 0;
	octave = octave_of(value);
	if (!histogram->octaves[octave])
		histogram->octaves[octave] =
			memory_zeroed(HISTOGRAM_PARTS, sizeof(uint32_t));
	histogram->octaves[octave][part_of(value, octave)]++;
}

int64_t histogram_quantile(const struct histogram *histogram, int64_t count,
			   double share)
{
	/* The least value that so large a share isn't above. */
	int64_t left = (int64_t)ceil(share * (double)count);

	if (left < 1)
		left = 1;
	for (unsigned int octave = 0; octave < HISTOGRAM_OCTAVES; octave++) {
		const uint32_t *parts = histogram->octaves[octave];

		for (unsigned int at = 0; parts && at < HISTOGRAM_PARTS; at++) {
			left -= parts[at];
			if (left <= 0 && parts[at])
				return value_of(octave, at);
		}
	}
	return 0;
}

void histogram_free(struct histogram *histogram)
{
	for (unsigned int octave = 0; octave < HISTOGRAM_OCTAVES; octave++)
		free(histogram->octaves[octave]);
	memset(histogram, 0, sizeof(*histogram));
}
