/* SPDX-License-Identifier: MIT */
/*
 * many_blocks.c - allocates and frees in a row, as fast as it can.
 *
 *	many_blocks TURNS [kill | calm]
 *
 * Each turn is a malloc, a free, and now and then a realloc or a block of 100
 * KB; 1000 small blocks and one large stay.  With `kill` it ends by SIGKILL;
 * with `calm` it goes on for three seconds with little to do, and ends with
 * 1000 blocks of 500 bytes.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEPT = 1000, LARGE = 100000, CALM = 3000, PAIRS = 8, LAST = 500 };

static char *kept[KEPT];

static void be_calm(void)
{
	for (int i = 0; i < CALM * PAIRS; i++) {
		char *volatile block = malloc(32);

		free(block);
		if (i % PAIRS == 0)
			usleep(1000);
	}
	for (int i = 0; i < KEPT; i++) {
		char *volatile block = malloc(LAST);

		free(block);
	}
}

int main(int argc, char **argv)
{
	const long turns = argc > 1 ? atol(argv[1]) : 1000;
	char *large = malloc(LARGE);
	unsigned long sum = 0;

	large[0] = 1;
	for (long i = 0; i < turns; i++) {
		char **const place = &kept[i * 7 % KEPT];

		free(*place);
		*place = malloc(16 + (size_t)(i % 13) * 16);
		(*place)[0] = (char)i;
		if (i % 100 == 0)
			*place = realloc(*place, 300);
		if (i % 10000 == 0) {
			free(large);
			large = malloc(LARGE);
			large[0] = 1;
		}
		sum += (unsigned long)(*place)[0] & 255;
	}
	if (argc > 2 && !strcmp(argv[2], "calm"))
		be_calm();
	printf("%lu\n", sum + (unsigned long)large[0]);
	fflush(stdout);
	if (argc > 2 && !strcmp(argv[2], "kill"))
		raise(SIGKILL);
	return 0;
}
