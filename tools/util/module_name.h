/* SPDX-License-Identifier: MIT */
/*
 * module_name.h - what a place in code is called of which no symbol is known.
 *
 * The writer names it by its address, "libx.so+0x1234" or "code at 0x1234".  So
 * many addresses may be one function or a hundred: who adds times up takes the
 * module as a whole.
 */
#ifndef TOOLS_MODULE_NAME_H
#define TOOLS_MODULE_NAME_H

#include <stddef.h>

/* "[libx.so]" or "[no module]" (code that was generated, mostly).  The length,
 * 0: `text` is a function's name, or there is no room. */
size_t module_name(const char *text, char *name, size_t bytes);

#endif
