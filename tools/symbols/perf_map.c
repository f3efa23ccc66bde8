/* SPDX-License-Identifier: MIT */
/* perf_map.c - reads a perf map; see perf_map.h. */
#include "tools/symbols/perf_map.h"

#include "tools/util/memory.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct piece {
	uint64_t start, size;
	char *name;
};

struct perf_map {
	struct piece *pieces;
	size_t count, capacity;
};

static void add_line(struct perf_map *map, const char *line)
{
	struct piece piece;
	int at = 0;

	if (sscanf(line, "%" SCNx64 " %" SCNx64 " %n", &piece.start,
		   &piece.size, &at) != 2 ||
	    !at)
		return;
	piece.name = strndup(line + at, strcspn(line + at, "\n"));
	map->pieces = memory_grow(map->pieces, map->count, &map->capacity,
				  sizeof(piece));
	map->pieces[map->count++] = piece;
}

struct perf_map *perf_map_open(int64_t pid)
{
	struct perf_map *map;
	struct stat status;
	size_t bytes = 0;
	char *line = NULL;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/perf-%" PRId64 ".map", pid);
	file = fopen(path, "re");
	if (!file)
		return NULL;
	/* Anybody may write there. */
	if (fstat(fileno(file), &status) || status.st_uid != geteuid()) {
		fclose(file);
		return NULL;
	}
	map = memory_zeroed(1, sizeof(*map));
	while (getline(&line, &bytes, file) > 0)
		add_line(map, line);
	free(line);
	fclose(file);
	return map;
}

const char *perf_map_find(const struct perf_map *map, uint64_t address)
{
	for (size_t i = map->count; i--;)
		if (address - map->pieces[i].start < map->pieces[i].size)
			return map->pieces[i].name;
	return NULL;
}

void perf_map_free(struct perf_map *map)
{
	if (!map)
		return;
	for (size_t i = 0; i < map->count; i++)
		free(map->pieces[i].name);
	free(map->pieces);
	free(map);
}
