/* SPDX-License-Identifier: MIT */
/*
 * split_text.h - what the time of the steps went into, the largest part first.
 */
#ifndef TOOLS_SPLIT_TEXT_H
#define TOOLS_SPLIT_TEXT_H

#include "tools/util/text_buffer.h"
#include "tools/verdict/verdict.h"

/* What is less of the step is not named. */
#define NAMED_MIN 0.005

/* Adds "61.0 % GPU busy, 20.0 % host code, ..."; how many lines it takes. */
unsigned int split_text_add(struct text_buffer *lines,
			    const struct verdict *verdict,
			    unsigned int columns);

#endif
