/* SPDX-License-Identifier: MIT */
/*
 * stack_pointer.c - code that has the stack pointer in a buffer of its own and
 * keeps what it needs below it, as oneDNN's generated code does.
 *
 * On the first thread and on another one.  AT_ONCE: before the first has used a
 * period of the timers.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES (1 << 20)

static volatile uint64_t spent;

static void spend(void)
{
	for (uint64_t i = 0; i < 20000000; i++)
		spent += i;
}

static void *run(void *unused)
{
	unsigned char *buffer = malloc(BYTES);
	size_t changed = 0;

	(void)unused;
#ifndef AT_ONCE
	spend();
#endif
	memset(buffer, 0x5a, BYTES);
	for (int i = 0; i < 150; i++) {
		uint64_t turns = 4000000;

#if defined(__x86_64__)
		__asm__ volatile("mov %%rsp, %%r12\n\t"
				 "mov %1, %%rsp\n"
				 "1:\n\t"
				 "dec %0\n\t"
				 "jnz 1b\n\t"
				 "mov %%r12, %%rsp"
				 : "+r"(turns)
				 : "r"(buffer + BYTES / 2)
				 : "r12", "memory", "cc");
#else
		__asm__ volatile("mov x19, sp\n\t"
				 "mov sp, %1\n"
				 "1:\n\t"
				 "subs %0, %0, #1\n\t"
				 "b.ne 1b\n\t"
				 "mov sp, x19"
				 : "+r"(turns)
				 : "r"(buffer + BYTES / 2)
				 : "x19", "memory", "cc");
#endif
	}
	for (size_t i = 0; i < BYTES; i++)
		changed += buffer[i] != 0x5a;
	printf("%zu bytes changed\n", changed);
	free(buffer);
	return NULL;
}

int main(void)
{
	pthread_t thread;

	run(NULL);
	pthread_create(&thread, NULL, run, NULL);
	pthread_join(thread, NULL);
	return 0;
}
