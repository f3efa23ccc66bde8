/* SPDX-License-Identifier: MIT */
/*
 * folded_name.h - names of C++ and Cython functions, short enough to be read.
 *
 * Of Cython's, __pyx_pf_7package_6module_5Class_2function, the function is kept
 * with its class or module: Class.function.  In C++ and Rust the arguments of
 * templates are folded to <>, or to the function whose lambda is among them.
 * What is still too long is cut where a part of it ends.  Short names and
 * Python's stay whole.
 */
#ifndef COLLECTOR_FOLDED_NAME_H
#define COLLECTOR_FOLDED_NAME_H

#include <stdbool.h>
#include <stddef.h>

#define FOLDED_NAME_WHOLE 80u  /* bytes that are never folded */
#define FOLDED_NAME_MAX	  160u /* bytes of what comes out, at most */

struct folded_name {
	char text[FOLDED_NAME_MAX + 1];
	size_t len;
};

/* Is that a function of Python's, as train.py(12): <module>?  What stands in
 * brackets is its name then. */
bool folded_is_python(const char *name);

/* Of the end of such a name, which may begin anywhere: from a folder of the
 * file's path on, if it has one.  A slash behind the line is none's. */
const char *folded_python_end(const char *end);

/* The name, where no more than `whole` bytes are never folded. */
struct folded_name folded_name(const char *name, size_t whole);

#endif
