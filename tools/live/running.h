/* SPDX-License-Identifier: MIT */
/*
 * running.h - the session of a process that runs.
 */
#ifndef TOOLS_RUNNING_H
#define TOOLS_RUNNING_H

#include "collector/session/session.h"

/* Maps the header of process `pid`'s session, shared; session_close() ends it.
 * *file, unless that is NULL: a descriptor of the session's file.
 * 0; -errno with one line in `why`: no such process, somebody else's, nothing
 * of traceprof in it, nothing recorded yet, out of reach, another version. */
int running_open(int pid, struct session *session, int *file, char *why,
		 size_t why_bytes);

/* It is gone, or has ended but for its entry. */
bool running_is_dead(int pid);

#endif
