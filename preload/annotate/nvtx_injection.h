/* SPDX-License-Identifier: MIT */
/*
 * nvtx_injection.h - how NVTX finds us.
 *
 * At its first call each copy of NVTX loads the library that the environment
 * names and asks it to fill its tables.  There is no other way in, so the
 * constructor names us there, unless somebody else is named already.
 */
#ifndef PRELOAD_NVTX_INJECTION_H
#define PRELOAD_NVTX_INJECTION_H

#include "collector/session/session.h"

/* Constructor: puts our own path into the environment. */
void nvtx_injection_announce(void);

/* Says if another tool is named there: NVTX ranges are its, then. */
void nvtx_injection_say(struct session *session);

/* Whom to tell of the name of a CUDA stream or event, on the thread that gives
 * it. */
void nvtx_on_names(void (*stream)(const void *stream, const char *name),
		   void (*event)(const void *event, const char *name));

#endif
