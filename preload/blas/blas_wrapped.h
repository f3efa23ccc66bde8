/* SPDX-License-Identifier: MIT */
/*
 * blas_wrapped.h - the functions of BLAS, LAPACK, cuBLAS and oneDNN that we
 * stand in front of.
 *
 * One row makes the hook and its entry in the table.  A row is
 *
 *	X(name, how, op, type, words)
 *
 * where
 *
 *	how	where the sizes stand: F32 and F64 behind pointers (Fortran, of
 *		32 or 64 bits), C32 and C64 as they are, one place later, for a
 *		layout or a handle comes first; G32 and G64 the same of cuBLAS;
 *		LT and ONEDNN that they are asked for (cublas.h, onednn.h)
 *	op	whose places of the sizes are taken (blas.c: `places`)
 *	type	s, d, c, z as in the name, or X: an argument says it
 *	words	how many arguments there are that aren't floating point, the
 *		lengths of texts that Fortran's compilers append included
 *
 * The suffix 64_ is OpenBLAS's and MKL's for sizes of 64 bits, the prefix
 * scipy_ that of the OpenBLAS in wheels of NumPy and SciPy.
 */
#ifndef PRELOAD_BLAS_WRAPPED_H
#define PRELOAD_BLAS_WRAPPED_H

/* clang-format off */
#define BLAS_F(X, word, op, type, words)				\
	X(word##_,            F32, op, type, words)			\
	X(word##_64_,         F64, op, type, words)			\
	X(scipy_##word##_,    F32, op, type, words)			\
	X(scipy_##word##_64_, F64, op, type, words)

#define BLAS_C(X, word, op, type, words)				\
	X(cblas_##word,             C32, op, type, words)		\
	X(cblas_##word##64_,        C64, op, type, words)		\
	X(cblas_##word##_64,        C64, op, type, words)		\
	X(scipy_cblas_##word,       C32, op, type, words)		\
	X(scipy_cblas_##word##64_,  C64, op, type, words)

/* All four types; of the complex ones the scalars are pointers in C. */
#define BLAS_FORTRAN(X, word, op, words)				\
	BLAS_F(X, s##word, op, S, words) BLAS_F(X, d##word, op, D, words) \
	BLAS_F(X, c##word, op, C, words) BLAS_F(X, z##word, op, Z, words)
#define BLAS_CBLAS(X, word, op, words, words_complex)			\
	BLAS_C(X, s##word, op, S, words)				\
	BLAS_C(X, d##word, op, D, words)				\
	BLAS_C(X, c##word, op, C, words_complex)			\
	BLAS_C(X, z##word, op, Z, words_complex)

/* MKL's, and OpenBLAS's of late. */
#define BLAS_BATCH(X, letter, type, words)				\
	X(letter##gemm_batch_,    F32, GEMM_BATCH, type, 17)		\
	X(letter##gemm_batch_64_, F64, GEMM_BATCH, type, 17)		\
	X(cblas_##letter##gemm_batch, C32, GEMM_BATCH, type, 16)	\
	X(cblas_##letter##gemm_batch_64, C64, GEMM_BATCH, type, 16)	\
	X(cblas_##letter##gemm_batch_strided, C32, GEMM_STRIDED, type, words) \
	X(cblas_##letter##gemm_batch_strided_64, C64, GEMM_STRIDED, type, words)

#define BLAS_CUDA(X, word, op, type, words)				\
	X(cublas##word,      G32, op, type, words)			\
	X(cublas##word##_64, G64, op, type, words)
#define BLAS_CUDA_TYPES(X, word, op, words)				\
	BLAS_CUDA(X, S##word, op, S, words) BLAS_CUDA(X, D##word, op, D, words) \
	BLAS_CUDA(X, C##word, op, C, words) BLAS_CUDA(X, Z##word, op, Z, words)

#define BLAS_WRAPPED_FUNCTIONS(X)					\
	BLAS_FORTRAN(X, gemm, GEMM, 15)					\
	BLAS_FORTRAN(X, gemv, GEMV, 12)					\
	BLAS_FORTRAN(X, syrk, RANK_K, 12)				\
	BLAS_F(X, cherk, RANK_K, C, 12)					\
	BLAS_F(X, zherk, RANK_K, Z, 12)					\
	BLAS_FORTRAN(X, trsm, TRIANGLE, 15)				\
	BLAS_FORTRAN(X, trmm, TRIANGLE, 15)				\
	BLAS_FORTRAN(X, symm, SYMMETRIC, 14)				\
	BLAS_BATCH(X, s, S, 16) BLAS_BATCH(X, d, D, 16)			\
	BLAS_BATCH(X, c, C, 18) BLAS_BATCH(X, z, Z, 18)			\
	BLAS_FORTRAN(X, getrf, LU, 6)					\
	BLAS_FORTRAN(X, potrf, CHOLESKY, 6)				\
	BLAS_FORTRAN(X, geqrf, QR, 8)					\
	BLAS_FORTRAN(X, gesv, SOLVE, 8)					\
	BLAS_FORTRAN(X, getrs, SOLVE_LU, 10)				\
	BLAS_F(X, sgesdd, SVD, S, 15)					\
	BLAS_F(X, dgesdd, SVD, D, 15)					\
	BLAS_F(X, cgesdd, SVD, C, 16)					\
	BLAS_F(X, zgesdd, SVD, Z, 16)					\
	BLAS_F(X, ssyevd, EIGEN, S, 13)					\
	BLAS_F(X, dsyevd, EIGEN, D, 13)					\
	BLAS_F(X, cheevd, EIGEN, C, 15)					\
	BLAS_F(X, zheevd, EIGEN, Z, 15)					\
	BLAS_FORTRAN(X, geev, EIGEN_GENERAL, 16)			\
	BLAS_F(X, ssyev, EIGEN, S, 11)					\
	BLAS_F(X, dsyev, EIGEN, D, 11)					\
	BLAS_F(X, cheev, EIGEN, C, 12)					\
	BLAS_F(X, zheev, EIGEN, Z, 12)					\
	BLAS_F(X, ssyevr, EIGEN_RANGE, S, 24)				\
	BLAS_F(X, dsyevr, EIGEN_RANGE, D, 24)				\
	BLAS_F(X, cheevr, EIGEN_RANGE, C, 26)				\
	BLAS_F(X, zheevr, EIGEN_RANGE, Z, 26)				\
	BLAS_F(X, sgesvd, SVD_BY_PART, S, 16)				\
	BLAS_F(X, dgesvd, SVD_BY_PART, D, 16)				\
	BLAS_F(X, cgesvd, SVD_BY_PART, C, 17)				\
	BLAS_F(X, zgesvd, SVD_BY_PART, Z, 17)				\
	BLAS_FORTRAN(X, getri, INVERSE_LU, 7)				\
	BLAS_FORTRAN(X, potri, INVERSE_CHOLESKY, 6)			\
	BLAS_F(X, sorgqr, MAKE_Q, S, 9)					\
	BLAS_F(X, dorgqr, MAKE_Q, D, 9)					\
	BLAS_F(X, cungqr, MAKE_Q, C, 9)					\
	BLAS_F(X, zungqr, MAKE_Q, Z, 9)					\
	BLAS_F(X, sormqr, APPLY_Q, S, 15)				\
	BLAS_F(X, dormqr, APPLY_Q, D, 15)				\
	BLAS_F(X, cunmqr, APPLY_Q, C, 15)				\
	BLAS_F(X, zunmqr, APPLY_Q, Z, 15)				\
	BLAS_F(X, sgelsd, LEAST, S, 14)					\
	BLAS_F(X, dgelsd, LEAST, D, 14)					\
	BLAS_F(X, cgelsd, LEAST, C, 15)					\
	BLAS_F(X, zgelsd, LEAST, Z, 15)					\
	BLAS_CBLAS(X, gemm, GEMM, 12, 14)				\
	BLAS_CBLAS(X, gemv, GEMV, 10, 12)				\
	BLAS_CBLAS(X, syrk, RANK_K, 9, 11)				\
	BLAS_C(X, cherk, RANK_K, C, 9)					\
	BLAS_C(X, zherk, RANK_K, Z, 9)					\
	BLAS_CBLAS(X, trsm, TRIANGLE, 11, 12)				\
	BLAS_CBLAS(X, trmm, TRIANGLE, 11, 12)				\
	BLAS_CBLAS(X, symm, SYMMETRIC, 11, 13)				\
	BLAS_CUDA_TYPES(X, gemm_v2, GEMM, 14)				\
	BLAS_CUDA(X, Hgemm, GEMM, H, 14)				\
	BLAS_CUDA_TYPES(X, gemv_v2, GEMV, 12)				\
	BLAS_CUDA_TYPES(X, gemmStridedBatched, CUDA_STRIDED, 18)	\
	BLAS_CUDA(X, HgemmStridedBatched, CUDA_STRIDED, H, 18)		\
	BLAS_CUDA_TYPES(X, gemmBatched, CUDA_BATCHED, 15)		\
	BLAS_CUDA(X, SgemmGroupedBatched, GEMM_BATCH, S, 16)		\
	BLAS_CUDA(X, DgemmGroupedBatched, GEMM_BATCH, D, 16)		\
	BLAS_CUDA(X, GemmEx, CUDA_EX, X, 19)				\
	BLAS_CUDA(X, SgemmEx, CUDA_EX, X, 17)				\
	BLAS_CUDA(X, GemmStridedBatchedEx, CUDA_STRIDED_EX, X, 23)	\
	BLAS_CUDA(X, GemmBatchedEx, CUDA_BATCHED_EX, X, 20)		\
	BLAS_CUDA(X, GemmGroupedBatchedEx, CUDA_GROUPS_EX, X, 20)	\
	X(cublasLtMatmul, LT, ASKED, X, 16)				\
	X(dnnl_primitive_execute, ONEDNN, ASKED, X, 4)
/* clang-format on */

#define BLAS_WORDS_MAX 26

enum blas_function {
#define X(name, how, op, type, words) BLAS_AT_##name,
	BLAS_WRAPPED_FUNCTIONS(X)
#undef X
		BLAS_FUNCTION_COUNT
};

#endif
