/* SPDX-License-Identifier: MIT */
/*
 * doctor.h - what `traceprof doctor` looks at, and what it found.
 *
 * Each doctor_look_at_*() adds findings: one line each, with what to do where
 * something can be done.  Nothing is changed on the machine, and the program is
 * not run; its loader is asked which libraries it would load.
 */
#ifndef TOOLS_DOCTOR_H
#define TOOLS_DOCTOR_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/control/options.h"

enum doctor_level {
	DOCTOR_GOOD, /* works */
	DOCTOR_NOTE, /* works with less, or differently */
	DOCTOR_STOP, /* nothing would be recorded */
};

struct doctor_finding {
	enum doctor_level level;
	const char *subject;
	const char *advice; /* NULL: nothing to be done */
	char *text;
};

struct doctor {
	struct options options;
	struct doctor_finding *findings;
	size_t count, capacity;
};

/* Subject and advice live as long as the doctor. */
void doctor_say(struct doctor *doctor, enum doctor_level level,
		const char *subject, const char *advice, const char *format,
		...) __attribute__((format(printf, 5, 6)));

/* Library and settings, memory and disk, processor, other tools. */
void doctor_look_at_machine(struct doctor *doctor);

/* Driver, devices and CUPTI, asked in a process of its own. */
void doctor_look_at_gpu(struct doctor *doctor);

/* The program that a command would run, and what it is linked with. */
void doctor_look_at_program(struct doctor *doctor, const char *command);

/*
 * elf_names.c: which of some functions an ELF file defines itself, so that a
 * preloaded library can't stand in front of them.
 */

/* Bit i: the file at `path` defines names[i]; count is 32 at most. */
uint32_t elf_names_defined(const char *path, const char *const *names,
			   size_t count);

/* The file's loader ("/lib64/ld-linux-x86-64.so.2").  False: it names none. */
bool elf_names_loader(const char *path, char *loader, size_t bytes);

#endif
