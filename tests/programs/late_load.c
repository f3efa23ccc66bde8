/* SPDX-License-Identifier: MIT */
/*
 * late_load.c - loads libgomp and a plugin long after start, on a thread.
 *
 *	late_load PLUGIN
 *
 * Before that it allocates only, so nothing but the heap is known of it.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *run(void *path)
{
	int (*plugin_run)(int) = NULL;
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (library)
		plugin_run = (int (*)(int))dlsym(library, "plugin_run");
	printf("late %d\n", plugin_run ? plugin_run(2) : -1);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	for (int i = 0; i < 1000; i++)
		free(malloc(1000));
	usleep(100 * 1000);
	if (argc < 2 || pthread_create(&thread, NULL, run, argv[1]))
		return 2;
	pthread_join(thread, NULL);
	return 0;
}
