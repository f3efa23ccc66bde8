/* SPDX-License-Identifier: MIT */
/*
 * python_frames.h - CPython's own frames in a call stack.
 *
 * Where libunwind found the interpreter's loop, the functions that it runs
 * stand in its place, as "file.py(12): function".  They are read without the
 * GIL from the thread's own state, by a table of offsets for each version (3.10
 * to 3.12) or by those that the interpreter itself keeps (3.13 to 3.15), and by
 * process_vm_writev() on ourselves: a wrong offset gives no frame and never a
 * fault.
 */
#ifndef PRELOAD_PYTHON_FRAMES_H
#define PRELOAD_PYTHON_FRAMES_H

#include "collector/session/session.h"

struct code_loops;

/* In our constructor: looks for an interpreter.  True: there is one whose
 * frames can be read. */
bool python_frames_find(void);

/* The same, if nobody has: where no stacks are asked for. */
void python_frames_look(void);

/* A recording begins: notes why there are none of an interpreter's. */
void python_frames_start(struct session *session);

/* The same where no stack could be walked: `frames` has what runs, and gets the
 * functions of Python that led there. */
uint32_t python_frames_append(struct session *session, uint64_t *frames,
			      uint32_t most);

/* Puts the functions into `count` frames; at most `most` come back, of which
 * Python's get the outer half where not all have room.  Where the frames aren't
 * the whole stack, since nothing says how one of them is left, those that are
 * left over come behind the last one. */
uint32_t python_frames_splice(struct session *session, uint64_t *frames,
			      uint32_t count, uint32_t most, bool is_whole);

/* The lines of Python in which this thread is, those of its callers too, as a
 * number of so many bits; 0 not known.  Above it, if it is known, which object
 * the innermost function with `*args` is called for.  For who asks seldom. */
#define PYTHON_PLACE_BITS 20u
uint32_t python_frames_place(void);

/* A function of Python that runs: its code object, and how far it is. */
struct python_frame {
	uint64_t code, instruction;
	uint64_t at;	/* its frame */
	uint64_t first; /* of its variables; 0 unknown */
	bool ends_run;	/* of the interpreter's loop: C called it */
};

#define PYTHON_FRAMES_MAX 32u /* in one stack */

/* All that run in this thread, innermost first; 0: there are none, too many, or
 * it can't be told. */
uint32_t python_frames_all(struct python_frame *found);

/* What runs a program that is the interpreter; 0: there is none. */
uint64_t python_frames_main(void);

/* The loops of the function around what it has come to. */
bool python_frames_loops(const struct python_frame *frame,
			 struct code_loops *loops);

/* The innermost line of the program's own code in which this thread is, as the
 * number of a name, "train.py(12): step", with SCOPE_LINE_BELOW where a
 * package's functions lie below it; 0 not known.  Takes some microseconds, no
 * lock and no memory of the program's. */
uint32_t python_frames_line(struct session *session);

/* In a forked child, before anything else: memory is copied from and to a
 * process by its number, and that of the parent is another's.  A handler may
 * have forked while its thread read frames. */
void python_frames_forget(void);

#endif
