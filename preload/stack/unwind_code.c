/* SPDX-License-Identifier: MIT */
/* unwind_code.c - follows code to its return; see unwind_code.h. */
#include "preload/stack/unwind_code.h"

#include "preload/stack/code_effect.h"
#include "preload/stack/code_read.h"

#define LONGEST		 15u
#define INSTRUCTIONS_MAX 4096u
#define BRANCHES	 8u   /* to which it may come back */
#define PASSED		 256u /* a power of two: branches that were met */
#define STORES		 16u
#define CALL_LONGEST	 7u
/* What a word's distance and a sum of them may be. */
#define FAR		 (1 << 24)
/* Those that a function gives back: rbx, rbp, r12 to r15. */
#define GIVEN_BACK	 0xf028u

/* A value by those that the registers have where it begins: one and a number;
 * with one look the word there and a number; with two the word at that. */
struct value {
	uint8_t base, looks;
	int32_t at, more;
};

struct stored {
	struct value place, value;
};

struct state {
	uint64_t code;
	struct value registers[CODE_REGISTERS];
	struct stored stores[STORES];
	uint32_t stored;
	/* What was pushed since the stack pointer isn't known: of V8's
	 * functions the return address, when their arguments are gone. */
	struct value pushed;
};

struct run {
	struct state now;
	struct state branch[BRANCHES];
	uint32_t branches;	 /* that wait, the newest last */
	uint64_t passed[PASSED]; /* by hash; 0 none */
	uint32_t left;		 /* instructions */
	unwind_read_code *read;
	void *arg;
};

static const struct value nothing = {.base = CODE_NO_REGISTER};

static bool is_known(const struct value *value)
{
	return value->base != CODE_NO_REGISTER;
}

static bool is_same(const struct value *one, const struct value *other)
{
	return one->base == other->base && one->looks == other->looks &&
	       one->at == other->at && one->more == other->more;
}

static struct value plus(struct value value, int64_t number)
{
	const int64_t sum = value.more + number;

	if (!is_known(&value) || (value.looks == 2 && number) || sum < -FAR ||
	    sum > FAR)
		return nothing;
	value.more = (int32_t)sum;
	return value;
}

/* --- memory ---------------------------------------------------------------*/

/* False: too much is kept in mind. */
static bool store(struct state *now, struct value place, struct value value)
{
	for (uint32_t i = 0; i < now->stored; i++) {
		if (is_same(&now->stores[i].place, &place)) {
			now->stores[i].value = value;
			return true;
		}
	}
	if (now->stored == STORES)
		return false;
	now->stores[now->stored++] = (struct stored){place, value};
	return true;
}

static struct value load(const struct state *now, struct value place)
{
	for (uint32_t i = 0; i < now->stored; i++) {
		if (is_same(&now->stores[i].place, &place))
			return now->stores[i].value;
	}
	if (!is_known(&place) || place.looks == 2)
		return nothing;
	if (place.looks)
		return (struct value){place.base, 2, place.at, place.more};
	return (struct value){place.base, 1, place.more, 0};
}

/* --- one instruction ------------------------------------------------------*/

static struct value *stack_of(struct state *now)
{
	return &now->registers[CODE_RSP];
}

static bool push(struct state *now, uint32_t from)
{
	const struct value value =
		from < CODE_REGISTERS ? now->registers[from] : nothing;

	*stack_of(now) = plus(*stack_of(now), -8);
	now->pushed = is_known(stack_of(now)) ? nothing : value;
	return !is_known(stack_of(now)) || store(now, *stack_of(now), value);
}

static void pop(struct state *now, uint32_t to)
{
	const struct value value = load(now, *stack_of(now));

	*stack_of(now) = plus(*stack_of(now), 8);
	if (to < CODE_REGISTERS)
		now->registers[to] = value;
}

/* A register that is put away for the caller by another way than the two that
 * are followed, before its frame is made: it isn't known where. */
static bool hides(const struct state *now, const struct code_effect *effect)
{
	const struct value *value = &now->registers[effect->from];

	return value->base == effect->from && !value->looks && !value->more &&
	       GIVEN_BACK >> effect->from & 1;
}

