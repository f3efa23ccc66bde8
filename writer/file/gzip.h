/* SPDX-License-Identifier: MIT */
/*
 * gzip.h - the bytes of gzip around deflate: headers, trailer, and fill, which
 * is deflate that says nothing.  RFC 1951 and 1952.
 */
#ifndef WRITER_GZIP_H
#define WRITER_GZIP_H

#include "collector/system/base.h"

/* Header of a trace: an extra field of 4096 bytes makes the file longer than
 * what the trace view of TensorBoard insists on. */
#define GZIP_HEADER_BYTES     (12u + 4096u)
#define GZIP_TRAILER_BYTES    8u

/* A shield is an empty gzip member around bytes that are to be hidden from
 * readers: SHIELD, the bytes as the header's extra field, SHIELD_END. */
#define GZIP_SHIELD_BYTES     12u
#define GZIP_SHIELD_END_BYTES 20u
#define GZIP_SHIELDED_MAX     (65535u - 10u)

/* Any length from here on can be filled. */
#define GZIP_FILL_MIN	      20u

void gzip_header(char out[GZIP_HEADER_BYTES]);
void gzip_trailer(char out[GZIP_TRAILER_BYTES], uint32_t crc,
		  uint64_t text_bytes);

/* The two ends of a shield around `len` bytes.  SHIELD_END is an empty member
 * of its own: once the shield's first end is gone it still may stand there. */
void gzip_shield(char out[GZIP_SHIELD_BYTES], size_t len);
void gzip_shield_end(char out[GZIP_SHIELD_END_BYTES]);

/* `len` bytes of deflate blocks without content, none the last, that begin and
 * end on byte boundaries. */
void gzip_fill(char *out, size_t len);

/* Follows a raw deflate stream while it is copied, to know that it can be gone
 * on with.  Its memory is one mapping. */
struct gzip_follower {
	char *arena;
	size_t arena_used;
	void *stream;
	uint64_t text_bytes;
	uint32_t crc32;
	bool at_boundary; /* between two blocks and two bytes */
};

int gzip_follow(struct gzip_follower *follower);
void gzip_follower_close(struct gzip_follower *follower);

/* The stream's next bytes.  0; -EBADMSG not deflate, or it has ended. */
int gzip_follower_feed(struct gzip_follower *follower, const char *bytes,
		       size_t len);

#endif
