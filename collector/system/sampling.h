/* SPDX-License-Identifier: MIT */
/*
 * sampling.h - Poisson sampling by bytes: how far it is to the next sample, and
 * what a sample stands for.
 *
 * A sample is taken wherever a point falls that lies `mean` bytes after the
 * last one on average, at an exponential distance.  So a block of s bytes is
 * one with the probability 1 - exp(-s / mean), whatever came before, and its
 * s bytes divided by that are an unbiased estimate.  There is no libm here.
 */
#ifndef COLLECTOR_SAMPLING_H
#define COLLECTOR_SAMPLING_H

#include "collector/system/base.h"

/* The next of a row of random numbers; *state is never 0. */
uint64_t sampling_random(uint64_t *state);

/* An exponential distance in bytes, at least 1. */
int64_t sampling_distance(uint64_t *state, uint64_t mean);

/* The bytes that a sampled block of so many stands for, to the nearest. */
uint64_t sampling_weigh(uint64_t bytes, uint64_t mean);

#endif
