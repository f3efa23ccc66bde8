/* SPDX-License-Identifier: MIT */
/*
 * compress_command.c - `traceprof compress FILE...`: finished traces in as few
 * bytes as can be.
 *
 * The new file takes the old one's place by rename, with its mode and times,
 * after its text was read back and compared; where that would not make it
 * smaller the old one stays.
 *
 * libdeflate where it is installed and the text fits into memory, else zlib at
 * its highest level.  libdeflate is opened, not linked: its functions have kept
 * their form since its first release, and nobody should miss a command for want
 * of it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "tools/util/memory.h"
#include "tools/trace/trace_input.h"
#include "tools/util/command.h"
#include "tools/util/numbers.h"
#include "writer/file/gzip.h"

#define PIECE_BYTES	 (256u << 10)
#define WHOLE_BYTES_MAX	 (UINT64_C(512) << 20)
#define LIBDEFLATE	 "libdeflate.so.0"
#define LIBDEFLATE_LEVEL 12
#define MEMORY_LEVEL	 9
#define RAW_DEFLATE	 (-15)

/* What a file's text is. */
struct text_sum {
	uint64_t bytes;
	uint32_t crc32;
	struct trace_input_facts facts;
};

struct compression {
	char *path;
	uint64_t bytes_before, bytes_after; /* the same where nothing was won */
	char why[200];			    /* one line, on error */
	struct stat status;
	struct text_sum text;
	char piece[PIECE_BYTES];
	unsigned char packed[PIECE_BYTES];
};

static int say(struct compression *compression, int error, const char *why)
{
	snprintf(compression->why, sizeof(compression->why), "%s", why);
	return -error;
}

/* Reads a file's whole text and hands each piece on. */
static int each_piece(struct compression *compression, const char *path,
		      int (*take)(void *arg, const char *text, size_t len),
		      void *arg, struct trace_input_facts *facts)
{
	struct trace_input *input;
	long got;
	int error = trace_input_open(path, &input);

	if (error)
		return say(compression, -error, strerror(-error));
	while (!error && (got = trace_input_read(input, compression->piece,
						 PIECE_BYTES)) != 0) {
		if (got < 0)
			error = say(compression, EBADMSG,
				    trace_input_error(input));
		else
			error = take(arg, compression->piece, (size_t)got);
	}
	if (facts)
		*facts = *trace_input_facts(input);
	trace_input_close(input);
	return error;
}

static int take_sum(void *arg, const char *piece, size_t len)
{
	struct text_sum *text = arg;

	text->crc32 = (uint32_t)crc32_z(text->crc32,
					(const unsigned char *)piece, len);
	text->bytes += len;
	return 0;
}

static int sum_up(struct compression *compression, const char *path,
		  struct text_sum *text)
{
	memset(text, 0, sizeof(*text));
	return each_piece(compression, path, take_sum, text, &text->facts);
}

static int put(struct compression *compression, int fd, const void *bytes,
	       size_t len)
{
	const char *from = bytes;

	while (len) {
		const ssize_t done = write(fd, from, len);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return say(compression, errno, strerror(errno));
		from += done;
		len -= (size_t)done;
	}
	return 0;
}

/* zlib, piece by piece. */

struct stream {
	struct compression *compression;
	z_stream deflater;
	int fd;
};

static int push(struct stream *stream, int flush)
{
	struct compression *compression = stream->compression;
	int status, error = 0;

	do {
		stream->deflater.next_out = compression->packed;
		stream->deflater.avail_out = PIECE_BYTES;
		status = deflate(&stream->deflater, flush);
		if (status == Z_STREAM_ERROR)
			return say(compression, EIO, "zlib failed");
		error = put(compression, stream->fd, compression->packed,
			    PIECE_BYTES - stream->deflater.avail_out);
	} while (!error && !stream->deflater.avail_out);
	return error;
}

static int take_stream(void *arg, const char *text, size_t len)
{
	struct stream *stream = arg;

	stream->deflater.next_in = (unsigned char *)(uintptr_t)text;
	stream->deflater.avail_in = (unsigned int)len;
	return push(stream, Z_NO_FLUSH);
}

