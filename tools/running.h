/* SPDX-License-Identifier: MIT */
/*
 * running.h - the session of a program that runs, by its process id.
 */
#ifndef TOOLS_RUNNING_H
#define TOOLS_RUNNING_H

#include "collector/session/session.h"

/* Maps the header of process `pid`'s session, shared; session_close() ends it.
 * 0; -errno with one line in `why`: no such process, somebody else's, nothing
 * of traceprof in it, nothing recorded yet, out of reach, another version. */
int running_open(int pid, struct session *session, char *why, size_t why_bytes);

#endif
