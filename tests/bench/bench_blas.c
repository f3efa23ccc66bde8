/* SPDX-License-Identifier: MIT */
/*
 * bench_blas.c - calls of a BLAS and a oneDNN that do nothing: bench_blas
 * gemm|primitive TURNS.  LIBRARY: those two.
 */
int dnnl_primitive_execute(const void *primitive, void *stream, int count,
			   const void *list);
void dgemm_(void);

#ifdef LIBRARY

int dnnl_primitive_execute(const void *primitive, void *stream, int count,
			   const void *list)
{
	(void)primitive;
	(void)stream;
	(void)list;
	return count;
}

void dgemm_(void)
{
}

#else

#include <stdlib.h>

__attribute__((noinline)) void run(const char *what, long turns)
{
	for (long i = 0; i < turns; i++) {
		if (*what == 'g')
			dgemm_();
		else if (dnnl_primitive_execute(what, NULL, 0, NULL))
			abort();
	}
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	free(malloc(64)); /* the gate is decided now */
	run(argv[1], atol(argv[2]));
	return 0;
}

#endif
