/* SPDX-License-Identifier: MIT */
/*
 * truncated_file.h - what a trace file still holds that was cut short.
 *
 * Pieces are whole events and end on byte boundaries (coder.h), so a file that
 * ends anywhere can be gone on with after its last whole piece.  Of a file
 * that is as long as it should be, and yet is not what it should be, nothing
 * is believed.
 */
#ifndef WRITER_TRUNCATED_FILE_H
#define WRITER_TRUNCATED_FILE_H

#include "collector/system/base.h"

struct truncated_file {
	uint64_t at;	     /* file offset after the last whole piece */
	uint64_t text_bytes; /* of the text up to there */
	uint32_t crc32;	     /* and its CRC */
};

/* `tail_at` is where the pieces should have ended.  0; -EBADMSG there is
 * nothing to go on with; -ECANCELED *stop (may be NULL) became true; other
 * -errno of reading. */
int truncated_file_find(const char *path, bool is_plain, uint64_t tail_at,
			struct truncated_file *found, const _Atomic bool *stop);

#endif
