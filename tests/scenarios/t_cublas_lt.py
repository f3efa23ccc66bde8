# SPDX-License-Identifier: MIT
"""TRACEPROF_SHAPES: products of cuBLASLt, of a library that only answers what it is asked,
and of CUDA's own, which needs no GPU for that."""

import os

import harness
from harness import Skip, expect_equal, same
from t_shapes import SHAPES, build

# A description is a struct; asked for 8 bytes where it has 4, or the other way round, it
# refuses.
LIBRARY = """
#include <errno.h>
#include <stdint.h>
#include <string.h>
struct matrix { uint32_t type, order; uint64_t rows, columns; int32_t batch; };
struct product { int32_t trans[2]; };
int cublasLtMatmul(void *handle, struct product *product, float *alpha, void *a,
		   struct matrix *of_a, void *b, struct matrix *of_b, float *beta, void *c,
		   struct matrix *of_c, void *d, struct matrix *of_d, void *algorithm,
		   void *space, size_t bytes, void *stream)
{ errno = 77; return bytes == 1 << 20 && stream == (void *)9 && *alpha == 2 ? 3 : -1; }
#ifndef SILENT
static int give(void *to, size_t bytes, const void *from, size_t has, size_t *written)
{ if (bytes != has) return 7; memcpy(to, from, has); *written = has; return 0; }
int cublasLtMatrixLayoutGetAttribute(struct matrix *matrix, int what, void *to, size_t bytes,
				     size_t *written)
{
	switch (what) {
	case 0: return give(to, bytes, &matrix->type, 4, written);
	case 2: return give(to, bytes, &matrix->rows, 8, written);
	case 3: return give(to, bytes, &matrix->columns, 8, written);
	case 5: return give(to, bytes, &matrix->batch, 4, written);
	default: return 7;
	}
}
int cublasLtMatmulDescGetAttribute(struct product *product, int what, void *to, size_t bytes,
				   size_t *written)
{
	return what == 3 || what == 4 ? give(to, bytes, &product->trans[what - 3], 4, written)
				      : 7;
}
#endif
"""
CALLS = """
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
struct matrix { uint32_t type, order; uint64_t rows, columns; int32_t batch; };
struct product { int32_t trans[2]; };
extern int cublasLtMatmul();
static void run(int ta, int tb, uint32_t type, struct matrix *a, struct matrix *d)
{
	struct product product = {{ta, tb}};
	float alpha = 2, beta = 0;

	a->type = type;
	errno = 5;
	if (cublasLtMatmul(0, &product, &alpha, 0, a, 0, a, &beta, 0, d, 0, d, 0, 0,
			   (size_t)1 << 20, (void *)9) != 3 || errno != 77)
		puts("wrong answer");
}
int main(void)
{
	struct matrix a = {0, 0, 30, 7, 1}, t = {0, 0, 7, 30, 1}, d = {14, 0, 30, 20, 1};
	struct matrix many = {0, 0, 30, 7, 4}, out = {0, 0, 30, 20, 4};
	float one = 2;

	run(0, 0, 0, &a, &d);
	run(1, 0, 14, &t, &d);
	run(2, 1, 4, &t, &d);
	run(1, 0, 28, &t, &d);
	run(1, 0, 29, &t, &d);
	run(0, 1, 2, &many, &out);
	run(0, 1, 33, &a, &d);
	return cublasLtMatmul(0, 0, &one, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
			      (size_t)1 << 20, (void *)9) != 3;
}
"""
M, N, K = 30, 20, 7
NUMBERS = M * K + K * N + 2 * M * N
WANTED = [
    ([[M, K], [K, N]], ["float"] * 2, "NN", 2 * M * N * K, 4 * NUMBERS),
    ([[M, K], [K, N]], ["c10::BFloat16"] * 2, "TN", 2 * M * N * K, 2 * NUMBERS),
    ([[M, K], [K, N]], ["c10::complex<float>"] * 2, "CT", 8 * M * N * K, 8 * NUMBERS),
    ([[M, K], [K, N]], ["c10::Float8_e4m3fn"] * 2, "TN", 2 * M * N * K, NUMBERS),
    ([[M, K], [K, N]], ["c10::Float8_e5m2"] * 2, "TN", 2 * M * N * K, NUMBERS),
    ([[4, M, K], [4, K, N]], ["c10::Half"] * 2, "NT", 4 * 2 * M * N * K, 4 * 2 * NUMBERS),
    ([[M, K], [K, N]], [""] * 2, "NT", 2 * M * N * K, None),
]


def read(run):
    return [tuple(one["args"].get(what) for what in (
        "Input Dims", "Input type", "trans", "flops", "bytes"))
            for one in run.trace.slices("cublasLtMatmul")]


def made(place, *flags):
    build(place, "libcublasLt.so", LIBRARY, "-shared", "-fPIC",
          "-Wl,-soname,libcublasLt.so", *flags)
    return build(place, "calls", CALLS, "-L" + place, "-l:libcublasLt.so",
                 "-Wl,-rpath,$ORIGIN")


def test_sizes_types_and_work():
    run = same(made(harness.folder()), env=SHAPES)
    expect_equal(read(run)[:-1], WANTED)
    expect_equal(read(run)[-1], (None,) * 5, "a product of nothing")
    expect_equal({one["args"].get("Call site") for one in run.trace.slices(
        "cublasLtMatmul")[:-1]}, {"run"})


def test_a_library_that_cannot_be_asked():
    run = same(made(harness.folder(), "-DSILENT"), env=SHAPES)
    expect_equal(read(run), [(None,) * 5] * (len(WANTED) + 1))


REAL = """
#include <cublasLt.h>
#include <stdio.h>
#define OK(x) do { int rc = (x); if (rc) { printf("%s: %d\\n", #x, rc); return 1; } } while (0)
int main(void)
{
	cublasLtMatrixLayout_t a, b, d;
	cublasLtMatmulDesc_t product;
	cublasOperation_t trans = CUBLAS_OP_T;
	int batch = 3;
	float one = 1;

	OK(cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F));
	OK(cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_TRANSA, &trans,
					  sizeof(trans)));
	OK(cublasLtMatrixLayoutCreate(&a, CUDA_R_16BF, 7, 30, 7));
	OK(cublasLtMatrixLayoutCreate(&b, CUDA_R_16BF, 7, 20, 7));
	OK(cublasLtMatrixLayoutCreate(&d, CUDA_R_16BF, 30, 20, 30));
	OK(cublasLtMatrixLayoutSetAttribute(d, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch,
					    sizeof(batch)));
	/* Without a GPU there is no handle, and so no product. */
	printf("%d\\n", cublasLtMatmul(0, product, &one, 0, a, 0, b, &one, 0, d, 0, d, 0, 0,
				       0, 0));
	return 0;
}
"""


def test_cudas_library():
    home = "/usr/local/cuda"
    if not os.path.exists(home + "/include/cublasLt.h"):
        raise Skip("cuBLASLt is not on this machine")
    program = build(harness.folder(), "real", REAL, f"-I{home}/include",
                    f"-L{home}/lib64", f"-Wl,-rpath,{home}/lib64", "-lcublasLt")
    run = same(program, env=SHAPES)
    expect_equal(read(run), [([[3, M, K], [3, K, N]], ["c10::BFloat16"] * 2, "TN",
                              3 * 2 * M * N * K, 3 * 2 * NUMBERS)])


if __name__ == "__main__":
    harness.main()
