/* SPDX-License-Identifier: MIT */
/* strange_python.c - an interpreter by its looks: it says a version and has
 * little else.  Where PyTorch's double is loaded it waits until that is
 * observed. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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
	int (*is_observed)(void);

	*(void **)&is_observed =
		dlsym(RTLD_DEFAULT, "torch_double_is_observed");
	while (is_observed && !is_observed()) {
		void *volatile block = malloc(1000); /* is recorded */

		free(block);
		usleep(1000);
	}
	puts("done");
	return 0;
}
