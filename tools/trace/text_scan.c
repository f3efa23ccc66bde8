/* SPDX-License-Identifier: MIT */
/*
 * text_scan.c - a state machine over the bytes of JSON text.
 *
 * The fields of an event lie at depth 3 (object, traceEvents, event) and those
 * of the file at depth 1: viewers read strings there with parsers of their own,
 * which know no surrogate escapes.
 */
#include "tools/trace/text_scan.h"

#include <errno.h>
#ifdef __SSE2__
#include <immintrin.h>
#endif
#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"

enum byte_class {
	CLASS_PLAIN = 1 << 0, /* inside a string: nothing to look at */
	CLASS_WORD = 1 << 1,  /* outside: of a number, true, false, null */
	CLASS_BLANK = 1 << 2,
};

/* clang-format off */
static const unsigned char classes[256] = {
	['\t'] = CLASS_BLANK, ['\n'] = CLASS_BLANK, ['\r'] = CLASS_BLANK,
	[' '] = CLASS_BLANK | CLASS_PLAIN,
	['!'] = CLASS_PLAIN,
	['#' ... '-'] = CLASS_PLAIN,
	['.'] = CLASS_WORD | CLASS_PLAIN,
	['/'] = CLASS_PLAIN,
	['0' ... '9'] = CLASS_WORD | CLASS_PLAIN,
	[':' ... '@'] = CLASS_PLAIN,
	['A' ... 'Z'] = CLASS_WORD | CLASS_PLAIN,
	['['] = CLASS_PLAIN,
	[']' ... '`'] = CLASS_PLAIN,
	['a' ... 'z'] = CLASS_WORD | CLASS_PLAIN,
	['{' ... '~'] = CLASS_PLAIN,
};
/* clang-format on */

/* How many bytes from the first on are of a class. */
static inline size_t run_of(const char *text, size_t len,
			    enum byte_class wanted)
{
	size_t at = 0;

	while (at < len && classes[(unsigned char)text[at]] & wanted)
		at++;
	return at;
}

static void note(struct text_scan *scan, enum text_flaw flaw)
{
	struct text_flaw_at *at;

	if (scan->flaw_count) {
		at = &scan->flaws[scan->flaw_count - 1];
		if (at->flaw == flaw && at->offset + 1 == scan->offset) {
			at->offset = scan->offset;
			return;
		}
	}
	scan->flaws = memory_grow(scan->flaws, scan->flaw_count,
				  &scan->flaw_capacity, sizeof(*scan->flaws));
	scan->flaws[scan->flaw_count++] =
		(struct text_flaw_at){.offset = scan->offset, .flaw = flaw};
}

static void lone_half(struct text_scan *scan)
{
	if (scan->half)
		note(scan, TEXT_FLAW_LONE);
	scan->half = false;
}

static void escape_done(struct text_scan *scan)
{
	const bool high = scan->code >= 0xd800 && scan->code < 0xdc00;
	const bool low = scan->code >= 0xdc00 && scan->code < 0xe000;

	if ((high || low) && (scan->depth == 1 || scan->depth == 3))
		note(scan, TEXT_FLAW_SURROGATE);
	if (low && !scan->half)
		note(scan, TEXT_FLAW_LONE);
	if (!low)
		lone_half(scan);
	scan->half = high;
}

/* A byte of an escape sequence; 1..5 as struct text_scan says. */
static void escape_byte(struct text_scan *scan, unsigned char byte)
{
	if (scan->escape == 1) {
		scan->escape = byte == 'u' ? 5 : 0;
		scan->code = 0;
		if (byte != 'u')
			lone_half(scan);
		return;
	}
	if (byte >= '0' && byte <= '9')
		scan->code = scan->code << 4 | (byte - (unsigned int)'0');
	else
		scan->code = scan->code << 4 | ((byte & 7u) + 9u);
	if (--scan->escape == 1) {
		scan->escape = 0;
		escape_done(scan);
	}
}

static void string_end(struct text_scan *scan)
{
	if (scan->utf8.left) {
		note(scan, TEXT_FLAW_UTF8);
		scan->utf8 = (struct utf8_state){0};
	}
	lone_half(scan);
	scan->in_string = false;
	scan->rank = scan->token == 4 && memcmp(scan->head, "rank", 4) == 0;
	scan->token = 0;
}

