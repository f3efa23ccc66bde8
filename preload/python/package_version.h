/* SPDX-License-Identifier: MIT */
/*
 * package_version.h - which version of a Python package a library is of, by a
 * file that lies beside it.  No interpreter is asked.
 */
#ifndef PRELOAD_PACKAGE_VERSION_H
#define PRELOAD_PACKAGE_VERSION_H

#include "collector/system/base.h"

/* `name`, from the folder of the library at `path` on, has two numbers with a
 * dot between them behind `key`, or begins with them where that is empty.  The
 * second is -1 where there is none.  False: no such file, or no key in it.
 * Opens a file: not while a fork is under way. */
bool package_version(const char *path, const char *name, const char *key,
		     int *major, int *minor);

#endif
