/* SPDX-License-Identifier: MIT */
/*
 * injection.h - names this library where others look for a tool to load.
 *
 * CUDA's driver and each copy of NVTX and of ittnotify read a variable of the
 * environment, open the library that it names and call into it.  Whoever is
 * named there already is left alone.
 */
#ifndef PRELOAD_INJECTION_H
#define PRELOAD_INJECTION_H

#include "collector/system/base.h"

/* From the constructor alone: sets `variable` to our path, unless it is set, or
 * unsets it under a tool that doesn't start beside anybody. */
void injection_announce(const char *variable);

/* False: we were loaded by a variable that was inherited, behind the program's
 * malloc and with its threads running. */
bool injection_is_preloaded(void);

#endif
