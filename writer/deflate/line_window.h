/* SPDX-License-Identifier: MIT */
/*
 * line_window.h - how many bytes two places of a text have in common, at most
 * LINE_WINDOW, of which all can be read.
 *
 * One function for each kind of processor; line_match.c picks one when it is
 * started.  All say the same of the same bytes.
 */
#ifndef WRITER_LINE_WINDOW_H
#define WRITER_LINE_WINDOW_H

#include "collector/system/base.h"
#include <string.h>

#define LINE_WINDOW 64u

typedef uint32_t (*line_window_look)(const char *text, const char *old);

/* Eight bytes at a time, on any processor. */
static inline uint32_t line_window_eights(const char *text, const char *old)
{
	uint32_t at = 0;

	while (at < LINE_WINDOW) {
		uint64_t a, b;

		memcpy(&a, text + at, sizeof(a));
		memcpy(&b, old + at, sizeof(b));
		if (a != b)
			return at + ((uint32_t)__builtin_ctzll(a ^ b) >> 3);
		at += 8;
	}
	return at;
}

#ifdef __x86_64__

#include <immintrin.h>

#define LINE_TARGET_AVX2 __attribute__((target("avx2,bmi,bmi2,lzcnt")))
#define LINE_TARGET_AVX512                                                     \
	__attribute__((target("avx512bw,avx512vl,avx2,bmi,bmi2,lzcnt")))

/* What every x86-64 has. */
static inline uint32_t line_window_sse2(const char *text, const char *old)
{
	uint32_t at = 0;

	while (at < LINE_WINDOW) {
		const __m128i a = _mm_loadu_si128((const void *)(text + at));
		const __m128i b = _mm_loadu_si128((const void *)(old + at));
		const uint32_t same =
			(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(a, b));

		if (same != 0xffff)
			return at + (uint32_t)__builtin_ctz(~same);
		at += 16;
	}
	return at;
}

LINE_TARGET_AVX2 static inline uint32_t line_window_avx2(const char *text,
							 const char *old)
{
	uint32_t at = 0;

	while (at < LINE_WINDOW) {
		const __m256i a = _mm256_loadu_si256((const void *)(text + at));
		const __m256i b = _mm256_loadu_si256((const void *)(old + at));
		const uint32_t same =
			(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, b));

		if (same != UINT32_MAX)
			return at + (uint32_t)__builtin_ctz(~same);
		at += 32;
	}
	return at;
}

LINE_TARGET_AVX512 static inline uint32_t line_window_avx512(const char *text,
							     const char *old)
{
	const __m512i a = _mm512_loadu_si512((const void *)text);
	const __m512i b = _mm512_loadu_si512((const void *)old);

	return (uint32_t)_tzcnt_u64(_mm512_cmpneq_epi8_mask(a, b));
}

#endif

#endif
