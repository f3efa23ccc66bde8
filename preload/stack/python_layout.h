/* SPDX-License-Identifier: MIT */
/*
 * python_layout.h - where things lie in CPython's frames, by version; and what
 * python_frames.c knows of the interpreter that runs, for python_place.c.
 */
#ifndef PRELOAD_PYTHON_LAYOUT_H
#define PRELOAD_PYTHON_LAYOUT_H

#include "collector/system/base.h"

#define NONE 0xffffu

/* Where things lie; NONE: this version has none. */
struct python_layout {
	uint16_t minor;
	uint16_t state_frame, cframe_frame; /* the first may lead to a second */
	uint16_t code, previous, instruction;
	uint16_t entry, owner;
	uint16_t first_line, file, name, lines, start;
	uint16_t ascii_text, utf8;
	uint16_t locals;    /* the first variable; 0 not known */
	uint16_t variables; /* where they begin; 0 not known */
};

/* clang-format off */
static const struct python_layout layouts[] = {
	{10, 24, NONE, 32, 24, 96, NONE, NONE, 40, 104, 112, 120, NONE, 48, 56, 0, 0},
	{11, 56, 8,    32, 48, 56, 68,   NONE, 72, 112, 128, 136, 184,  48, 56, 72, 72},
	{12, 56, 0,    0,  8,  56, NONE, 70,   68, 112, 128, 136, 192,  40, 48, 72, 72},
};

/* Since 3.13 _PyRuntime begins with them: the words at which each object's
 * begin. */
static const struct python_words {
	uint16_t minor;
	uint16_t state, frame, code, object;
} words[] = {
	{13, 19, 28, 34, 44},
	{14, 22, 31, 39, 50},
	{14, 21, 30, 38, 49},
	{15, 22, 39, 47, 58},
};
/* clang-format on */

struct python_frame;

/* NULL: none is known. */
const struct python_layout *python_frames_layout(void);

/* Copies what may not be there. */
bool python_frames_peek(uint64_t address, void *to, size_t bytes);

/* This thread's, as many of PYTHON_FRAMES_MAX as there are; 0 none. */
uint32_t python_frames_take(struct python_frame *found);

#endif
