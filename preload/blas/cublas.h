/* SPDX-License-Identifier: MIT */
/*
 * cublas.h - what cuBLAS and cuBLASLt say of their matrices: TRACEPROF_SHAPES.
 *
 * cuBLASLt's one product, cublasLtMatmul(), is given a description of each
 * matrix; what is in it, the library is asked by functions of its own.
 */
#ifndef PRELOAD_CUBLAS_H
#define PRELOAD_CUBLAS_H

#include "collector/session/event.h"

/* The enum blas_type of a cudaDataType. */
uint8_t cublas_type(uint32_t type);

/* Fills in sizes and type of a product, from the call's words.  `real` is the
 * library's function.  Nothing is filled in that it can't be asked. */
void cublas_lt_read(const void *real, const uint64_t *word,
		    struct event *event);

/* A file was closed. */
void cublas_closed(void);

#endif
