/* SPDX-License-Identifier: MIT */
/*
 * cuda_loop.c - a training in miniature on a GPU that marks no steps, by CUDA's
 * driver API alone: epochs of steps, each a copy, some layers forward and
 * backward and an update; an evaluation after each epoch.
 *
 *	cuda_loop [epochs=N] [steps=N] [layers=N] [evaluate=N] [warm=N]
 *		  [own=N] [regions=N] [ms=N] [tail=N]
 *		  [keep=N] [back=N]
 *
 * warm: launches of other kernels in no order before it all; own: launches of
 * the loop's; regions: of OpenMP, in each step; ms: length of a step; tail: of
 * what follows without a call; keep: kB of the heap that each step leaves;
 * back: steps from one copy back to the next, where nothing is copied in.
 */
#include "driver_client.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KERNELS = 8 };
enum { FORWARD, LOSS, BACKWARD, UPDATE, ACCURACY, SCALE, SHUFFLE, INIT };

static const char module_text[] =
	".version 7.0\n.target sm_50\n.address_size 64\n" DRIVER_ENTRY(
		"forward") DRIVER_ENTRY("loss") DRIVER_ENTRY("backward")
		DRIVER_ENTRY("update") DRIVER_ENTRY("accuracy")
			DRIVER_ENTRY("scale") DRIVER_ENTRY("shuffle")
				DRIVER_ENTRY("init");

static const char *const names[KERNELS] = {"forward", "loss",	  "backward",
					   "update",  "accuracy", "scale",
					   "shuffle", "init"};

static int epochs = 1, steps = 40, layers = 3, evaluations, warm, own, regions,
	   ms = 10, tail, keep, back;
static void *kernels[KERNELS];
static void *stream;
static uint64_t memory;
static char host[4096];

static void start(void)
{
	driver_kernels(driver_load(module_text), names, KERNELS, kernels);
	driver_check(driver.cuMemAlloc_v2(&memory, sizeof(host)), "cuMemAlloc");
	driver_check(driver.cuStreamCreate(&stream, 1), "cuStreamCreate");
}

static void launch(int kernel)
{
	driver_launch_one(kernels[kernel], stream, memory);
}

static void copy(void)
{
	driver_check(
		driver.cuMemcpyHtoDAsync_v2(memory, host, sizeof(host), stream),
		"cuMemcpyHtoDAsync");
}

static void copy_back(void)
{
	driver_check(driver.cuMemcpyDtoH_v2(host, memory, sizeof(host)),
		     "cuMemcpyDtoH");
}

static void wait(void)
{
	driver_check(driver.cuStreamSynchronize(stream), "cuStreamSynchronize");
}

__attribute__((noinline)) static int prepare(void)
{
	int sum = 0;

#pragma omp parallel num_threads(2) reduction(+ : sum)
	sum += 1;
	return sum;
}

__attribute__((noinline)) static int adjust(void)
{
	int sum = 0;

#pragma omp parallel num_threads(2) reduction(+ : sum)
	sum += 1;
	return sum;
}

__attribute__((noinline)) static void keep_some(void)
{
	static char **last;
	char **kept = malloc((size_t)keep * 1000);

	*kept = (char *)last;
	last = kept;
}

static void train(void)
{
	if (keep)
		keep_some();
	for (int i = 1; i < regions; i++)
		prepare();
	if (!back)
		copy();
	for (int i = 0; i < layers; i++)
		launch(FORWARD);
	launch(LOSS);
	for (int i = 0; i < layers; i++)
		launch(BACKWARD);
	launch(UPDATE);
	if (regions)
		adjust();
	usleep((unsigned int)ms * 1000);
	wait();
}

static void evaluate(void)
{
	copy();
	for (int i = 0; i < layers; i++)
		launch(FORWARD);
	launch(ACCURACY);
	wait();
}

static void warm_up(int launches, int first, int kinds)
{
	uint32_t random = 12345;

	for (int i = 0; i < launches; i++) {
		random = random * 1664525 + 1013904223;
		launch(first + (int)((random >> 16) % (uint32_t)kinds));
		usleep(1000);
	}
}

static int set(const char *text, const char *name, int *value)
{
	const size_t len = strlen(name);

	if (strncmp(text, name, len) || text[len] != '=')
		return 0;
	*value = atoi(text + len + 1);
	return 1;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (!set(argv[i], "epochs", &epochs) &&
		    !set(argv[i], "steps", &steps) &&
		    !set(argv[i], "layers", &layers) &&
		    !set(argv[i], "evaluate", &evaluations) &&
		    !set(argv[i], "warm", &warm) &&
		    !set(argv[i], "own", &own) &&
		    !set(argv[i], "regions", &regions) &&
		    !set(argv[i], "ms", &ms) && !set(argv[i], "tail", &tail) &&
		    !set(argv[i], "keep", &keep) &&
		    !set(argv[i], "back", &back))
			return 2;
	}
	if (!driver_find())
		return NO_DRIVER;
	start();
	warm_up(warm, SCALE, 3);
	warm_up(own, FORWARD, 4);
	for (int epoch = 0; epoch < epochs; epoch++) {
		for (int step = 0; step < steps; step++) {
			train();
			if (back && step % back == back - 1)
				copy_back();
		}
		for (int i = 0; i < evaluations; i++)
			evaluate();
	}
	usleep((unsigned int)tail * 1000);
	printf("%d steps\n", epochs * steps);
	return 0;
}
