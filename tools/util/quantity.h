/* SPDX-License-Identifier: MIT */
/*
 * quantity.h - numbers with units, as people read them.
 */
#ifndef TOOLS_QUANTITY_H
#define TOOLS_QUANTITY_H

#include <stdint.h>

/* A short text by value, so that several fit one printf(). */
struct quantity {
	char text[32];
};

struct quantity quantity_time(double ns);		   /* 1.234 ms */
struct quantity quantity_bytes(double bytes);		   /* 12.5 MiB */
struct quantity quantity_rate(double bytes, double ns);	   /* 20.97 GB/s */
struct quantity quantity_share(double part, double whole); /* 12.3 % */

#endif
