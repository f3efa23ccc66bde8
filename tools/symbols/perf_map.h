/* SPDX-License-Identifier: MIT */
/*
 * perf_map.h - names of code that a JIT made, from /tmp/perf-PID.map, which
 * perf's users know: one line "start size name" for each piece, in hexadecimal.
 */
#ifndef TOOLS_PERF_MAP_H
#define TOOLS_PERF_MAP_H

#include <stdint.h>

struct perf_map;

/* NULL: there is none, or it is not this user's. */
struct perf_map *perf_map_open(int64_t pid);

/* The name of the piece that holds an address, the newest first; NULL none. */
const char *perf_map_find(const struct perf_map *map, uint64_t address);
void perf_map_free(struct perf_map *map);

#endif
