/* SPDX-License-Identifier: MIT */
/*
 * blas_real.h - the function that a caller of BLAS would have reached.
 *
 * A process may hold several BLAS under the same names, NumPy's and the
 * system's say, of which each file sees its own.  So the real functions are
 * those of the calling file, looked up when they are first called from there.
 * No file is kept loaded for it: whatever is closed, all is looked up again.
 */
#ifndef PRELOAD_BLAS_REAL_H
#define PRELOAD_BLAS_REAL_H

#include "collector/system/base.h"
#include "preload/blas/blas_wrapped.h"

#define BLAS_CALLERS_MAX 32u

struct blas_caller {
	_Atomic uintptr_t start; /* 0: nobody's place, 1: it is being filled */
	_Atomic uintptr_t bytes;
	void *_Atomic real[BLAS_FUNCTION_COUNT]; /* NULL not looked up */
};

#define BLAS_WORD_BYTES 36

/* The functions' names. */
extern const char blas_words[][BLAS_WORD_BYTES]
	__attribute__((visibility("hidden")));

extern struct blas_caller blas_callers[BLAS_CALLERS_MAX]
	__attribute__((visibility("hidden")));

/* Looks it up; never NULL: where nobody has it, what says so.  Keeps errno. */
void *blas_real_find(enum blas_function function, uintptr_t address)
	__attribute__((visibility("hidden")));

/* A file was closed. */
void blas_real_closed(void);

/* Of the call that returns to `address`.  The first file that calls is mostly
 * the only one. */
static inline void *blas_real(enum blas_function function, uintptr_t address)
{
	struct blas_caller *caller = &blas_callers[0];
	void *real = load_relaxed(&caller->real[function]);

	/* ACQUIRE pairs with RELEASE in make(): whose functions they are. */
	if (likely(real && address - load_acquire(&caller->start) <
				   load_relaxed(&caller->bytes)))
		return real;
	return blas_real_find(function, address);
}

#endif
