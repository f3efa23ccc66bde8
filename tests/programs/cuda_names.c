/* SPDX-License-Identifier: MIT */
/*
 * cuda_names.c - of which file are the functions that have CUDA's names, by a
 * weak name and by dlsym()?  "nobody": there is none.
 *
 *	cuda_names [FILE...]	loads these first, for all to see
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

extern int cudaMalloc(void **memory, size_t bytes) __attribute__((weak));
extern int cuptiSubscribe(void *, void *, void *) __attribute__((weak));

static const char *file_of(void *function)
{
	const char *slash;
	Dl_info info;

	if (!function || !dladdr(function, &info))
		return "nobody";
	slash = strrchr(info.dli_fname, '/');
	return slash ? slash + 1 : info.dli_fname;
}

int main(int count, char **words)
{
	for (int i = 1; i < count; i++)
		if (!dlopen(words[i], RTLD_NOW | RTLD_GLOBAL))
			puts(dlerror());
	printf("%s %s ", file_of((void *)cudaMalloc),
	       file_of((void *)cuptiSubscribe));
	printf("%s %s\n", file_of(dlsym(RTLD_DEFAULT, "cudaMalloc")),
	       file_of(dlsym(RTLD_DEFAULT, "cuptiSubscribe")));
	return 0;
}
