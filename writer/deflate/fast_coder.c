/* SPDX-License-Identifier: MIT */
/*
 * fast_coder.c - the coder for traces: it knows that a trace's lines repeat
 * each other.
 *
 * line_match.c finds what each line repeats, deflate.c writes it down.  What
 * gets no shorter so is stored as it is.
 */
#include "writer/deflate/coder.h"
#include "writer/deflate/deflate.h"
#include <errno.h>

/* One deflate block has at most so many sequences, some 200 KB of text. */
#define SEQUENCES     8192u
/* Words are written whole, also the last one. */
#define SPARE	      16u
/* Less is not worth codes of its own. */
#define DEFLATE_LEAST 128u

struct fast_state {
	struct deflate lines; /* codes for lines with notes */
	struct deflate other; /* and for a file's head and tails */
	struct line_sequence sequences[SEQUENCES];
	struct line_match *match;
};

static int fast_open(struct coder *coder)
{
	struct fast_state *state = coder_alloc(coder, sizeof(*state));

	if (!state)
		return -ENOMEM;
	state->match = coder_alloc(coder, line_match_bytes());
	if (!state->match)
		return -ENOMEM;
	deflate_start(&state->lines);
	deflate_start(&state->other);
	line_match_start(state->match, LINE_MATCH_BEST);
	coder->state = state;
	return 0;
}

/* False: it didn't fit. */
static bool deflate_text(struct fast_state *state, struct deflate_bits *bits,
			 const struct coder_text *text)
{
	struct deflate *deflate = text->fields ? &state->lines : &state->other;
	size_t number, done = 0;

	line_match_begin(state->match, text->data, text->len, text->fields);
	while (done < text->len && !bits->is_full) {
		const char *from = text->data + done;
		const size_t left = text->len - done;

		number = line_match_next(state->match, state->sequences,
					 SEQUENCES);
		done = line_match_done(state->match);
		deflate_block(deflate, bits, from, left, state->sequences,
			      number, text->last && done == text->len);
	}
	return !bits->is_full;
}

static int fast_block(struct coder *coder, const struct coder_text *text,
		      char *out, size_t room, size_t *made)
{
	struct fast_state *const state = coder->state;
	struct deflate_bits bits = {.out = out, .limit = out + room - SPARE};

	if (text->len > LINE_MATCH_TEXT)
		return -EIO;
	if (text->len < DEFLATE_LEAST || !deflate_text(state, &bits, text)) {
		bits = (struct deflate_bits){.out = out,
					     .limit = out + room - SPARE};
		deflate_stored(&bits, text->data, text->len, text->last);
	}
	if (!text->last)
		deflate_align(&bits);
	deflate_finish(&bits);
	*made = (size_t)(bits.out - out);
	return bits.is_full ? -EIO : 0;
}

const struct coder_back_end fast_coder = {
	.arena_bytes = sizeof(struct fast_state) + 96 * 1024,
	.open = fast_open,
	.block = fast_block,
};
