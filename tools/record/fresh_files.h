/* SPDX-License-Identifier: MIT */
/*
 * fresh_files.h - runs a command for each trace that a run completes.
 *
 * Of a run is what was not in its folder when it began.  A trace is complete
 * when its end says so ("final":true): one that is still written is a valid
 * file too, but says false there.  To read a growing file again and again would
 * be waste, so only one that has not changed between two looks is read.
 */
#ifndef TOOLS_FRESH_FILES_H
#define TOOLS_FRESH_FILES_H

#include <stdbool.h>

struct fresh_files;

/* Notes what is there.  `preload` is what LD_PRELOAD is to be for the command,
 * NULL not set. */
struct fresh_files *fresh_files_start(const char *folder, const char *command,
				      const char *preload);

/* Starts the command for what has become complete.  At the end of a run files
 * are read that have changed a moment ago, too. */
void fresh_files_poll(struct fresh_files *files, bool is_end);

/* Waits for the commands and frees. */
void fresh_files_end(struct fresh_files *files);

#endif
