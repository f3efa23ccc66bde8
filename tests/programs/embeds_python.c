/* SPDX-License-Identifier: MIT */
/*
 * embeds_python.c - an interpreter inside of a program, begun and ended.
 *
 *	embeds_python LIBRARY TIMES CODE
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	void (*initialise)(void);
	int (*run)(const char *code, void *flags);
	int (*finalise)(void);
	void *library;

	if (argc < 4)
		return 2;
	library = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
	if (!library)
		return 1;
	*(void **)&initialise = dlsym(library, "Py_Initialize");
	*(void **)&run = dlsym(library, "PyRun_SimpleStringFlags");
	*(void **)&finalise = dlsym(library, "Py_FinalizeEx");
	if (!initialise || !run || !finalise)
		return 1;
	for (int i = 0; i < atoi(argv[2]); i++) {
		initialise();
		printf("ran: %d\n", run(argv[3], NULL));
		printf("ended: %d\n", finalise());
	}
	return 0;
}
