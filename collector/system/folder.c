/* SPDX-License-Identifier: MIT */
/* folder.c - see folder.h. */
#include "collector/system/folder.h"

#include <dirent.h>
#include <stdalign.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ENTRIES_BYTES 4096

void folder_read(int fd, bool (*visit)(const char *name, void *arg), void *arg)
{
	alignas(struct dirent64) char entries[ENTRIES_BYTES];
	const struct dirent64 *entry;
	long bytes;

	if (fd < 0)
		return;
	while ((bytes = syscall(SYS_getdents64, fd, entries, sizeof(entries))) >
	       0) {
		for (long at = 0; at < bytes; at += entry->d_reclen) {
			entry = (const struct dirent64 *)&entries[at];
			if (entry->d_name[0] != '.' &&
			    !visit(entry->d_name, arg))
				return;
		}
	}
}
