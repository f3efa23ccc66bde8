/* SPDX-License-Identifier: MIT */
/*
 * file_report.h - `traceprof report --io`: what was read and written, by file.
 */
#ifndef TOOLS_FILE_REPORT_H
#define TOOLS_FILE_REPORT_H

#include <stddef.h>

/* The command's status. */
int file_report(char **files, int count, size_t top);

#endif
