/* SPDX-License-Identifier: MIT */
/*
 * user_signal.h - the handler of TRACEPROF_SIGNAL.
 *
 * It counts the signal and wakes the writer, which starts or stops a window, or
 * dumps the flight recorder; nothing else happens in the handler.  Installed
 * with SA_RESTART before the process is interesting, since the default action
 * of such a signal ends a program.  A handler of the program's own, before or
 * after, is left in its place, and said.
 */
#ifndef PRELOAD_USER_SIGNAL_H
#define PRELOAD_USER_SIGNAL_H

#include "collector/system/base.h"

/* Once, in the constructor of a process that may become interesting. */
void user_signal_start(void);

/* Writer, each pass: has the program put its own in our place? */
void user_signal_poll(void *unused);

#endif
