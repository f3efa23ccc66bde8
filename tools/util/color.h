/* SPDX-License-Identifier: MIT */
/*
 * color.h - colours on a terminal, and nowhere else unless somebody asks.
 *
 * No meaning is in a colour alone.  auto: where the stream is a terminal that
 * has them, and NO_COLOR (no-color.org) is not set.
 */
#ifndef TOOLS_COLOR_H
#define TOOLS_COLOR_H

#include <stdbool.h>
#include <stdio.h>

#define COLOR_KEY 0x7c0 /* of --color, for argp */

enum color { COLOR_HEAD, COLOR_GOOD, COLOR_NOTE, COLOR_BAD };

/* auto, always, never.  0; -1 none of these. */
int color_choose(const char *when);
bool color_is_on(FILE *out);

/* What begins and ends it; "" where there is no colour. */
const char *color_begin(FILE *out, enum color color);
const char *color_end(FILE *out);

#endif
