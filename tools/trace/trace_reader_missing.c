/* SPDX-License-Identifier: MIT */
/*
 * trace_reader_missing.c - stands in for trace_reader.c in a build that has no
 * JSON parser, and says which package brings one.
 */
#ifndef HAVE_YAJL

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tools/trace/trace_reader.h"

bool trace_reader_available(void)
{
	return false;
}

int trace_read(const char *path, const struct trace_sink *sink,
	       struct trace_facts *facts)
{
	(void)path;
	(void)sink;
	memset(facts, 0, sizeof(*facts));
	snprintf(facts->error, sizeof(facts->error),
		 "reading traces needs yajl: install libyajl-dev and make "
		 "again");
	return -ENOSYS;
}

#endif
