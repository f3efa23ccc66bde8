/* SPDX-License-Identifier: MIT */
/*
 * target.h - can this program be recorded?
 *
 * Only a dynamically linked program of our own architecture and C library
 * loads a preloaded library.  Everything else would run as if nothing had been
 * asked for, so `record` refuses it with the reason.
 */
#ifndef TOOLS_TARGET_H
#define TOOLS_TARGET_H

#include <limits.h>

struct target {
	char path[PATH_MAX]; /* of the ELF file that will run, or the script's
				last interpreter */
	char reason[PATH_MAX + 256]; /* why it is refused */
};

/* Looks at the command as execvp() would find it; scripts are followed to
 * their interpreters.  0; -ENOENT or -EACCES cannot be run; -ENOEXEC no ELF
 * file or script, let exec decide; -EPERM refused, see reason. */
int target_examine(const char *command, struct target *target);

#endif
