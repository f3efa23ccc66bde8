/* SPDX-License-Identifier: MIT */
/* short_name.c - folded names, printable; see short_name.h. */
#include "tools/util/short_name.h"

void short_name_add(struct text_buffer *buffer, const char *name)
{
	short_name_add_from(buffer, name, SHORT_NAME_WHOLE);
}

void short_name_add_from(struct text_buffer *buffer, const char *name,
			 size_t whole)
{
	const struct folded_name folded = folded_name(name, whole);

	text_buffer_add_printable(buffer, folded.text, folded.len,
				  SHORT_NAME_MAX);
}
