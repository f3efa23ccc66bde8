/* SPDX-License-Identifier: MIT */
/* churn.c - allocates and frees COUNT small blocks, one after the other. */
#include <stdlib.h>

int main(int argc, char **argv)
{
	const long count = argc > 1 ? atol(argv[1]) : 1000;

	for (long i = 0; i < count; i++) {
		char *volatile block = malloc(64 + (size_t)i % 128);

		free(block);
	}
	return 0;
}
