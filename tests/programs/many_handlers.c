/* SPDX-License-Identifier: MIT */
/*
 * many_handlers.c - registers more exit handlers than the C library has places
 * for: its first allocation is atexit()'s own, made with the lock held that
 * atexit() takes.
 */
#include <stdlib.h>
#include <unistd.h>

static int left;

static void handle(void)
{
	left--;
}

int main(void)
{
	for (; left < 100; left++)
		atexit(handle);
	return write(STDOUT_FILENO, "done\n", 5) != 5;
}
