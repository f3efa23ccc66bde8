/* SPDX-License-Identifier: MIT */
/*
 * syncs.c - writes a line to FILE, and waits till it is on the disk, so many
 * times; then reads as many from a pipe: syncs FILE TIMES.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const int file = argc == 3 ? open(argv[1], O_CREAT | O_RDWR, 0600) : -1;
	const int times = argc == 3 ? atoi(argv[2]) : 0;
	char line[] = "a line of text";
	int ends[2], bytes = 0;

	if (file < 0 || pipe(ends))
		return 1;
	for (int at = 0; at < times; at++) {
		bytes += (int)write(file, line, sizeof(line));
		bytes += at % 2 ? fsync(file) : fdatasync(file);
	}
	for (int at = 0; at < times; at++) {
		bytes += (int)pread(file, line, sizeof(line), 0);
		bytes += (int)pread64(file, line, sizeof(line), 0);
		bytes += (int)pwrite64(file, line, sizeof(line), 0);
		bytes += (int)write(ends[1], line, sizeof(line));
		bytes += (int)read(ends[0], line, sizeof(line));
	}
	printf("%d bytes, %d %d\n", bytes, fsync(-1), fdatasync(-1));
	return 0;
}
