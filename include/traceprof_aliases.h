/* SPDX-License-Identifier: MIT */
/*
 * traceprof_aliases.h - traceprof.h by the names that other profilers' guides
 * use.  Nothing new: each is one of its calls.
 */
#ifndef TRACEPROF_ALIASES_H
#define TRACEPROF_ALIASES_H

#include "traceprof.h"

#define PROFILE_SCOPE(name)		TRACEPROF_SCOPE(name)
#define PROFILE_FUNCTION()		TRACEPROF_FUNCTION()

#define profiler_start(name)		traceprof_start(name)
#define profiler_end()			traceprof_stop()
#define profiler_reset()		traceprof_reset()
#define profiler_report(n)		traceprof_report(n)
/* Calls `each` with every name's totals, largest first. */
#define profiler_get_results(each, arg) traceprof_totals(each, arg)

#endif
