/* SPDX-License-Identifier: MIT */
/*
 * signal_name.h - which signal TRACEPROF_SIGNAL may name.
 *
 * Only those that have no meaning of their own: the kernel sends none of them
 * for an error, a child, a terminal or a limit, and nobody ends, stops or
 * continues a program by them.
 */
#ifndef COLLECTOR_SIGNAL_NAME_H
#define COLLECTOR_SIGNAL_NAME_H

#include "collector/system/base.h"

/* The number of "USR2", "SIGUSR2", "12", "RTMIN+3"; 0 of "none".  -EINVAL with
 * one line in `why`: no signal, or one that can't be used.  Without malloc and
 * stdio. */
int signal_name_parse(const char *text, char *why, size_t why_bytes);

#endif
