/* SPDX-License-Identifier: MIT */
/*
 * cuda_train.cu - a small training loop on a GPU, in the CUDA runtime's C.
 *
 *	cuda_train [steps] [threads] [libcublas]
 *
 * Each host thread trains a linear model of its own: a batch goes up from
 * pinned memory on a copy stream, the step's kernels wait for it by an event,
 * the loss comes back into pageable memory.  The first thread captures its
 * step once and launches it as a CUDA graph; the others launch kernel by
 * kernel.  What was copied up is copied back and compared at the end, which
 * holds on any device, also on one that runs no kernels.
 *
 * Where a path of cuBLAS is given, each step also multiplies its batch by
 * itself there; it is loaded by name, so that this builds and runs without it.
 * Built with OpenMP the host threads are a team, else they are POSIX threads.
 */
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEATURES = 256, BATCH = 512, BLOCK = 128, MOST_THREADS = 16 };

enum { NO_TRANSPOSE, TRANSPOSE }; /* as cuBLAS counts them */

static int steps = 4;

/* Of cuBLAS; `create` is NULL without it. */
static struct {
	int (*create)(void **handle);
	int (*set_stream)(void *handle, cudaStream_t stream);
	int (*multiply)(void *handle, int transpose_a, int transpose_b,
			int rows, int columns, int inner, const float *alpha,
			const float *a, int a_stride, const float *b,
			int b_stride, const float *beta, float *c,
			int c_stride);
	int (*destroy)(void *handle);
} blas;

struct trainer {
	int number;
	int faults;
	void *blas;
	cudaStream_t compute, copy;
	cudaEvent_t uploaded, begin, end;
	cudaGraphExec_t graph;
	float *weights, *gradient, *batch, *loss, *product; /* on the device */
	float first_product;
	float *pinned;
	float pageable[BATCH];
};

static int check(struct trainer *me, cudaError_t error, const char *what)
{
	if (error == cudaSuccess)
		return 1;
	fprintf(stderr, "cuda_train: thread %d: %s: %s\n", me->number, what,
		cudaGetErrorString(error));
	me->faults++;
	return 0;
}

__global__ void forward(const float *weights, const float *batch, float *loss)
{
	int row = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;

	if (row >= BATCH)
		return;
	for (int i = 0; i < FEATURES; i++)
		sum += weights[i] * batch[row * FEATURES + i];
	loss[row] = sum - 1;
}

__global__ void backward(const float *batch, const float *loss, float *gradient)
{
	extern __shared__ float part[];
	float sum = 0;

	for (int row = threadIdx.x; row < BATCH; row += blockDim.x)
		sum += loss[row] * batch[row * FEATURES + blockIdx.x];
	part[threadIdx.x] = sum;
	__syncthreads();
	for (int half = blockDim.x / 2; half; half /= 2) {
		if (threadIdx.x < half)
			part[threadIdx.x] += part[threadIdx.x + half];
		__syncthreads();
	}
	if (threadIdx.x == 0)
		gradient[blockIdx.x] += part[0];
}

__global__ void update(float *weights, const float *gradient, float rate)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < FEATURES)
		weights[i] -= rate * gradient[i];
}

/* product = batch transposed * batch */
static void multiply(struct trainer *me)
{
	const float one = 1, zero = 0;

	if (me->blas && blas.multiply(me->blas, NO_TRANSPOSE, TRANSPOSE,
				      FEATURES, FEATURES, BATCH, &one,
				      me->batch, FEATURES, me->batch, FEATURES,
				      &zero, me->product, FEATURES)) {
		fprintf(stderr, "cuda_train: cublasSgemm failed\n");
		me->faults++;
	}
}

static void enqueue_step(struct trainer *me)
{
	multiply(me);
	check(me,
	      cudaMemsetAsync(me->gradient, 0, FEATURES * sizeof(float),
			      me->compute),
	      "cudaMemsetAsync");
	forward<<<BATCH / BLOCK, BLOCK, 0, me->compute>>>(
		me->weights, me->batch, me->loss);
	backward<<<FEATURES, BLOCK, BLOCK * sizeof(float), me->compute>>>(
		me->batch, me->loss, me->gradient);
	update<<<dim3(FEATURES / BLOCK, 1, 1), dim3(BLOCK, 1, 1), 0,
		 me->compute>>>(me->weights, me->gradient, 1e-4f / BATCH);
	check(me, cudaGetLastError(), "launch");
}

/* On a stream that doesn't wait for the legacy one: other threads may use that
 * meanwhile, and a real driver ends the capture then. */
