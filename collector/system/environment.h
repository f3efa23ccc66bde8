/* SPDX-License-Identifier: MIT */
/*
 * environment.h - a variable of the program's, as it is now.
 *
 * The program may change its environment at any moment, and free what a
 * variable was in: getenv() in another thread could read freed memory.  The
 * kernel copies it instead, which fails where there is nothing.
 */
#ifndef COLLECTOR_ENVIRONMENT_H
#define COLLECTOR_ENVIRONMENT_H

#include "collector/system/base.h"

/* False, and an empty text: it isn't set, is longer than that, or can't be
 * read. */
bool environment_copy(const char *name, char *value, size_t bytes);

#endif
