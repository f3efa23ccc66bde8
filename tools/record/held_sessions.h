/* SPDX-License-Identifier: MIT */
/*
 * held_sessions.h - memory for sessions that outlives the programs of a
 * `traceprof record`.
 *
 * Where neither /dev/shm nor $XDG_RUNTIME_DIR has room, a session lies in a
 * memfd, which is gone with the last process that has it.  So `record` makes
 * some before it starts the program and keeps them open; the library finds them
 * through /proc by the names in an environment variable
 * (collector/session/session.h). The program itself inherits no descriptor and
 * no connection.
 */
#ifndef TOOLS_HELD_SESSIONS_H
#define TOOLS_HELD_SESSIONS_H

#include "writer/recovery.h"

/* Makes them and sets the variable for children.  Where none can be had the
 * variable is removed. */
void held_sessions_start(void);

/* Finishes the traces of programs that are dead, calls done(rc, result) for
 * each, and gives their memory back. */
void held_sessions_poll(void (*done)(int rc,
				     const struct recovery_result *result));

#endif
