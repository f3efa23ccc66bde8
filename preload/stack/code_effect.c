/* SPDX-License-Identifier: MIT */
/* code_effect.c - reads operands; see code_effect.h. */
#include "preload/stack/code_effect.h"

#include <string.h>

#define BIT(number) ((uint16_t)(1u << (number)))
/* Those that a called function need not give back. */
#define CALL_USES   0x0fc7u

struct operands {
	const unsigned char *end;
	unsigned int op, map; /* 0 none, 1 behind 0f, 2 0f 38, 3 0f 3a */
	bool is_vector, is_wide, is_half, is_third; /* VEX; REX.W, 66, f3 */
	bool has_rex, is_odd;			    /* 67, or a segment */
	unsigned int high_reg, high_index, high_rm; /* 8 or 0 */
	unsigned int other;	   /* the register in a VEX prefix */
	unsigned int reg, rm, mod; /* rm: the base where mod isn't 3 */
	bool has_base, has_index;
	int32_t distance;
};

static int32_t number_at(const unsigned char *at, unsigned int bytes)
{
	int32_t number;

	if (bytes == 1)
		return (int8_t)*at;
	memcpy(&number, at, sizeof(number));
	return number;
}

/* The ModRM byte and what it brings along. */
static const unsigned char *read_modrm(struct operands *of,
				       const unsigned char *at)
{
	const unsigned int modrm = *at++;
	unsigned int low = modrm & 7;

	of->mod = modrm >> 6;
	of->reg = (modrm >> 3 & 7) | of->high_reg;
	of->has_base = of->mod != 3;
	if (of->mod != 3 && low == 4) {
		const unsigned int sib = *at++;

		of->has_index = (sib >> 3 & 7) != 4 || of->high_index;
		low = sib & 7;
	}
	of->rm = low | of->high_rm;
	if (of->mod == 0 && low == 5) {
		of->has_base = false;
		at += 4;
	} else if (of->mod == 1) {
		of->distance = number_at(at++, 1);
	} else if (of->mod == 2) {
		of->distance = number_at(at, 4);
		at += 4;
	}
	return at;
}

static const unsigned char *
read_vector(struct operands *of, const unsigned char *at, unsigned int prefix)
{
	const unsigned int first = *at++;

	of->is_vector = true;
	of->high_reg = first & 0x80 ? 0 : 8;
	of->map = 1;
	of->other = ~first >> 3 & 15;
	if (prefix != 0xc5) {
		const unsigned int second = *at++;

		of->map = first & (prefix == 0x62 ? 7 : 31);
		of->high_index = first & 0x40 ? 0 : 8;
		of->high_rm = first & 0x20 ? 0 : 8;
		of->other = ~second >> 3 & 15;
	}
	return prefix == 0x62 ? at + 1 : at;
}

static bool is_prefix(unsigned int op)
{
	return op == 0x66 || op == 0x67 || op == 0xf0 || op == 0xf2 ||
	       op == 0xf3 || op == 0x26 || op == 0x2e || op == 0x36 ||
	       op == 0x3e || op == 0x64 || op == 0x65;
}

/* Up to the opcode; returns what follows. */
static const unsigned char *read_opcode(struct operands *of,
					const unsigned char *at)
{
	for (; is_prefix(*at); at++) {
		of->is_half |= *at == 0x66;
		of->is_third |= *at == 0xf3;
		of->is_odd |= *at == 0x67 || *at == 0x64 || *at == 0x65;
	}
	if (*at >> 4 == 4) {
		of->has_rex = true;
		of->is_wide = *at & 8;
		of->high_reg = *at & 4 ? 8 : 0;
		of->high_index = *at & 2 ? 8 : 0;
		of->high_rm = *at & 1 ? 8 : 0;
		at++;
	}
	of->op = *at++;
	if (of->op == 0xc4 || of->op == 0xc5 || of->op == 0x62) {
		at = read_vector(of, at, of->op);
		of->op = *at++;
	} else if (of->op == 0x0f) {
		of->map = 1;
		of->op = *at++;
		if (of->op == 0x38 || of->op == 0x3a) {
			of->map = of->op == 0x38 ? 2 : 3;
			of->op = *at++;
		}
	}
	return at;
}

/* --- which registers an instruction may change ----------------------------*/

/* Of eight bits, where four numbers are the upper halves of others unless there
 * is a REX prefix. */
static bool is_of_bytes(const struct operands *of)
{
	const unsigned int op = of->op;

	if (of->is_vector || of->has_rex || of->map > 1)
		return false;
	if (of->map)
		return (op & 0xf0) == 0x90 || op == 0xb0 || op == 0xc0;
	return (op < 0x40 && !(op & 1)) || (op >= 0xb0 && op <= 0xb7) ||
	       ((op >= 0x80 && op <= 0x8a) && !(op & 1)) || op == 0xc0 ||
	       op == 0xc6 || op == 0xd0 || op == 0xd2 || op == 0xf6 ||
	       op == 0xfe;
}

