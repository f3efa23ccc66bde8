/* SPDX-License-Identifier: MIT */
/* cython_names.c - a region in a function as Cython calls its own: TURNS. */
#include <stdlib.h>
#include <unistd.h>

void __pyx_pf_4mine_5Model_4fit_one(int turns);

void __attribute__((noinline)) __pyx_pf_4mine_5Model_4fit_one(int turns)
{
#pragma omp parallel num_threads(2)
	for (int turn = 0; turn < turns; turn++)
		usleep(10);
}

int main(int argc, char **argv)
{
	for (int turn = 0; turn < atoi(argv[1]); turn++)
		__pyx_pf_4mine_5Model_4fit_one(5);
	return argc != 2;
}
