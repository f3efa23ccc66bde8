/* SPDX-License-Identifier: MIT */
/*
 * namespaces.c - what the kernel allows a process with one thread only.
 *
 * unshare(CLONE_NEWUSER) fails in a process with several threads: a library
 * must have started none in a program that did nothing of interest.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
	free(malloc(100000));
	if (unshare(CLONE_NEWUSER) == 0)
		printf("unshared\n");
	else
		printf("refused: %s\n", strerror(errno));
	return 0;
}
