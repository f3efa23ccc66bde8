/* SPDX-License-Identifier: MIT */
/* held_sessions.c - memfds of `traceprof record`; see held_sessions.h. */
#include "tools/record/held_sessions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Programs that run at the same time and record; more have memory of their
 * own. */
#define HELD_MAX 16

static struct {
	int count;
	int fd[HELD_MAX];
} held;

void held_sessions_start(void)
{
	char text[32 + HELD_MAX * 12];
	size_t len;

	len = (size_t)snprintf(text, sizeof(text), "%ld", (long)getpid());
	for (held.count = 0; held.count < HELD_MAX; held.count++) {
		const int fd = memfd_create(SESSION_HELD_NAME, MFD_CLOEXEC);

		if (fd < 0)
			break;
		held.fd[held.count] = fd;
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%c%d",
					held.count ? ',' : ':', fd);
	}
	if (held.count)
		setenv(SESSION_HELD_VARIABLE, text, 1);
	else
		unsetenv(SESSION_HELD_VARIABLE);
}

void held_sessions_poll(void (*done)(int rc,
				     const struct recovery_result *result))
{
	struct recovery_result result;
	struct stat status;
	int rc;

	for (int i = 0; i < held.count; i++) {
		/* Without a size it is free. */
		if (fstat(held.fd[i], &status) || !status.st_size)
			continue;
		rc = recovery_run_held(held.fd[i], &result);
		if (rc == -EBUSY || rc == -EBADMSG)
			continue; /* it runs, or is being made */
		done(rc, &result);
		if (ftruncate(held.fd[i], 0))
			held.fd[i] = -1;
	}
}
