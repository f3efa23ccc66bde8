/* SPDX-License-Identifier: MIT */
/* code_loops.c - the loops of a function's code; see code_loops.h. */
#include "preload/stack/code_loops.h"

#include "preload/stack/code_effect.h"
#include "preload/stack/code_read.h"
#include <string.h>

#define INSTRUCTIONS_MAX 8192u
/* A function and the parts of it that lie elsewhere; the functions that it ends
 * by a jump to are taken for such, too. */
#define RANGES_MAX	 8u
/* A loop that is entered in more places isn't looked at. */
#define ENTRIES_MAX	 4u

enum mark {
	IN_SET = 1, /* is looked at */
	AFTER = 2,  /* can be reached from the call */
	BEFORE = 4, /* can reach it */
	LIVE = 8,   /* is no filling between two jumps */
	PAST = 16,  /* can be reached without the call */
	ENTRY = 32, /* of the loop, from outside */
	OUTER = 64, /* is in the loop that is looked at */
};

#define NOWHERE UINT32_MAX

static struct {
	struct code_range range[RANGES_MAX];
	uint32_t first[RANGES_MAX]; /* instruction of each */
	uint32_t ranges;
	uint32_t count;
	uint64_t at[INSTRUCTIONS_MAX + 1];
	uint64_t goal[INSTRUCTIONS_MAX]; /* the target's address, 0 none */
	uint32_t target[INSTRUCTIONS_MAX];
	uint8_t flow[INSTRUCTIONS_MAX];
	uint8_t marks[INSTRUCTIONS_MAX];
	bool is_filling[INSTRUCTIONS_MAX];
	bool is_call[INSTRUCTIONS_MAX];
	bool is_target[INSTRUCTIONS_MAX + 1]; /* of a jump */
	uint32_t stack[INSTRUCTIONS_MAX];
	bool calls_itself;
	bool is_busy;
} graph;

/* --- reading ---------------------------------------------------------------*/

/* Through memory a function without a frame ends by another's; who has one goes
 * to a label, whose address a table has. */
static uint32_t flow_of(uint32_t flow, uint64_t at, code_find_range *find)
{
	struct code_range here;

	if (flow != CODE_BY_MEMORY)
		return flow;
	return find(at, &here) && here.is_bare ? CODE_LEAVES : CODE_ANYWHERE;
}

static bool read_range(const struct code_range *range, code_find_range *find)
{
	const uint64_t end = range->begin + range->bytes;
	uint64_t at = range->begin;

	if (graph.ranges == RANGES_MAX)
		return false;
	graph.range[graph.ranges] = *range;
	graph.first[graph.ranges++] = graph.count;
	while (at < end) {
		struct code_instruction found;
		const uint32_t i = graph.count;

		if (i == INSTRUCTIONS_MAX ||
		    !code_read((const unsigned char *)(uintptr_t)at, end - at,
			       &found))
			return false;
		graph.at[i] = at;
		graph.flow[i] = (uint8_t)flow_of(found.flow, at, find);
		graph.is_filling[i] = found.is_filling;
		graph.is_call[i] = found.is_call;
		graph.is_target[i] = false;
		at += found.bytes;
		graph.calls_itself |=
			found.is_call &&
			at + (uint64_t)found.distance == graph.range[0].begin;
		graph.goal[i] =
			found.flow == CODE_BRANCH || found.flow == CODE_JUMP
				? at + (uint64_t)found.distance
				: 0;
		graph.count++;
	}
	return at == end;
}

static uint32_t range_of(uint64_t code)
{
	for (uint32_t r = 0; r < graph.ranges; r++) {
		if (code - graph.range[r].begin < graph.range[r].bytes)
			return r;
	}
	return NOWHERE;
}

/* The instruction at an address of a range that was read. */
static uint32_t instruction_at(uint64_t code)
{
	const uint32_t r = range_of(code);
	uint32_t low, high;

	if (r == NOWHERE)
		return NOWHERE;
	low = graph.first[r];
	high = r + 1 < graph.ranges ? graph.first[r + 1] : graph.count;
	while (low + 1 < high) {
		const uint32_t middle = (low + high) / 2;

		if (code < graph.at[middle])
			high = middle;
		else
			low = middle;
	}
	return graph.at[low] == code ? low : NOWHERE;
}

