/* SPDX-License-Identifier: MIT */
/* sampling.c - the arithmetic of samples; see sampling.h. */
#include "collector/system/sampling.h"

#include "collector/system/float_state.h"

#define LN2 0.69314718055994530942

/* xorshift64*, Marsaglia and Vigna. */
uint64_t sampling_random(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return x * UINT64_C(0x2545f4914f6cdd1d);
}

/* The logarithm of a number in [1, 2), by the series of its area tangent. */
static double log_near_one(double x)
{
	const double z = (x - 1) / (x + 1);
	const double square = z * z;
	double power = z;
	double sum = 0;

	for (int i = 1; i < 24; i += 2) {
		sum += power / i;
		power *= square;
	}
	return 2 * sum;
}

int64_t sampling_distance(uint64_t *state, uint64_t mean)
{
	/* 53 bits, odd and so never 0: a number in (0, 1). */
	uint64_t number = (sampling_random(state) >> 11) | 1;
	const int shift = __builtin_clzll(number) - 11;
	const struct float_state was = float_state_leave();
	double distance;

	number <<= shift; /* its top bit is bit 52 */
	distance = LN2 * (shift + 1) -
		   log_near_one((double)number / (double)(UINT64_C(1) << 52));
	distance *= (double)mean;
	return (int64_t)float_state_return_with(
		&was, distance < 1 ? 1 : (uint64_t)distance);
}

/* 1 - exp(-x), for small x by its series, for others by halves: with y for x/2
 * it is 2y' - y'^2. */
static double one_less_exp(double x)
{
	int halved = 0;
	double term, sum;

	if (x > 40)
		return 1;
	while (x > 0.25) {
		x /= 2;
		halved++;
	}
	term = sum = x;
	for (int i = 2; i < 14; i++) {
		term *= -x / i;
		sum += term;
	}
	while (halved--)
		sum = 2 * sum - sum * sum;
	return sum;
}

uint64_t sampling_weigh(uint64_t bytes, uint64_t mean)
{
	if (!bytes || !mean)
		return bytes;
	return (uint64_t)((double)bytes /
				  one_less_exp((double)bytes / (double)mean) +
			  0.5);
}
