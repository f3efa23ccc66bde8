/* SPDX-License-Identifier: MIT */
/*
 * execs.c - replaces itself by another image, in each form of exec.
 *
 *	execs FORM
 *
 * Runs a region first: its trace must be whole although the process never ends.
 * The new image is this program with the form "last", which says so and stops;
 * the forms that search the PATH, or fail, are part of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

__attribute__((noinline)) static int before_exec(void)
{
	int sum = 0;

#pragma omp parallel num_threads(2) reduction(+ : sum)
	sum += 1;
	return sum;
}

__attribute__((noinline)) static int after_exec(void)
{
	int sum = 0;

#pragma omp parallel num_threads(2) reduction(+ : sum)
	sum += 1;
	return sum;
}

static int execute(const char *form, char *self)
{
	char *arguments[] = {self, "last", NULL};

	if (strcmp(form, "execl") == 0)
		return execl(self, self, "last", (char *)NULL);
	if (strcmp(form, "execle") == 0)
		return execle(self, self, "last", (char *)NULL, environ);
	if (strcmp(form, "execlp") == 0)
		return execlp(self, self, "last", (char *)NULL);
	if (strcmp(form, "execv") == 0)
		return execv(self, arguments);
	if (strcmp(form, "execve") == 0)
		return execve(self, arguments, environ);
	if (strcmp(form, "execvp") == 0)
		return execvp(self, arguments);
	if (strcmp(form, "execvpe") == 0)
		return execvpe(self, arguments, environ);
	if (strcmp(form, "fexecve") == 0)
		return fexecve(open(self, O_RDONLY | O_CLOEXEC), arguments,
			       environ);
	if (strcmp(form, "execveat") == 0)
		return execveat(AT_FDCWD, self, arguments, environ, 0);
	/* Fails, and then the process goes on and must still be recorded. */
	if (strcmp(form, "fails") == 0) {
		execl("/nonexistent", "nonexistent", (char *)NULL);
		printf("failed with %d\n", errno == ENOENT);
		printf("after %d\n", after_exec());
		exit(4);
	}
	fprintf(stderr, "execs: no form '%s'\n", form);
	return -1;
}

int main(int argc, char **argv)
{
	const char *form = argc > 1 ? argv[1] : "";

	if (strcmp(form, "last") == 0) {
		printf("last %d\n", after_exec());
		return 5;
	}
	printf("first %d\n", before_exec());
	fflush(stdout);
	execute(form, argv[0]);
	return 2;
}
