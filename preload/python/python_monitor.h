/* SPDX-License-Identifier: MIT */
/*
 * python_monitor.h - sys.monitoring: calls of all threads, from 3.12 on.
 */
#ifndef PRELOAD_PYTHON_MONITOR_H
#define PRELOAD_PYTHON_MONITOR_H

#include <stdbool.h>

void python_monitor_turn(bool on);

/* The interpreter is gone, and our objects with it. */
void python_monitor_forget(void);

#endif
