/* SPDX-License-Identifier: MIT */
/* record_memfds.c - memory for the sessions of recorded programs. */
#include "tools/record/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Programs that run at the same time and record; more have memory of their
 * own. */
#define MEMFDS_MAX 16

static struct {
	int count;
	int fd[MEMFDS_MAX];
} memfds;

void record_memfds_start(void)
{
	char text[32 + MEMFDS_MAX * 12];
	size_t len;

	len = (size_t)snprintf(text, sizeof(text), "%ld", (long)getpid());
	for (memfds.count = 0; memfds.count < MEMFDS_MAX; memfds.count++) {
		const int fd = memfd_create(SESSION_HELD_NAME, MFD_CLOEXEC);

		if (fd < 0)
			break;
		memfds.fd[memfds.count] = fd;
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%c%d",
					memfds.count ? ',' : ':', fd);
	}
	if (memfds.count)
		setenv(SESSION_HELD_VARIABLE, text, 1);
	else
		unsetenv(SESSION_HELD_VARIABLE);
}

void record_memfds_poll(void (*done)(int error,
				     const struct recovery_result *result))
{
	struct recovery_result result;
	struct stat status;
	int error;

	for (int i = 0; i < memfds.count; i++) {
		/* Without a size it is free. */
		if (fstat(memfds.fd[i], &status) || !status.st_size)
			continue;
		error = recovery_run_held(memfds.fd[i], &result);
		if (error == -EBUSY || error == -EBADMSG)
			continue; /* it runs, or is being made */
		done(error, &result);
		if (ftruncate(memfds.fd[i], 0))
			memfds.fd[i] = -1;
	}
}
