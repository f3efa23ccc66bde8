/* SPDX-License-Identifier: MIT */
/* caller_loops.c - loops along a path of calls; see caller_loops.h. */
#include "preload/stack/caller_loops.h"

#include <string.h>
#include <sys/auxv.h>

#define KNOWN	    256u /* a power of two */
/* The code at which the kernel starts a program, in which the last return
 * address lies; between it and main() glibc has two functions. */
#define START_BYTES 64u
#define START_CALLS 3u

/* What was found of one return address. */
struct known_call {
	uint64_t code;	/* 0 none */
	uint64_t begin; /* of its function */
	bool is_known;
	struct code_loops loops;
};

static struct known_call known[KNOWN];

void caller_loops_forget(void)
{
	memset(known, 0, sizeof(known));
}

static uint64_t mix(uint64_t sum, uint64_t value)
{
	return (sum ^ value) * UINT64_C(0x9e3779b97f4a7c15);
}

static const struct known_call *look(uint64_t code, code_find_range *find)
{
	struct known_call *call = &known[mix(0, code) >> 32 & (KNOWN - 1)];
	struct code_range range = {0};

	if (call->code != code) {
		call->is_known = find(code - 1, &range) &&
				 code_loops_around(code, find, &call->loops);
		call->begin = range.begin;
		call->code = code;
	}
	return call;
}

/* A function that calls itself is a loop, too. */
static bool is_again(const uint64_t *codes, unsigned int i, uint64_t begin,
		     code_find_range *find)
{
	while (i--) {
		if (look(codes[i], find)->begin == begin)
			return true;
	}
	return false;
}

/* A loop is the same one where it is reached by the same calls. */
static uint64_t key_of(uint64_t innermost, const uint64_t *codes,
		       unsigned int from, unsigned int count)
{
	uint64_t sum = innermost;

	for (unsigned int i = from; i < count; i++)
		sum = mix(sum, codes[i]);
	return sum | 1;
}

static struct search_loops loops_of(const uint64_t *codes, unsigned int count,
				    unsigned int placed, code_find_range *find)
{
	const bool is_whole =
		count > START_CALLS &&
		codes[count - 1] - getauxval(AT_ENTRY) < START_BYTES;
	const unsigned int calls = is_whole ? count - START_CALLS : count;
	struct search_loops found = {0};
	uint32_t depth = 0;
	bool is_all = is_whole;

	for (unsigned int i = 0; i < calls; i++) {
		const struct known_call call = *look(codes[i], find);

		/* Above those of the place it may be another call that lies in
		 * the loop each time. */
		if (!call.is_known || is_again(codes, i, call.begin, find) ||
		    i >= placed)
			return found;
		if (call.loops.may_be_more && !call.loops.count && !found.key)
			return found;
		is_all &= !call.loops.may_be_more;
		if (call.loops.count && !found.key)
			found.key = key_of(call.loops.innermost, codes, i + 1,
					   count);
		depth += call.loops.count;
	}
	found.depth = is_all ? (uint16_t)min_u64(depth + 1, UINT16_MAX) : 0;
	return found;
}

bool caller_loops_has(const struct step_search *search, uint64_t id)
{
	const uint32_t count = load_relaxed(&search->loop_count);

	for (uint32_t i = count; i--;) {
		if (search->loops[i].id == id)
			return true;
	}
	return count == SEARCH_LOOPS_MAX;
}

static uint16_t number_of(const struct step_search *search, uint32_t at)
{
	uint16_t first = 0;

	while (search->loops[first].key != search->loops[at].key)
		first++;
	return search->loops[at].key ? (uint16_t)(first + 1) : 0;
}

void caller_loops_note(struct step_search *search, uint64_t id,
		       const uint64_t *codes, unsigned int count,
		       unsigned int placed, code_find_range *find)
{
	const uint32_t at = load_relaxed(&search->loop_count);

	if (at == SEARCH_LOOPS_MAX)
		return;
	search->loops[at] = loops_of(codes, count, placed, find);
	search->loops[at].id = id;
	search->loops[at].loop = number_of(search, at);
	/* RELEASE pairs with ACQUIRE in search_loops_of(). */
	store_release(&search->loop_count, at + 1);
}
