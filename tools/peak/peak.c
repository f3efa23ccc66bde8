/* SPDX-License-Identifier: MIT */
/* peak.c - where a machine's peak is kept; see peak.h. */
#include "tools/peak/peak.h"

#include "collector/system/proc.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
	const char *key;
	size_t offset;
} numbers[] = {
	{"float_flops", offsetof(struct peak, float_flops)},
	{"double_flops", offsetof(struct peak, double_flops)},
	{"memory_bytes", offsetof(struct peak, memory_bytes)},
	{"core_float_flops", offsetof(struct peak, core_float_flops)},
	{"core_double_flops", offsetof(struct peak, core_double_flops)},
	{"core_memory_bytes", offsetof(struct peak, core_memory_bytes)},
};

#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

static double *number_at(const struct peak *peak, size_t at)
{
	return (double *)((char *)peak + numbers[at].offset);
}

static void find_processor(char *text, size_t bytes)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	char line[256];

	snprintf(text, bytes, "unknown");
	while (file && fgets(line, sizeof(line), file)) {
		char *colon = strchr(line, ':');

		if (strncmp(line, "model name", 10) || !colon)
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(text, bytes, "%s", colon + 2);
		break;
	}
	if (file)
		fclose(file);
}

void peak_name(struct peak *peak)
{
	cpu_set_t set;

	*peak = (struct peak){.cores = 1};
	proc_host(peak->host, sizeof(peak->host));
	find_processor(peak->processor, sizeof(peak->processor));
	if (!sched_getaffinity(0, sizeof(set), &set))
		peak->cores = CPU_COUNT(&set);
}

static bool make_folders(char *path)
{
	for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		if (mkdir(path, 0700) && errno != EEXIST) {
			*at = '/';
			return false;
		}
		*at = '/';
	}
	return true;
}

int peak_path(const char *host, char *path, size_t bytes)
{
	const char *cache = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	int len;

	if (strchr(host, '/'))
		return -EINVAL;
	if (cache && cache[0] == '/')
		len = snprintf(path, bytes, "%s/traceprof/peak-%s", cache,
			       host);
	else if (home && home[0] == '/')
		len = snprintf(path, bytes, "%s/.cache/traceprof/peak-%s", home,
			       host);
	else
		return -ENOENT;
	return len < 0 || (size_t)len >= bytes ? -ENAMETOOLONG : 0;
}

static void take_line(struct peak *peak, const char *line)
{
	char key[32];
	double value;

	if (sscanf(line, "processor %127[^\n]", peak->processor) == 1 ||
	    sscanf(line, "cores %ld", &peak->cores) == 1)
		return;
	if (sscanf(line, "%31s %lf", key, &value) != 2)
		return;
	for (size_t i = 0; i < NUMBERS; i++)
		if (!strcmp(key, numbers[i].key))
			*number_at(peak, i) = value;
}

int peak_read(const char *host, struct peak *peak)
{
	char path[4096], line[256];
	struct peak here;
	FILE *file;
	int rc;

	peak_name(&here);
	rc = peak_path(host ? host : here.host, path, sizeof(path));
	if (rc)
		return rc;
	file = fopen(path, "re");
	if (!file)
		return -errno;
	*peak = (struct peak){0};
	snprintf(peak->host, sizeof(peak->host), "%s", host ? host : here.host);
	while (fgets(line, sizeof(line), file))
		take_line(peak, line);
	fclose(file);
	for (size_t i = 0; i < NUMBERS; i++)
		if (!(*number_at(peak, i) > 0))
			return -EINVAL;
	return 0;
}

int peak_write(const struct peak *peak)
{
	char path[4096], other[4200];
	FILE *file;
	int rc = peak_path(peak->host, path, sizeof(path));

	if (rc)
		return rc;
	if (!make_folders(path))
		return -errno;
	/* Whoever reads it meanwhile finds the whole of one. */
	snprintf(other, sizeof(other), "%s.%d", path, (int)getpid());
	file = fopen(other, "we");
	if (!file)
		return -errno;
	fprintf(file, "processor %s\ncores %ld\n", peak->processor,
		(long)peak->cores);
	for (size_t i = 0; i < NUMBERS; i++)
		fprintf(file, "%s %.0f\n", numbers[i].key, *number_at(peak, i));
	if (fclose(file) || rename(other, path)) {
		rc = -errno;
		unlink(other);
	}
	return rc;
}
