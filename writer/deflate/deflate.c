/* SPDX-License-Identifier: MIT */
/* deflate.c - writes deflate blocks; see deflate.h. */
#include "writer/deflate/deflate.h"

#include <string.h>

#define INLINE	      inline __attribute__((always_inline))
#define END_OF_BLOCK  256u
#define FIRST_LENGTH  257u
#define STORED_MAX    65535u
/* Four literals, or a match, and seven bits that wait: one word of 64. */
#define LITERAL_BITS  14u
#define DISTANCE_BITS 13u
#define CODE_SYMBOLS  19u
#define CODE_BITS     7u
/* Counted are this many sequences in turn of each so many. */
#define SAMPLE	      24u
#define SAMPLE_EACH   256u
/* So many blocks have the same codes at most. */
#define USES_MAX      8u
/* What has been seen in a sample weighs more than what has not. */
#define SAMPLE_WEIGHT 64u

/* Of the length symbols from FIRST_LENGTH: the shortest match, extra bits. */
static const uint16_t length_base[29] = {
	3,  4,	5,  6,	7,  8,	9,  10, 11,  13,  15,  17,  19,	 23, 27,
	31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
static const uint8_t length_extra[29] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1,
					 1, 1, 2, 2, 2, 2, 3, 3, 3, 3,
					 4, 4, 4, 4, 5, 5, 5, 5, 0};

static inline unsigned int distance_extra(unsigned int symbol)
{
	return symbol < 4 ? 0 : symbol / 2 - 1;
}

static inline uint32_t distance_base(unsigned int symbol)
{
	const unsigned int extra = distance_extra(symbol);

	return symbol < 4 ? symbol + 1 : ((2 + (symbol & 1)) << extra) + 1;
}

static inline unsigned int distance_symbol(uint32_t distance)
{
	const uint32_t above = distance - 1;
	unsigned int power;

	if (unlikely(above < 2))
		return above;
	power = 31 - (unsigned int)__builtin_clz(above);
	return 2 * power + (above >> (power - 1) & 1);
}

void deflate_start(struct deflate *deflate)
{
	unsigned int symbol = 0;

	for (unsigned int len = 3; len <= DEFLATE_MATCH_MAX; len++) {
		if (symbol + 1 < 29 && len >= length_base[symbol + 1])
			symbol++;
		deflate->length_symbol[len] = (uint8_t)symbol;
	}
}

/* Out with all whole bytes. */
static inline void flush(struct deflate_bits *out)
{
	if (unlikely(out->out >= out->limit)) {
		out->is_full = true;
		out->count = 0;
		out->word = 0;
		return;
	}
	memcpy(out->out, &out->word, sizeof(out->word));
	out->out += out->count >> 3;
	out->word >>= out->count & ~7u;
	out->count &= 7;
}

static inline void add(struct deflate_bits *out, uint64_t bits,
		       unsigned int len)
{
	out->word |= bits << out->count;
	out->count += len;
}

static inline void put(struct deflate_bits *out, uint64_t bits,
		       unsigned int len)
{
	add(out, bits, len);
	flush(out);
}

void deflate_finish(struct deflate_bits *out)
{
	out->count = (unsigned int)align_up(out->count, 8);
	flush(out);
}

void deflate_stored(struct deflate_bits *out, const char *text, size_t len,
		    bool last)
{
	do {
		const size_t piece = min_u64(len, STORED_MAX);

		put(out, last && piece == len, 3);
		deflate_finish(out);
		put(out, piece | (~(uint64_t)piece & 0xffff) << 16, 32);
		if (out->is_full || (size_t)(out->limit - out->out) < piece) {
			out->is_full = true;
			return;
		}
		if (piece)
			memcpy(out->out, text, piece);
		out->out += piece;
		text += piece;
		len -= piece;
	} while (len);
}

void deflate_align(struct deflate_bits *out)
{
	deflate_stored(out, NULL, 0, false);
}

/* A match may be longer than deflate has words for: the length of the first
 * part, such that the rest is long enough too. */
static inline uint32_t part_of(uint32_t match)
{
	if (likely(match <= DEFLATE_MATCH_MAX))
		return match;
	return match - DEFLATE_MATCH_MAX < 3 ? DEFLATE_MATCH_MAX - 3
					     : DEFLATE_MATCH_MAX;
}

