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
	bool direct; /* `traceprof record` started exactly this process */
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

/* Prints what was wrong with the variables, once: the process has become
 * interesting. */
void process_complain(void);

#endif