/* Reads what jumps lead to, until nothing new comes. */
static bool read_all(const struct code_range *first, code_find_range *find)
{
	graph.ranges = graph.count = 0;
	graph.calls_itself = false;
	if (!read_range(first, find))
		return false;
	for (uint32_t i = 0; i < graph.count; i++) {
		struct code_range range = {0};

		graph.target[i] = NOWHERE;
		if (!graph.goal[i])
			continue;
		/* What nothing tells of is a slot of the linker's. */
		if (range_of(graph.goal[i]) == NOWHERE &&
		    find(graph.goal[i], &range) && !read_range(&range, find))
			return false;
		graph.target[i] = instruction_at(graph.goal[i]);
		if (graph.target[i] == NOWHERE &&
		    range_of(graph.goal[i]) != NOWHERE)
			return false;
	}
	return true;
}

/* Behind a call that never comes back something else begins, to which a jump
 * leads: only there it is asked. */
static void end_calls(code_find_range *find)
{
	for (uint32_t i = 0; i < graph.count; i++) {
		if (graph.target[i] != NOWHERE)
			graph.is_target[graph.target[i]] = true;
	}
	for (uint32_t i = 0; i + 1 < graph.count; i++) {
		const uint64_t at = graph.at[i];
		struct code_range range = {.is_end = true};
		struct code_instruction call;

		if (graph.is_call[i] && graph.is_target[i + 1] &&
		    code_read((const unsigned char *)(uintptr_t)at,
			      graph.at[i + 1] - at, &call) &&
		    find(at + call.bytes + (uint64_t)call.distance, &range))
			graph.flow[i] = CODE_LEAVES;
	}
}

/* What never comes back is a function of its own. */
static void cut_functions(void)
{
	uint32_t back = 1; /* ranges */

	for (uint32_t i = 0; i < graph.count; i++) {
		if (graph.target[i] != NOWHERE &&
		    range_of(graph.goal[i]) != range_of(graph.at[i]))
			back |= UINT32_C(1) << range_of(graph.at[i]);
	}
	for (uint32_t i = 0; i < graph.count; i++) {
		if (graph.target[i] != NOWHERE &&
		    !(back >> range_of(graph.goal[i]) & 1))
			graph.target[i] = NOWHERE;
	}
}

/* --- loops -----------------------------------------------------------------*/

static bool goes_on(uint32_t i)
{
	return (graph.flow[i] == CODE_ON || graph.flow[i] == CODE_BRANCH) &&
	       i + 1 < graph.count;
}

static void push(uint32_t i, uint8_t mark, uint32_t *depth)
{
	if (i == NOWHERE || !(graph.marks[i] & IN_SET) || graph.marks[i] & mark)
		return;
	graph.marks[i] |= mark;
	graph.stack[(*depth)++] = i;
}

/* Marks what can be reached from an instruction.  False: from there anything
 * may be. */
static bool flood(uint32_t from, uint8_t mark)
{
	uint32_t depth = 0, i = from;
	bool is_all = true;

	for (;;) {
		is_all &= graph.flow[i] != CODE_ANYWHERE;
		if (goes_on(i))
			push(i + 1, mark, &depth);
		push(graph.target[i], mark, &depth);
		if (!depth)
			return is_all;
		i = graph.stack[--depth];
	}
}

static bool leads_to(uint32_t i, uint8_t mark)
{
	return (goes_on(i) && graph.marks[i + 1] & mark) ||
	       (graph.target[i] != NOWHERE &&
		graph.marks[graph.target[i]] & mark);
}

/* From what it can be reached. */
static void mark_before(uint32_t to)
{
	bool has_more = true;

	graph.marks[to] |= BEFORE;
	while (has_more) {
		has_more = false;
		for (uint32_t i = graph.count; i--;) {
			if (!(graph.marks[i] & IN_SET) ||
			    graph.marks[i] & BEFORE || !leads_to(i, BEFORE))
				continue;
			graph.marks[i] |= BEFORE;
			has_more = true;
		}
	}
}

static bool is_in_loop(uint32_t i)
{
	return (graph.marks[i] & (AFTER | BEFORE)) == (AFTER | BEFORE);
}

/* The instructions of the loop that are reached from outside of it; 0 there are
 * too many. */
static uint32_t find_entries(uint32_t *found)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < graph.count; i++)
		graph.marks[i] &= (uint8_t)~ENTRY;
	for (uint32_t i = 0; i < graph.count; i++) {
		const uint32_t next[] = {goes_on(i) ? i + 1 : NOWHERE,
					 graph.target[i]};

		if (is_in_loop(i) || !(graph.marks[i] & LIVE))
			continue;
		for (unsigned int n = 0; n < 2; n++) {
			if (next[n] == NOWHERE || !is_in_loop(next[n]) ||
			    graph.marks[next[n]] & ENTRY)
				continue;
			if (count == ENTRIES_MAX)
				return 0;
			graph.marks[next[n]] |= ENTRY;
			found[count++] = next[n];
		}
	}
	/* The function begins with it. */
	if (!count && is_in_loop(0)) {
		graph.marks[0] |= ENTRY;
		found[count++] = 0;
	}
	return count;
}