static void count_one(struct deflate *deflate, const unsigned char *text,
		      const struct line_sequence *sequence)
{
	for (uint32_t i = 0; i < sequence->literals; i++)
		deflate->counts[text[i]] += SAMPLE_WEIGHT;
	for (uint32_t left = sequence->match; left;) {
		const uint32_t part = part_of(left);

		deflate->counts[FIRST_LENGTH + deflate->length_symbol[part]] +=
			SAMPLE_WEIGHT;
		deflate->distance_counts[distance_symbol(sequence->distance)] +=
			SAMPLE_WEIGHT;
		left -= part;
	}
}

/* Counts a part of the sequences; whatever else comes up can be written too.
 * Returns how many literals there are in all of them. */
static size_t count(struct deflate *deflate, const char *text,
		    const struct line_sequence *sequences, size_t number)
{
	size_t literals = 0;

	for (unsigned int i = 0; i < DEFLATE_LITERALS; i++)
		deflate->counts[i] = 1;
	for (unsigned int i = 0; i < DEFLATE_DISTANCES; i++)
		deflate->distance_counts[i] = 1;
	for (size_t i = 0; i < number; i++) {
		if (i % SAMPLE_EACH < SAMPLE)
			count_one(deflate, (const unsigned char *)text,
				  &sequences[i]);
		text += sequences[i].literals + sequences[i].match;
		literals += sequences[i].literals;
	}
	return literals;
}

/* The lengths of both codes in a row: runs of one length, and of zeros, are
 * shorter to say.  Each entry is a symbol, and what follows it above 8 bits. */
static unsigned int pack_lengths(const uint8_t *lengths, unsigned int number,
				 uint16_t *packed)
{
	unsigned int made = 0;

	for (unsigned int at = 0; at < number;) {
		unsigned int run = 1;

		while (at + run < number && lengths[at + run] == lengths[at])
			run++;
		at += run;
		if (!lengths[at - run]) {
			for (; run >= 11; run -= min_u64(run, 138))
				packed[made++] =
					(uint16_t)(18 | (min_u64(run, 138) - 11)
								<< 8);
			if (run >= 3) {
				packed[made++] =
					(uint16_t)(17 | (run - 3) << 8);
				run = 0;
			}
		} else {
			packed[made++] = lengths[at - run--];
			for (; run >= 3; run -= min_u64(run, 6))
				packed[made++] =
					(uint16_t)(16 | (min_u64(run, 6) - 3)
								<< 8);
		}
		while (run)
			packed[made++] = lengths[at - run--];
	}
	return made;
}

static void put_lengths(struct deflate_bits *out, const uint8_t *lengths)
{
	static const uint8_t order[CODE_SYMBOLS] = {16, 17, 18, 0,  8, 7,  9,
						    6,	10, 5,	11, 4, 12, 3,
						    13, 2,  14, 1,  15};
	static const uint8_t extra[3] = {2, 3, 7};
	uint16_t packed[DEFLATE_LITERALS + DEFLATE_DISTANCES];
	struct huffman_code codes[CODE_SYMBOLS];
	uint32_t counts[CODE_SYMBOLS] = {0};
	uint8_t of_codes[CODE_SYMBOLS];
	unsigned int used = CODE_SYMBOLS;
	const unsigned int made = pack_lengths(
		lengths, DEFLATE_LITERALS + DEFLATE_DISTANCES, packed);

	for (unsigned int i = 0; i < made; i++)
		counts[packed[i] & 0xff]++;
	huffman_lengths(counts, CODE_SYMBOLS, CODE_BITS, of_codes);
	huffman_codes(of_codes, CODE_SYMBOLS, codes);
	while (used > 4 && !of_codes[order[used - 1]])
		used--;
	put(out, DEFLATE_LITERALS - 257, 5);
	put(out, DEFLATE_DISTANCES - 1, 5);
	put(out, used - 4, 4);
	for (unsigned int i = 0; i < used; i++)
		put(out, of_codes[order[i]], 3);
	for (unsigned int i = 0; i < made; i++) {
		const unsigned int symbol = packed[i] & 0xff;

		put(out, codes[symbol].bits, codes[symbol].len);
		if (symbol >= 16)
			put(out, packed[i] >> 8, extra[symbol - 16]);
	}
}

static struct huffman_code digit_code(const struct deflate *deflate,
				      unsigned int digit)
{
	return digit == DEFLATE_NONE ? (struct huffman_code){0, 0}
				     : deflate->literal[DEFLATE_DIGIT + digit];
}

