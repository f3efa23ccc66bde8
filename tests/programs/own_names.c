/* SPDX-License-Identifier: MIT */
/*
 * own_names.c - calls what it has like the C library's system calls, as a
 * program in C may that includes none of their headers.  Whoever else calls one
 * of them ends the program.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUNDS 40

double access[8], signal[ROUNDS], alarm[8];
int uname, dup, flock;

static double total;

#define MINE(name)                                                             \
	void name(double value);                                               \
	void name(double value)                                                \
	{                                                                      \
		if (value != 1.)                                               \
			abort();                                               \
		total += value;                                                \
	}

MINE(read)
MINE(write)
MINE(open)
MINE(close)
MINE(pread)
MINE(pwrite)
MINE(lseek)
MINE(stat)
MINE(fstat)
MINE(lstat)
MINE(mkdir)
MINE(unlink)
MINE(chdir)
MINE(dup2)
MINE(ftruncate)
MINE(readlink)
MINE(clone)
MINE(kill)
MINE(getcwd)

static void call_all(void)
{
	read(1.), write(1.), open(1.), close(1.), pread(1.), pwrite(1.);
	lseek(1.), stat(1.), fstat(1.), lstat(1.), mkdir(1.), unlink(1.);
	chdir(1.), dup2(1.), ftruncate(1.), readlink(1.);
	clone(1.), kill(1.), getcwd(1.);
}

int main(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		call_all();
#pragma omp parallel for
		for (int i = 0; i < ROUNDS; i++)
			signal[i] += access[i % 8] + alarm[i % 8] + uname +
				     dup + flock + 1;
	}
	printf("%g %g\n", total, signal[ROUNDS - 1]);
	return 0;
}
