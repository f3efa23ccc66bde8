/* SPDX-License-Identifier: MIT */
/* stack_choice.c - the grammar of TRACEPROF_STACK; see stack_choice.h. */
#include "collector/control/stack_choice.h"

#include "collector/system/log.h"
#include <errno.h>
#include <string.h>

static const struct {
	char word[8];
	uint32_t families;
} words[] = {
	{"off", 0},
	{"heap", STACK_HEAP},
	{"cuda", STACK_CUDA},
	{"omp", STACK_OMP},
	{"blas", STACK_BLAS},
	{"all", STACK_HEAP | STACK_CUDA | STACK_OMP | STACK_BLAS},
};

/* The word that the text begins with; its length, 0 none. */
static size_t take_word(const char *text, uint32_t *families)
{
	const size_t len = strcspn(text, ",:");

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strlen(words[i].word) == len &&
		    !memcmp(words[i].word, text, len)) {
			*families |= words[i].families;
			return len;
		}
	}
	return 0;
}

/* A number from 1 to STACK_DEPTH_MAX, 0: it is none. */
static uint32_t take_depth(const char *text)
{
	uint32_t depth = 0;

	for (; *text >= '0' && *text <= '9' && depth <= STACK_DEPTH_MAX; text++)
		depth = depth * 10 + (uint32_t)(*text - '0');
	return *text || depth > STACK_DEPTH_MAX ? 0 : depth;
}

int stack_choice_parse(const char *text, struct stack_choice *choice, char *why,
		       size_t why_bytes)
{
	struct stack_choice found = {.depth = STACK_DEPTH_DEFAULT};
	const char *at = text;
	size_t len = 0;

	while ((len = take_word(at, &found.families)) && at[len] == ',')
		at += len + 1;
	at += len;
	if (len && *at == ':')
		found.depth = take_depth(at + 1);
	if (len && found.depth && (!*at || *at == ':')) {
		*choice = found;
		return 0;
	}
	log_format(why, why_bytes,
		   "TRACEPROF_STACK=%.64s is not valid: it takes off, all, or "
		   "heap, cuda, omp and blas with commas between, and :DEPTH "
		   "up to %u; using off",
		   text, STACK_DEPTH_MAX);
	return -EINVAL;
}
