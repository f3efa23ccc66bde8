/* SPDX-License-Identifier: MIT */
/*
 * eager_host.c - links lib/eager.c and frees nothing of its own.
 */
#include <stdio.h>

extern int early_sum;
extern char *early_block;

int main(void)
{
	printf("early region %d, block %d\n", early_sum, early_block[123455]);
	return 0;
}
