/* SPDX-License-Identifier: MIT */
/*
 * cuda_reports.c - the same calls of CUDA's driver by two programs: time steps
 * with a report after each so many, or time steps of so many sweeps with what
 * they do once.
 *
 *	cuda_reports report|sweeps EVERY TIMES
 *
 * EVERY * TIMES turns of three kernels; after each EVERY of them a sum by two
 * more is copied back.  A copy comes before it all, too.
 */
#include "driver_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KERNELS = 5 };
enum { COLLIDE, STREAM, WALLS, CLEAR, SUM };

static const char module_text[] =
	".version 7.0\n.target sm_50\n.address_size 64\n" DRIVER_ENTRY(
		"collide") DRIVER_ENTRY("stream") DRIVER_ENTRY("walls")
		DRIVER_ENTRY("clear") DRIVER_ENTRY("sum");

static const char *const names[KERNELS] = {"collide", "stream", "walls",
					   "clear", "sum"};

static void *kernels[KERNELS];
static void *stream;
static uint64_t memory;
static char host[64];

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

static void copy_back(void)
{
	driver_check(driver.cuMemcpyDtoH_v2(host, memory, sizeof(host)),
		     "cuMemcpyDtoH");
}

__attribute__((noinline)) static void turn(void)
{
	launch(COLLIDE);
	launch(STREAM);
	launch(WALLS);
}

__attribute__((noinline)) static void sum_up(void)
{
	launch(CLEAR);
	launch(SUM);
	copy_back();
}

__attribute__((noinline)) static void with_reports(int every, int times)
{
	for (int i = 1; i <= every * times; i++) {
		turn();
		if (i % every == 0)
			sum_up();
	}
}

__attribute__((noinline)) static void of_sweeps(int every, int times)
{
	for (int i = 0; i < times; i++) {
		for (int k = 0; k < every; k++)
			turn();
		sum_up();
	}
}

int main(int argc, char **argv)
{
	if (argc < 4 || !driver_find())
		return argc < 4 ? 2 : NO_DRIVER;
	start();
	copy_back();
	if (!strcmp(argv[1], "report"))
		with_reports(atoi(argv[2]), atoi(argv[3]));
	else
		of_sweeps(atoi(argv[2]), atoi(argv[3]));
	printf("done\n");
	return 0;
}