static int pack_by_zlib(struct compression *compression, int fd)
{
	struct stream stream = {.compression = compression, .fd = fd};
	int error;

	if (deflateInit2(&stream.deflater, Z_BEST_COMPRESSION, Z_DEFLATED,
			 RAW_DEFLATE, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
		return say(compression, ENOMEM, strerror(ENOMEM));
	error = each_piece(compression, compression->path, take_stream, &stream,
			   NULL);
	if (!error)
		error = push(&stream, Z_FINISH);
	deflateEnd(&stream.deflater);
	return error;
}

/* libdeflate, all at once. */

struct whole {
	char *text;
	size_t used;
	size_t room;
};

static int take_whole(void *arg, const char *text, size_t len)
{
	struct whole *whole = arg;

	if (len > whole->room - whole->used)
		return -EBADMSG; /* it grew since the first look */
	memcpy(whole->text + whole->used, text, len);
	whole->used += len;
	return 0;
}

struct libdeflate {
	void *(*alloc)(int level);
	size_t (*pack)(void *packer, const void *in, size_t in_bytes, void *out,
		       size_t out_bytes);
	void (*release)(void *packer);
};

static bool find_libdeflate(struct libdeflate *functions)
{
	void *library = dlopen(LIBDEFLATE, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return false;
	*(void **)&functions->alloc =
		dlsym(library, "libdeflate_alloc_compressor");
	*(void **)&functions->pack =
		dlsym(library, "libdeflate_deflate_compress");
	*(void **)&functions->release =
		dlsym(library, "libdeflate_free_compressor");
	return functions->alloc && functions->pack && functions->release;
}

/* 1: not to be had, or it would be no smaller than the file. */
static int pack_by_libdeflate(struct compression *compression, int fd)
{
	const size_t room = (size_t)compression->status.st_size;
	struct libdeflate functions;
	struct whole whole = {.room = compression->text.bytes};
	void *packer, *packed;
	size_t made = 0;
	int error = 1;

	if (whole.room > WHOLE_BYTES_MAX || !find_libdeflate(&functions))
		return 1;
	whole.text = malloc(whole.room + 1);
	packed = malloc(room);
	packer = functions.alloc(LIBDEFLATE_LEVEL);
	if (whole.text && packed && packer) {
		error = each_piece(compression, compression->path, take_whole,
				   &whole, NULL);
		if (!error)
			made = functions.pack(packer, whole.text, whole.used,
					      packed, room);
		if (!error)
			error = made ? put(compression, fd, packed, made) : 1;
	}
	if (packer)
		functions.release(packer);
	free(packed);
	free(whole.text);
	return error;
}

/* The whole new file. */
static int pack(struct compression *compression, int fd)
{
	char header[GZIP_HEADER_BYTES], trailer[GZIP_TRAILER_BYTES];
	int error;

	gzip_header(header);
	gzip_trailer(trailer, compression->text.crc32, compression->text.bytes);
	error = put(compression, fd, header, sizeof(header));
	if (!error)
		error = pack_by_libdeflate(compression, fd);
	if (error > 0)
		error = pack_by_zlib(compression, fd);
	if (!error)
		error = put(compression, fd, trailer, sizeof(trailer));
	return error;
}

/* Takes the old file's place, if it holds the same and is smaller. */
static int replace(struct compression *compression, int fd, const char *fresh)
{
	const struct timespec times[2] = {compression->status.st_atim,
					  compression->status.st_mtim};
	struct text_sum text;
	struct stat status;
	int error = sum_up(compression, fresh, &text);

	if (error)
		return error;
	if (text.bytes != compression->text.bytes ||
	    text.crc32 != compression->text.crc32)
		return say(compression, EIO,
			   "the new file does not hold the same text");
	if (fstat(fd, &status))
		return say(compression, errno, strerror(errno));
	compression->bytes_after = compression->bytes_before;
	if (status.st_size >= compression->status.st_size) {
		unlink(fresh);
		return 0;
	}
	/* The owner is kept where that is allowed, the mode always. */
	if (fchown(fd, compression->status.st_uid,
		   compression->status.st_gid) &&
	    errno != EPERM)
		return say(compression, errno, strerror(errno));
	if (fchmod(fd, compression->status.st_mode & 07777) ||
	    futimens(fd, times) || fsync(fd) ||
	    rename(fresh, compression->path))
		return say(compression, errno, strerror(errno));
	compression->bytes_after = (uint64_t)status.st_size;
	return 0;
}

static int examine(struct compression *compression)
{
	int error;

	if (stat(compression->path, &compression->status))
		return say(compression, errno, strerror(errno));
	if (!S_ISREG(compression->status.st_mode))
		return say(compression, EINVAL, "not a file");
	compression->bytes_before = (uint64_t)compression->status.st_size;
	error = sum_up(compression, compression->path, &compression->text);
	if (error)
		return error;
	if (!compression->text.facts.compressed)
		return say(compression, EINVAL,
			   "not compressed: gzip it, then come back");
	if (compression->text.facts.trailing_bytes)
		return say(compression, EBADMSG,
			   "there is more after the end of the gzip stream");
	if (trace_input_ends_with(compression->path, "\"final\":false"))
		return say(compression, EBUSY,
			   "not finished: its program still runs, or was "
			   "killed (traceprof recover finishes it)");
	return 0;
}

static int compress_place(struct compression *compression)
{
	char fresh[PATH_MAX + 16];
	int fd, error = examine(compression);

	if (error)
		return error;
	/* No name that looks like a trace's. */
	snprintf(fresh, sizeof(fresh), "%s.XXXXXX", compression->path);
	fd = mkostemp(fresh, O_CLOEXEC);
	if (fd < 0)
		return say(compression, errno, strerror(errno));
	error = pack(compression, fd);
	if (!error)
		error = replace(compression, fd, fresh);
	close(fd);
	if (error)
		unlink(fresh);
	return error;
}

static int compress_one(const char *path)
{
	struct compression *compression =
		memory_zeroed(1, sizeof(*compression));
	int error;

	compression->path = realpath(path, NULL);
	error = compression->path ? compress_place(compression)
				  : say(compression, errno, strerror(errno));
	if (error)
		fprintf(stderr, "traceprof compress: %s: %s\n", path,
			compression->why[0] ? compression->why
					    : strerror(-error));
	else if (compression->bytes_after == compression->bytes_before)
		printf("%s: as small as it gets\n", path);
	else
		printf("%s: %s, was %s\n", path,
		       quantity_bytes((double)compression->bytes_after).text,
		       quantity_bytes((double)compression->bytes_before).text);
	free(compression->path);
	free(compression);
	return error ? EXIT_UNREADABLE : EXIT_GOOD;
}

int compress_command(int argc, char **argv)
{
	static const struct argp argp = {
		.parser = command_parse_files,
		.args_doc = "FILE...",
		.doc = "Compress finished traces once more, slowly and as "
		       "small as can be.\vEach FILE is replaced, by rename, "
		       "by one with the same text and mode; one that is not "
		       "finished is left alone.  Ends with 3 when a file could "
		       "not be compressed.",
	};
	int first = 0, code = EXIT_GOOD;

	if (command_parse(&argp, argc, argv, 0, &first))
		return EXIT_USAGE;
	for (int at = first; at < argc; at++)
		if (compress_one(argv[at]))
			code = EXIT_UNREADABLE;
	return code;
}
