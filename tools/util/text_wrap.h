/* SPDX-License-Identifier: MIT */
/*
 * text_wrap.h - sentences that are broken where a terminal ends.
 *
 * Broken is at blanks, but not between a number and its unit.  A word that is
 * wider than the terminal stays whole: mostly it is a path, to be copied.
 */
#ifndef TOOLS_TEXT_WRAP_H
#define TOOLS_TEXT_WRAP_H

#include <stdio.h>

#include "tools/util/text_buffer.h"

/* Appends one line of text, as as many lines as it takes; where it goes on it
 * is indented.  How many there are. */
unsigned int text_wrap_add(struct text_buffer *lines, const char *text,
			   unsigned int indent, unsigned int columns);

/* printf() of whole lines.  What is no terminal gets them as they are, so that
 * a program finds each of them in one piece. */
void text_wrap_print(FILE *out, unsigned int indent, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
