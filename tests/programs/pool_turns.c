/* SPDX-License-Identifier: MIT */
/*
 * pool_turns.c - threads that take memory in their streams' order, have the
 * host called back, make and destroy streams with work in them, while children
 * are forked; and now and then the device is reset.
 *
 *	pool_turns [STEPS [THREADS [RESET_EACH]]]
 */
#include "turns.h"

#include <sys/wait.h>
#include <unistd.h>

enum { KERNELS, COPIES, SETS, ALLOCS, HOSTS };
enum { BYTES = 1 << 16, HOST_TO_DEVICE = 1 };

static char sent[BYTES];
static _Atomic long hosts;
static int reset_each = 5;

static void on_host(void *thread)
{
	hosts++;
	usleep(*(int *)thread % 3 * 100);
}

static void work(int thread, int step)
{
	void *stream, *memory;

	CUDA(cudaStreamCreate, &stream);
	for (int i = 0; i < 2 + thread % 3; i++) {
		CUDA(cudaMallocAsync, &memory, BYTES, stream);
		CUDA(cudaMemsetAsync, memory, i, BYTES, stream);
		CUDA(cudaMemcpyAsync, memory, sent, BYTES, HOST_TO_DEVICE,
		     stream);
		launch(stream, 1);
		launch(stream, 2);
		CUDA(cudaLaunchHostFunc, stream, on_host, &thread);
		CUDA(cudaFreeAsync, memory, stream);
		done[step][KERNELS] += 2;
		done[step][COPIES]++;
		done[step][SETS]++;
		done[step][ALLOCS]++;
		done[step][HOSTS]++;
	}
	/* What is in it goes on. */
	CUDA(cudaStreamDestroy, stream);
}

/* It can use nothing of CUDA, and must not wait for anything either. */
static void fork_one(int step)
{
	const pid_t child = fork();
	void *stream;
	int status;

	if (!child) {
		if (!cuda.cudaStreamCreate(&stream))
			_exit(3);
		if (step % 2)
			_exit(0);
		exit(0);
	}
	waitpid(child, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		exit(4);
}

static void after(int step)
{
	if (step % 3 == 1)
		fork_one(step);
	if (reset_each && step % reset_each == reset_each - 1)
		CUDA(cudaDeviceReset);
	launch(NULL, 3);
	done[step][KERNELS]++;
}

int main(int argc, char **argv)
{
	static const char *const sorts[] = {"kernel", "gpu_memcpy",
					    "gpu_memset", "alloc", "host"};
	const int steps = argc > 1 ? atoi(argv[1]) : 12;
	const int threads = argc > 2 ? atoi(argv[2]) : 4;

	reset_each = argc > 3 ? atoi(argv[3]) : reset_each;
	setvbuf(stdout, NULL, _IOLBF, 0);
	runtime_find();
	turns_run(steps, threads, work, after);
	CUDA(cudaDeviceSynchronize);
	turns_tell(sorts, SORTS_MOST);
	printf("called back %ld\n", hosts);
	return 0;
}
