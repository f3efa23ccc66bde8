/* SPDX-License-Identifier: MIT */
/*
 * small_stack.c - threads with the smallest stack that is allowed.
 *
 * Whatever a preloaded library takes of the static TLS block or of the stack,
 * it takes from these 16 KiB.
 */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *work(void *unused)
{
	for (int i = 0; i < 100; i++) {
		char *volatile block = malloc(70000);

		block[0] = 1;
		block = realloc(block, 80000);
		free(block);
	}
	return unused;
}

int main(void)
{
	pthread_attr_t attributes;
	int started = 0;

	pthread_attr_init(&attributes);
	if (pthread_attr_setstacksize(&attributes, (size_t)PTHREAD_STACK_MIN))
		return 1;
	for (int i = 0; i < 50; i++) {
		pthread_t thread;

		if (pthread_create(&thread, &attributes, work, NULL))
			continue;
		started++;
		pthread_join(thread, NULL);
	}
	printf("%d threads on small stacks\n", started);
	return 0;
}
