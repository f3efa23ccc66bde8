/* SPDX-License-Identifier: MIT */
/*
 * injection.c - an environment that has our path.
 *
 * setenv() would take memory from the program's heap and so change where its
 * blocks lie; a list of our own does not.  It happens before main(), so nobody
 * else is at the list; who changes it later copies it, as ever.
 */
#include "preload/annotate/injection.h"

#include "preload/gomp/gomp_original.h"
#include "preload/process/process.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

/* Room for a list of so many entries and one more, and for the new entry. */
static char **make_list(size_t count, size_t entry_bytes)
{
	void *list = mmap(NULL, (count + 2) * sizeof(char *) + entry_bytes,
			  PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	return list == MAP_FAILED ? NULL : list;
}

/* Nsight Compute refuses to start where CUDA's variable is anybody's; its own
 * commands may be started by one that we are in, and start the program. */
static COLD bool is_nsights(void)
{
	static const char commands[][16] = {"ncu", "nv-nsight-cu",
					    "TreeLauncher"};
	const char *path = (const char *)getauxval(AT_EXECFN);
	const char *slash = path ? strrchr(path, '/') : NULL;
	const char *name = slash ? slash + 1 : path;

	for (int i = 0; name && i < 3; i++) {
		if (!strncmp(name, commands[i], strlen(commands[i])))
			return true;
	}
	return getenv("NV_COMPUTE_PROFILER_PERFWORKS_DIR") ||
	       getenv("NV_NSIGHT_INJECTION_TRANSPORT_TYPE");
}

/* What a process before this one announced. */
static COLD void withdraw(const char *variable)
{
	const size_t len = strlen(variable);
	char **to = environ;

	for (char **from = environ; *from; from++) {
		if (!strncmp(*from, variable, len) && (*from)[len] == '=' &&
		    !strcmp(*from + len + 1, process_own_path()))
			continue;
		*to++ = *from;
	}
	*to = NULL;
}

void injection_announce(const char *variable)
{
	static START_DATA enum { UNKNOWN, ANYBODYS, NSIGHTS } is;
	const char *path = process_own_path();
	const size_t name_len = strlen(variable);
	const size_t bytes = name_len + 1 + strlen(path) + 1;
	size_t count = 0;
	char **list;
	char *entry;

	if (!environ || !path[0])
		return;
	if (is == UNKNOWN)
		is = is_nsights() ? NSIGHTS : ANYBODYS;
	if (is == NSIGHTS) {
		withdraw(variable);
		return;
	}
	if (getenv(variable))
		return;
	while (environ[count])
		count++;
	list = make_list(count, bytes);
	if (!list)
		return;
	entry = (char *)(list + count + 2);
	memcpy(entry, variable, name_len);
	entry[name_len] = '=';
	strcpy(entry + name_len + 1, path);
	memcpy(list, environ, count * sizeof(*list));
	list[count] = entry;
	environ = list;
}

/* There our _exit() comes before libc's.  (A name that we alone have is found
 * in any case, malloc may be the program's own.) */
bool injection_is_preloaded(void)
{
	return gomp_is_ours((uintptr_t)dlsym(RTLD_DEFAULT, "_exit"));
}
