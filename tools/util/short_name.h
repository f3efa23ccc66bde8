/* SPDX-License-Identifier: MIT */
/*
 * short_name.h - names of C++ functions, short enough to be read.
 *
 * Template arguments are folded to <>, or to the function whose lambda is among
 * them, and what is still too long is cut where a part of it ends.  Short names
 * stay whole.
 */
#ifndef TOOLS_SHORT_NAME_H
#define TOOLS_SHORT_NAME_H

#include "tools/util/text_buffer.h"

#define SHORT_NAME_WHOLE 80u  /* bytes that are never folded */
#define SHORT_NAME_MAX	 160u /* bytes of what comes out, at most */

/* Appends it; printable. */
void short_name_add(struct text_buffer *buffer, const char *name);

/* The same where only so many bytes are never folded. */
void short_name_add_from(struct text_buffer *buffer, const char *name,
			 size_t whole);

#endif
