/* SPDX-License-Identifier: MIT */
/*
 * code_read.h - one instruction of machine code: how long it is, and where the
 * processor may go from it.
 *
 * Nothing else is told, so tables of lengths are enough: Intel's manual, volume
 * 2, appendix A, for x86-64; Arm's, C4.1, for AArch64.  Reads no further than
 * `room`; any thread; async-signal-safe.
 */
#ifndef PRELOAD_CODE_READ_H
#define PRELOAD_CODE_READ_H

#include "collector/system/base.h"

enum code_flow {
	CODE_ON,       /* to the next one */
	CODE_BRANCH,   /* there, or to the target */
	CODE_JUMP,     /* to the target */
	CODE_LEAVES,   /* to its caller, to a function, or nowhere */
	CODE_ANYWHERE, /* where a register says: a switch */
	CODE_BY_MEMORY /* where a pointer says: a function or a label */
};

struct code_instruction {
	uint32_t bytes;
	uint32_t flow;	  /* enum code_flow */
	bool is_filling;  /* does nothing */
	bool is_call;	  /* of a known function, which is then the target */
	int64_t distance; /* of the target from the next instruction */
};

/* False: no instruction that is known here.  The first for the machine that
 * this runs on. */
bool code_read(const unsigned char *at, size_t room,
	       struct code_instruction *found);
bool code_read_x86(const unsigned char *at, size_t room,
		   struct code_instruction *found);
bool code_read_arm(const unsigned char *at, size_t room,
		   struct code_instruction *found);

#endif
