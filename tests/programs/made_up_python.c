/* SPDX-License-Identifier: MIT */
/*
 * made_up_python.c - CPython 3.14 by what it publishes of itself for debuggers:
 * where in its objects things lie, which is nowhere where 3.14.0 has them.
 *
 * Its loop allocates, called by outer() in line 23 and inner() in line 15 of
 * /made/up.py.  FREE_THREADED: it says to be without a GIL.  WILD: where the
 * outermost frame's caller is said to lie.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATE = 22, FRAME = 31, CODE = 39, OBJECT = 50 };

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

/* NOLINTBEGIN: these are CPython's names. */
char PyCode_Type[8];

const uint64_t _PyRuntime[64] = {
	0x7970677562656478, /* xdebugpy */
	0x030e00f0,
#ifdef FREE_THREADED
	1,
#else
	0,
#endif
	[STATE + 4] = AT(state, frame),
	[FRAME + 1] = AT(frame, previous),
	[FRAME + 2] = AT(frame, executable),
	[FRAME + 3] = AT(frame, instruction),
	[FRAME + 5] = AT(frame, owner),
	[CODE + 1] = AT(code, file),
	[CODE + 3] = AT(code, name),
	[CODE + 4] = AT(code, lines),
	[CODE + 5] = AT(code, first_line),
	[CODE + 9] = AT(code, instructions),
	[OBJECT] = 16,
	[OBJECT + 1] = 8,
};

static struct text file = {1, 0, 11, 0, 3, 0x19, 0, "/made/up.py"};
static struct text name[] = {{1, 0, 5, 0, 1, 0x19, 0, "inner"},
			     {1, 0, 5, 0, 1, 0x19, 0, "outer"}};
/* Eight instructions without columns, three lines on. */
static struct bytes lines = {1, 0, 2, 0, {0x80 | 13 << 3 | 7, 6}};
static struct code code[2];
static struct frame frame[3];
static struct state state = {.frame = &frame[0]};

const char *Py_GetVersion(void)
{
	return "3.14.0 (made up)";
}

void *PyGILState_GetThisThreadState(void)
{
	return &state;
}

__attribute__((noinline)) void *_PyEval_EvalFrameDefault(size_t bytes)
{
	void *block = malloc(bytes);

	__asm__ volatile("" : : "r"(block) : "memory");
	return block;
}
/* NOLINTEND */

int main(void)
{
	for (int i = 0; i < 2; i++) {
		code[i] = (struct code){.type = PyCode_Type,
					.name = (uint64_t)(uintptr_t)&name[i],
					.file = (uint64_t)(uintptr_t)&file,
					.lines = (uint64_t)(uintptr_t)&lines,
					.first_line = 12 + 8 * i};
		/* The reference is marked, the last one calls C's. */
		frame[i] = (struct frame){
			.previous = (uint64_t)(uintptr_t)&frame[i + 1],
			.executable = (uint64_t)(uintptr_t)&code[i] | 1,
			.instruction =
				(uint64_t)(uintptr_t)code[i].instructions + 4};
	}
	frame[2].owner = 3;
#ifdef WILD
	frame[1].previous = WILD;
#endif
	free(_PyEval_EvalFrameDefault(5000));
	puts("done");
	return 0;
}
