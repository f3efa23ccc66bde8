/* SPDX-License-Identifier: MIT */
/*
 * code_effect.h - what one instruction of x86-64 does to the registers by which
 * a function's frame is left.
 *
 * A few are known exactly: those by which functions make their frames and leave
 * them.  Of all others it is told which registers they may change, and rather
 * one too many than one too few.  Any thread; async-signal-safe.
 */
#ifndef PRELOAD_CODE_EFFECT_H
#define PRELOAD_CODE_EFFECT_H

#include "collector/system/base.h"

#define CODE_REGISTERS	 16u
#define CODE_NO_REGISTER 0xffu

/* As the processor numbers them. */
enum { CODE_RAX, CODE_RCX, CODE_RDX, CODE_RBX, CODE_RSP, CODE_RBP };

enum code_act {
	CODE_CHANGES, /* the registers in `changed`, no more is known */
	CODE_PUSHES,  /* `from`, or something else */
	CODE_POPS,    /* into `to` */
	CODE_SETS,    /* `to` := `from` + number */
	CODE_LOADS,   /* `to` := the word at `from` + number */
	CODE_STORES,  /* the word at `to` + number := `from` */
	CODE_LEAVE,   /* the instruction of that name */
	CODE_CALLS,
	CODE_RETURNS, /* and takes `number` bytes of arguments away */
	CODE_GOES,    /* to another function, by a slot of the linker's */
	CODE_UNKNOWN  /* changes the stack pointer in a way of its own */
};

struct code_effect {
	uint8_t act, to, from;
	uint16_t changed; /* a bit for each register */
	int32_t number;
};

/* Of an instruction of so many bytes, as code_read_x86() has it. */
struct code_effect code_effect_of(const unsigned char *at, uint32_t bytes);

/* Whether it raises or lowers something, as a loop does that is to turn so many
 * times, or until so much time has gone by.  One without such goes on for as
 * long as what it does says so. */
struct code_count {
	bool is_by_number; /* or in floating point, by what may be one */
	uint8_t by;	   /* a register, CODE_NO_REGISTER none */
	bool tests_result; /* compares rax: what a call returned */
};

/* As code_effect_of(). */
struct code_count code_count_of(const unsigned char *at, uint32_t bytes);

#endif
