/* SPDX-License-Identifier: MIT */
/*
 * cuda_solves.c - solves by conjugate gradients on a GPU, by functions as a
 * BLAS has them, of which one is called twice in each iteration.
 *
 *	cuda_solves SOLVES ITERATIONS
 */
#include "driver_client.h"

#include <stdlib.h>

enum { KERNELS = 6 };
enum { FILL, LAPLACE, DOT, REDUCE, AXPY, SCALE };

static const char module_text[] =
	".version 7.0\n.target sm_50\n.address_size 64\n" DRIVER_ENTRY("fill")
		DRIVER_ENTRY("laplace") DRIVER_ENTRY("dot")
			DRIVER_ENTRY("reduce") DRIVER_ENTRY("axpy")
				DRIVER_ENTRY("scale");

static const char *const names[KERNELS] = {"fill",   "laplace", "dot",
					   "reduce", "axpy",	"scale"};

static void *kernels[KERNELS];
static void *stream;
static uint64_t memory;
static char host[64];

static void launch(int kernel)
{
	driver_launch_one(kernels[kernel], stream, memory);
}

__attribute__((noinline)) static void dot(void)
{
	launch(DOT);
	launch(REDUCE);
	driver_check(driver.cuMemcpyDtoH_v2(host, memory, sizeof(host)),
		     "cuMemcpyDtoH");
}

__attribute__((noinline)) static void axpy(void)
{
	launch(AXPY);
}

__attribute__((noinline)) static void scale(void)
{
	launch(SCALE);
}

__attribute__((noinline)) static void solve(int iterations)
{
	launch(FILL);
	launch(FILL);
	launch(FILL);
	dot();
	for (int i = 0; i < iterations; i++) {
		launch(LAPLACE);
		dot();
		axpy();
		axpy();
		dot();
		scale();
		axpy();
	}
}

int main(int argc, char **argv)
{
	const int solves = argc > 1 ? atoi(argv[1]) : 10;
	const int iterations = argc > 2 ? atoi(argv[2]) : 30;

	if (!driver_find())
		return NO_DRIVER;
	driver_kernels(driver_load(module_text), names, KERNELS, kernels);
	driver_check(driver.cuMemAlloc_v2(&memory, sizeof(host)), "cuMemAlloc");
	for (int i = 0; i < solves; i++) {
		solve(iterations);
		printf("solve %d\n", i);
	}
	return 0;
}
