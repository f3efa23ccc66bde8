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

void injection_announce(const char *variable)
{
	const char *path = process_own_path();
	const size_t name_len = strlen(variable);
	const size_t bytes = name_len + 1 + strlen(path) + 1;
	size_t count = 0;
	char **list;
	char *entry;

	if (!environ || !path[0] || getenv(variable))
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