static uint16_t register_of(const struct operands *of, unsigned int number)
{
	return BIT(is_of_bytes(of) ? number & 3 : number);
}

static uint16_t reg_of(const struct operands *of)
{
	return register_of(of, of->reg);
}

static uint16_t rm_of(const struct operands *of)
{
	return of->mod == 3 ? register_of(of, of->rm) : 0;
}

/* VEX and EVEX: a few go to general registers. */
static uint16_t vector_changes(const struct operands *of)
{
	const unsigned int op = of->op;

	if (of->map == 1) {
		if (op == 0x7e)
			return rm_of(of);
		return op == 0x50 || op == 0xc5 || op == 0xd7 || op == 0x2c ||
				       op == 0x2d || op == 0x78 || op == 0x79 ||
				       op == 0x93
			       ? BIT(of->reg)
			       : 0;
	}
	if (of->map == 2)
		return op >= 0xf0 ? BIT(of->reg) | BIT(of->other) : 0;
	if (of->map == 3)
		return (op >= 0x14 && op <= 0x17 ? rm_of(of) : 0) |
		       (op == 0xf0 ? BIT(of->reg) : 0);
	/* Those of later maps: AVX512-FP16. */
	return BIT(of->reg) | rm_of(of);
}

/* Behind 0f whose results are vectors, flags or memory alone. */
static bool is_plain(const struct operands *of)
{
	const unsigned int op = of->op;

	if (op == 0x2c || op == 0x2d || op == 0x50 || op == 0xc5 ||
	    op == 0xd7 || (op == 0x7e && !of->is_third))
		return false;
	return op == 0x0b || op == 0x0d || (op >= 0x10 && op <= 0x1f) ||
	       (op >= 0x28 && op <= 0x2f) || (op >= 0x51 && op <= 0x7f) ||
	       (op >= 0x80 && op <= 0x8f) || op == 0xa3 || op == 0xc2 ||
	       op == 0xc3 || op == 0xc4 || op == 0xc6 ||
	       (op >= 0xd0 && op <= 0xfe);
}

/* ... whose result is the first operand: the other, or its place, is a number
 * of theirs. */
static bool is_first_alone(unsigned int op)
{
	return (op & 0xf0) == 0x90 || op == 0xa4 || op == 0xa5 || op == 0xab ||
	       op == 0xac || op == 0xad || op == 0xae || op == 0xb3 ||
	       op == 0xba || op == 0xbb;
}

static uint16_t second_changes(const struct operands *of)
{
	const unsigned int op = of->op;

	if (of->map == 2)
		return op >= 0xf0 ? reg_of(of) : 0;
	if (of->map == 3)
		return op >= 0x14 && op <= 0x17 ? rm_of(of) : 0;
	if (is_plain(of))
		return 0;
	if (op >= 0xc8 && op <= 0xcf)
		return BIT((op & 7) | of->high_rm);
	if (op == 0x01 || op == 0x05 || op == 0xa2 || (op & 0xf0) == 0x30 ||
	    op == 0xc7 || op == 0xb0 || op == 0xb1)
		return BIT(0) | BIT(1) | BIT(2) | BIT(3) | BIT(11) | rm_of(of);
	if (is_first_alone(op))
		return rm_of(of);
	return reg_of(of) | (op == 0xc0 || op == 0xc1 ? rm_of(of) : 0);
}

/* Of one byte, from 80 on. */
static uint16_t late_changes(const struct operands *of)
{
	const unsigned int op = of->op, more = of->reg & 7;

	switch (op) {
	case 0x80:
	case 0x81:
	case 0x83: return more == 7 ? 0 : rm_of(of);
	case 0x84:
	case 0x85:
	case 0x8e: return 0;
	case 0x86:
	case 0x87: return reg_of(of) | rm_of(of);
	case 0x8a:
	case 0x8b:
	case 0x8d: return reg_of(of);
	case 0x88:
	case 0x89:
	case 0x8c:
	case 0xc0:
	case 0xc1:
	case 0xc6:
	case 0xc7:
	case 0xd0:
	case 0xd1:
	case 0xd2:
	case 0xd3: return rm_of(of);
	case 0xf6:
	case 0xf7:
		return more < 2	  ? 0
		       : more < 4 ? rm_of(of)
				  : BIT(CODE_RAX) | BIT(CODE_RDX);
	default: break;
	}
	if (op >= 0x90 && op <= 0x97)
		return op == 0x90 && !of->high_rm
			       ? 0
			       : BIT(CODE_RAX) | BIT((op & 7) | of->high_rm);
	if (op >= 0xb0 && op <= 0xbf)
		return register_of(of, (op & 7) | of->high_rm);
	/* Strings, loops, sums of what stands in the first three. */
	if ((op >= 0x98 && op <= 0xaf) || op == 0xd7 || op >= 0xe0 ||
	    (op >= 0xd8 && op <= 0xdf))
		return BIT(CODE_RAX) | BIT(CODE_RCX) | BIT(CODE_RDX) | BIT(6) |
		       BIT(7) | (op >= 0xfe ? rm_of(of) : 0);
	return reg_of(of) | rm_of(of);
}