/* A byte inside a string; returns what the parser shall see. */
static char string_byte(struct text_scan *scan, unsigned char byte)
{
	if (scan->token < sizeof(scan->head))
		scan->head[scan->token] = (char)byte;
	if (byte < 0x20) {
		note(scan, TEXT_FLAW_CONTROL);
		byte = ' ';
		if (scan->escape) {
			scan->escape = 0;
			return 'n';
		}
	}
	if (!scan->escape && byte == '"') {
		string_end(scan);
		return '"';
	}
	scan->token++;
	if (scan->escape) {
		escape_byte(scan, byte);
	} else if (byte == '\\') {
		scan->escape = 1;
	} else {
		lone_half(scan);
	}
	if (!utf8_feed(&scan->utf8, byte))
		note(scan, TEXT_FLAW_UTF8);
	return (char)byte;
}

static void plain_byte(struct text_scan *scan, unsigned char byte)
{
	const bool blank = classes[byte] & CLASS_BLANK;

	if (scan->rank && blank == (scan->rank == 1))
		note(scan, TEXT_FLAW_RANK);
	if (scan->rank == 2 || !blank)
		scan->rank = scan->rank == 1 && byte == ':' ? 2 : 0;
	scan->token = classes[byte] & CLASS_WORD ? scan->token + 1 : 0;
	switch (byte) {
	case '{':
	case '[': scan->depth++; break;
	case '}':
	case ']': scan->depth -= scan->depth > 0; break;
	case '"':
		scan->in_string = true;
		scan->token = 0;
		break;
	default: break;
	}
}

static bool is_amid(const struct text_scan *scan)
{
	return scan->escape || scan->half || scan->utf8.left;
}

/* Passes over what most text is, without a look at each byte's meaning.  A
 * string that has just begun is not amid anything. */
static size_t skip(struct text_scan *scan, const char *text, size_t len,
		   bool begun)
{
	size_t run;

	if (!scan->in_string)
		run = scan->rank ? 0 : run_of(text, len, CLASS_WORD);
	else if (begun || !is_amid(scan))
		run = run_of(text, len, CLASS_PLAIN);
	else
		return 0;
	if (scan->in_string)
		for (size_t at = scan->token;
		     at < sizeof(scan->head) && at - scan->token < run; at++)
			scan->head[at] = text[at - scan->token];
	scan->token += run;
	scan->offset += run;
	return run;
}

#ifdef __SSE2__
#define BLOCK 64u

/* What stands where in a block, a bit for each byte. */
struct block {
	uint64_t quotes, opens, closes, strange; /* below ' ', or not ASCII */
	uint64_t backslashes, ns, ks;
};

static uint64_t equal(__m128i bytes, char wanted)
{
	return (uint64_t)_mm_movemask_epi8(
		_mm_cmpeq_epi8(bytes, _mm_set1_epi8(wanted)));
}

/* '[' and '{' differ by one bit, so do ']' and '}'. */
#define BRACE_BIT 0x20

static inline struct block look_at(const char *text)
{
	struct block block = {0};

	for (unsigned int at = 0; at < BLOCK; at += 16) {
		const __m128i bytes =
			_mm_loadu_si128((const __m128i *)(text + at));
		const __m128i braces =
			_mm_or_si128(bytes, _mm_set1_epi8(BRACE_BIT));

		block.quotes |= equal(bytes, '"') << at;
		block.opens |= equal(braces, '{') << at;
		block.closes |= equal(braces, '}') << at;
		block.backslashes |= equal(bytes, '\\') << at;
		block.ns |= equal(bytes, 'n') << at;
		block.ks |= equal(bytes, 'k') << at;
		block.strange |= (uint64_t)_mm_movemask_epi8(_mm_cmplt_epi8(
					 bytes, _mm_set1_epi8(0x20)))
				 << at;
	}
	return block;
}

/* The same, where the processor takes 32 bytes at once. */
#define WIDE __attribute__((target("avx2")))

static WIDE inline uint64_t wide_equal(__m256i bytes, char wanted)
{
	return (uint32_t)_mm256_movemask_epi8(
		_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(wanted)));
}

static WIDE inline struct block look_wide(const char *text)
{
	struct block block = {0};

	for (unsigned int at = 0; at < BLOCK; at += 32) {
		const __m256i bytes =
			_mm256_loadu_si256((const __m256i *)(text + at));
		const __m256i braces =
			_mm256_or_si256(bytes, _mm256_set1_epi8(BRACE_BIT));
		const __m256i strange =
			_mm256_cmpgt_epi8(_mm256_set1_epi8(0x20), bytes);

		block.quotes |= wide_equal(bytes, '"') << at;
		block.opens |= wide_equal(braces, '{') << at;
		block.closes |= wide_equal(braces, '}') << at;
		block.backslashes |= wide_equal(bytes, '\\') << at;
		block.ns |= wide_equal(bytes, 'n') << at;
		block.ks |= wide_equal(bytes, 'k') << at;
		block.strange |=
			(uint64_t)(uint32_t)_mm256_movemask_epi8(strange) << at;
	}
	return block;
}

