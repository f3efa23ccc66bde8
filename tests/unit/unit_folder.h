/* SPDX-License-Identifier: MIT */
/*
 * unit_folder.h - where unit tests put their files: in the folder that a run
 * looks through when it is over.
 */
#ifndef UNIT_FOLDER_H
#define UNIT_FOLDER_H

#include <stdio.h>
#include <stdlib.h>

/* A template for mkstemp() or mkdtemp(). */
static inline void unit_template(char *path, size_t size, const char *name)
{
	const char *folder = getenv("TMPDIR");

	snprintf(path, size, "%s/traceprof-%s-XXXXXX", folder ? folder : "/tmp",
		 name);
}

#endif
