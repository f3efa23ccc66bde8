/* SPDX-License-Identifier: MIT */
/*
 * waits.h - what threads wait for in calls of the C library.
 */
#ifndef PRELOAD_WAITS_H
#define PRELOAD_WAITS_H

#include "collector/session/names.h"
#include "collector/session/session.h"

/* A recording begins in which waits of `least_ns` and longer are drawn. */
void waits_start(struct session *session, uint64_t least_ns);

/* Python's GIL lies in these bytes: waits for it are named so. */
void waits_know_gil(const char *around, size_t bytes);

#endif
