/* SPDX-License-Identifier: MIT */
/*
 * real.h - the functions behind our hooks.
 *
 * All are looked up in one go at the first call of any hook, whoever makes it:
 * that is long before our constructor, while the loader still works.  Later
 * look-ups could deadlock: dlsym() takes the loader's lock, and a hook may be
 * called by a thread that another one, inside dlopen(), waits for.
 *
 *	UNKNOWN -> RESOLVING	by compare-and-swap: one thread looks up
 *	RESOLVING -> BASE	malloc, free, calloc, realloc can be called
 *	BASE -> READY		all others too, or known to be missing, but for
 *				those of real_look_closer()
 *
 * Until BASE, allocations come from the early heap (preload/heap/early.h).
 * The gate stays undecided until READY, so a hook that finds it decided may
 * call what is in `real` without a look at the state.
 */
#ifndef PRELOAD_REAL_H
#define PRELOAD_REAL_H

#include "collector/system/base.h"
#include "preload/process/wrapped.h"

enum real_state { REAL_UNKNOWN, REAL_RESOLVING, REAL_BASE, REAL_READY };

struct real_functions {
#define X(library, need, name, returns, parameters) returns(*name) parameters;
	WRAPPED_FUNCTIONS(X)
	CALLED_FUNCTIONS(X)
#undef X
};

extern struct real_functions real __attribute__((visibility("hidden")));

/* Looks everything up if that has not been done.  What can be called now:
 * REAL_RESOLVING nothing, REAL_BASE the four, REAL_READY all. */
enum real_state real_resolve(void);

/* The rows LATE, for a hook of one that is still NULL, and before the first
 * thread begins; false: too early. */
bool real_look_late(void);

/* What only a process takes that is watched, found before its gate opens: the
 * rows LATE and NEW, who knows sizes, whose heap it is.  Once, when
 * READY. */
void real_look_closer(void);

/* What knows the size of a block. */
enum real_sizer {
	REAL_SIZE_HEADER,   /* glibc's own malloc: the word before the block */
	REAL_SIZE_FUNCTION, /* malloc_usable_size of the same allocator */
	REAL_SIZE_UNKNOWN,  /* nothing that could be trusted */
};

enum real_sizer real_sizer(void);

/* REAL_SIZE_HEADER: bytes of a chunk of its own mapping that aren't the
 * block's, beyond the word before it: 8 in glibc 2.41, 0 in 2.43. */
extern uint64_t real_mapped_head __attribute__((visibility("hidden")));

/* What malloc_usable_size() says of chunks whose words we made up: the above,
 * or -1 where chunks are not as we know them. */
int real_ask_head(size_t (*usable_size)(void *ptr));

/* Is the malloc behind ours glibc's own? */
bool real_heap_is_libcs(void);

/* False where the program's malloc is not ours: an allocator is built into the
 * executable, or we were loaded late.  `object` is the file that has it. */
bool real_sees_heap(const char **object);

#endif
