/* SPDX-License-Identifier: MIT */
/*
 * gomp_alone.c - what each entry point does in a team of one.
 *
 * Five functions stand for all entry points.  They look at no more of their
 * parameters than all of those share, which the calling conventions of x86-64
 * and aarch64 allow.
 */
#include "preload/gomp/gomp_alone.h"

#include <string.h>

static unsigned int alone_run(gomp_function *function, void *data)
{
	function(data);
	return 1;
}

static uintptr_t alone_nothing(void)
{
	return 0;
}

static bool alone_first(void)
{
	return true;
}

static int alone_one(void)
{
	return 1;
}

/* A copied block is on the stack: the task runs before we return. */
static void alone_task(gomp_function *function, void *data, gomp_copy *copy,
		       long bytes, long alignment)
{
	if (copy) {
		char *room = __builtin_alloca((size_t)(bytes + alignment));
		void *block =
			(void *)align_up((uintptr_t)room, (uint64_t)alignment);

		copy(block, data);
		data = block;
	}
	function(data);
}

/* One task takes the whole loop.  The bounds lie first in its block. */
static void alone_taskloop(gomp_function *function, void *data, gomp_copy *copy,
			   long bytes, long alignment, unsigned int flags,
			   unsigned long tasks, int priority, long start,
			   long end)
{
	char *room = __builtin_alloca((size_t)(bytes + alignment));
	long *block = (long *)align_up((uintptr_t)room, (uint64_t)alignment);

	(void)flags;
	(void)tasks;
	(void)priority;
	if (copy)
		copy(block, data);
	else
		memcpy(block, data, (size_t)bytes);
	block[0] = start;
	block[1] = end;
	function(block);
}

void gomp_alone_complete(struct gomp_library *library)
{
#define X(returns, name, alone, parameters, says)                              \
	if (!library->name)                                                    \
		library->name = (returns(*) parameters)(void *)alone_##alone;
	GOMP_WRAPPED(X)
	GOMP_ASKED(X)
#undef X
}
