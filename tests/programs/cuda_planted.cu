/* SPDX-License-Identifier: MIT */
/*
 * cuda_planted.cu - a training loop on a GPU with one bottleneck, which is
 * known.
 *
 *	cuda_planted BOTTLENECK [STEPS]
 *
 * On the simulated GPU every kernel takes SIMGPU_KERNEL_NS; only their names
 * and grids differ.
 */
#include "traceprof.h"

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define KERNEL(name) extern "C" __global__ void name(float *data) { data[0] = 1; }

KERNEL(bf16_gemm)
KERNEL(sgemm_128x128_nn)
KERNEL(vectorized_elementwise_kernel)
KERNEL(nchwToNhwcKernel)
KERNEL(ncclDevKernel_AllReduce_Sum_f32)

enum { BLOCKS = 1024, BYTES = 8 << 20 };

static float *device, *pinned, *pageable;
static cudaStream_t first, second;
static cudaEvent_t done;

static void work(double us)
{
	struct timespec begin, now;
	double past;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		clock_gettime(CLOCK_MONOTONIC, &now);
		past = (now.tv_sec - begin.tv_sec) * 1e6 +
		       (now.tv_nsec - begin.tv_nsec) / 1e3;
	} while (past < us);
}

static void products(int count)
{
	for (int i = 0; i < count; i++)
		bf16_gemm<<<BLOCKS, 128, 0, first>>>(device);
}

static void finish(void)
{
	cudaStreamSynchronize(first);
}

static void none(void)
{
	products(20);
	finish();
}

static void blocking_copies(void)
{
	for (int i = 0; i < 4; i++)
		cudaMemcpy(device, pageable, BYTES, cudaMemcpyHostToDevice);
	none();
}

static void small_copies(void)
{
	for (int i = 0; i < 300; i++)
		cudaMemcpyAsync(device, pinned, 4096, cudaMemcpyHostToDevice,
				first);
	products(1);
	finish();
}

static void small_kernels(void)
{
	for (int i = 0; i < 200; i++) {
		products(1);
		work(12);
	}
	finish();
}

static void needless_sync(void)
{
	for (int i = 0; i < 10; i++) {
		products(2);
		finish();
		work(100);
	}
}

static void results_read(void)
{
	for (int i = 0; i < 10; i++) {
		products(2);
		cudaMemcpyAsync(pageable, device, 4, cudaMemcpyDeviceToHost,
				first);
		finish();
		work(100);
	}
}

static void idle_host(void)
{
	none();
	work(4000);
}

static void idle_alloc(void)
{
	void *block;

	for (int i = 0; i < 2000; i++) {
		cudaMalloc(&block, BYTES);
		cudaFree(block);
	}
	none();
}

__attribute__((noinline)) static void prepare(void)
{
#pragma omp parallel num_threads(2)
	work(4000);
}

static void idle_openmp(void)
{
	none();
	prepare();
}

static void data_starved(void)
{
	none();
	traceprof_push("enumerate(DataLoader)#_Single.__next__");
	usleep(4000);
	traceprof_pop();
}

static void exposed_comm(void)
{
	products(10);
	for (int i = 0; i < 5; i++)
		ncclDevKernel_AllReduce_Sum_f32<<<BLOCKS, 128, 0, first>>>(
			device);
	finish();
}

static void serial_streams(void)
{
	for (int i = 0; i < 5; i++) {
		products(1);
		cudaEventRecord(done, first);
		cudaStreamWaitEvent(second, done, 0);
		bf16_gemm<<<BLOCKS, 128, 0, second>>>(device);
		cudaEventRecord(done, second);
		cudaStreamWaitEvent(first, done, 0);
	}
	finish();
}

static void layout(void)
{
	for (int i = 0; i < 5; i++) {
		nchwToNhwcKernel<<<BLOCKS, 128, 0, first>>>(device);
		products(2);
	}
	finish();
}

static void memory_bound(void)
{
	products(5);
	for (int i = 0; i < 15; i++)
		vectorized_elementwise_kernel<<<BLOCKS, 128, 0, first>>>(
			device);
	finish();
}

static void low_occupancy(void)
{
	for (int i = 0; i < 20; i++)
		bf16_gemm<<<8, 128, 0, first>>>(device);
	finish();
}

static void compute_bound(void)
{
	for (int i = 0; i < 20; i++)
		sgemm_128x128_nn<<<BLOCKS, 128, 0, first>>>(device);
	finish();
}

static const struct {
	const char *name;
	void (*run)(void);
} bottlenecks[] = {
	{"none", none},
	{"blocking-copies", blocking_copies},
	{"small-copies", small_copies},
	{"small-kernels", small_kernels},
	{"needless-sync", needless_sync},
	{"results-read", results_read},
	{"idle-host", idle_host},
	{"idle-alloc", idle_alloc},
	{"idle-openmp", idle_openmp},
	{"data-starved", data_starved},
	{"exposed-comm", exposed_comm},
	{"serial-streams", serial_streams},
	{"layout", layout},
	{"memory-bound", memory_bound},
	{"low-occupancy", low_occupancy},
	{"compute-bound", compute_bound},
};

int main(int argc, char **argv)
{
	const int steps = argc > 2 ? atoi(argv[2]) : 10;
	size_t at = 0;

	while (argc > 1 && at < sizeof(bottlenecks) / sizeof(bottlenecks[0]) &&
	       strcmp(argv[1], bottlenecks[at].name))
		at++;
	if (argc < 2 || at == sizeof(bottlenecks) / sizeof(bottlenecks[0]))
		return 2;
	pageable = (float *)malloc(BYTES);
	memset(pageable, 0, BYTES);
	cudaMalloc((void **)&device, BYTES);
	cudaHostAlloc((void **)&pinned, BYTES, 0);
	cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
	cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
	cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
	none(); /* what comes once */
	for (int step = 0; step < steps; step++) {
		traceprof_step();
		bottlenecks[at].run();
	}
	cudaDeviceSynchronize();
	printf("%d steps\n", steps);
	return 0;
}
