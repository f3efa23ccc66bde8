/* SPDX-License-Identifier: MIT */
/*
 * python_layout.h - for python_frames.c: where things lie in CPython's frames,
 * by version.
 */
#ifndef PRELOAD_PYTHON_LAYOUT_H
#define PRELOAD_PYTHON_LAYOUT_H

#include <stdint.h>

#define NONE 0xffffu

/* Where things lie; NONE: this version has none. */
struct python_layout {
	uint16_t minor;
	uint16_t state_frame, cframe_frame; /* the first may lead to a second */
	uint16_t code, previous, instruction;
	uint16_t entry, owner;
	uint16_t first_line, file, name, lines, start;
	uint16_t ascii_text, utf8;
};

/* clang-format off */
static const struct python_layout layouts[] = {
	{10, 24, NONE, 32, 24, 96, NONE, NONE, 40, 104, 112, 120, NONE, 48, 56},
	{11, 56, 8,    32, 48, 56, 68,   NONE, 72, 112, 128, 136, 184,  48, 56},
	{12, 56, 0,    0,  8,  56, NONE, 70,   68, 112, 128, 136, 192,  40, 48},
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
};
/* clang-format on */

#endif
