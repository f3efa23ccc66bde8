/* SPDX-License-Identifier: MIT */
/*
 * heap_calls.c - allocates a known number of blocks of a known size in one way.
 *
 *	heap_calls FUNCTION COUNT SIZE
 *
 * All COUNT blocks live at once, then all are freed.  Prints the usable size of
 * the first, which is what a trace must give as its bytes.
 */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile size_t zero;

/* C23; only there if the C library or a preloaded one has them. */
void free_sized(void *block, size_t size) __attribute__((weak));
void free_aligned_sized(void *block, size_t alignment, size_t size)
	__attribute__((weak));

#ifdef TAKES_ADDRESS
static void *(*volatile taken)(size_t);
#endif

static void *by_malloc(size_t size)
{
#ifdef TAKES_ADDRESS
	taken = malloc;
#endif
	return malloc(size);
}

static void *by_calloc(size_t size)
{
	char *block = calloc(1, size);

	for (size_t i = 0; block && i < size; i++)
		if (block[i])
			abort();
	return block;
}

/* Grows from a tenth, so each block is born, dies and is born again. */
static void *by_realloc(size_t size)
{
	char *block = malloc(size / 10 + 1);

	memset(block, 'x', size / 10 + 1);
	block = realloc(block, size);
	if (block[size / 10] != 'x')
		abort();
	return block;
}

static void *by_reallocarray(size_t size)
{
	return reallocarray(NULL, size, 1);
}

static void *by_posix_memalign(size_t size)
{
	void *block = NULL;

	if (posix_memalign(&block, 256, size) != 0 || (uintptr_t)block % 256)
		abort();
	return block;
}

static void *by_aligned_alloc(size_t size)
{
	return aligned_alloc(64, size);
}

static void *by_memalign(size_t size)
{
	return memalign(128, size);
}

static void *by_valloc(size_t size)
{
	return valloc(size);
}

static void *by_pvalloc(size_t size)
{
	return pvalloc(size);
}

static void *by_strdup(size_t size)
{
	char *text = alloca(size);

	memset(text, 'a', size);
	text[size - 1] = '\0';
	return strdup(text);
}

static const struct {
	const char *name;
	void *(*allocate)(size_t size);
} functions[] = {
	{"malloc", by_malloc},
	{"calloc", by_calloc},
	{"realloc", by_realloc},
	{"reallocarray", by_reallocarray},
	{"posix_memalign", by_posix_memalign},
	{"aligned_alloc", by_aligned_alloc},
	{"memalign", by_memalign},
	{"valloc", by_valloc},
	{"pvalloc", by_pvalloc},
	{"strdup", by_strdup},
};

static void allocate_and_free(void *(*allocate)(size_t), size_t count,
			      size_t size)
{
	static void *blocks[1024];

	for (size_t i = 0; i < count; i++) {
		blocks[i] = allocate(size);
		if (!blocks[i])
			abort();
		memset(blocks[i], (int)i, size);
	}
	for (size_t i = 0; i < count; i++) {
		const unsigned char *bytes = blocks[i];

		if (bytes[0] != (unsigned char)i ||
		    bytes[size - 1] != (unsigned char)i)
			abort();
	}
	printf("usable %zu\n", malloc_usable_size(blocks[0]));
	for (size_t i = 0; i < count; i++)
		free(blocks[i]);
}

/* What the standard says at the edges, and what becomes of errno. */
static void edges(void)
{
	void *volatile block;
	int status;

	errno = 77;
	free(NULL);
	block = malloc(zero);
	printf("malloc(0) %d\n", block != NULL);
	free(block);
	block = malloc(10);
	block = realloc(block, 100000);
	block = realloc(block, zero);
	printf("realloc to 0 %d\n", block == NULL);
	block = realloc(NULL, 10);
	free(block);
	printf("errno kept %d\n", errno == 77);

	errno = 0;
	block = malloc(SIZE_MAX / 2 + zero);
	printf("too much %d %d\n", block == NULL, errno == ENOMEM);
	errno = 0;
	block = calloc(SIZE_MAX / 2 + zero, 4);
	printf("product overflows %d %d\n", block == NULL, errno == ENOMEM);
	block = malloc(100);
	errno = 0;
	printf("realloc fails %d", realloc(block, SIZE_MAX / 2 + zero) == NULL);
	printf(" %d\n", errno == ENOMEM);
	memset(block, 1, 100);
	free(block);
	errno = 5;
	status = posix_memalign((void **)&block, 3, 100);
	printf("bad alignment %d %d\n", status == EINVAL, errno == 5);
}

/* Prints how many of the two functions there are to call. */
static void sized(size_t size)
{
	if (free_sized)
		free_sized(malloc(size), size);
	if (free_aligned_sized)
		free_aligned_sized(aligned_alloc(64, size), 64, size);
	printf("%d functions\n", !!free_sized + !!free_aligned_sized);
}

static void *make_block(void *size)
{
	return malloc((size_t)size);
}

/* A thread makes each block, and the main thread frees it. */
static void across_threads(size_t count, size_t size)
{
	for (size_t i = 0; i < count; i++) {
		pthread_t thread;
		void *block = NULL;

		if (pthread_create(&thread, NULL, make_block, (void *)size))
			abort();
		pthread_join(thread, &block);
		if (i == 0)
			printf("usable %zu\n", malloc_usable_size(block));
		free(block);
	}
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	const size_t count = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
	const size_t size = argc > 3 ? strtoul(argv[3], NULL, 10) : 1;

	if (strcmp(name, "edges") == 0) {
		edges();
		return 0;
	}
	if (strcmp(name, "sized") == 0) {
		sized(size);
		return 0;
	}
	if (strcmp(name, "threads") == 0) {
		across_threads(count, size);
		return 0;
	}
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		if (strcmp(name, functions[i].name) != 0)
			continue;
		allocate_and_free(functions[i].allocate, count, size);
		return 0;
	}
	fprintf(stderr, "heap_calls: no function '%s'\n", name);
	return 2;
}
