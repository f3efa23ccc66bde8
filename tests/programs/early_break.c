/* SPDX-License-Identifier: MIT */
/*
 * early_break.c - a program with an allocator of its own, as GCL's: memory from
 * sbrk(), asked for by a library's constructor, no free() before main(), and
 * nothing for a second thread.  With -DLIBRARY that library.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef LIBRARY
void *early_block(void);

static void *block;

static __attribute__((constructor)) void early(void)
{
	block = malloc(1000);
	memset(block, 1, 1000);
}

void *early_block(void)
{
	return block;
}
#else
__attribute__((weak)) void *early_block(void);

static int has_begun;

static void expect_main_thread(void)
{
	if (syscall(SYS_gettid) != getpid())
		abort();
}

void *malloc(size_t size)
{
	const size_t bytes = (size + 31) & ~(size_t)15;
	char *at = sbrk((intptr_t)bytes);

	expect_main_thread();
	if (at == (void *)-1)
		return NULL;
	memcpy(at, &size, sizeof(size));
	return at + 16;
}

void free(void *at)
{
	/* The C library frees NULL as any thread ends. */
	if (at)
		expect_main_thread();
	if (at && !has_begun)
		abort();
}

void *calloc(size_t count, size_t each)
{
	return malloc(count * each);
}

void *realloc(void *was, size_t size)
{
	char *at = malloc(size);
	size_t old = 0;

	if (was)
		memcpy(&old, (char *)was - 16, sizeof(old));
	if (at && was)
		memcpy(at, was, old < size ? old : size);
	return at;
}

int main(void)
{
	char *end = sbrk(0);
	const int is_below = early_block && (char *)early_block() < end;

	has_begun = 1;
	printf("%d\n", is_below);
	end = sbrk(0);
	printf("%d\n", brk(end + 4096));
	printf("%d\n", (char *)sbrk(8192) >= end + 4096);
	return 0;
}
#endif
