/* SPDX-License-Identifier: MIT */
/*
 * fuzz_input.h - what the fuzz targets share: the entry point's type and an
 * input as a file.
 */
#ifndef TESTS_FUZZ_INPUT_H
#define TESTS_FUZZ_INPUT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The path of a file in memory that holds the input; the same each time. */
static inline const char *fuzz_file(const uint8_t *data, size_t size)
{
	static char path[64];
	static int fd = -1;

	if (fd < 0) {
		fd = (int)syscall(SYS_memfd_create, "input", 0u);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	return path;
}

/* A stream that goes nowhere. */
static inline FILE *fuzz_nowhere(void)
{
	static FILE *stream;

	if (!stream)
		stream = fopen("/dev/null", "w");
	return stream;
}

#endif
