/* SPDX-License-Identifier: MIT */
/*
 * slow_loader.c - preloaded: who looks through the loaded modules on another
 * thread than the first is inside the loader for some milliseconds.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <unistd.h>

typedef int (*visitor)(struct dl_phdr_info *info, size_t bytes, void *data);

static _Atomic int inside;

int slow_loader_inside(void)
{
	return atomic_load(&inside);
}

int dl_iterate_phdr(visitor visit, void *data)
{
	int (*next)(visitor, void *);
	int result;

	*(void **)&next = dlsym(RTLD_NEXT, "dl_iterate_phdr");
	if (gettid() == getpid())
		return next(visit, data);
	atomic_fetch_add(&inside, 1);
	usleep(5000);
	result = next(visit, data);
	atomic_fetch_sub(&inside, 1);
	return result;
}
