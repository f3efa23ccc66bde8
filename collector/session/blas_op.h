/* SPDX-License-Identifier: MIT */
/*
 * blas_op.h - what an EVENT_BLAS computed, and on what numbers.
 *
 * An operation stands for all functions with the same count of work: syrk and
 * herk, trsm and trmm.  Of those in brackets nobody knows the count beforehand.
 */
#ifndef COLLECTOR_BLAS_OP_H
#define COLLECTOR_BLAS_OP_H

/* clang-format off */
#define BLAS_OPS(X)							\
	X(NONE)		/* not known: it had not returned */		\
	X(GEMM)		/* m x k times k x n, `batch` of them */	\
	X(GEMV)		/* m x n times n */				\
	X(RANK_K)	/* n x k times its transpose, one half */	\
	X(TRIANGLE)	/* k x k, one half, and m x n */		\
	X(SYMMETRIC)	/* k x k times m x n */				\
	X(MIXED)	/* batches of several shapes; the first's */	\
	X(LU)		/* of m x n */					\
	X(CHOLESKY)	/* of n x n */					\
	X(QR)		/* of m x n */					\
	X(SOLVE)	/* n x n, with k right sides */			\
	X(SOLVE_LU)	/* the same, decomposed before */		\
	X(INVERSE_LU)	/* of n x n, decomposed before */		\
	X(INVERSE_CHOLESKY)						\
	X(MAKE_Q)	/* m x n, of k reflectors */			\
	X(APPLY_LEFT)	/* k reflectors, to m x n */			\
	X(APPLY_RIGHT)							\
	X(QUERY)	/* how much work space m x n takes */		\
	X(SPECTRUM)	/* of m x n (singular, eigenvalues) */		\
	X(PRIMITIVE)	/* oneDNN's: flops and bytes, in place of sizes */

/* name, its word as torch writes types, bytes, complex */
#define BLAS_TYPES(X)							\
	X(S,     "float",             4,  0)				\
	X(D,     "double",            8,  0)				\
	X(C,     "c10::complex<float>", 8, 1)				\
	X(Z,     "c10::complex<double>", 16, 1)				\
	X(H,     "c10::Half",         2,  0)				\
	X(B,     "c10::BFloat16",     2,  0)				\
	X(I,     "signed char",       1,  0)				\
	X(E4M3,  "c10::Float8_e4m3fn", 1, 0)				\
	X(E5M2,  "c10::Float8_e5m2",  1,  0)				\
	X(OTHER, "",                  0,  0)
/* clang-format on */

enum blas_op {
#define X(name) BLAS_##name,
	BLAS_OPS(X)
#undef X
		BLAS_OP_COUNT
};

enum blas_type {
#define X(name, word, bytes, is_complex) BLAS_TYPE_##name,
	BLAS_TYPES(X)
#undef X
		BLAS_TYPE_COUNT
};

#endif
