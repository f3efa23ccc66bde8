/* SPDX-License-Identifier: MIT */
/*
 * variables.c - prints its environment, or starts a program with it.
 *
 *	variables [PROGRAM ARGUMENTS]
 */
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc > 1) {
		execv(argv[1], argv + 1);
		return 1;
	}
	for (char **one = environ; *one; one++)
		puts(*one);
	return 0;
}
