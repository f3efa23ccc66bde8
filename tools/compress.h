/* SPDX-License-Identifier: MIT */
/*
 * compress.h - a finished trace once more, in as few bytes as can be.
 */
#ifndef TOOLS_COMPRESS_H
#define TOOLS_COMPRESS_H

#include <stdint.h>

struct compress_result {
	uint64_t bytes_before;
	uint64_t bytes_after; /* the same where nothing was won */
	char why[200];	      /* one line, on error */
};

/* Puts a gzip file of the same text in the place of the gzip file `path`, by
 * rename, with its mode and times; the text is read back and compared first.
 * The file is left alone where that would not make it smaller.  0; -errno and
 * result->why: -EBUSY it isn't finished, -EINVAL it is not compressed, -EBADMSG
 * it is damaged, others. */
int compress_trace(const char *path, struct compress_result *result);

#endif
