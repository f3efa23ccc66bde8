/* SPDX-License-Identifier: MIT */
/*
 * trace_last.h - the last part of a large trace of ours, without what lies
 * before it.
 *
 * The library codes blocks of whole events, none of which looks back at another
 * one, so a reader can begin at any of them.  Events come in the order in which
 * they ended, but for a slice of time that is drained thread by thread: what
 * ended after `from_ns` is all in the part, and what began before it is not
 * whole there.
 */
#ifndef TOOLS_TRACE_LAST_H
#define TOOLS_TRACE_LAST_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/util/text_buffer.h"

struct trace_last {
	bool is_plain;		 /* not compressed */
	struct text_buffer head; /* text, up to the first event's end */
	uint64_t at;		 /* of the file, from where on it is read */
	int64_t from_ns;
};

/* Of the last `bytes` of the file, a part of which goes into knowing
 * `from_ns`.  0; -ENOENT: it is not larger, or none of ours; -ENODATA: nothing
 * but steps lies there; other -errno.  To be freed in any case. */
int trace_last_find(const char *path, uint64_t bytes, struct trace_last *last);
void trace_last_free(struct trace_last *last);

/* Is a slice of that category told by CUPTI?  The rest is what threads had. */
bool trace_last_is_gpu(const char *category);

#endif