static bool store_register(struct state *now, const struct code_effect *effect)
{
	const struct value *to = &now->registers[effect->to];

	if (!is_known(to) ||
	    (to->base != CODE_RSP && to->base != CODE_RBP && !to->looks))
		return !hides(now, effect);
	return store(now, plus(*to, effect->number),
		     now->registers[effect->from]);
}

/* False: it can't be followed. */
static bool apply(struct state *now, const struct code_effect *effect)
{
	for (uint32_t i = 0; i < CODE_REGISTERS; i++) {
		if (effect->changed >> i & 1)
			now->registers[i] = nothing;
	}
	switch ((enum code_act)effect->act) {
	case CODE_PUSHES: return push(now, effect->from);
	case CODE_POPS: pop(now, effect->to); return true;
	case CODE_SETS:
		now->registers[effect->to] =
			plus(now->registers[effect->from], effect->number);
		return true;
	case CODE_LOADS:
		now->registers[effect->to] =
			load(now, plus(now->registers[effect->from],
				       effect->number));
		return true;
	case CODE_STORES: return store_register(now, effect);
	case CODE_LEAVE:
		*stack_of(now) = now->registers[CODE_RBP];
		pop(now, CODE_RBP);
		return true;
	case CODE_UNKNOWN: return false;
	default: return true;
	}
}

/* --- the way --------------------------------------------------------------*/

/* Is this branch met for the first time? */
static bool pass(struct run *run, uint64_t code)
{
	uint64_t at = code * UINT64_C(0x9e3779b97f4a7c15) >> 40;

	for (uint32_t i = 0; i < PASSED; i++, at++) {
		uint64_t *place = &run->passed[at % PASSED];

		if (*place == code)
			return false;
		if (!*place) {
			*place = code;
			return true;
		}
	}
	return false;
}

/* The other way is taken if this one leads nowhere; of many the last ones. */
static void wait(struct run *run, uint64_t target)
{
	if (run->branches == BRANCHES) {
		for (uint32_t i = 1; i < BRANCHES; i++)
			run->branch[i - 1] = run->branch[i];
		run->branches--;
	}
	run->branch[run->branches] = run->now;
	run->branch[run->branches++].code = target;
}

enum way { WAY_GOES_ON, WAY_IS_LOST, WAY_RETURNS };

static enum way step(struct run *run, struct code_effect *effect)
{
	struct state *now = &run->now;
	struct code_instruction found;
	const uint64_t code = now->code;
	uint32_t bytes = LONGEST;
	const unsigned char *at = run->read(run->arg, code, &bytes);
	uint64_t target;

	if (!at || !code_read_x86(at, bytes, &found))
		return WAY_IS_LOST;
	*effect = code_effect_of(at, found.bytes);
	now->code += found.bytes;
	target = now->code + (uint64_t)found.distance;
	if (effect->act == CODE_RETURNS || effect->act == CODE_GOES)
		return WAY_RETURNS;
	/* What is called may not come back, and the next function follow. */
	if (effect->act == CODE_CALLS || !apply(now, effect))
		return WAY_IS_LOST;
	switch ((enum code_flow)found.flow) {
	case CODE_ON: return WAY_GOES_ON;
	case CODE_BRANCH:
		if (!pass(run, code))
			return WAY_IS_LOST;
		wait(run, target);
		return WAY_GOES_ON;
	case CODE_JUMP:
		if (!pass(run, code))
			return WAY_IS_LOST;
		now->code = target;
		return WAY_GOES_ON;
	default: return WAY_IS_LOST;
	}
}

/* --- what came of it ------------------------------------------------------*/

/* Where a word lies that was loaded; nothing: it wasn't. */
static struct value place_of(const struct value *word)
{
	if (!is_known(word) || !word->looks || (word->looks == 1 && word->more))
		return nothing;
	return word->looks == 2
		       ? (struct value){word->base, 1, word->at, word->more}
		       : (struct value){word->base, 0, 0, word->at};
}

/* Where the caller's frame pointer is: as the rule can say it. */
static void put_pointer(struct unwind_rule *rule, const struct value *frame,
			const struct value *pointer)
{
	const struct value place = place_of(pointer);

	rule->pointer = UNWIND_LOST;
	if (pointer->base == CODE_RBP && !pointer->looks && !pointer->more) {
		rule->pointer = UNWIND_KEPT;
	} else if (is_known(&place) && place.base == frame->base &&
		   place.looks == frame->looks && place.at == frame->at) {
		rule->pointer = UNWIND_AT_FRAME;
		rule->pointer_at = place.more - frame->more;
	} else if (place.base == CODE_RBP && !place.looks) {
		rule->pointer = UNWIND_AT_POINTER;
		rule->pointer_at = place.more;
	}
}

