/* SPDX-License-Identifier: MIT */
/*
 * short_name.h - names of C++ functions as tables show them: folded, as in
 * folded_name.h, and printable.
 */
#ifndef TOOLS_SHORT_NAME_H
#define TOOLS_SHORT_NAME_H

#include "collector/system/folded_name.h"
#include "tools/util/text_buffer.h"

#define SHORT_NAME_WHOLE FOLDED_NAME_WHOLE
#define SHORT_NAME_MAX	 FOLDED_NAME_MAX

/* Appends it; printable. */
void short_name_add(struct text_buffer *buffer, const char *name);

/* The same where only so many bytes are never folded. */
void short_name_add_from(struct text_buffer *buffer, const char *name,
			 size_t whole);

#endif
