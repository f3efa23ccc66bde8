/* SPDX-License-Identifier: MIT */
/*
 * operator_turns.h - short operators that come in turn, as in a loop over
 * parameters: v.mul_(), v.add_(), p.sub_(), v.mul_() and so on.
 *
 * Each of them may come too seldom to be a loop by itself.  An optimizer of
 * PyTorch's does the same, as do a model's layers: so only turns are looked at
 * that the program's own lines call, that change a tensor in place, and in
 * which no layer is.
 */
#ifndef TOOLS_OPERATOR_TURNS_H
#define TOOLS_OPERATOR_TURNS_H

#include "tools/verdict/python_lines.h"
#include "tools/verdict/rules.h"

struct operator_turns {
	double ns;    /* in typical steps */
	double calls; /* in one */
	size_t count; /* of different operators in a turn; 0 none found */
	uint32_t names[TURN_MAX];
	struct in_line line;
};

/* Those that take most. */
struct operator_turns operator_turns(const struct verdict_facts *facts);

#endif
