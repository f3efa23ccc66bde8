/* SPDX-License-Identifier: MIT */
/*
 * compress.c - a finished trace in as few bytes as can be; see compress.h.
 *
 * libdeflate where it is installed and the text fits into memory, else zlib at
 * its highest level.  libdeflate is opened, not linked: its two functions have
 * kept their form since its first release, and nobody should miss a command for
 * want of it.
 */
#include "tools/compress.h"

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
#include "writer/file/gzip.h"

#define PIECE_BYTES	 (256u << 10)
#define TAIL_BYTES	 (1u << 20) /* of text, that says whether it is whole */
#define WHOLE_BYTES_MAX	 (UINT64_C(512) << 20)
#define LIBDEFLATE	 "libdeflate.so.0"
#define LIBDEFLATE_LEVEL 12
#define MEMORY_LEVEL	 9
#define RAW_DEFLATE	 (-15)

/* What a file's text is. */
struct compress_text {
	uint64_t bytes;
	uint32_t crc32;
	bool is_unfinished;
	struct trace_input_facts facts;
};

struct compression {
	struct compress_result *result;
	const char *path;
	struct stat status;
	struct compress_text text;
	char piece[PIECE_BYTES];
	unsigned char packed[PIECE_BYTES];
};

static int say(struct compression *compression, int error, const char *why)
{
	snprintf(compression->result->why, sizeof(compression->result->why),
		 "%s", why);
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

/* The first look: how much, its checksum, and what its end says. */

struct look {
	struct compress_text *text;
	char *tail;
	size_t kept;
};

static int take_look(void *arg, const char *piece, size_t len)
{
	struct look *look = arg;

	look->text->crc32 = (uint32_t)crc32_z(
		look->text->crc32, (const unsigned char *)piece, len);
	look->text->bytes += len;
	if (!look->tail)
		return 0;
	if (look->kept + len > TAIL_BYTES) {
		const size_t keep = TAIL_BYTES - len;

		memmove(look->tail, look->tail + look->kept - keep, keep);
		look->kept = keep;
	}
	memcpy(look->tail + look->kept, piece, len);
	look->kept += len;
	return 0;
}

static int look_at(struct compression *compression, const char *path,
		   struct compress_text *text, bool with_tail)
{
	static const char mark[] = "\"final\":false";
	struct look look = {.text = text};
	int error;

	memset(text, 0, sizeof(*text));
	if (with_tail)
		look.tail = memory_zeroed(1, TAIL_BYTES);
	error = each_piece(compression, path, take_look, &look, &text->facts);
	text->is_unfinished = with_tail && memmem(look.tail, look.kept, mark,
						  sizeof(mark) - 1);
	free(look.tail);
	return error;
}

/* Writing. */

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
	struct compress_text text;
	struct stat status;
	int error = look_at(compression, fresh, &text, false);

	if (error)
		return error;
	if (text.bytes != compression->text.bytes ||
	    text.crc32 != compression->text.crc32)
		return say(compression, EIO,
			   "the new file does not hold the same text");
	if (fstat(fd, &status))
		return say(compression, errno, strerror(errno));
	compression->result->bytes_after = compression->result->bytes_before;
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
	compression->result->bytes_after = (uint64_t)status.st_size;
	return 0;
}

static int examine(struct compression *compression)
{
	int error;

	if (stat(compression->path, &compression->status))
		return say(compression, errno, strerror(errno));
	if (!S_ISREG(compression->status.st_mode))
		return say(compression, EINVAL, "not a file");
	compression->result->bytes_before =
		(uint64_t)compression->status.st_size;
	error = look_at(compression, compression->path, &compression->text,
			true);
	if (error)
		return error;
	if (!compression->text.facts.compressed)
		return say(compression, EINVAL,
			   "not compressed: gzip it, then come back");
	if (compression->text.facts.trailing_bytes)
		return say(compression, EBADMSG,
			   "there is more behind the end of the gzip stream");
	if (compression->text.is_unfinished)
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

int compress_trace(const char *path, struct compress_result *result)
{
	struct compression *compression =
		memory_zeroed(1, sizeof(*compression));
	char *place = realpath(path, NULL);
	int error;

	memset(result, 0, sizeof(*result));
	compression->result = result;
	compression->path = place;
	error = place ? compress_place(compression)
		      : say(compression, errno, strerror(errno));
	if (error && !result->why[0])
		say(compression, -error, strerror(-error));
	free(place);
	free(compression);
	return error;
}
