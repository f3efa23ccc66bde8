/* SPDX-License-Identifier: MIT */
/*
 * split_text.h - of which part of the recording the steps are, and what their
 * time went into, the largest part first.
 */
#ifndef TOOLS_SPLIT_TEXT_H
#define TOOLS_SPLIT_TEXT_H

#include "tools/util/text_buffer.h"
#include "tools/verdict/verdict.h"

/* " by the last 2.0 s of 61.0 s" */
void split_text_last(const struct verdict_facts *facts, char *text,
		     size_t bytes);

/* "9 steps with recorded calls of Python are left out: ...", where some are;
 * how many lines it takes. */
unsigned int split_text_sides(struct text_buffer *lines,
			      const struct verdict *verdict,
			      unsigned int columns);

/* What is less of the step is not named. */
#define NAMED_MIN 0.005

/* Adds "61.0 % GPU busy, 20.0 % host code, ..."; how many lines it takes. */
unsigned int split_text_add(struct text_buffer *lines,
			    const struct verdict *verdict,
			    unsigned int columns);

#endif