/* What was counted, in the present codes; how many symbols it is. */
static uint64_t counted_bits(const struct deflate *deflate, uint64_t *symbols)
{
	uint64_t bits = 0;

	*symbols = 0;
	for (unsigned int i = 0; i < DEFLATE_LITERALS; i++) {
		bits += (uint64_t)deflate->counts[i] * deflate->lengths[i];
		*symbols += deflate->counts[i];
	}
	for (unsigned int i = 0; i < DEFLATE_DISTANCES; i++) {
		bits += (uint64_t)deflate->distance_counts[i] *
			deflate->lengths[DEFLATE_LITERALS + i];
		*symbols += deflate->distance_counts[i];
	}
	return bits;
}

/* Codes for what was counted. */
static void fit(struct deflate *deflate)
{
	uint8_t *const lengths = deflate->lengths;

	huffman_lengths(deflate->counts, DEFLATE_LITERALS, LITERAL_BITS,
			lengths);
	huffman_lengths(deflate->distance_counts, DEFLATE_DISTANCES,
			DISTANCE_BITS, lengths + DEFLATE_LITERALS);
	huffman_codes(lengths, DEFLATE_LITERALS, deflate->literal);
	huffman_codes(lengths + DEFLATE_LITERALS, DEFLATE_DISTANCES,
		      deflate->distance);
	for (unsigned int len = 3; len <= DEFLATE_MATCH_MAX; len++) {
		const unsigned int symbol = deflate->length_symbol[len];
		const struct huffman_code code =
			deflate->literal[FIRST_LENGTH + symbol];

		deflate->match[len] = (struct deflate_piece){
			code.bits | (len - length_base[symbol]) << code.len,
			code.len + length_extra[symbol],
		};
	}
	for (unsigned int i = 0; i < DEFLATE_DISTANCES; i++) {
		const struct huffman_code code = deflate->distance[i];

		deflate->far[i] = (struct deflate_distance){
			.bits = code.bits,
			.base = (uint16_t)distance_base(i),
			.len = (uint8_t)code.len,
			.len_all = (uint8_t)(code.len + distance_extra(i)),
		};
	}
	for (unsigned int i = 0; i < 256; i++) {
		const struct huffman_code first = digit_code(deflate, i & 15);
		const struct huffman_code second = digit_code(deflate, i >> 4);

		deflate->pair[i] = (struct deflate_piece){
			first.bits | (uint32_t)second.bits << first.len,
			first.len + second.len};
	}
	deflate->uses = 0;
	deflate->fitted_bits = counted_bits(deflate, &deflate->fitted_symbols);
}

/* Takes what it took for the last block where that is as good here: making
 * codes costs as much as a hundred lines. */
static void fit_if_worth(struct deflate *deflate)
{
	uint64_t symbols;
	const uint64_t bits = counted_bits(deflate, &symbols);

	if (!deflate->fitted_bits || ++deflate->uses == USES_MAX ||
	    bits * deflate->fitted_symbols / symbols >
		    deflate->fitted_bits + deflate->fitted_bits / 64)
		fit(deflate);
}

/* The bits stay in registers: nobody else knows where they are. */
struct register_bits {
	uint64_t word;
	uint64_t count;
	char *out;
};

static INLINE void add_fast(struct register_bits *out, uint64_t bits,
			    uint64_t len)
{
	out->word |= bits << (out->count & 63);
	out->count += len;
}

static INLINE void flush_fast(struct register_bits *out)
{
	memcpy(out->out, &out->word, sizeof(out->word));
	out->out += out->count >> 3;
	out->word >>= out->count & 56;
	out->count &= 7;
}

/* Two literals of a number. */
static INLINE void put_pair(const struct deflate *deflate,
			    struct register_bits *out, uint64_t digits)
{
	const struct deflate_piece piece = deflate->pair[digits & 0xff];

	add_fast(out, piece.bits, piece.len);
}

/* Up to eight digits at once, hardly asking how many: those that are not there
 * have no bits.  False: they are not all of DEFLATE_DIGITS. */
