/* SPDX-License-Identifier: MIT */
/*
 * line_window.h - looks at 64 bytes of two texts at once.
 *
 * For each byte one bit: the texts differ there, it may belong to a number (in
 * the new text, in the old one), it ends a line of the new text.  The lowest
 * bit is the first byte.
 *
 * One function for each kind of processor; line_match.c picks one when it is
 * started.  All say the same of the same bytes.
 */
#ifndef WRITER_LINE_WINDOW_H
#define WRITER_LINE_WINDOW_H

#include "collector/base.h"
#include <string.h>

#define LINE_WINDOW 64u

struct line_window {
	uint64_t differs;
	uint64_t number;     /* new text: one of "-./0123456789" */
	uint64_t old_number; /* old text */
	uint64_t newline;    /* new text */
};

typedef struct line_window (*line_window_look)(const char *text,
					       const char *old);

/* Of a window of a line: the first number that is a value; 64 none. */
static inline uint32_t line_first_value(const char *text, uint64_t number)
{
	uint64_t begins = number & ~(number << 1);

	for (; begins; begins &= begins - 1) {
		const uint32_t begin = (uint32_t)__builtin_ctzll(begins);

		if (begin && text[begin - 1] == ':')
			return begin;
	}
	return LINE_WINDOW;
}

/* Eight bytes at a time, on any processor.  The high bit of each byte says. */
#define LINE_ONES  UINT64_C(0x0101010101010101)
#define LINE_HIGHS (LINE_ONES << 7)

/* Zero bytes. */
static inline uint64_t line_zeros(uint64_t bytes)
{
	return ~(((bytes & ~LINE_HIGHS) + ~LINE_HIGHS) | bytes) & LINE_HIGHS;
}

static inline uint64_t line_numbers(uint64_t bytes)
{
	const uint64_t low = bytes & ~LINE_HIGHS;

	return (low + LINE_ONES * (0x80 - '-')) &
	       ~(low + LINE_ONES * (0x80 - ':')) & ~bytes & LINE_HIGHS;
}

/* Eight high bits become one byte, the first byte's the lowest. */
static inline uint64_t line_gather(uint64_t highs)
{
	return (highs >> 7) * UINT64_C(0x0102040810204080) >> 56;
}

static inline struct line_window line_window_eights(const char *text,
						    const char *old)
{
	struct line_window window = {0};

	for (unsigned int at = 0; at < LINE_WINDOW; at += 8) {
		uint64_t a, b;

		memcpy(&a, text + at, sizeof(a));
		memcpy(&b, old + at, sizeof(b));
		window.differs |= line_gather(line_zeros(a ^ b) ^ LINE_HIGHS)
				  << at;
		window.number |= line_gather(line_numbers(a)) << at;
		window.old_number |= line_gather(line_numbers(b)) << at;
		window.newline |= line_gather(line_zeros(a ^ LINE_ONES * '\n'))
				  << at;
	}
	return window;
}

#ifdef __x86_64__

#include <immintrin.h>

#define LINE_TARGET_AVX2 __attribute__((target("avx2,bmi,bmi2,lzcnt")))
#define LINE_TARGET_AVX512                                                     \
	__attribute__((target("avx512bw,avx512vl,avx2,bmi,bmi2,lzcnt")))

static inline __m128i line_numbers_16(__m128i bytes)
{
	const __m128i from = _mm_sub_epi8(bytes, _mm_set1_epi8('-'));

	return _mm_cmpeq_epi8(_mm_min_epu8(from, _mm_set1_epi8('9' - '-')),
			      from);
}

/* What every x86-64 has. */
static inline struct line_window line_window_sse2(const char *text,
						  const char *old)
{
	const __m128i newline = _mm_set1_epi8('\n');
	struct line_window window = {0};

	for (unsigned int at = 0; at < LINE_WINDOW; at += 16) {
		const __m128i a = _mm_loadu_si128((const void *)(text + at));
		const __m128i b = _mm_loadu_si128((const void *)(old + at));

#define LINE_BITS(x) ((uint64_t)(uint16_t)_mm_movemask_epi8(x) << at)
		window.differs |= LINE_BITS(_mm_cmpeq_epi8(a, b));
		window.number |= LINE_BITS(line_numbers_16(a));
		window.old_number |= LINE_BITS(line_numbers_16(b));
		window.newline |= LINE_BITS(_mm_cmpeq_epi8(a, newline));
#undef LINE_BITS
	}
	window.differs = ~window.differs;
	return window;
}

LINE_TARGET_AVX2 static inline __m256i line_numbers_32(__m256i bytes)
{
	const __m256i from = _mm256_sub_epi8(bytes, _mm256_set1_epi8('-'));

	return _mm256_cmpeq_epi8(
		_mm256_min_epu8(from, _mm256_set1_epi8('9' - '-')), from);
}

LINE_TARGET_AVX2 static inline struct line_window
line_window_avx2(const char *text, const char *old)
{
	const __m256i newline = _mm256_set1_epi8('\n');
	struct line_window window = {0};

	for (unsigned int at = 0; at < LINE_WINDOW; at += 32) {
		const __m256i a = _mm256_loadu_si256((const void *)(text + at));
		const __m256i b = _mm256_loadu_si256((const void *)(old + at));

#define LINE_BITS(x) ((uint64_t)(uint32_t)_mm256_movemask_epi8(x) << at)
		window.differs |= LINE_BITS(_mm256_cmpeq_epi8(a, b));
		window.number |= LINE_BITS(line_numbers_32(a));
		window.old_number |= LINE_BITS(line_numbers_32(b));
		window.newline |= LINE_BITS(_mm256_cmpeq_epi8(a, newline));
#undef LINE_BITS
	}
	window.differs = ~window.differs;
	return window;
}

LINE_TARGET_AVX512 static inline struct line_window
line_window_avx512(const char *text, const char *old)
{
	const __m512i minus = _mm512_set1_epi8('-');
	const __m512i count = _mm512_set1_epi8('9' - '-');
	const __m512i a = _mm512_loadu_si512((const void *)text);
	const __m512i b = _mm512_loadu_si512((const void *)old);

	return (struct line_window){
		.differs = _mm512_cmpneq_epi8_mask(a, b),
		.number = _mm512_cmple_epu8_mask(_mm512_sub_epi8(a, minus),
						 count),
		.old_number = _mm512_cmple_epu8_mask(_mm512_sub_epi8(b, minus),
						     count),
		.newline = _mm512_cmpeq_epi8_mask(a, _mm512_set1_epi8('\n')),
	};
}

#endif

#endif
