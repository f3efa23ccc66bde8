/* SPDX-License-Identifier: MIT */
/*
 * coder.c - turns blocks of text into pieces of one raw deflate stream.
 *
 * The choice among the coders, and the two that are always there: zlib, and
 * none.  Each block ends in a full flush, which brings zlib to a byte boundary
 * and makes it forget what it saw.
 */
#include "writer/deflate/coder.h"
#include "writer/deflate/crc32.h"
#include "writer/deflate/processor.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <zlib.h>

/* zlib's state for a window of 32 KiB and memory level 8 is 268 KB (zconf.h).
 */
#define ZLIB_ARENA_BYTES  (384u << 10)
#define ZLIB_MEMORY_LEVEL 8
#define RAW_DEFLATE	  (-15)

void *coder_alloc(struct coder *coder, size_t bytes)
{
	const size_t at = align_up(coder->arena_used, CACHE_LINE);

	if (bytes > coder->arena_bytes || at > coder->arena_bytes - bytes)
		return NULL;
	coder->arena_used = at + bytes;
	return coder->arena + at;
}

/* None: the pieces are the text. */

static int plain_open(struct coder *coder)
{
	(void)coder;
	return 0;
}

static int plain_block(struct coder *coder, const struct coder_text *text,
		       char *out, size_t room, size_t *made)
{
	(void)coder;
	if (text->len > room)
		return -EIO;
	memcpy(out, text->data, text->len);
	*made = text->len;
	return 0;
}

static const struct coder_back_end plain_coder = {
	.open = plain_open,
	.block = plain_block,
};

/* zlib. */

static void *zlib_alloc(void *arg, unsigned int items, unsigned int bytes)
{
	return coder_alloc(arg, (size_t)items * bytes);
}

static void zlib_free(void *arg, void *ptr)
{
	(void)arg;
	(void)ptr;
}

static int zlib_open(struct coder *coder)
{
	z_stream *stream = coder_alloc(coder, sizeof(*stream));

	if (!stream)
		return -ENOMEM;
	stream->zalloc = zlib_alloc;
	stream->zfree = zlib_free;
	stream->opaque = coder;
	coder->state = stream;
	return deflateInit2(stream, coder->level, Z_DEFLATED, RAW_DEFLATE,
			    ZLIB_MEMORY_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK
		       ? 0
		       : -ENOMEM;
}

static int zlib_block(struct coder *coder, const struct coder_text *text,
		      char *out, size_t room, size_t *made)
{
	z_stream *const stream = coder->state;
	int rc;

	if (text->len > UINT32_MAX || room > UINT32_MAX)
		return -EIO;
	stream->opaque = coder; /* the struct may have moved since */
	stream->next_in = (Bytef *)(uintptr_t)text->data;
	stream->avail_in = (uInt)text->len;
	stream->next_out = (Bytef *)out;
	stream->avail_out = (uInt)room;
	rc = deflate(stream, text->last ? Z_FINISH : Z_FULL_FLUSH);
	*made = room - stream->avail_out;
	/* Room left over means that the flush is complete. */
	if (rc == (text->last ? Z_STREAM_END : Z_OK) && !stream->avail_in &&
	    stream->avail_out)
		return text->last && deflateReset(stream) != Z_OK ? -EIO : 0;
	deflateReset(stream);
	return -EIO;
}

static const struct coder_back_end zlib_coder = {
	.arena_bytes = ZLIB_ARENA_BYTES,
	.open = zlib_open,
	.block = zlib_block,
};

/* The choice. */

int coder_parse(const char *text, struct coder_choice *choice, char *why,
		size_t why_bytes)
{
	*choice = (struct coder_choice){CODER_AUTO, 0};
	if (!text || !*text || !strcmp(text, "auto"))
		return 0;
	if (!strcmp(text, "off")) {
		choice->kind = CODER_PLAIN;
		return 0;
	}
	if (!strcmp(text, "fast")) {
		choice->kind = CODER_FAST;
		return 0;
	}
	if (!strncmp(text, "zlib:", 5) && text[5] >= '1' && text[5] <= '9' &&
	    !text[6]) {
		choice->kind = CODER_ZLIB;
		choice->level = text[5] - '0';
		return 0;
	}
	if (why)
		snprintf(why, why_bytes,
			 "TRACEPROF_GZIP=%.40s: it is auto, fast, zlib:1 to "
			 "zlib:9, or off",
			 text);
	return -EINVAL;
}

static int open_kind(struct coder *coder, enum coder_kind kind, int level)
{
	static const struct coder_back_end *const back_ends[] = {
		[CODER_PLAIN] = &plain_coder,
		[CODER_ZLIB] = &zlib_coder,
		[CODER_FAST] = &fast_coder,
	};
	int rc;

	memset(coder, 0, sizeof(*coder));
	coder->kind = kind;
	coder->level = level;
	coder->back_end = back_ends[kind];
	coder->skills = processor_skills();
	coder->arena_bytes = align_up(coder->back_end->arena_bytes, PAGE_BYTES);
	if (coder->arena_bytes) {
		void *arena =
			mmap(NULL, coder->arena_bytes, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (arena == MAP_FAILED)
			return -ENOMEM;
		coder->arena = arena;
	}
	rc = coder->back_end->open(coder);
	if (rc)
		coder_close(coder);
	return rc;
}

int coder_open(struct coder *coder, const struct coder_choice *choice)
{
	if (choice->kind == CODER_AUTO)
		return open_kind(coder, CODER_FAST, 0);
	return open_kind(coder, choice->kind, choice->level);
}

void coder_close(struct coder *coder)
{
	if (coder->arena)
		munmap(coder->arena, coder->arena_bytes);
	memset(coder, 0, sizeof(*coder));
}

size_t coder_bound(const struct coder *coder, size_t len)
{
	/* Stored blocks cost 5 bytes for at most 16 KiB (zlib's pending
	 * buffer); a flush and a final block a few more. */
	return coder->kind == CODER_PLAIN ? len : len + (len >> 10) + 256;
}

int coder_block(struct coder *coder, const struct coder_text *text, char *out,
		size_t *made)
{
	*made = 0;
	if (!text->len && !text->last)
		return 0;
	return coder->back_end->block(coder, text, out,
				      coder_bound(coder, text->len), made);
}

uint32_t coder_crc32(const struct coder *coder, uint32_t crc, const char *text,
		     size_t len)
{
	return crc32_text(coder->skills, crc, text, len);
}
