/* SPDX-License-Identifier: MIT */
/*
 * crc32.c - gzip's checksum; see crc32.h.
 *
 * The checksum is what is left of the text, read as one polynomial over bits,
 * after division by 0x104c11db7.  So 64 bytes can be carried over the next 64
 * by multiplying with what is left of x^512, and at the end 16 bytes stand for
 * everything; zlib does those.  All constants are x^n modulo that polynomial,
 * bits reversed, as gzip reads bytes.
 */
#include "writer/deflate/crc32.h"
#include "writer/deflate/processor.h"

#include <zlib.h>

#define FOLDED_LEAST 64u

#ifdef __x86_64__

#include <immintrin.h>

#define MULTIPLIES __attribute__((target("pclmul,sse4.1")))

/* x^544, x^480: over 64 bytes; x^160, x^96: over 16. */
#define OVER_64	   _mm_set_epi64x(0x1c6e41596, 0x154442bd4)
#define OVER_16	   _mm_set_epi64x(0x0ccaa009e, 0x1751997d0)

MULTIPLIES static inline __m128i fold(__m128i value, __m128i by, __m128i next)
{
	const __m128i low = _mm_clmulepi64_si128(value, by, 0x00);
	const __m128i high = _mm_clmulepi64_si128(value, by, 0x11);

	return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

#define MULTIPLIES_WIDE                                                        \
	__attribute__((target("vpclmulqdq,avx512f,avx512vl,pclmul,sse4.1")))

/* x^2080, x^2016: over 256 bytes. */
#define OVER_256   _mm_set_epi64x(0x1322d1430, 0x11542778a)
#define WIDE_LEAST 1024u

MULTIPLIES_WIDE static inline __m512i fold_wide(__m512i value, __m512i by,
						__m512i next)
{
	const __m512i low = _mm512_clmulepi64_epi128(value, by, 0x00);
	const __m512i high = _mm512_clmulepi64_epi128(value, by, 0x11);

	return _mm512_ternarylogic_epi64(low, high, next, 0x96);
}

/* At least WIDE_LEAST bytes, four times 64 of them at once: what is left are 64
 * bytes that stand for all.  Returns how many it took. */
MULTIPLIES_WIDE static size_t by_wide(uint32_t crc, const unsigned char *text,
				      size_t len, unsigned char *rest)
{
	const __m512i over_256 = _mm512_broadcast_i32x4(OVER_256);
	const __m512i over_64 = _mm512_broadcast_i32x4(OVER_64);
	__m512i value[4];

	for (int i = 0; i < 4; i++)
		value[i] = _mm512_loadu_si512(text + 64 * i);
	value[0] = _mm512_xor_si512(
		value[0], _mm512_zextsi128_si512(_mm_cvtsi32_si128((int)crc)));
	for (size_t at = 256; at + 256 <= len; at += 256) {
		for (int i = 0; i < 4; i++)
			value[i] = fold_wide(
				value[i], over_256,
				_mm512_loadu_si512(text + at + 64 * i));
	}
	for (int i = 1; i < 4; i++)
		value[i] = fold_wide(value[i - 1], over_64, value[i]);
	_mm512_storeu_si512(rest, value[3]);
	return len / 256 * 256;
}

/* At least FOLDED_LEAST bytes; returns how many it took. */
MULTIPLIES static size_t by_multiplying(uint32_t *crc,
					const unsigned char *text, size_t len)
{
	const __m128i *from = (const void *)text;
	__m128i value[4];
	unsigned char last[16];

	for (int i = 0; i < 4; i++)
		value[i] = _mm_loadu_si128(from++);
	value[0] = _mm_xor_si128(value[0], _mm_cvtsi32_si128((int)*crc));
	for (size_t blocks = len / 64 - 1; blocks; blocks--) {
		for (int i = 0; i < 4; i++)
			value[i] = fold(value[i], OVER_64,
					_mm_loadu_si128(from++));
	}
	for (int i = 1; i < 4; i++)
		value[i] = fold(value[i - 1], OVER_16, value[i]);
	_mm_storeu_si128((void *)last, value[3]);
	*crc = ~(uint32_t)crc32(~0u, last, sizeof(last));
	return len / 64 * 64;
}

#else

#define WIDE_LEAST 1024u

static size_t by_wide(uint32_t crc, const unsigned char *text, size_t len,
		      unsigned char *rest)
{
	(void)crc;
	(void)text;
	(void)len;
	(void)rest;
	return 0;
}

static size_t by_multiplying(uint32_t *crc, const unsigned char *text,
			     size_t len)
{
	(void)crc;
	(void)text;
	(void)len;
	return 0;
}

#endif

uint32_t crc32_text(unsigned int skills, uint32_t crc, const char *text,
		    size_t len)
{
	const unsigned char *bytes = (const unsigned char *)text;
	unsigned char rest[FOLDED_LEAST];
	size_t done = 0;

	crc = ~crc;
	if (skills & PROCESSOR_MULTIPLIES_WIDE && len >= WIDE_LEAST) {
		done = by_wide(crc, bytes, len, rest);
		crc = 0;
		by_multiplying(&crc, rest, sizeof(rest));
	}
	if (skills & PROCESSOR_MULTIPLIES && len - done >= FOLDED_LEAST)
		done += by_multiplying(&crc, bytes + done, len - done);
	return (uint32_t)crc32_z(~crc, bytes + done, len - done);
}
