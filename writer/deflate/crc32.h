/* SPDX-License-Identifier: MIT */
/*
 * crc32.h - gzip's checksum, by carry-less multiplication where the processor
 * has it: nearly as fast as memory, where zlib's would take a quarter of the
 * time that the encoder has.
 */
#ifndef WRITER_CRC32_H
#define WRITER_CRC32_H

#include "collector/system/base.h"

/* Constant after crc32_start(). */
struct crc32 {
	uint32_t table[8][256];
	unsigned int skills; /* of the processor; 0: tables alone, on any */
};

void crc32_start(struct crc32 *crc32);

/* The checksum of what `crc` stands for (0: nothing), then `text`. */
uint32_t crc32_text(const struct crc32 *crc32, uint32_t crc, const char *text,
		    size_t len);

#endif
