/* SPDX-License-Identifier: MIT */
/*
 * process.h - what was read at the start of the process and holds for its
 * life: the options, the processors it may use, who started it.
 *
 * Read once, early: later the environment may be changed by another thread.
 */
#ifndef PRELOAD_PROCESS_H
#define PRELOAD_PROCESS_H

#include "collector/control/options.h"

#define PROCESS_AFFINITY_BYTES 512
#define PROCESS_COMPLAINTS_MAX 3

struct process {
	struct options options;
	int record_pid;	 /* of `traceprof record` that began all this, 0 none */
	bool direct;	 /* that one started exactly this process */
	bool is_checked; /* by valgrind's memcheck: no stacks, no samples */
	unsigned int complaints;
	long affinity_bytes; /* 0 or less: not known */
	unsigned long affinity[PROCESS_AFFINITY_BYTES / sizeof(unsigned long)];
	char complaint[PROCESS_COMPLAINTS_MAX][256];
};

extern struct process process __attribute__((visibility("hidden")));

/* False where the library is switched off, and in a tool. */
bool process_matters(void);

/* Reads the environment.  False: this process is none of our business. */
bool process_read(void);

/* Prints what was wrong with the variables, once: when the recording
 * begins. */
void process_complain(void);

/* Where this library lies, as it was found first; "" if that can't be told.
 * Asked first before main(), by one thread. */
const char *process_own_path(void);

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

/* Who started it, `timeout` aside, has not the same LD_PRELOAD: somebody wants
 * to see this one.  False where that isn't known. */
bool process_kind_is_pointed_at(void);

/* Who started it, `timeout` aside, is recorded, too: one of a script's
 * commands, say.  False where that isn't known. */
bool process_kind_is_one_of_many(void);

/* The value of a variable, NULL if it isn't there.  Not getenv(): a program
 * may have a function of that name. */
const char *process_variable(char *const *environment, const char *name);

#endif
