/* SPDX-License-Identifier: MIT */
/* caller_loops.c - loops along a path of calls; see caller_loops.h. */
#include "preload/stack/caller_loops.h"

#include "preload/stack/python_eval.h"
#include "preload/stack/unwind.h"
#include <string.h>
#include <sys/auxv.h>

#define KNOWN	   256u /* a power of two */
/* Places that are read once more, in all, since a file was closed. */
#define AGAIN_MOST 1024u

/* What was found of one return address. */
struct known_call {
	uint64_t code;	/* 0 none */
	uint64_t begin; /* of its function */
	bool is_known;
	struct code_loops loops;
};

/* What was read for one of the search's places. */
struct read_place {
	uint64_t code; /* what it said */
	uint32_t when;
};

static struct known_call known[KNOWN];
static struct read_place places[SEARCH_LOOPS_MAX];
static uint32_t now; /* how often code went */
static uint32_t agains;

void caller_loops_forget(void)
{
	memset(known, 0, sizeof(known));
	now++;
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

/* A function that was called before may be a loop, too. */
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

/* The first call of a function that calls itself: all that it does is a loop
 * without a number of turns, in whichever of its calls that is. */
static unsigned int first_call(const uint64_t *codes, unsigned int i,
			       unsigned int count, uint64_t begin,
			       code_find_range *find)
{
	unsigned int first = i;

	while (++i < count) {
		if (look(codes[i], find)->begin == begin)
			first = i;
	}
	return first;
}

/* The innermost loop, and the next. */
static void add_loops(struct search_loops *found,
		      const struct code_loops *loops, const uint64_t *codes,
		      unsigned int from, unsigned int count)
{
	if (!found->key) {
		found->key = key_of(loops->innermost, codes, from, count);
		if (loops->within)
			found->within =
				key_of(loops->within, codes, from, count);
	} else if (!found->within) {
		found->within = key_of(loops->innermost, codes, from, count);
	}
}

static struct search_loops loops_of(const uint64_t *codes, unsigned int count,
				    unsigned int placed, code_find_range *find)
{
	const bool is_whole =
		count > CALLER_START_CALLS &&
		codes[count - 1] - getauxval(AT_ENTRY) < UNWIND_START_BYTES;
	const unsigned int calls =
		is_whole ? count - CALLER_START_CALLS : count;
	struct search_loops found = {0};
	uint32_t depth = 0;
	bool is_all = is_whole, is_always = true;

	for (unsigned int i = 0; i < calls; i++) {
		const struct known_call call = *look(codes[i], find);

		/* Above those of the place it may be another call that lies in
		 * the loop each time. */
		if (!call.is_known || is_again(codes, i, call.begin, find))
			return found;
		is_always &= call.loops.is_always;
		if (call.loops.calls_itself) {
			i = first_call(codes, i, calls, call.begin, find);
			found.key = key_of(call.begin, codes, i + 1, count);
			found.within = 0;
			depth = 1;
		}
		if (i >= placed)
			return found;
		if (call.loops.may_be_more && !call.loops.count && !found.key)
			return found;
		is_all &= !call.loops.may_be_more;
		if (call.loops.calls_itself)
			continue;
		if (call.loops.count) {
			if (!found.key) {
				found.is_always = is_always;
				found.is_needed = call.loops.is_needed;
			}
			add_loops(&found, &call.loops, codes, i + 1, count);
		}
		depth += call.loops.count;
	}
	found.depth = is_all ? (uint8_t)min_u64(depth + 1, UINT8_MAX) : 0;
	return found;
}

/* --- through the interpreter -----------------------------------------------*/

/* On the way up: the next return address, and the next function of Python. */
struct way {
	const uint64_t *codes;
	unsigned int count, at;
	const struct caller_python *python;
	uint32_t next;
	code_find_range *find;
};

/* A loop of Python's, by the functions of Python that led to it: it is the same
 * whatever is known of the machine code between them. */
static uint64_t python_key(uint64_t innermost, const struct way *way)
{
	uint64_t sum = innermost;

	for (uint32_t i = way->next; i < way->python->count; i++)
		sum = mix(mix(sum, way->python->frames[i].code),
			  way->python->frames[i].instruction);
	return sum | 1;
}

/* A loop, by the calls that led to it, what the interpreter made of them left
 * out: it does so in one way or another. */
static uint64_t native_key(uint64_t innermost, const struct way *way)
{
	uint64_t sum = innermost;

	for (unsigned int i = way->at + 1; i < way->count; i++) {
		if (!caller_is_python(way->python, way->codes[i]))
			sum = mix(sum, way->codes[i]);
	}
	return python_key(sum, way);
}

/* The innermost loop, and the next: of what led to this one. */
static void add_on_way(struct search_loops *found, uint64_t innermost,
		       uint64_t within)
{
	if (!found->key) {
		found->key = innermost;
		found->within = within;
	} else if (!found->within) {
		found->within = innermost;
	}
}

/* Those of a function of Python. */
static bool leave_function(struct way *way, struct search_loops *found,
			   uint32_t *depth)
{
	const struct python_frame *frame = &way->python->frames[way->next];
	struct code_loops loops;

	if (!python_frames_loops(frame, &loops))
		return false;
	way->next++;
	if (loops.count)
		add_on_way(found,
			   python_key(mix(frame->code, loops.innermost), way),
			   loops.within
				   ? python_key(mix(frame->code, loops.within),
						way)
				   : 0);
	*depth += loops.count;
	return true;
}

/* The functions of one run of the interpreter's loop.  One that calls itself is
 * at another place each time: all of them tell the place. */
static bool leave_run(struct way *way, struct search_loops *found,
		      uint32_t *depth)
{
	const struct caller_python *python = way->python;
	bool is_last = false;

	while (!is_last && way->next < python->count) {
		is_last = python->frames[way->next].ends_run;
		if (!leave_function(way, found, depth))
			return false;
	}
	return true;
}

/* What lies between isn't known: the innermost loop of those that are. */
static void leave_unknown(struct way *way, struct search_loops *found)
{
	uint32_t depth = 0;

	found->is_around = !found->key;
	while (found->is_around && !found->within &&
	       way->next < way->python->count &&
	       leave_function(way, found, &depth))
		;
}

static bool leave_native(struct way *way, struct search_loops *found,
			 uint32_t *depth)
{
	const uint64_t code = way->codes[way->at];
	const struct known_call call = *look(code, way->find);

	if (!call.is_known || call.loops.may_be_more)
		return false;
	/* The interpreter's own functions call each other again and again. */
	if (!caller_is_python(way->python, code) &&
	    is_again(way->codes, way->at, call.begin, way->find))
		return false;
	if (call.loops.count)
		add_on_way(found, native_key(call.loops.innermost, way),
			   call.loops.within
				   ? native_key(call.loops.within, way)
				   : 0);
	*depth += call.loops.count;
	return true;
}

/* What is left of it is the interpreter's start. */
static bool is_in_main(const struct way *way)
{
	struct code_range range = {0};

	if (!python_frames_main() || !way->find(python_frames_main(), &range))
		return false;
	for (unsigned int i = way->at; i < way->count; i++) {
		if (look(way->codes[i], way->find)->begin == range.begin)
			return true;
	}
	return false;
}

static struct search_loops loops_in_python(const uint64_t *codes,
					   unsigned int count,
					   const struct caller_python *python,
					   code_find_range *find)
{
	struct way way = {codes, count, 0, python, 0, find};
	struct search_loops found = {0};
	uint32_t depth = 0;

	for (; way.at < count && way.next < python->count; way.at++) {
		const bool is_known =
			python_eval_holds(codes[way.at])
				? leave_run(&way, &found, &depth)
				: leave_native(&way, &found, &depth);

		if (!is_known)
			break;
	}
	if (way.next == python->count && is_in_main(&way))
		found.depth = (uint8_t)min_u64(depth + 1, UINT8_MAX);
	else
		leave_unknown(&way, &found);
	return found;
}

/* --- what is kept ----------------------------------------------------------*/

static uint32_t find_place(const struct step_search *search, uint64_t id)
{
	uint32_t i = load_relaxed(&search->loop_count);

	while (i && search->loops[i - 1].id != id)
		i--;
	return i ? i - 1 : SEARCH_LOOPS_MAX;
}

bool caller_loops_has(const struct step_search *search, uint64_t id)
{
	const uint32_t at = find_place(search, id);

	if (at == SEARCH_LOOPS_MAX)
		return load_relaxed(&search->loop_count) == SEARCH_LOOPS_MAX;
	return places[at].when == now || agains == AGAIN_MOST;
}

/* The same while the same code lies where the calls return to. */
static uint64_t sum_of(const uint64_t *codes, unsigned int count,
		       code_find_range *find)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < count; i++) {
		const struct known_call call = *look(codes[i], find);

		sum = mix(sum, call.begin);
		if (call.is_known)
			sum = mix(sum,
				  call.loops.innermost ^
					  ((uint64_t)call.loops.count << 1 |
					   call.loops.may_be_more));
	}
	return sum;
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
		       unsigned int placed, const struct caller_python *python,
		       code_find_range *find)
{
	const uint64_t code = sum_of(
		codes, min_u32(count, python->count ? python->below : placed),
		find);
	uint32_t at = find_place(search, id);

	if (at != SEARCH_LOOPS_MAX) {
		if (places[at].code != code)
			store_relaxed(&search->loops[at].is_gone, 1);
		places[at].when = now;
		agains++;
		return;
	}
	at = load_relaxed(&search->loop_count);
	if (at == SEARCH_LOOPS_MAX)
		return;
	places[at] = (struct read_place){code, now};
	search->loops[at] =
		python->count ? loops_in_python(codes, count, python, find)
			      : loops_of(codes, count, placed, find);
	search->loops[at].id = id;
	search->loops[at].loop = number_of(search, at);
	/* RELEASE pairs with ACQUIRE in search_loops_of(). */
	store_release(&search->loop_count, at + 1);
}
