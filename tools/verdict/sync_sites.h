/* SPDX-License-Identifier: MIT */
/*
 * sync_sites.h - where a thread waits for its GPU most often.
 */
#ifndef TOOLS_SYNC_SITES_H
#define TOOLS_SYNC_SITES_H

#include "tools/verdict/verdict.h"

/* Names; TIMELINE_NONE none. */
struct sync_site {
	uint32_t call; /* that waits */
	uint32_t op;   /* the operator, range or scope right around it */
	uint32_t line; /* the program's function of Python around both */
	/* The line, one of facts->timeline->called.lines, from which most calls
	 * come where an operator around them was asked for its own. */
	uint32_t from;
	int64_t asked; /* more calls than from any other line */
	int64_t calls, all_calls;
	int64_t longest_ns, longest_at_ns;
};

/* Of the critical thread's calls in typical steps that wait, and of its copies
 * that began at one of these times, which are sorted here; false: there are
 * none. */
bool sync_sites_most(const struct verdict_facts *facts, int64_t *copies,
		     size_t copy_count, struct sync_site *most);

#endif
