/* SPDX-License-Identifier: MIT */
/*
 * files.c - writes a file in FOLDER and reads it by every way there is, so many
 * bytes by each, then many small files: files FOLDER SMALL [steps].  The
 * descriptors' numbers come again for other files.  With "steps" each small file
 * is a step.  Prints sums.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "traceprof.h"

#define BYTES 100000

static char data[BYTES], back[BYTES];

static int at(const char *folder, const char *name, int flags)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return open(path, flags | O_CLOEXEC, 0600);
}

static long small_files(const char *folder, int count, int has_steps)
{
	long sum = 0;

	for (int i = 0; i < count; i++) {
		char name[32];
		int fd;

		if (has_steps)
			traceprof_step();
		snprintf(name, sizeof(name), "%d.small", i);
		fd = at(folder, name, O_CREAT | O_RDWR);
		sum += write(fd, data, 10);
		sum += pread(fd, back, 10, 0);
		close(fd);
	}
	if (has_steps)
		traceprof_step();
	return sum;
}

int main(int argc, char **argv)
{
	const char *folder = argc > 1 ? argv[1] : ".";
	struct iovec parts[2] = {{data, 1000}, {data, 500}};
	char path[512];
	FILE *stream;
	int pipes[2];
	long sum = 0;
	void *map;
	int fd;

	memset(data, 'x', sizeof(data));
	fd = at(folder, "a", O_CREAT | O_RDWR);
	sum += write(fd, data, BYTES);
	sum += pwrite(fd, data, 2000, 0);
	sum += writev(fd, parts, 2);
	close(fd);
	fd = at(folder, "a", O_RDONLY);
	sum += read(fd, back, 50000);
	sum += pread(fd, back, 4000, 10);
	parts[0].iov_base = parts[1].iov_base = back;
	sum += readv(fd, parts, 2);
	map = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, fd, 0);
	sum += ((char *)map)[17];
	munmap(map, BYTES);
	close(fd);
	/* The same number, another file. */
	fd = at(folder, "b", O_CREAT | O_RDWR);
	sum += write(fd, data, 77);
	close(fd);
	snprintf(path, sizeof(path), "%s/a", folder);
	stream = fopen(path, "r");
	sum += (long)fread(back, 1, 30000, stream);
	sum += (long)fread(back, 1, 10, stream);
	fclose(stream);
	/* No file. */
	if (pipe(pipes))
		return 1;
	sum += write(pipes[1], data, 5) + read(pipes[0], back, 5);
	sum += small_files(folder, argc > 2 ? atoi(argv[2]) : 0, argc > 3);
	sum += read(-1, back, 1) + 1;
	stream = fmemopen(data, 5000, "r");
	errno = 0;
	sum += (long)fread(back, 1, 5000, stream) + errno;
	fclose(stream);
	printf("%ld\n", sum);
	return 0;
}
