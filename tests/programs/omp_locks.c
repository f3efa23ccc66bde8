/* SPDX-License-Identifier: MIT */
/*
 * omp_locks.c - locks of OpenMP's own.
 *
 *	omp_locks c|fortran|nest	one thread holds it until another sleeps
 *					at it, and 200 ms more
 *	omp_locks free			each is free; they don't nest
 *	omp_locks again			one that counts, twice by one thread
 *
 * Prints what was counted under them.
 */
#include <omp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FREE 1000

void omp_set_lock_(omp_lock_t *lock);
void omp_unset_lock_(omp_lock_t *lock);

static omp_lock_t first, second;
static omp_nest_lock_t nest;
static _Atomic long waiter;
static long count;

static void set(const char *way)
{
	if (!strcmp(way, "fortran"))
		omp_set_lock_(&first);
	else if (!strcmp(way, "nest"))
		omp_set_nest_lock(&nest);
	else
		omp_set_lock(&first);
}

static void unset(const char *way)
{
	if (!strcmp(way, "fortran"))
		omp_unset_lock_(&first);
	else if (!strcmp(way, "nest"))
		omp_unset_nest_lock(&nest);
	else
		omp_unset_lock(&first);
}

/* As the kernel sees it; a runtime that spins for long is let go, too. */
static bool sleeps(long tid)
{
	char path[64], text[256] = "";
	const char *state;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%ld/stat", tid);
	file = fopen(path, "r");
	if (!file)
		return true;
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	state = strrchr(text, ')');
	return state && state[1] && state[2] == 'S';
}

static void contend(const char *way)
{
	_Atomic bool is_held = false;

#pragma omp parallel num_threads(2)
	{
		if (omp_get_thread_num()) {
			while (!is_held)
				usleep(1000);
			waiter = syscall(SYS_gettid);
			set(way);
			count++;
			unset(way);
		} else {
			set(way);
			is_held = true;
			while (!waiter)
				usleep(1000);
			for (int i = 0; i < 2000 && !sleeps(waiter); i++)
				usleep(1000);
			usleep(200000);
			count++;
			unset(way);
		}
	}
}

static void hand_over(void)
{
#pragma omp parallel num_threads(2)
	if (!omp_get_thread_num()) {
		for (int i = 0; i < FREE; i++) {
			omp_set_lock(&first);
			omp_set_lock(&second);
			omp_unset_lock(&first);
			count += omp_test_lock(&first);
			omp_unset_lock(&second);
			omp_unset_lock(&first);
		}
	}
}

static void take_again(void)
{
#pragma omp parallel num_threads(2)
	if (!omp_get_thread_num()) {
		omp_set_nest_lock(&nest);
		omp_set_nest_lock(&nest);
		usleep(20000);
		omp_unset_nest_lock(&nest);
		omp_unset_nest_lock(&nest);
	}
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "c";

	omp_init_lock(&first);
	omp_init_lock(&second);
	omp_init_nest_lock(&nest);
	if (!strcmp(way, "free"))
		hand_over();
	else if (!strcmp(way, "again"))
		take_again();
	else
		contend(way);
	omp_destroy_nest_lock(&nest);
	omp_destroy_lock(&second);
	omp_destroy_lock(&first);
	printf("%ld\n", count);
	return 0;
}
