/* SPDX-License-Identifier: MIT */
/*
 * loads_late.c - opens the library that it is given and works for a tenth of a
 * second of processor time, with allocations.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
	void *blocks[64] = {NULL};
	unsigned long calls = 0;

	if (argc > 1 && !dlopen(argv[1], RTLD_NOW | RTLD_LOCAL))
		return 1;
	while (clock() < CLOCKS_PER_SEC / 10 || calls < 100000) {
		free(blocks[calls % 64]);
		blocks[calls % 64] = malloc(100 + calls % 1000);
		calls++;
	}
	for (int i = 0; i < 64; i++)
		free(blocks[i]);
	puts("done");
	return 0;
}
