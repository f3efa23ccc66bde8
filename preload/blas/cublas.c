/* SPDX-License-Identifier: MIT */
/* cublas.c - asks cuBLASLt for the sizes of a product; see cublas.h. */
#include "preload/blas/cublas.h"
#include "preload/blas/asked.h"

#include "collector/session/blas_op.h"
#include "preload/process/quiet.h"

/* The words of cublasLtMatmul(). */
enum { PRODUCT = 1, OF_A = 4, OF_D = 11 };

/* What can be asked of a matrix, and of a product. */
enum { TYPE = 0, ROWS = 2, COLUMNS = 3, BATCH = 5 };
enum { TRANS_A = 3, TRANS_B = 4 };

/* As `function_names` has them; not 0 is an error. */
struct functions {
	int (*matrix)(const void *matrix, int what, void *, size_t bytes,
		      size_t *written);
	int (*product)(const void *product, int what, void *, size_t bytes,
		       size_t *written);
};

static const char *const function_names[] = {
	"cublasLtMatrixLayoutGetAttribute",
	"cublasLtMatmulDescGetAttribute",
};

static struct asked_table libraries = {
	.names = function_names,
	.count = 2,
	.needed = 2,
};

COLD void cublas_closed(void)
{
	asked_closed(&libraries);
}

uint8_t cublas_type(uint32_t type)
{
	switch (type) {
	case 0: return BLAS_TYPE_S;
	case 1: return BLAS_TYPE_D;
	case 2: return BLAS_TYPE_H;
	case 3: return BLAS_TYPE_I;
	case 4: return BLAS_TYPE_C;
	case 5: return BLAS_TYPE_Z;
	case 14: return BLAS_TYPE_B;
	case 28: return BLAS_TYPE_E4M3;
	case 29: return BLAS_TYPE_E5M2;
	default: return BLAS_TYPE_OTHER;
	}
}

struct matrix {
	uint64_t rows, columns; /* as it is stored */
	int32_t batch;
	uint32_t type;
};

static bool read_matrix(const struct functions *library, uint64_t described,
			struct matrix *matrix)
{
	const void *at = (const void *)described;
	size_t written;

	return at &&
	       !library->matrix(at, ROWS, &matrix->rows, sizeof(matrix->rows),
				&written) &&
	       !library->matrix(at, COLUMNS, &matrix->columns,
				sizeof(matrix->columns), &written) &&
	       !library->matrix(at, BATCH, &matrix->batch,
				sizeof(matrix->batch), &written) &&
	       !library->matrix(at, TYPE, &matrix->type, sizeof(matrix->type),
				&written);
}

static bool read_trans(const struct functions *library, uint64_t product,
		       int what, char *trans)
{
	int32_t given = 0;
	size_t written;

	if (!product || library->product((const void *)product, what, &given,
					 sizeof(given), &written))
		return false;
	*trans = given == 0 ? 'N' : given == 1 ? 'T' : 'C';
	return true;
}

static uint32_t clip(uint64_t size)
{
	return (uint32_t)min_u64(size, UINT32_MAX);
}

static void describe(const struct functions *library, const uint64_t *word,
		     struct event *event)
{
	struct matrix a, d;
	char trans[2];

	if (!read_trans(library, word[PRODUCT], TRANS_A, &trans[0]) ||
	    !read_trans(library, word[PRODUCT], TRANS_B, &trans[1]) ||
	    !read_matrix(library, word[OF_A], &a) ||
	    !read_matrix(library, word[OF_D], &d))
		return;
	event->blas.op = BLAS_GEMM;
	event->blas.type = cublas_type(a.type);
	event->blas.trans[0] = trans[0];
	event->blas.trans[1] = trans[1];
	event->blas.m = clip(d.rows);
	event->blas.n = clip(d.columns);
	event->blas.k = clip(trans[0] == 'N' ? a.columns : a.rows);
	event->blas.batch = d.batch > 0 ? (uint32_t)d.batch : 0;
}

void cublas_lt_read(const void *real, const uint64_t *word, struct event *event)
{
	const struct quiet quiet = quiet_begin();
	struct functions library;

	if (asked_functions(&libraries, real, &library))
		describe(&library, word, event);
	quiet_end(&quiet);
}
