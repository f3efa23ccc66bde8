/* SPDX-License-Identifier: MIT */
/*
 * made_up_objects.h - objects of a CPython 3.14 whose fields lie nowhere where
 * 3.14.0 has them (MINOR=15: of a 3.15), and what it publishes of that for
 * debuggers (_PyRuntime).
 */
#ifndef PROGRAMS_MADE_UP_OBJECTS_H
#define PROGRAMS_MADE_UP_OBJECTS_H

#include <stdint.h>

#if defined(MINOR) && MINOR == 15
enum { STATE = 22, FRAME = 39, CODE = 47, OBJECT = 58 };
#define MADE_UP_VERSION 0x030f00f0
#define MADE_UP_NAME	"3.15.0 (made up)"
#else
enum { STATE = 22, FRAME = 31, CODE = 39, OBJECT = 50 };
#define MADE_UP_VERSION 0x030e00f0
#define MADE_UP_NAME	"3.14.0 (made up)"
#endif

struct text {
	uint64_t count, type, length, hash;
	uint16_t interned, kind;
	uint32_t unused;
	char data[32];
};

struct bytes {
	uint64_t count, type, length, hash;
	unsigned char data[8];
};

struct code {
	uint64_t count;
	void *type;
	uint64_t unused[2];
	uint64_t name, file, lines;
	int32_t first_line;
	uint64_t instructions[16];
};

struct frame {
	uint64_t unused, previous, executable, more[2], instruction;
	char owner;
};

struct state {
	uint64_t unused[11];
	struct frame *frame;
};

#define AT(type, field) __builtin_offsetof(struct type, field)

/* Of _PyRuntime, behind its mark and version. */
/* clang-format off */
#define MADE_UP_OFFSETS \
	[STATE + 4] = AT(state, frame), \
	[FRAME + 1] = AT(frame, previous), \
	[FRAME + 2] = AT(frame, executable), \
	[FRAME + 3] = AT(frame, instruction), \
	[FRAME + 5] = AT(frame, owner), \
	[CODE + 1] = AT(code, file), \
	[CODE + 3] = AT(code, name), \
	[CODE + 4] = AT(code, lines), \
	[CODE + 5] = AT(code, first_line), \
	[CODE + 9] = AT(code, instructions), \
	[OBJECT] = 16, \
	[OBJECT + 1] = 8
/* clang-format on */

#endif
