/* SPDX-License-Identifier: MIT */
/*
 * in_libc.c - hardly ever anywhere but in the C library, from its start on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LENGTH (4 << 20)

__attribute__((noinline, noclone)) static size_t measure(const char *text)
{
	return strlen(text) + 1;
}

int main(void)
{
	char *text = malloc(LENGTH + 1);
	size_t most = 0;

	memset(text, 'x', LENGTH);
	text[LENGTH] = '\0';
	while (clock() < CLOCKS_PER_SEC / 2)
		most = measure(text);
	printf("%zu\n", most);
	free(text);
	return 0;
}
