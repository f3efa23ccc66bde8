/* SPDX-License-Identifier: MIT */
/*
 * cuda_forks.c - children of a program that uses CUDA.
 *
 *	cuda_forks exit|_exit|exec
 *
 * CUDA cannot be used in a forked child, and CUPTI's worker is not there: who
 * asks it for anything in the child waits for ever.  Between two copies of the
 * parent a child ends by exit(), by _exit() or by a program of its own.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BYTES 4096

static void end_as(const char *way)
{
	if (!strcmp(way, "exit"))
		exit(7);
	if (!strcmp(way, "exec"))
		execl("/bin/sh", "sh", "-c", "exit 7", NULL);
	_exit(7);
}

int main(int argc, char **argv)
{
	void *runtime = dlopen("libcudart.so.13", RTLD_NOW | RTLD_GLOBAL);
	int (*allocate)(void **, size_t) = NULL;
	int (*copy)(void *, const void *, size_t, int) = NULL;
	static char host[BYTES];
	void *device;
	int status;
	pid_t child;

	if (argc < 2 || !runtime)
		return 2;
	*(void **)(void *)&allocate = dlsym(runtime, "cudaMalloc");
	*(void **)(void *)&copy = dlsym(runtime, "cudaMemcpy");
	if (allocate(&device, BYTES) || copy(device, host, BYTES, 1))
		return 1;
	child = fork();
	if (!child) {
		/* An error, and no more. */
		if (!copy(device, host, BYTES, 1))
			_exit(3);
		end_as(argv[1]);
	}
	if (waitpid(child, &status, 0) != child || copy(device, host, BYTES, 1))
		return 1;
	printf("%d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	return 0;
}
