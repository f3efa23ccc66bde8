/* SPDX-License-Identifier: MIT */
/*
 * process_kind.h - what kind of process this is, as far as that can be told at
 * its start: switched off, a mere tool, a child, or what `record` was asked
 * for.
 */
#ifndef PRELOAD_PROCESS_KIND_H
#define PRELOAD_PROCESS_KIND_H

#include "collector/system/base.h"

/* TRACEPROF=0 (or off), or a program that runs with others' rights. */
bool process_kind_is_off(char *const *environment);

/* `traceprof record` started exactly this process. */
bool process_kind_is_direct(char *const *environment);

/* The executable is a known compiler, linker, shell or tool: there are dozens
 * of them in a build or a start script, and nobody wants their traces. */
bool process_kind_is_tool(void);

/* The same for a path; "x86_64-linux-gnu-gcc-12" counts as "gcc". */
bool process_kind_names_tool(const char *path);

/* The parent was itself started with TRACEPROF_CHILDREN=none. */
bool process_kind_is_child(void);

/* The value of a variable, NULL if it isn't there.  Not getenv(): a program
 * may have a function of that name. */
const char *process_variable(char *const *environment, const char *name);

#endif
