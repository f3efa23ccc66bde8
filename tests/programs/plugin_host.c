/* SPDX-License-Identifier: MIT */
/*
 * plugin_host.c - loads shared libraries with OpenMP inside, and runs them.
 *
 *	plugin_host [-d] [-c | -s] LIBRARY...
 *
 * Each is loaded RTLD_LOCAL (-d: with RTLD_DEEPBIND too) and run twice; the
 * second round takes turns, so that nothing cached for one is used for another.
 * -c closes each after its first run and loads it again; -s only ever has one
 * loaded, so that the next may get its address.  Prints the results.
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

/* The threads of an OpenMP runtime outlive its users: it must stay. */
static void keep_runtime(void *library)
{
	Dl_info info;

	if (dladdr(dlsym(library, "omp_get_num_threads"), &info))
		dlopen(info.dli_fname, RTLD_NOW | RTLD_LOCAL);
}

static void swap(char **paths, int count)
{
	for (int turn = 0; turn < 3 * count; turn++) {
		plugin_run run;
		void *library = load(paths[turn % count], 0, &run);

		keep_runtime(library);
		printf("alone %d: %d\n", turn % count, run(3));
		dlclose(library);
	}
}

int main(int argc, char **argv)
{
	plugin_run runs[MOST];
	int flags = 0, reload = 0, alone = 0, option;

	while ((option = getopt(argc, argv, "dcs")) != -1) {
		switch (option) {
		case 'd': flags = RTLD_DEEPBIND; break;
		case 'c': reload = 1; break;
		case 's': alone = 1; break;
		default: return 2;
		}
	}
	argv += optind;
	argc -= optind;
	if (alone) {
		swap(argv, argc);
		return 0;
	}
	for (int i = 0; i < argc && i < MOST; i++) {
		void *library = load(argv[i], flags, &runs[i]);

		printf("first %d: %d\n", i, runs[i](3));
		if (!reload)
			continue;
		keep_runtime(library);
		dlclose(library);
		load(argv[i], flags, &runs[i]);
		printf("again %d: %d\n", i, runs[i](2));
	}
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < argc && i < MOST; i++)
			printf("turn %d: %d\n", i, runs[i](2 + round));
	return 0;
}
