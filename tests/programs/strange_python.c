/* SPDX-License-Identifier: MIT */
/* strange_python.c - an interpreter by its looks: it says a version and has
 * little else. */
#include <stdio.h>

#ifndef VERSION
#define VERSION "3.99.0"
#endif

const char *Py_GetVersion(void)
{
	return VERSION;
}

int Py_AddPendingCall(int (*function)(void *), void *arg)
{
	(void)function;
	(void)arg;
	return -1;
}

int main(void)
{
	puts("done");
	return 0;
}