static void capture_step(struct trainer *me)
{
	const cudaStream_t compute = me->compute;
	cudaGraph_t graph = NULL;

	if (!check(me,
		   cudaStreamCreateWithFlags(&me->compute,
					     cudaStreamNonBlocking),
		   "cudaStreamCreateWithFlags"))
		return;
	if (me->blas)
		blas.set_stream(me->blas, me->compute);
	if (check(me,
		  cudaStreamBeginCapture(me->compute,
					 cudaStreamCaptureModeThreadLocal),
		  "cudaStreamBeginCapture")) {
		enqueue_step(me);
		if (check(me, cudaStreamEndCapture(me->compute, &graph),
			  "cudaStreamEndCapture"))
			check(me, cudaGraphInstantiate(&me->graph, graph, 0),
			      "cudaGraphInstantiate");
	}
	if (graph)
		check(me, cudaGraphDestroy(graph), "cudaGraphDestroy");
	check(me, cudaStreamDestroy(me->compute), "cudaStreamDestroy");
	me->compute = compute;
	if (me->blas)
		blas.set_stream(me->blas, compute);
}

static void set_up(struct trainer *me)
{
	check(me, cudaStreamCreate(&me->compute), "cudaStreamCreate");
	check(me, cudaStreamCreateWithFlags(&me->copy, cudaStreamNonBlocking),
	      "cudaStreamCreateWithFlags");
	check(me,
	      cudaEventCreateWithFlags(&me->uploaded, cudaEventDisableTiming),
	      "cudaEventCreateWithFlags");
	check(me, cudaEventCreate(&me->begin), "cudaEventCreate");
	check(me, cudaEventCreate(&me->end), "cudaEventCreate");
	check(me, cudaMalloc(&me->weights, FEATURES * sizeof(float)),
	      "cudaMalloc");
	check(me, cudaMalloc(&me->gradient, FEATURES * sizeof(float)),
	      "cudaMalloc");
	check(me, cudaMalloc(&me->batch, BATCH * FEATURES * sizeof(float)),
	      "cudaMalloc");
	check(me, cudaMalloc(&me->loss, BATCH * sizeof(float)), "cudaMalloc");
	check(me,
	      cudaMallocHost(&me->pinned, BATCH * FEATURES * sizeof(float)),
	      "cudaMallocHost");
	check(me, cudaMemset(me->weights, 0, FEATURES * sizeof(float)),
	      "cudaMemset");
	if (!blas.create)
		return;
	check(me,
	      cudaMalloc(&me->product, FEATURES * FEATURES * sizeof(float)),
	      "cudaMalloc");
	if (blas.create(&me->blas) || blas.set_stream(me->blas, me->compute)) {
		fprintf(stderr, "cuda_train: cublasCreate failed\n");
		me->faults++;
	}
	/* The first product loads its kernels, which no capture may see. */
	multiply(me);
	check(me, cudaStreamSynchronize(me->compute), "cudaStreamSynchronize");
}

static void fill_batch(struct trainer *me, int step)
{
	for (int i = 0; i < BATCH * FEATURES; i++)
		me->pinned[i] = (float)((i * 7 + step * 13 + me->number) % 17);
}

/* Scratch memory of the step, from the stream's pool. */
static void use_pool(struct trainer *me)
{
	void *scratch = NULL;

	if (check(me, cudaMallocAsync(&scratch, 1 << 20, me->compute),
		  "cudaMallocAsync"))
		check(me, cudaFreeAsync(scratch, me->compute), "cudaFreeAsync");
}

static void train_step(struct trainer *me, int step)
{
	float ms = -1;

	fill_batch(me, step);
	check(me, cudaEventRecord(me->begin, me->compute), "cudaEventRecord");
	check(me,
	      cudaMemcpyAsync(me->batch, me->pinned,
			      BATCH * FEATURES * sizeof(float),
			      cudaMemcpyHostToDevice, me->copy),
	      "cudaMemcpyAsync");
	check(me, cudaEventRecord(me->uploaded, me->copy), "cudaEventRecord");
	check(me, cudaStreamWaitEvent(me->compute, me->uploaded, 0),
	      "cudaStreamWaitEvent");
	use_pool(me);
	if (me->graph)
		check(me, cudaGraphLaunch(me->graph, me->compute),
		      "cudaGraphLaunch");
	else
		enqueue_step(me);
	check(me, cudaEventRecord(me->end, me->compute), "cudaEventRecord");
	check(me, cudaStreamSynchronize(me->compute), "cudaStreamSynchronize");
	check(me,
	      cudaMemcpy(me->pageable, me->loss, sizeof(me->pageable),
			 cudaMemcpyDeviceToHost),
	      "cudaMemcpy");
	check(me, cudaEventElapsedTime(&ms, me->begin, me->end),
	      "cudaEventElapsedTime");
	if (ms < 0)
		me->faults++;
}

