/* SPDX-License-Identifier: MIT */
/*
 * deflate.h - sequences of literals and matches as blocks of raw deflate
 * (RFC 1951), each with codes made for it.
 *
 * It only writes; what repeats what is found by line_match.c.
 */
#ifndef WRITER_DEFLATE_H
#define WRITER_DEFLATE_H

#include "writer/deflate/huffman.h"
#include "writer/deflate/line_match.h"

#define DEFLATE_LITERALS  286u /* and lengths, and the end */
#define DEFLATE_DISTANCES 30u
#define DEFLATE_MATCH_MAX 258u

/* What numbers consist of: "-./0123456789:;", counted from the first. */
#define DEFLATE_DIGIT	  ((unsigned int)'-')
#define DEFLATE_NONE	  15u /* is none */

/* Bits on their way to memory, the first lowest. */
struct deflate_bits {
	uint64_t word;
	unsigned int count; /* below 8 between calls */
	char *out;
	char *limit; /* nothing is written from here on but by a word */
	bool is_full;
};

/* Bits that go out together, at most 32. */
struct deflate_piece {
	uint32_t bits;
	uint32_t len;
};

/* A distance symbol's code and where its distances begin. */
struct deflate_distance {
	uint16_t bits;
	uint16_t base;
	uint8_t len;
	uint8_t len_all; /* with the extra bits */
};

/* Tables for a block, and the next ones like it. */
struct deflate {
	uint32_t counts[DEFLATE_LITERALS];
	uint32_t distance_counts[DEFLATE_DISTANCES];
	/* Of the codes below: lengths, all in a row, what the sample had that
	 * they were made for, and how many blocks have had them. */
	uint8_t lengths[DEFLATE_LITERALS + DEFLATE_DISTANCES];
	uint64_t fitted_symbols;
	uint64_t fitted_bits;
	unsigned int uses;
	struct huffman_code literal[DEFLATE_LITERALS];
	struct huffman_code distance[DEFLATE_DISTANCES];
	struct deflate_distance far[DEFLATE_DISTANCES];
	struct deflate_piece match[DEFLATE_MATCH_MAX + 1]; /* by its length */
	/* Two literals; each has four bits of the index. */
	struct deflate_piece pair[256];

	/* Constant after deflate_start(). */
	uint8_t length_symbol[DEFLATE_MATCH_MAX + 1]; /* above 257 */
};

void deflate_start(struct deflate *deflate);

/* Writes one block, of text of which `left` bytes can be read.  Where it
 * doesn't fit, out->is_full is set. */
void deflate_block(struct deflate *deflate, struct deflate_bits *out,
		   const char *text, size_t left,
		   const struct line_sequence *sequences, size_t count,
		   bool last);

/* The text as it is, with `bits` as after a whole byte; last or not. */
void deflate_stored(struct deflate_bits *out, const char *text, size_t len,
		    bool last);

/* An empty stored block: what follows begins on a byte. */
void deflate_align(struct deflate_bits *out);

/* The last bits, and zeros up to a whole byte. */
void deflate_finish(struct deflate_bits *out);

#endif
