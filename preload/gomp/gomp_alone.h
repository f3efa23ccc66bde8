/* SPDX-License-Identifier: MIT */
/*
 * gomp_alone.h - a team of one, for callers without a libgomp.
 *
 * Whoever calls GOMP_parallel was linked with a libgomp, so these are used
 * where a library is too old for an entry point that its caller nevertheless
 * has, and where the caller's library can't be found at all.  A team of one is
 * always a legal answer.
 */
#ifndef PRELOAD_GOMP_ALONE_H
#define PRELOAD_GOMP_ALONE_H

#include "preload/gomp/gomp_wrapped.h"

/* Fills each member that is still NULL. */
void gomp_alone_complete(struct gomp_library *library);

#endif
