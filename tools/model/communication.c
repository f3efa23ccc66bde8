/* SPDX-License-Identifier: MIT */
/* communication.c - by the beginnings of names; see communication.h. */
#include "tools/model/communication.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

static size_t beginning(const char *name, const char *with)
{
	const size_t len = strlen(with);

	return strncmp(name, with, len) ? 0 : len;
}

static bool begins_as_one(const char *name, const char *const *words)
{
	for (; *words; words++)
		if (beginning(name, *words))
			return true;
	return false;
}

/* ncclAllReduce, as calls, ranges and kernels before 2.13 have it. */
static bool is_of_nccl(const char *name)
{
	const size_t prefix = beginning(name, "nccl");

	return prefix && isupper((unsigned char)name[prefix]);
}

/* Demangled with its type, as a kernel of a template is. */
static bool is_kernel(const char *name)
{
	static const char *const words[] = {"ncclDevKernel_", "ncclKernel_",
					    "nvshmem", NULL};

	name += beginning(name, "void ");
	return begins_as_one(name, words) || is_of_nccl(name);
}

bool is_communication(const char *category, const char *name)
{
	static const char *const words[] = {"c10d::",
					    "_c10d_functional::",
					    "c10d_functional::",
					    "nccl:",
					    "gloo:",
					    "MPI_",
					    NULL};

	if (!strcmp(category, "kernel"))
		return is_kernel(name);
	return !strcmp(name, "record_param_comms") ||
	       begins_as_one(name, words) || is_of_nccl(name);
}
