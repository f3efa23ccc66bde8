/* SPDX-License-Identifier: MIT */
/*
 * peak.h - the most that a machine does: floating-point operations and bytes of
 * memory in a second, measured once by `traceprof peak` and kept.
 */
#ifndef TOOLS_PEAK_H
#define TOOLS_PEAK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All processors together, in a second. */
struct peak {
	char host[128], processor[128];
	int64_t cores;
	double float_flops, double_flops; /* multiply-adds count for two */
	double memory_bytes;		  /* read and written */
	double core_float_flops, core_double_flops; /* one of them alone */
	double core_memory_bytes;
};

/* Fills in who this machine is. */
void peak_name(struct peak *peak);

/* Takes a second or two and all processors. */
int peak_measure(struct peak *peak);

/* Where it is kept: under $XDG_CACHE_HOME, or ~/.cache.  -ENOENT neither. */
int peak_path(const char *host, char *path, size_t bytes);

/* 0 or -errno: of a host, NULL this one.  -EINVAL: that file is no such. */
int peak_read(const char *host, struct peak *peak);
int peak_write(const struct peak *peak);

#endif
