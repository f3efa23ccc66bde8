/* SPDX-License-Identifier: MIT */
/*
 * utf8.c - strict UTF-8, a byte at a time.
 */
#include "tools/util/utf8.h"

static bool first_byte(struct utf8_state *state, unsigned char byte)
{
	state->low = 0x80;
	state->high = 0xbf;
	if (byte < 0x80)
		return true;
	if (byte >= 0xc2 && byte <= 0xdf) {
		state->left = 1;
	} else if (byte >= 0xe0 && byte <= 0xef) {
		state->left = 2;
		if (byte == 0xe0)
			state->low = 0xa0;
		if (byte == 0xed)
			state->high = 0x9f;
	} else if (byte >= 0xf0 && byte <= 0xf4) {
		state->left = 3;
		if (byte == 0xf0)
			state->low = 0x90;
		if (byte == 0xf4)
			state->high = 0x8f;
	} else {
		return false;
	}
	return true;
}

bool utf8_feed(struct utf8_state *state, unsigned char byte)
{
	if (!state->left)
		return first_byte(state, byte);
	if (byte < state->low || byte > state->high) {
		state->left = 0;
		return false;
	}
	state->left--;
	state->low = 0x80;
	state->high = 0xbf;
	return true;
}

size_t utf8_sequence(const char *text, size_t len)
{
	struct utf8_state state = {0};

	for (size_t at = 0; at < len; at++) {
		if (!utf8_feed(&state, (unsigned char)text[at]))
			return 0;
		if (!state.left)
			return at + 1;
	}
	return 0;
}
