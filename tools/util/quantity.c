/* SPDX-License-Identifier: MIT */
/*
 * quantity.c - four digits and a unit.
 */
#include "tools/util/quantity.h"

#include <math.h>
#include <stdio.h>

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
