/* SPDX-License-Identifier: MIT */
/*
 * merge_text.h - the text of several traces, one behind the other, as one.
 *
 * What must differ between processes does: a pid that an earlier file has, too,
 * becomes another, and so does each arrow's id.  Times count from the first
 * file's base.  All else stays as it stands.
 */
#ifndef TOOLS_MERGE_TEXT_H
#define TOOLS_MERGE_TEXT_H

#ifdef HAVE_YAJL

#include <stdbool.h>
#include <stdint.h>
#include <yajl/yajl_gen.h>

#include "tools/util/key_table.h"

/* What is asked of a file before it is read. */
struct merge_file {
	const char *path;
	int64_t base_ns; /* baseTimeNanoseconds, 0 none */
	int64_t rank;	 /* -1 none */
	int64_t ranks;	 /* as it says of itself; 0 it does not */
	char *host;	 /* NULL none */
};

struct merge_output {
	yajl_gen gen;
	void (*newline)(void *arg); /* after each event */
	void *arg;
	struct key_table taken; /* pids that the output has */
	int64_t base_ns;
	uint64_t events;
};

/* Adds a file's events to the array that is open, and a name for each of its
 * processes.  NULL; else why not, in a few words. */
const char *merge_events(struct merge_output *output,
			 const struct merge_file *file, unsigned int number);

/* Adds what lies around the events to the object that is open. */
const char *merge_rest(struct merge_output *output,
		       const struct merge_file *file);

#endif
#endif
