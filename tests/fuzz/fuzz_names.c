/* SPDX-License-Identifier: MIT */
/*
 * fuzz_names.c - any bytes as the mangled name of a function, on a stack as
 * small as the writer's: the demangler must neither fall over nor overrun its
 * room.
 */
#include "tests/fuzz/fuzz_input.h"

#include "writer/state/naming.h"
#include <pthread.h>
#include <string.h>

#define STACK_BYTES (512u << 10)

struct input {
	const char *text;
	size_t len;
};

static void *tidy(void *arg)
{
	const struct input *input = arg;
	const size_t rooms[] = {1, 2, 64, 4096};

	for (size_t i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++) {
		char *text = malloc(rooms[i]);

		if (naming_tidy(input->text, input->len, text, rooms[i]) !=
			    strlen(text) &&
		    !memchr(input->text, '\0', input->len))
			abort();
		free(text);
	}
	return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {(const char *)data, size};
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	if (!pthread_create(&thread, &attributes, tidy, &input))
		pthread_join(thread, NULL);
	pthread_attr_destroy(&attributes);
	return 0;
}
