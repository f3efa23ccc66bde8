/* SPDX-License-Identifier: MIT */
/*
 * turns.c - loads one plug-in after another's end, which the loader puts at the
 * same place.
 *
 *	turns SECONDS PLUGIN...
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	const double seconds = argc > 1 ? atof(argv[1]) : 0.5;
	void *place = NULL;

	for (int i = 2; i < argc; i++) {
		void *handle = dlopen(argv[i], RTLD_NOW);
		double (*turn)(double);

		if (!handle) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		turn = (double (*)(double))dlsym(handle, "turn");
		if (turn(seconds) < 0)
			return 2;
		puts(place && place != (void *)turn ? "elsewhere" : "there");
		place = (void *)turn;
		dlclose(handle);
	}
	return 0;
}
