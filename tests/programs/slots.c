/* SPDX-License-Identifier: MIT */
/*
 * slots.c - reads offsets of words in a library from a file, a hexadecimal
 * number a line, and says where each leads: file and offset in it, or (as a
 * call that was never made does) that it leads back into the library's PLT.
 * With -DOWN and the like it has functions of the C library's names itself.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef OWN
/* In the C library's place. */
int sched_yield(void)
{
	return (int)syscall(SYS_sched_yield);
}

size_t strlen(const char *text)
{
	size_t length = 0;

	while (((const volatile char *)text)[length])
		length++;
	return length;
}
#endif

static int find_library(struct dl_phdr_info *info, size_t size, void *base)
{
	(void)size;
	if (!strstr(info->dlpi_name, "libtraceprof.so"))
		return 0;
	*(uintptr_t *)base = info->dlpi_addr;
	return 1;
}

int main(int count, char **argument)
{
	FILE *file = count > 1 ? fopen(argument[1], "r") : NULL;
	uintptr_t base;
	unsigned long at;

#ifdef TAKEN
	/* At a fixed address each has an entry in the executable. */
	pid_t (*const volatile taken)(void) = setsid;
	void *(*const volatile heap)(size_t) = malloc;
	pid_t (*const volatile who)(void) = getpid;

	if (!taken || !heap || who() < 0)
		return 1;
#endif
	if (!file || dl_iterate_phdr(find_library, &base) != 1)
		return 1;
	while (fscanf(file, "%lx", &at) == 1) {
		const uintptr_t to = *(uintptr_t *)(base + at);
		Dl_info where;

		if (!dladdr((void *)to, &where))
			printf("%lx nowhere\n", at);
		else
			printf("%lx %s+%lx\n", at, where.dli_fname,
			       to - (uintptr_t)where.dli_fbase);
	}
	return 0;
}
