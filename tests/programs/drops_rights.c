/* SPDX-License-Identifier: MIT */
/*
 * drops_rights.c - a daemon's way from root to another user that keeps some
 * rights: its only thread's capabilities, then calls that the C library makes
 * in all threads.
 *
 * drops_rights WAY   "capset", "syscall", or "securebits"; "number": all of it by
 *                    number, and nothing is kept
 */
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NOBODY 65534

int capset(void *header, const void *sets);

/* A wait that is recorded. */
static void pause_for(long milliseconds)
{
	const struct timespec time = {0, milliseconds * 1000000};

	nanosleep(&time, NULL);
}

static void raise_again(const char *way)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct sets[2] = {{0}};
	const unsigned int kept = 1u << CAP_SETGID | 1u << CAP_SETUID;

	sets[0].effective = sets[0].permitted = kept;
	if (!strcmp(way, "capset") ? capset(&header, sets)
				   : (int)syscall(SYS_capset, &header, sets))
		perror("capset");
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "capset";

	pause_for(2);
	if (!strcmp(way, "securebits")) {
		if (prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP, 0, 0, 0))
			perror("securebits");
	} else {
		prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
	}
	if (!strcmp(way, "number")
		    ? (int)syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY)
		    : setresuid(NOBODY, NOBODY, NOBODY))
		perror("setresuid");
	if (strcmp(way, "securebits") != 0 && strcmp(way, "number") != 0)
		raise_again(way);
	if (setgroups(0, NULL))
		perror("setgroups");
	pause_for(2);
	printf("user %d, %d groups\n", (int)getuid(), getgroups(0, NULL));
	return 0;
}
