/* SPDX-License-Identifier: MIT */
/*
 * gzip.c - the bytes of gzip around deflate.
 */
#include "writer/file/gzip.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <zlib.h>

#define HEADER_PLAIN_BYTES 10u
#define FLAG_EXTRA	   4
#define SYSTEM_UNKNOWN	   255
#define RAW_DEFLATE	   (-15)
#define FOLLOW_TEXT_BYTES  (64u << 10)
#define FOLLOW_ARENA_BYTES (FOLLOW_TEXT_BYTES + (128u << 10))

/* An empty stored block, and an empty block of fixed codes with an empty stored
 * block after it to get back to a byte boundary. */
static const char fill_of_5[5] = {0, 0, 0, '\xff', '\xff'};
static const char fill_of_6[6] = {2, 0, 0, 0, '\xff', '\xff'};
/* A last block of fixed codes without content, as deflate ends nothing. */
static const char nothing[2] = {3, 0};

static void put_u16(char *out, uint32_t value)
{
	out[0] = (char)value;
	out[1] = (char)(value >> 8);
}

static void put_u32(char *out, uint32_t value)
{
	put_u16(out, value);
	put_u16(out + 2, value >> 16);
}

/* No time, no name: two runs give the same bytes. */
static void plain_header(char *out, int flags)
{
	memset(out, 0, HEADER_PLAIN_BYTES);
	out[0] = '\x1f';
	out[1] = '\x8b';
	out[2] = 8; /* deflate */
	out[3] = (char)flags;
	out[9] = (char)SYSTEM_UNKNOWN;
}

void gzip_header(char out[GZIP_HEADER_BYTES])
{
	const uint32_t extra = GZIP_HEADER_BYTES - 12;

	memset(out, 0, GZIP_HEADER_BYTES);
	plain_header(out, FLAG_EXTRA);
	put_u16(out + 10, extra);
	/* One subfield: id, length, zeros. */
	out[12] = 'T';
	out[13] = 'P';
	put_u16(out + 14, extra - 4);
}

void gzip_trailer(char out[GZIP_TRAILER_BYTES], uint32_t crc,
		  uint64_t text_bytes)
{
	put_u32(out, crc);
	put_u32(out + 4, (uint32_t)text_bytes);
}

void gzip_shield(char out[GZIP_SHIELD_BYTES], size_t len)
{
	plain_header(out, FLAG_EXTRA);
	/* The header inside SHIELD_END is hidden as well. */
	put_u16(out + 10, (uint32_t)len + HEADER_PLAIN_BYTES);
}

void gzip_shield_end(char out[GZIP_SHIELD_END_BYTES])
{
	memset(out, 0, GZIP_SHIELD_END_BYTES);
	plain_header(out, 0);
	memcpy(out + HEADER_PLAIN_BYTES, nothing, sizeof(nothing));
}

void gzip_fill(char *out, size_t len)
{
	size_t sixes = len % 5;

	for (; len; sixes -= sixes > 0) {
		const size_t piece = sixes ? 6 : 5;

		memcpy(out, sixes ? fill_of_6 : fill_of_5, piece);
		out += piece;
		len -= piece;
	}
}

static void *follower_alloc(void *arg, unsigned int items, unsigned int bytes)
{
	struct gzip_follower *const follower = arg;
	const size_t at = align_up(follower->arena_used, CACHE_LINE);
	const size_t wanted = (size_t)items * bytes;

	if (wanted > FOLLOW_ARENA_BYTES - at)
		return NULL;
	follower->arena_used = at + wanted;
	return follower->arena + at;
}

static void follower_free(void *arg, void *ptr)
{
	(void)arg;
	(void)ptr;
}

int gzip_follow(struct gzip_follower *follower)
{
	z_stream *stream;
	void *arena;

	memset(follower, 0, sizeof(*follower));
	arena = mmap(NULL, FOLLOW_ARENA_BYTES, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (arena == MAP_FAILED)
		return -ENOMEM;
	follower->arena = arena;
	follower->arena_used = FOLLOW_TEXT_BYTES; /* the text lies first */
	follower->at_boundary = true;
	stream = follower_alloc(follower, 1, sizeof(*stream));
	stream->zalloc = follower_alloc;
	stream->zfree = follower_free;
	stream->opaque = follower;
	follower->stream = stream;
	if (inflateInit2(stream, RAW_DEFLATE) == Z_OK)
		return 0;
	gzip_follower_close(follower);
	return -ENOMEM;
}

void gzip_follower_close(struct gzip_follower *follower)
{
	if (follower->arena)
		munmap(follower->arena, FOLLOW_ARENA_BYTES);
	memset(follower, 0, sizeof(*follower));
}

int gzip_follower_feed(struct gzip_follower *follower, const char *bytes,
		       size_t len)
{
	z_stream *const stream = follower->stream;
	Bytef *const text = (Bytef *)follower->arena;
	size_t made;
	int rc;

	stream->next_in = (Bytef *)(uintptr_t)bytes;
	stream->avail_in = (uInt)len;
	do {
		stream->next_out = text;
		stream->avail_out = FOLLOW_TEXT_BYTES;
		/* Stops after each block, where data_type says whether that
		 * is a byte boundary (zlib.h, inflate). */
		rc = inflate(stream, Z_BLOCK);
		if (rc != Z_OK && rc != Z_BUF_ERROR)
			return -EBADMSG;
		made = FOLLOW_TEXT_BYTES - stream->avail_out;
		follower->crc32 =
			(uint32_t)crc32_z(follower->crc32, text, made);
		follower->text_bytes += made;
	} while (stream->avail_in || !stream->avail_out);
	follower->at_boundary = (stream->data_type & 0xff) == 128;
	return 0;
}