static uint16_t changes(const struct operands *of)
{
	const unsigned int op = of->op;

	if (of->is_vector)
		return vector_changes(of);
	if (of->map)
		return second_changes(of);
	if (op < 0x40 && op >> 3 == 7)
		return 0; /* cmp */
	if (op < 0x40)
		return (op & 7) < 2   ? rm_of(of)
		       : (op & 7) < 4 ? reg_of(of)
				      : BIT(CODE_RAX);
	if (op >= 0x70 && op <= 0x7f)
		return 0;
	if (op == 0x63 || op == 0x69 || op == 0x6b)
		return reg_of(of);
	if (op >= 0x80)
		return late_changes(of);
	return reg_of(of) | rm_of(of);
}

/* --- those that are known exactly -----------------------------------------*/

static bool has_modrm(const struct operands *of)
{
	const unsigned int op = of->op;

	if (of->is_vector)
		return of->map != 1 || op != 0x77;
	if (of->map > 1)
		return true;
	if (of->map)
		return !(op == 0x05 || op == 0x0b || (op & 0xf0) == 0x80 ||
			 (op >= 0x30 && op <= 0x37) || op == 0x77 ||
			 op == 0xa2 || (op >= 0xc8 && op <= 0xcf));
	return (op < 0x40 && (op & 7) < 4) || op == 0x63 || op == 0x69 ||
	       op == 0x6b || (op >= 0x80 && op <= 0x8f) || op == 0xc0 ||
	       op == 0xc1 || op == 0xc6 || op == 0xc7 ||
	       (op >= 0xd0 && op <= 0xd3) || (op >= 0xd8 && op <= 0xdf) ||
	       op == 0xf6 || op == 0xf7 || op >= 0xfe;
}

/* Of all of a register: by what is known, or by its number alone. */
static void see_move(const struct operands *of, struct code_effect *effect)
{
	const bool is_known = of->is_wide && !of->is_odd;
	const bool is_place = of->has_base && !of->has_index && is_known;

	if (of->op == 0x8d) {
		effect->to = (uint8_t)of->reg;
		effect->from = (uint8_t)of->rm;
		effect->act = is_place ? CODE_SETS : CODE_CHANGES;
	} else if (of->op == 0x8b) {
		effect->to = (uint8_t)of->reg;
		effect->from = (uint8_t)of->rm;
		effect->act = of->mod == 3 && is_known ? CODE_SETS
			      : is_place	       ? CODE_LOADS
						       : CODE_CHANGES;
	} else {
		effect->to = (uint8_t)of->rm;
		effect->from = (uint8_t)of->reg;
		effect->act = of->mod == 3 && is_known ? CODE_SETS
			      : is_place	       ? CODE_STORES
						       : CODE_CHANGES;
	}
	effect->number = of->distance;
}

/* add, sub of a number. */
static void see_sum(const struct operands *of, const unsigned char *at,
		    struct code_effect *effect)
{
	const unsigned int what = of->reg & 7;
	const int32_t number = number_at(at, of->op == 0x83 ? 1 : 4);

	if (of->mod != 3 || !of->is_wide || (what && what != 5) ||
	    number == INT32_MIN)
		return;
	effect->act = CODE_SETS;
	effect->to = effect->from = (uint8_t)of->rm;
	effect->number = what ? -number : number;
}

static void see_group(const struct operands *of, struct code_effect *effect)
{
	switch (of->reg & 7) {
	case 2:
	case 3: effect->act = CODE_CALLS; break;
	case 4:
		if (of->mod == 0 && !of->has_base)
			effect->act = CODE_GOES;
		break;
	case 6: effect->act = of->is_half ? CODE_UNKNOWN : CODE_PUSHES; break;
	default: break;
	}
}

static void see_plain(const struct operands *of, const unsigned char *at,
		      struct code_effect *effect)
{
	const unsigned int op = of->op;
	const unsigned int number = (op & 7) | of->high_rm;