static bool put_rule(const struct state *now, const struct code_effect *effect,
		     struct unwind_rule *rule)
{
	const struct value *stack = &now->registers[CODE_RSP];
	const bool is_adrift = !is_known(stack);
	const struct value back = is_adrift ? now->pushed : load(now, *stack);
	const struct value place = place_of(&back);
	const int32_t takes =
		effect->act == CODE_RETURNS && !is_adrift ? effect->number : 0;
	const struct value frame = plus(place, 8 + takes);

	/* What was put there on the way is no return address. */
	if (!is_known(&frame) || (!is_adrift && !is_same(&place, stack)))
		return false;
	*rule = (struct unwind_rule){
		.is_by_pointer = frame.base == CODE_RBP,
		.is_there = frame.looks,
		.is_adrift = is_adrift,
		.other = frame.base == CODE_RSP || frame.base == CODE_RBP
				 ? 0
				 : frame.base + 1u,
		.back = UNWIND_AT_FRAME,
		.back_at = -8 - takes};
	rule->distance = frame.looks ? frame.at : frame.more;
	rule->behind = frame.looks ? frame.more : 0;
	put_pointer(rule, &frame, &now->registers[CODE_RBP]);
	return true;
}

static bool run_to_return(struct run *run, struct unwind_rule *rule)
{
	while (run->left) {
		struct code_effect effect;
		const enum way way = step(run, &effect);

		run->left--;
		if (way == WAY_RETURNS && put_rule(&run->now, &effect, rule))
			return true;
		if (way == WAY_GOES_ON)
			continue;
		if (!run->branches)
			return false;
		run->now = run->branch[--run->branches];
	}
	return false;
}

/* The same place of the return address and of the frame pointer; how much is
 * left on the stack may depend on the way. */
static bool agree(struct unwind_rule *one, const struct unwind_rule *other)
{
	const int32_t more = other->is_there ? other->behind - one->behind
					     : other->distance - one->distance;

	one->is_adrift |= other->is_adrift || more;
	return one->is_by_pointer == other->is_by_pointer &&
	       one->is_there == other->is_there && one->other == other->other &&
	       (!one->is_there || one->distance == other->distance) &&
	       one->back_at == other->back_at + more &&
	       one->pointer == other->pointer &&
	       one->pointer_at ==
		       other->pointer_at +
			       (one->pointer == UNWIND_AT_FRAME ? more : 0);
}

bool unwind_code_rule(uint64_t code, bool is_called, unwind_read_code *read,
		      void *arg, struct unwind_rule *rule)
{
	struct unwind_rule other;
	struct run run;

	run.now = (struct state){.code = code, .pushed = nothing};
	run.branches = 0;
	run.left = INSTRUCTIONS_MAX;
	run.read = read;
	run.arg = arg;
	for (uint32_t i = 0; i < PASSED; i++)
		run.passed[i] = 0;
	for (uint32_t i = 0; i < CODE_REGISTERS; i++)
		run.now.registers[i] =
			is_called && i != CODE_RSP && i != CODE_RBP
				? nothing
				: (struct value){.base = (uint8_t)i};
	if (!run_to_return(&run, rule))
		return false;
	if (!run.branches)
		return true;
	/* The way that was left first comes to the same, or nothing is sure. */
	run.now = run.branch[0];
	run.branches = 0;
	return !run_to_return(&run, &other) || agree(rule, &other);
}

bool unwind_code_is_behind_call(uint64_t code, unwind_read_code *read,
				void *arg)
{
	for (uint32_t length = 2; length <= CALL_LONGEST; length++) {
		uint32_t bytes = length;
		const unsigned char *at = read(arg, code - length, &bytes);
		struct code_instruction found;

		if (at && bytes >= length &&
		    code_read_x86(at, length, &found) &&
		    found.bytes == length &&
		    code_effect_of(at, length).act == CODE_CALLS)
			return true;
	}
	return false;
}