/* Does a turn of the loop lead from one entry back to it without another? */
static bool turns_without(uint32_t without, uint32_t from)
{
	for (uint32_t i = 0; i < graph.count; i++)
		graph.marks[i] =
			(uint8_t)((graph.marks[i] & (LIVE | ENTRY | OUTER)) |
				  (graph.marks[i] & OUTER && i != without
					   ? IN_SET
					   : 0));
	flood(from, AFTER);
	return graph.marks[from] & AFTER;
}

/* The entry by which each turn comes that comes by any of them; NOWHERE there
 * is none.  Where the compiler knows how the first turn goes it enters the loop
 * in the middle. */
static uint32_t main_entry(const uint32_t *entries, uint32_t count)
{
	uint32_t found = count ? entries[0] : NOWHERE;

	if (count < 2)
		return found;
	for (uint32_t i = 0; i < graph.count; i++)
		graph.marks[i] |= is_in_loop(i) ? OUTER : 0;
	found = NOWHERE;
	for (uint32_t n = 0; n < count && found == NOWHERE; n++) {
		uint32_t others = 0;

		for (uint32_t o = 0; o < count; o++)
			others +=
				o != n && turns_without(entries[n], entries[o]);
		if (!others)
			found = entries[n];
	}
	for (uint32_t i = 0; i < graph.count; i++)
		graph.marks[i] = (uint8_t)((graph.marks[i] & (LIVE | ENTRY)) |
					   (graph.marks[i] & OUTER
						    ? IN_SET | AFTER | BEFORE
						    : 0));
	return found;
}

static void push_past(uint32_t i, uint32_t call, bool is_in, uint32_t *depth)
{
	if (i == NOWHERE || i == call || graph.marks[i] & PAST ||
	    (is_in && !is_in_loop(i)))
		return;
	graph.marks[i] |= PAST;
	graph.stack[(*depth)++] = i;
}

/* From an instruction past the call back to it, through a loop; or to the end
 * of the function. */
static bool goes_past(uint32_t from, uint32_t call, bool is_in)
{
	uint32_t depth = 0, i = from;
	bool ends = false;

	for (uint32_t n = 0; n < graph.count; n++)
		graph.marks[n] &= (uint8_t)~PAST;
	if (from == call)
		return false;
	for (;;) {
		ends |= !is_in && graph.flow[i] != CODE_ON &&
			graph.flow[i] != CODE_BRANCH &&
			graph.target[i] == NOWHERE && !graph.is_call[i];
		if (goes_on(i))
			push_past(i + 1, call, is_in, &depth);
		push_past(graph.target[i], call, is_in, &depth);
		if (!depth)
			break;
		i = graph.stack[--depth];
	}
	return is_in ? graph.marks[from] & PAST : ends;
}

/* The next loop inward, without its entry, is what is looked at next. */
static void narrow(uint32_t without)
{
	for (uint32_t i = 0; i < graph.count; i++)
		graph.marks[i] =
			(uint8_t)((is_in_loop(i) && i != without ? IN_SET : 0) |
				  (graph.marks[i] & LIVE));
}

/* A part that the compiler put elsewhere may begin with what exceptions come
 * back to: there is a frame already. */
static void mark_live(code_find_range *find)
{
	memset(graph.marks, IN_SET, graph.count);
	for (uint32_t r = 0; r < graph.ranges; r++) {
		struct code_range range = {0};

		if (graph.range[r].has_pads &&
		    !(find(graph.range[r].begin, &range) && range.is_bare))
			continue;
		graph.marks[graph.first[r]] |= LIVE;
		flood(graph.first[r], LIVE);
	}
}

static bool is_pad(uint32_t i)
{
	return !(graph.marks[i] & LIVE) && !graph.is_filling[i] &&
	       graph.range[range_of(graph.at[i])].has_pads;
}

/* What exceptions come back to leads to the call, and not from within its
 * outermost loop into the middle of that. */
static bool is_after_pad(uint32_t call)
{
	for (uint32_t i = 0; i < graph.count; i++) {
		const uint32_t next[] = {goes_on(i) ? i + 1 : NOWHERE,
					 graph.target[i]};

		if (!is_pad(i))
			continue;
		for (unsigned int n = 0; n < 2; n++) {
			if (next[n] != NOWHERE && !is_pad(next[n]) &&
			    graph.marks[next[n]] & BEFORE &&
			    (graph.marks[next[n]] & ENTRY ||
			     !is_in_loop(next[n])))
				return true;
		}
	}
	return is_pad(call);
}