typedef struct block block_look(const char *text);

/* Each bit tells whether so many bits up to it are odd in number. */
static uint64_t parity(uint64_t bits)
{
	for (unsigned int by = 1; by < 64; by *= 2)
		bits ^= bits << by;
	return bits;
}

/* How many bits are set: in pairs, fours and eights, whose sum is the highest
 * byte of a product.  A loop would be mispredicted for each block. */
static unsigned int count(uint64_t bits)
{
	bits -= bits >> 1 & 0x5555555555555555u;
	bits = (bits & 0x3333333333333333u) + (bits >> 2 & 0x3333333333333333u);
	bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fu;
	return (unsigned int)(bits * 0x0101010101010101u >> 56);
}

/* The end of a string that ends in "nk", as "rank" does. */
static bool may_be_rank(const struct block *block)
{
	const uint64_t before = block->ns << 2 | 2; /* or in the last block */

	return block->quotes & block->ks << 1 & before;
}

/* Passes over a block in which nothing is to be mended or noted.  False: each
 * of its bytes has to be looked at. */
static inline __attribute__((always_inline)) bool
skip_block(struct text_scan *scan, const char *text, block_look *look)
{
	const struct block block = look(text);
	const uint64_t inside =
		parity(block.quotes) ^ (scan->in_string ? UINT64_MAX : 0);
	const unsigned int opens = count(block.opens & ~inside);
	const unsigned int closes = count(block.closes & ~inside);
	size_t fresh = BLOCK;

	if (block.backslashes || block.strange & inside ||
	    may_be_rank(&block) || closes > scan->depth || is_amid(scan) ||
	    scan->rank || (scan->token == 4 && *text == '"'))
		return false;
	if (block.quotes) {
		fresh = (size_t)__builtin_clzll(block.quotes);
		scan->token = 0;
	} else if (!scan->in_string && (opens || closes)) {
		scan->token = 0;
	}
	scan->in_string = inside >> 63;
	for (size_t at = 0; at < fresh && scan->in_string &&
			    scan->token + at < sizeof(scan->head);
	     at++)
		scan->head[scan->token + at] = text[BLOCK - fresh + at];
	scan->token += fresh;
	scan->depth = scan->depth + opens - closes;
	scan->offset += BLOCK;
	return true;
}
#else
#define BLOCK SIZE_MAX

typedef void block_look(void);

static bool skip_block(struct text_scan *scan, const char *text,
		       block_look *look)
{
	(void)scan;
	(void)text;
	(void)look;
	return false;
}
#endif

static bool is_within(struct text_scan *scan)
{
	if (scan->depth > TEXT_SCAN_DEPTH_MAX)
		scan->error = "nested more than 200 deep";
	else if (scan->token > TEXT_SCAN_STRING_MAX)
		scan->error = "one value is longer than 16 MiB";
	return !scan->error;
}

static inline __attribute__((always_inline)) int
scan_piece(struct text_scan *scan, char *text, size_t len, block_look *look)
{
	bool begun = false;
	size_t at = 0, next = 0; /* from there on by blocks again */

	scan->flaw_count = 0;
	while (at < len) {
		if (at >= next && len - at >= BLOCK) {
			if (skip_block(scan, text + at, look)) {
				at += BLOCK;
				begun = false;
				if (is_within(scan))
					continue;
				return -EMSGSIZE;
			}
			next = at + BLOCK;
		}
		at += skip(scan, text + at, len - at, begun);
		if (at < len) {
			const unsigned char byte = (unsigned char)text[at];

			begun = !scan->in_string;
			if (begun)
				plain_byte(scan, byte);
			else
				text[at] = string_byte(scan, byte);
			at++;
			scan->offset++;
		}
		if (!is_within(scan))
			return -EMSGSIZE;
	}
	return 0;
}

#ifdef __SSE2__
static WIDE int scan_wide(struct text_scan *scan, char *text, size_t len)
{
	return scan_piece(scan, text, len, look_wide);
}

int text_scan_piece(struct text_scan *scan, char *text, size_t len)
{
	return __builtin_cpu_supports("avx2")
		       ? scan_wide(scan, text, len)
		       : scan_piece(scan, text, len, look_at);
}
#else
int text_scan_piece(struct text_scan *scan, char *text, size_t len)
{
	return scan_piece(scan, text, len, NULL);
}
#endif

void text_scan_free(struct text_scan *scan)
{
	free(scan->flaws);
	memset(scan, 0, sizeof(*scan));
}
