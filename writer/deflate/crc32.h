/* SPDX-License-Identifier: MIT */
/*
 * crc32.h - gzip's checksum, by carry-less multiplication where the processor
 * has it: nearly as fast as memory, where zlib's would take a quarter of the
 * time that the encoder has.
 */
#ifndef WRITER_CRC32_H
#define WRITER_CRC32_H

#include "collector/system/base.h"

/* The checksum of what `crc` stands for (0: nothing), then `text`; `skills` as
 * of processor_skills(), 0 on any processor. */
uint32_t crc32_text(unsigned int skills, uint32_t crc, const char *text,
		    size_t len);

#endif