static INLINE bool put_digits(const struct deflate *deflate,
			      struct register_bits *out,
			      const unsigned char *text, uint32_t len)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	const uint64_t none = len < 8 ? ~UINT64_C(0) << 8 * len : 0;
	uint64_t digits;

	memcpy(&digits, text, sizeof(digits));
	digits = (digits - DEFLATE_DIGIT * ones) & ~none;
	/* Above what is a digit, and DEFLATE_NONE itself. */
	if (unlikely((digits | (digits + ones)) & ones * 0xf0))
		return false;
	digits |= none & DEFLATE_NONE * ones;
	digits |= digits >> 4;
	put_pair(deflate, out, digits);
	put_pair(deflate, out, digits >> 16);
	flush_fast(out);
	if (len > 4) {
		put_pair(deflate, out, digits >> 32);
		put_pair(deflate, out, digits >> 48);
		flush_fast(out);
	}
	return true;
}

/* `left` bytes of text are there to be read. */
static INLINE void put_literals(const struct deflate *deflate,
				struct register_bits *out,
				const unsigned char *text, uint32_t len,
				size_t left)
{
	while (len) {
		const uint32_t now = len < 8 ? len : 8;

		if (unlikely(left < 8 || !put_digits(deflate, out, text, now)))
			break;
		text += now;
		left -= now;
		len -= now;
	}
	for (; unlikely(len); text++, len--) {
		const struct huffman_code code = deflate->literal[*text];

		add_fast(out, code.bits, code.len);
		flush_fast(out);
	}
}

static INLINE void put_match(const struct deflate *deflate,
			     struct register_bits *out, uint32_t match,
			     uint32_t distance)
{
	const struct deflate_distance code =
		deflate->far[distance_symbol(distance)];
	const uint64_t bits = code.bits | (uint64_t)(distance - code.base)
						  << code.len;

	do {
		const uint32_t part = part_of(match);
		const struct deflate_piece piece = deflate->match[part];

		add_fast(out, piece.bits, piece.len);
		add_fast(out, bits, code.len_all);
		flush_fast(out);
		match -= part;
	} while (unlikely(match));
}

/* Of `literals` bytes and `match` more: a word each time; no code of a literal
 * is longer than two bytes, and a match's parts have six. */
static INLINE size_t most_bytes(size_t literals, size_t match)
{
	return 32 + 2 * literals + match / 32;
}

/* False: they might not fit.  `fits`: they do. */
static INLINE bool put_each(const struct deflate *deflate,
			    struct deflate_bits *bits,
			    const unsigned char *text, size_t left,
			    const struct line_sequence *sequences,
			    size_t number, bool fits)
{
	struct register_bits out = {bits->word, bits->count, bits->out};

	for (size_t i = 0; i < number; i++) {
		const struct line_sequence sequence = sequences[i];

		if (!fits && bits->limit - out.out <
				     (ptrdiff_t)most_bytes(sequence.literals,
							   sequence.match))
			return false;
		put_literals(deflate, &out, text, sequence.literals, left);
		if (likely(sequence.match))
			put_match(deflate, &out, sequence.match,
				  sequence.distance);
		text += sequence.literals + sequence.match;
		left -= sequence.literals + sequence.match;
	}
	bits->word = out.word;
	bits->count = (unsigned int)out.count;
	bits->out = out.out;
	return true;
}

static bool put_sequences(const struct deflate *deflate,
			  struct deflate_bits *bits, const char *text,
			  size_t left, const struct line_sequence *sequences,
			  size_t number, size_t literals)
{
	const unsigned char *bytes = (const unsigned char *)text;
	/* Eight bytes for each match, and for the parts of long ones. */
	const size_t most = most_bytes(literals, left) + 8 * number;

	if (likely(bits->limit - bits->out >= (ptrdiff_t)most))
		return put_each(deflate, bits, bytes, left, sequences, number,
				true);
	return put_each(deflate, bits, bytes, left, sequences, number, false);
}

void deflate_block(struct deflate *deflate, struct deflate_bits *out,
		   const char *text, size_t left,
		   const struct line_sequence *sequences, size_t number,
		   bool last)
{
	const size_t literals = count(deflate, text, sequences, number);

	put(out, (last ? 1u : 0u) | 2u << 1, 3);
	fit_if_worth(deflate);
	put_lengths(out, deflate->lengths);
	if (out->is_full || !put_sequences(deflate, out, text, left, sequences,
					   number, literals)) {
		out->is_full = true;
		return;
	}
	put(out, deflate->literal[END_OF_BLOCK].bits,
	    deflate->literal[END_OF_BLOCK].len);
}