	if (op >= 0x50 && op <= 0x5f && !of->is_half) {
		effect->act = op < 0x58 ? CODE_PUSHES : CODE_POPS;
		effect->to = effect->from = (uint8_t)number;
	} else if (op == 0x89 || op == 0x8b || op == 0x8d) {
		see_move(of, effect);
	} else if (op == 0x81 || op == 0x83) {
		see_sum(of, at, effect);
	} else if (op == 0xff) {
		see_group(of, effect);
	} else if (op == 0xe8) {
		effect->act = CODE_CALLS;
	} else if ((op == 0x68 || op == 0x6a || op == 0x9c) && !of->is_half) {
		effect->act = CODE_PUSHES;
	} else if (op == 0x9d && !of->is_half) {
		effect->act = CODE_POPS;
	} else if (op == 0xc9 && !of->is_half) {
		effect->act = CODE_LEAVE;
	} else if (op == 0xc3) {
		effect->act = CODE_RETURNS;
	} else if (op == 0xc2) {
		effect->act = CODE_RETURNS;
		effect->number = at[0] | at[1] << 8;
	} else if ((op >= 0x50 && op <= 0x5f) || op == 0x68 || op == 0x6a ||
		   op == 0x8f || op == 0x9c || op == 0x9d || op == 0xc8 ||
		   op == 0xc9 || op == 0xca || op == 0xcb || op == 0xcd ||
		   op == 0xcf) {
		effect->act = CODE_UNKNOWN;
	}
}

struct code_effect code_effect_of(const unsigned char *at, uint32_t bytes)
{
	/* So that no look at operands leads behind them. */
	unsigned char copy[32] = {0};
	struct code_effect effect = {.act = CODE_CHANGES,
				     .to = CODE_NO_REGISTER,
				     .from = CODE_NO_REGISTER};
	struct operands of = {.map = 0};

	memcpy(copy, at, min_u32(bytes, 15));
	at = read_opcode(&of, copy);
	if (has_modrm(&of))
		at = read_modrm(&of, at);
	effect.changed = changes(&of);
	if (!of.map)
		see_plain(&of, at, &effect);
	else if (!of.is_vector && of.map == 1 &&
		 ((of.op & 0xf6) == 0xa0 || of.op == 0x00))
		effect.act = of.op ? CODE_UNKNOWN : CODE_CHANGES;
	if (effect.act == CODE_CALLS)
		effect.changed = CALL_USES;
	else if (effect.act != CODE_CHANGES && effect.act != CODE_UNKNOWN)
		effect.changed = 0;
	return effect;
}

/* --- what counts -----------------------------------------------------------*/

/* add, sub of a number; inc, dec; the sum of a register and a number, but what
 * lies on the stack; and sums of floating point. */
static bool is_by_number(const struct operands *of)
{
	const unsigned int what = of->reg & 7;

	if (of->map || of->is_vector)
		return of->map == 1 && (of->op == 0x58 || of->op == 0x5c);
	switch (of->op) {
	case 0x80:
	case 0x81:
	case 0x83:
		return (what == 0 || what == 5) &&
		       (of->mod != 3 || of->rm != CODE_RSP);
	case 0xfe:
	case 0xff: return what < 2;
	case 0x04:
	case 0x05:
	case 0x2c:
	case 0x2d: return true;
	case 0x8d:
		return of->has_base && !of->has_index && of->mod &&
		       of->rm != CODE_RSP && of->rm != CODE_RBP;
	default: return false;
	}
}

/* add, sub of a register. */
static uint8_t register_by(const struct operands *of)
{
	if (of->map || of->is_vector)
		return CODE_NO_REGISTER;
	if (of->op == 0x01 || of->op == 0x29)
		return (uint8_t)of->reg;
	if ((of->op == 0x03 || of->op == 0x2b) && of->mod == 3)
		return (uint8_t)of->rm;
	return CODE_NO_REGISTER;
}

/* test of rax with itself, cmp of it with a number. */
static bool tests_result(const struct operands *of)
{
	if (of->map || of->is_vector)
		return false;
	if (of->op == 0x3c || of->op == 0x3d)
		return true;
	if (of->mod != 3 || of->rm != CODE_RAX)
		return false;
	return ((of->op == 0x84 || of->op == 0x85) && of->reg == CODE_RAX) ||
	       ((of->op == 0x80 || of->op == 0x81 || of->op == 0x83) &&
		of->reg == 7);
}

struct code_count code_count_of(const unsigned char *at, uint32_t bytes)
{
	unsigned char copy[32] = {0};
	struct operands of = {.map = 0};

	memcpy(copy, at, min_u32(bytes, 15));
	at = read_opcode(&of, copy);
	if (has_modrm(&of))
		read_modrm(&of, at);
	return (struct code_count){
		.is_by_number = is_by_number(&of),
		.by = register_by(&of),
		.tests_result = tests_result(&of),
	};
}
