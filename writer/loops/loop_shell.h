/* SPDX-License-Identifier: MIT */
/*
 * loop_shell.h - a range that lies around each turn of a level of ranges: a
 * turn begins where it begins, rather than behind a part of it.
 */
#ifndef WRITER_LOOP_SHELL_H
#define WRITER_LOOP_SHELL_H

#include "writer/loops/loop.h"

/* Where there is one, the outermost, the level is told by it. */
void loop_shell_take(const struct loop_mark *marks, size_t count,
		     struct loop_level *level);

#endif
