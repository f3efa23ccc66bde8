/* SPDX-License-Identifier: MIT */
/*
 * bench_coder.c - how fast each coder of the writer takes a trace's text.
 *
 *	bench_coder FILE CODER...
 *	bench_coder by-hand EVENTS
 *
 * FILE is a plain trace, CODER a value of TRACEPROF_GZIP.  The coders take
 * turns over the whole text, block by block; what the writer notes of fields is
 * noted beforehand.  Prints, for each turn, the coder's own name, MB of text
 * for each second of processor time, and the bytes that it made.
 *
 * By hand, a heap event is what printf() makes of it and zlib's level 1 makes
 * of that: prints millions of them in a second of processor time.
 */
#include "tests/unit/note_fields.h"
#include "writer/deflate/coder.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

#define BLOCK_BYTES (256 * 1024)

static double spent_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* A block ends where a line does. */
static size_t block_end(const char *text, size_t at, size_t bytes)
{
	const char *line;

	if (bytes - at <= BLOCK_BYTES)
		return bytes;
	line = memrchr(text + at, '\n', BLOCK_BYTES);
	return line ? (size_t)(line - text) - 1 : at + BLOCK_BYTES;
}

static int code_all(const char *name, const char *text, size_t bytes)
{
	struct coder_choice choice;
	struct coder coder;
	struct fields fields;
	size_t total = 0, made, end;
	uint32_t crc = 0;
	double start, spent = 0;
	char *out;
	int rc = coder_parse(name, &choice, NULL, 0);

	if (!rc)
		rc = coder_open(&coder, &choice);
	if (rc || fields_open(&fields))
		return rc;
	out = malloc(coder_bound(&coder, BLOCK_BYTES));
	for (size_t at = 0; out && at < bytes && !rc; at = end) {
		struct coder_text block = {.data = text + at};

		end = block_end(text, at, bytes);
		block.len = end - at;
		block.last = end == bytes;
		note_fields(&fields, block.data, block.len);
		block.fields = &fields;
		start = spent_ns();
		crc = coder_crc32(&coder, crc, block.data, block.len);
		rc = coder_block(&coder, &block, out, &made);
		spent += spent_ns() - start;
		total += made;
	}
	printf("%s %.1f %zu\n", name, (double)bytes * 1e3 / spent, total);
	free(out);
	fields_close(&fields);
	coder_close(&coder);
	return rc;
}

/* The i-th line of a run that takes blocks and gives them back. */
static size_t print_event(char *line, size_t bytes, long i)
{
	const long size = 16 + (i * 7919 % 64) * 16;
	const long total = 1000000 + i * 37 % 65536;

	size_t len = (size_t)snprintf(
		line, bytes,
		",\n{\"ph\":\"i\",\"name\":\"[memory]\",\"pid\":%d,"
		"\"tid\":%d,\"ts\":%.3f,\"args\":{",
		4242, 4242, 4471409760476.0 + (double)i * 0.137);

	if (i % 16 == 0)
		len += (size_t)snprintf(line + len, bytes - len,
					"\"Total Reserved\":%ld,"
					"\"Total Allocated\":%ld,",
					total, total);
	return len + (size_t)snprintf(line + len, bytes - len,
				      "\"Bytes\":%ld,\"Device Type\":0,"
				      "\"Addr\":%ld}}",
				      i % 2 ? -size : size,
				      94000000000000 + size * 64);
}

static int by_hand(long events)
{
	static char text[BLOCK_BYTES], out[BLOCK_BYTES];
	z_stream stream = {0};
	const double start = spent_ns();
	size_t used = 0;
	int rc = deflateInit(&stream, 1);

	for (long i = 0; i < events && rc == Z_OK; i++) {
		used += print_event(text + used, sizeof(text) - used, i);
		if (used < sizeof(text) - 512 && i + 1 < events)
			continue;
		stream.next_in = (Bytef *)text;
		stream.avail_in = (unsigned int)used;
		do {
			stream.next_out = (Bytef *)out;
			stream.avail_out = sizeof(out);
			rc = deflate(&stream, Z_NO_FLUSH);
		} while (rc == Z_OK && !stream.avail_out);
		used = 0;
	}
	deflateEnd(&stream);
	printf("%.4f\n", (double)events * 1e3 / (spent_ns() - start));
	return rc != Z_OK && rc != Z_BUF_ERROR;
}

int main(int argc, char **argv)
{
	struct stat stat;
	const char *text;
	int file = argc > 2 ? open(argv[1], O_RDONLY) : -1;

	if (argc == 3 && !strcmp(argv[1], "by-hand"))
		return by_hand(atol(argv[2]));
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
