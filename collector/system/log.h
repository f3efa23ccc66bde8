/* SPDX-License-Identifier: MIT */
/*
 * log.h - one line on stderr, or nothing.
 *
 * The library prints at most LOG_LINES_MAX lines in a run unless it is asked
 * for more, never to stdout, and only while fd 2 is what it was at the start.
 * No stdio, no malloc; any thread and signal handlers.
 */
#ifndef COLLECTOR_LOG_H
#define COLLECTOR_LOG_H

#include "collector/system/base.h"
#include <stdarg.h>

#define LOG_LINES_MAX	 5
#define LOG_LINE_BYTES	 1024
/* Where the trace is, and what to type next: log_reserve(). */
#define LOG_LINES_AT_END 2

/* Remembers what fd 2 is; to be called once, early. */
void log_start(bool quiet);

/* The end begins: what is said later is heard although the program closes fd 2
 * before, as those do that look whether all of their output was written. */
void log_keep(void);

/* So many of the lines are for what comes later: log_say() leaves them all,
 * log_trouble() one. */
void log_reserve(unsigned int lines);

/* Is log_say()'s line printed, but for LOG_LINES_MAX? */
bool log_is_heard(void);

/* Something is wrong: what, and what to do.  Printed even when quiet. */
void log_trouble(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Good to know: not when quiet. */
void log_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What was asked for (TRACEPROF_VERBOSE): not one of the LOG_LINES_MAX. */
void log_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* printf's small brother: %s %c %d %i %u %x with l, ll, z, field width, zero
 * padding, %.*s and %%; also %.Nf for N <= 9, and {event|events}, the first of
 * which is written after a number that is 1, else the second.  Returns the
 * length that was written, always terminated. */
size_t log_format(char *text, size_t bytes, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* A time that is so many us, in a unit that leaves it readable: "455.3 ms". */
size_t log_time(char *text, size_t bytes, double us);
size_t log_format_list(char *text, size_t bytes, const char *format,
		       va_list args);

#endif
