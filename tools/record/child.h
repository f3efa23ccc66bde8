/* SPDX-License-Identifier: MIT */
/*
 * child.h - runs a program as if nobody stood between it and its parent:
 * signals are passed on, its end is ours.
 */
#ifndef TOOLS_CHILD_H
#define TOOLS_CHILD_H

#include <stdbool.h>

struct child_end {
	int code;	/* for exit(): its own, or 128 and the signal */
	bool is_killed; /* by a signal */
};

/* Forks, executes and waits.  0; -errno when it could not be started. */
int child_run(char *const *command, struct child_end *end);

/* The same, and calls idle() about once a second meanwhile. */
int child_run_beside(char *const *command, struct child_end *end,
		     void (*idle)(void *arg), void *arg);

#endif