/* The last batch and the cleared gradient must come back as they went. */
static void compare(struct trainer *me)
{
	size_t size = BATCH * FEATURES * sizeof(float);
	float *back = (float *)malloc(size);
	unsigned char bytes[64];

	check(me, cudaMemcpy(back, me->batch, size, cudaMemcpyDeviceToHost),
	      "cudaMemcpy");
	if (memcmp(back, me->pinned, size) != 0) {
		fprintf(stderr, "cuda_train: a batch came back changed\n");
		me->faults++;
	}
	check(me, cudaMemset(me->gradient, 0x5a, sizeof(bytes)), "cudaMemset");
	check(me,
	      cudaMemcpy(bytes, me->gradient, sizeof(bytes),
			 cudaMemcpyDeviceToHost),
	      "cudaMemcpy");
	for (size_t i = 0; i < sizeof(bytes); i++)
		me->faults += bytes[i] != 0x5a;
	free(back);
	if (me->blas)
		check(me,
		      cudaMemcpy(&me->first_product, me->product,
				 sizeof(me->first_product),
				 cudaMemcpyDeviceToHost),
		      "cudaMemcpy");
}

static void tear_down(struct trainer *me)
{
	if (me->graph)
		check(me, cudaGraphExecDestroy(me->graph),
		      "cudaGraphExecDestroy");
	if (me->blas)
		blas.destroy(me->blas);
	if (me->product)
		check(me, cudaFree(me->product), "cudaFree");
	check(me, cudaEventDestroy(me->uploaded), "cudaEventDestroy");
	check(me, cudaEventDestroy(me->begin), "cudaEventDestroy");
	check(me, cudaEventDestroy(me->end), "cudaEventDestroy");
	check(me, cudaStreamDestroy(me->compute), "cudaStreamDestroy");
	check(me, cudaStreamDestroy(me->copy), "cudaStreamDestroy");
	check(me, cudaFree(me->weights), "cudaFree");
	check(me, cudaFree(me->gradient), "cudaFree");
	check(me, cudaFree(me->batch), "cudaFree");
	check(me, cudaFree(me->loss), "cudaFree");
	check(me, cudaFreeHost(me->pinned), "cudaFreeHost");
}

static void *train(void *argument)
{
	struct trainer *me = (struct trainer *)argument;

	set_up(me);
	if (me->number == 0)
		capture_step(me);
	for (int step = 0; step < steps && !me->faults; step++)
		train_step(me, step);
	if (!me->faults)
		compare(me);
	tear_down(me);
	return NULL;
}

static int load_blas(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (library) {
		*(void **)&blas.create = dlsym(library, "cublasCreate_v2");
		*(void **)&blas.set_stream =
			dlsym(library, "cublasSetStream_v2");
		*(void **)&blas.multiply = dlsym(library, "cublasSgemm_v2");
		*(void **)&blas.destroy = dlsym(library, "cublasDestroy_v2");
	}
	if (blas.create && blas.set_stream && blas.multiply && blas.destroy)
		return 1;
	fprintf(stderr, "cuda_train: no cuBLAS: %s\n", dlerror());
	return 0;
}

#ifdef _OPENMP
static void train_all(struct trainer *trainers, int count)
{
#pragma omp parallel for num_threads(count) schedule(static, 1)
	for (int i = 0; i < count; i++)
		train(&trainers[i]);
}
#else
static void train_all(struct trainer *trainers, int count)
{
	pthread_t threads[MOST_THREADS];

	for (int i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, train, &trainers[i]);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}
#endif

int main(int argc, char **argv)
{
	static struct trainer trainers[MOST_THREADS];
	struct cudaDeviceProp device;
	int count = 2, faults = 0;

	if (argc > 1)
		steps = atoi(argv[1]);
	if (argc > 2)
		count = atoi(argv[2]);
	if (steps < 1 || count < 1 || count > MOST_THREADS) {
		fprintf(stderr,
			"usage: cuda_train [steps] [threads] [libcublas]\n");
		return 2;
	}
	if (argc > 3 && !load_blas(argv[3]))
		return 2;
	if (!check(&trainers[0], cudaGetDeviceProperties(&device, 0),
		   "cudaGetDeviceProperties"))
		return 1;
	for (int i = 0; i < count; i++)
		trainers[i].number = i;
	train_all(trainers, count);
	for (int i = 0; i < count; i++)
		faults += trainers[i].faults;
	check(&trainers[0], cudaDeviceSynchronize(), "cudaDeviceSynchronize");
	printf("%s: %d steps, %d threads, %d faults, loss %.9g", device.name,
	       steps, count, faults, trainers[0].pageable[0]);
	if (blas.create)
		printf(", product %.9g", trainers[0].first_product);
	printf("\n");
	return faults != 0;
}
