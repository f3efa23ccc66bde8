/* SPDX-License-Identifier: MIT */
/*
 * bench_reader.c - how fast the tools' reader takes a trace's text, against the
 * JSON parser under it.
 *
 *	bench_reader FILE WAY...
 *
 * FILE is a plain trace, WAY one of
 *
 *	parser	yajl alone: no callbacks, strings not validated
 *	reader	trace_read(), whose events nobody looks at
 *
 * Prints, for each turn, the way and the MB of text for each second of
 * processor time.
 */
#include "tools/trace/trace_reader.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifdef HAVE_YAJL
#include <yajl/yajl_parse.h>
#endif

static double spent_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int parse_alone(const char *path)
{
#ifdef HAVE_YAJL
	static unsigned char piece[256 * 1024];
	const int file = open(path, O_RDONLY);
	yajl_handle parser = yajl_alloc(NULL, NULL, NULL);
	bool is_good = file >= 0 && parser;
	ssize_t got;

	yajl_config(parser, yajl_dont_validate_strings, 1);
	while (is_good && (got = read(file, piece, sizeof(piece))) > 0)
		is_good = yajl_parse(parser, piece, (size_t)got) ==
			  yajl_status_ok;
	is_good = is_good && yajl_complete_parse(parser) == yajl_status_ok;
	yajl_free(parser);
	close(file);
	return is_good ? 0 : -1;
#else
	(void)path;
	return -1;
#endif
}

static void pass_event(void *arg, const struct trace_event *event)
{
	(void)arg;
	(void)event;
}

static void pass_entry(void *arg, const struct trace_entry *entry)
{
	(void)arg;
	(void)entry;
}

static int read_events(const char *path)
{
	static const struct trace_sink sink = {.event = pass_event,
					       .entry = pass_entry};
	struct trace_facts facts;

	return trace_read(path, &sink, &facts);
}

int main(int argc, char **argv)
{
	for (int i = 2; i < argc; i++) {
		const bool alone = !strcmp(argv[i], "parser");
		const double start = spent_ns();
		const int rc =
			alone ? parse_alone(argv[1]) : read_events(argv[1]);
		const double ns = spent_ns() - start;
		const int file = open(argv[1], O_RDONLY);
		const off_t bytes = lseek(file, 0, SEEK_END);

		close(file);
		if (rc || bytes <= 0) {
			fprintf(stderr, "%s failed\n", argv[i]);
			return 1;
		}
		printf("%s %.1f\n", argv[i], (double)bytes * 1e3 / ns);
	}
	return 0;
}
