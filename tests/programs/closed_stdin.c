/* SPDX-License-Identifier: MIT */
/*
 * closed_stdin.c - began without a stdin, and says what has its number: of the
 * kernel's files, what is read again and again.  With an argument whatever it
 * is, in its first moments.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int is_read_again(const char *path)
{
	static const char *const ends[] = {"/task",  "/stat",	 "/schedstat",
					   "/sched", "/loadavg", "/status"};
	const size_t len = strlen(path);

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		const size_t tail = strlen(ends[i]);

		if (len > tail && !strcmp(path + len - tail, ends[i]))
			return 1;
	}
	return 0;
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	const double end = seconds() + (argc > 1 ? 0.1 : 1.5);
	char path[256];
	int seen = 0;

	while (seconds() < end && seen < 5) {
		const ssize_t len =
			readlink("/proc/self/fd/0", path, sizeof(path) - 1);

		if (len <= 0)
			continue;
		path[len] = 0;
		if (argc > 1 ||
		    (!strncmp(path, "/proc/", 6) && is_read_again(path))) {
			puts(path);
			seen++;
		}
	}
	puts(argc > 1 ? argv[1] : "done");
	return 0;
}
