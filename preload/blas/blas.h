/* SPDX-License-Identifier: MIT */
/*
 * blas.h - what a call of BLAS leaves behind: a slice with the sizes of its
 * matrices.
 *
 * TRACEPROF_SHAPES turns it on.  A call inside another, as LAPACK's are and
 * those of the reference BLAS behind CBLAS, is marked EVENT_INNER: its work is
 * the outer one's.
 */
#ifndef PRELOAD_BLAS_H
#define PRELOAD_BLAS_H

#include "collector/system/base.h"
#include "preload/blas/blas_wrapped.h"

/* Arguments come in so many registers, then on the stack. */
#if defined(__x86_64__)
#define BLAS_REGISTERS 6
#else
#define BLAS_REGISTERS 8
#endif

/* What a hook was called with, as it is put on the stack. */
struct blas_frame {
	uint64_t word[BLAS_REGISTERS];
	double x0, x1;	   /* a float is the lower half of one */
	uint64_t function; /* enum blas_function */
	uintptr_t from;	   /* where the call returns to */
	uint64_t stack[];  /* the caller's: the other words */
};

/* Calls the real function and records it.  Returns what it returned. */
uint64_t blas_run(const struct blas_frame *frame)
	__attribute__((visibility("hidden")));

/* Where the hooks lie: a program that asks whether there is a BLAS is to find
 * what it would find without us. */
extern const char blas_hooks_low[] __attribute__((visibility("hidden")));
extern const char blas_hooks_high[] __attribute__((visibility("hidden")));

/* In a forked child. */
void blas_forget(void);

#endif
