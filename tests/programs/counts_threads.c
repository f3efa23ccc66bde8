/* SPDX-License-Identifier: MIT */
/*
 * counts_threads.c - counts its threads as CPython's os.fork() does.
 *
 * Exported, as with -rdynamic, the variable makes it an interpreter.  Given an
 * argument it waits until there is a thread that it didn't start.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int _PyRuntime;

static int count_tasks(void)
{
	DIR *tasks = opendir("/proc/self/task");
	int count = -2; /* . and .. */

	while (readdir(tasks))
		count++;
	closedir(tasks);
	return count;
}

static int count_as_python(void)
{
	FILE *stat = fopen("/proc/self/stat", "r");
	char line[160];
	char *save = NULL, *field;
	size_t len = fread(line, 1, sizeof(line) - 1, stat);

	fclose(stat);
	line[len] = '\0';
	field = strtok_r(line, " ", &save);
	for (int i = 19; i && field; i--)
		field = strtok_r(NULL, " ", &save);
	return field ? atoi(field) : 0;
}

int main(int argc, char **argv)
{
	int count;

	(void)argv;
	free(malloc(100000));
	while (argc > 1 && count_tasks() < 2)
		usleep(1000);
	/* One that is being born may be counted by the kernel alone. */
	for (int i = 0; (count = count_as_python()) != 1 && i < 500; i++)
		usleep(1000);
	printf("%d threads\n", count);
	return 0;
}
