/* SPDX-License-Identifier: MIT */
/*
 * progress.h - a bar on the terminal while a long file is read.
 *
 * Only where stderr is a terminal, only once half a second has passed, and
 * gone without a trace at the end: what a command says goes elsewhere.
 */
#ifndef TOOLS_PROGRESS_H
#define TOOLS_PROGRESS_H

#include <stdint.h>

struct progress {
	const char *what;
	uint64_t total; /* 0: not known, no bar */
	uint64_t shown_ns;
	int is_drawn;
};

/* `what` stands in front of the bar and must stay valid. */
void progress_begin(struct progress *progress, const char *what,
		    uint64_t total);
void progress_at(struct progress *progress, uint64_t done);
void progress_end(struct progress *progress);

#endif
