/* SPDX-License-Identifier: MIT */
/*
 * unwind_code.h - how a frame is left of which no file tells, by its own code.
 *
 * Kernels in assembly and code made at run time have no entry in .eh_frame. But
 * whoever was called returns: from where such a function is, its instructions
 * are followed up to its return, and what they do on the way to the stack
 * pointer and the frame pointer says where the return address lies and what the
 * caller finds in its frame pointer.  Nothing is tried by what the stack looks
 * like.  What can't be followed gives nothing: a length that isn't a number in
 * the code, an instruction that isn't known, a call, which may not come back.
 *
 * Each way to a return is as good as any other, since all of them come to the
 * same place on the stack; so one is looked for, past branches that lead back,
 * and another one must not say anything else.
 *
 * x86-64 only.  Reads the code alone, and that by `read`; any thread;
 * async-signal-safe.
 */
#ifndef PRELOAD_UNWIND_CODE_H
#define PRELOAD_UNWIND_CODE_H

#include "preload/stack/unwind_table.h"

/* So many bytes of code from `at` on, of which fewer may be there: where they
 * lie from now on, and how many.  NULL none. */
typedef const unsigned char *unwind_read_code(void *arg, uint64_t at,
					      uint32_t *bytes);

/* The rule for what is about to run `code`.  In code that only calls from
 * there on, nothing but the two pointers is known: `is_called`.  False: it
 * can't be told. */
bool unwind_code_rule(uint64_t code, bool is_called, unwind_read_code *read,
		      void *arg, struct unwind_rule *rule);

/* Is `code` where a call returns to? */
bool unwind_code_is_behind_call(uint64_t code, unwind_read_code *read,
				void *arg);

#endif
