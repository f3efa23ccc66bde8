/* SPDX-License-Identifier: MIT */
/*
 * asks_stack.c - threads that first of all ask where their stack lies, as those
 * of Java and of Rust do: the C library then allocates while it holds a lock of
 * the thread's.
 *
 *	asks_stack COUNT
 *
 * Each of them gets a block of 128 KiB afterwards.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((noinline)) static void *get(size_t bytes)
{
	void *block = malloc(bytes);

	if (block)
		memset(block, 1, bytes);
	return block;
}

static void *run(void *arg)
{
	pthread_attr_t attributes;
	size_t bytes = 0;
	void *low = NULL;

	if (!pthread_getattr_np(pthread_self(), &attributes)) {
		pthread_attr_getstack(&attributes, &low, &bytes);
		pthread_attr_destroy(&attributes);
	}
	free(get(128 << 10));
	return low && bytes ? arg : NULL;
}

int main(int argc, char **argv)
{
	const int count = argc > 1 ? atoi(argv[1]) : 1;
	int right = 0;

	for (int at = 0; at < count; at++) {
		pthread_t thread;
		void *result;

		if (pthread_create(&thread, NULL, run, &right) ||
		    pthread_join(thread, &result))
			return 1;
		right += result != NULL;
	}
	printf("%d of %d\n", right, count);
	return 0;
}