/* What was read first is no part of a function that lies elsewhere. */
static bool begins_bare(code_find_range *find)
{
	struct code_range range = {0};

	return find(graph.range[0].begin, &range) && range.is_bare;
}

/* --- how long a loop goes on ---------------------------------------------- */

static uint32_t bytes_of(uint32_t i)
{
	const struct code_range *range = &graph.range[range_of(graph.at[i])];
	struct code_instruction found;

	return code_read((const unsigned char *)(uintptr_t)graph.at[i],
			 range->begin + range->bytes - graph.at[i], &found)
		       ? found.bytes
		       : 0;
}

static struct code_effect effect_of(uint32_t i)
{
	return code_effect_of((const unsigned char *)(uintptr_t)graph.at[i],
			      bytes_of(i));
}

static struct code_count count_of(uint32_t i)
{
	return code_count_of((const unsigned char *)(uintptr_t)graph.at[i],
			     bytes_of(i));
}

static uint16_t changes_of(uint32_t i)
{
	const struct code_effect effect = effect_of(i);
	const bool is_set = effect.act == CODE_SETS ||
			    effect.act == CODE_LOADS || effect.act == CODE_POPS;

	return effect.changed | (is_set && effect.to < CODE_REGISTERS
					 ? (uint16_t)(1u << effect.to)
					 : 0);
}

/* An instruction at which the loop may be left looks at what another call than
 * that one gave: the next batch, if there is one. */
static bool asks_another(uint32_t branch, uint32_t call)
{
	uint32_t i = branch;

	if (!i-- || !is_in_loop(i) || !count_of(i).tests_result)
		return false;
	while (i-- && is_in_loop(i)) {
		if (effect_of(i).act == CODE_CALLS)
			return i != call;
		if (changes_of(i) & 1u << CODE_RAX)
			return false;
	}
	return false;
}

/* Nothing in the loop is raised by a number, or by a register that is the same
 * in each turn. */
static bool is_needed(uint32_t call)
{
	uint16_t changed = 0, by = 0;

#if !defined(__x86_64__)
	return false;
#endif
	for (uint32_t i = 0; i < graph.count; i++) {
		struct code_count found;

		if (!is_in_loop(i))
			continue;
		found = count_of(i);
		if (found.is_by_number ||
		    (graph.flow[i] == CODE_BRANCH && asks_another(i, call)))
			return false;
		if (found.by != CODE_NO_REGISTER)
			by |= (uint16_t)(1u << found.by);
		changed |= changes_of(i);
	}
	return !(by & ~changed);
}

static bool count_loops(uint32_t call, code_find_range *find,
			struct code_loops *loops)
{
	uint32_t entries[ENTRIES_MAX], count, first;

	mark_live(find);
	for (;;) {
		if (!flood(call, AFTER))
			return false;
		mark_before(call);
		count = is_in_loop(call) ? find_entries(entries) : 0;
		if (!loops->count)
			loops->may_be_more = is_after_pad(call);
		if (!is_in_loop(call)) {
			if (!loops->count)
				loops->is_always = begins_bare(find) &&
						   !goes_past(0, call, false);
			return true;
		}
		first = main_entry(entries, count);
		if (first == NOWHERE)
			return false;
		loops->is_always = !goes_past(first, call, true);
		loops->is_needed = is_needed(call);
		loops->count++;
		loops->within = loops->innermost;
		loops->innermost = graph.at[first];
		if (first == call)
			return true;
		narrow(first);
	}
}

/* The instruction that returns there. */
static uint32_t call_before(uint64_t code)
{
	const uint32_t after = instruction_at(code);

	if (after != NOWHERE)
		return after && graph.at[after - 1] < code ? after - 1
							   : NOWHERE;
	/* Nothing comes behind a call that never returns. */
	return graph.range[0].begin + graph.range[0].bytes == code
		       ? graph.count - 1
		       : NOWHERE;
}

static bool look(uint64_t code, code_find_range *find, struct code_loops *loops)
{
	struct code_range range = {0};
	uint32_t call;

	if (!find(code - 1, &range) || !read_all(&range, find))
		return false;
	end_calls(find);
	cut_functions();
	call = call_before(code);
	loops->calls_itself = graph.calls_itself;
	return call != NOWHERE && count_loops(call, find, loops);
}

bool code_loops_around(uint64_t code, code_find_range *find,
		       struct code_loops *loops)
{
	bool is_known;

	*loops = (struct code_loops){0};
	/* In a signal's handler, of the same thread. */
	if (graph.is_busy)
		return false;
	graph.is_busy = true;
	is_known = look(code, find, loops);
	graph.is_busy = false;
	return is_known;
}
