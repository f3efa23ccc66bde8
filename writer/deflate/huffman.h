/* SPDX-License-Identifier: MIT */
/*
 * huffman.h - codes for deflate: lengths from counts, bits from lengths.
 */
#ifndef WRITER_HUFFMAN_H
#define WRITER_HUFFMAN_H

#include "collector/system/base.h"

#define HUFFMAN_SYMBOLS 288u /* at most */
#define HUFFMAN_BITS	15u  /* at most, in deflate */

/* A symbol's bits, the first to be written lowest, and how many there are. */
struct huffman_code {
	uint16_t bits;
	uint16_t len;
};

/* The best lengths of at most `most` bits for `symbols` counts.  A count of 0
 * gets length 0; a single symbol gets 1. */
void huffman_lengths(const uint32_t *counts, unsigned int symbols,
		     unsigned int most, uint8_t *lengths);

/* Deflate's canonical codes of these lengths. */
void huffman_codes(const uint8_t *lengths, unsigned int symbols,
		   struct huffman_code *codes);

#endif
