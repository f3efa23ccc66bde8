/* SPDX-License-Identifier: MIT */
/*
 * bench_coder.c - how fast each coder of the writer takes a trace's text.
 *
 *	bench_coder FILE CODER...
 *
 * FILE is a plain trace, CODER a value of TRACEPROF_GZIP.  The coders take
 * turns over the whole text, block by block.  Prints, for each turn, the
 * coder's own name, MB of text for each second of processor time, and the bytes
 * that it made.
 */
#include "writer/coder.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <time.h>

#define BLOCK_BYTES (256 * 1024)

static double spent_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int code_all(const char *name, const char *text, size_t bytes)
{
	struct coder_choice choice;
	struct coder coder;
	size_t total = 0, made;
	uint32_t crc = 0;
	double start;
	char *out;
	int rc = coder_parse(name, &choice, NULL, 0);

	if (!rc)
		rc = coder_open(&coder, &choice);
	if (rc)
		return rc;
	out = malloc(coder_bound(&coder, BLOCK_BYTES));
	start = spent_ns();
	for (size_t at = 0; out && at < bytes && !rc; at += BLOCK_BYTES) {
		const size_t len =
			bytes - at < BLOCK_BYTES ? bytes - at : BLOCK_BYTES;

		crc = coder_crc32(&coder, crc, text + at, len);
		rc = coder_block(&coder, text + at, len,
				 at + BLOCK_BYTES >= bytes, out, &made);
		total += made;
	}
	printf("%s %.1f %zu\n", coder_name(&coder),
	       (double)bytes * 1e3 / (spent_ns() - start), total);
	free(out);
	coder_close(&coder);
	return rc;
}

int main(int argc, char **argv)
{
	struct stat stat;
	const char *text;
	int file = argc > 2 ? open(argv[1], O_RDONLY) : -1;

	if (file < 0 || fstat(file, &stat))
		return 2;
	text = mmap(NULL, (size_t)stat.st_size, PROT_READ,
		    MAP_PRIVATE | MAP_POPULATE, file, 0);
	if (text == MAP_FAILED)
		return 2;
	for (int i = 2; i < argc; i++)
		if (code_all(argv[i], text, (size_t)stat.st_size))
			fprintf(stderr, "%s is not to be had\n", argv[i]);
	return 0;
}
