/* SPDX-License-Identifier: MIT */
/*
 * plugin_host.c - loads shared libraries with OpenMP inside, and runs them.
 *
 *	plugin_host [-d] [-c] LIBRARY...
 *
 * Each is loaded RTLD_LOCAL (-d: with RTLD_DEEPBIND too) and run twice; the
 * second round takes turns, so that nothing cached for one is used for another.
 * -c closes each after its first run and loads it again.  Prints the results.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST = 8 };

typedef int (*plugin_run)(int threads);

static void *load(const char *path, int flags, plugin_run *run)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | flags);

	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	*run = (plugin_run)dlsym(library, "plugin_run");
	return library;
}

int main(int argc, char **argv)
{
	plugin_run runs[MOST];
	int flags = 0, reload = 0, option;

	while ((option = getopt(argc, argv, "dc")) != -1) {
		if (option == 'd')
			flags = RTLD_DEEPBIND;
		else
			reload = 1;
	}
	argv += optind;
	argc -= optind;
	for (int i = 0; i < argc && i < MOST; i++) {
		void *library = load(argv[i], flags, &runs[i]);

		printf("first %d: %d\n", i, runs[i](3));
		if (!reload)
			continue;
		dlclose(library);
		load(argv[i], flags, &runs[i]);
		printf("again %d: %d\n", i, runs[i](2));
	}
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < argc && i < MOST; i++)
			printf("turn %d: %d\n", i, runs[i](2 + round));
	return 0;
}
