/* SPDX-License-Identifier: MIT */
/* code_read.c - lengths and targets of instructions; see code_read.h. */
#include "preload/stack/code_read.h"

#include <string.h>

/* What follows an opcode: M a ModRM byte, and with it what that says; 1, 2 and
 * 4 so many bytes; Z 4, or 2 after the prefix 66; others as in one_byte(). */
#define M  0x10u
#define Z  0x20u
#define NO 0x80u /* none, or one that is not known here */

/* The first 64 are alike in eights. */
static const uint8_t arithmetic[8] = {M, M, M, M, 1, Z, NO, NO};

static const uint8_t after_one[256] = {
	[0x60] = NO,	[0x61] = NO,	[0x63] = M,	[0x68] = Z,
	[0x69] = M | Z, [0x6a] = 1,	[0x6b] = M | 1, [0x70] = 1,
	[0x71] = 1,	[0x72] = 1,	[0x73] = 1,	[0x74] = 1,
	[0x75] = 1,	[0x76] = 1,	[0x77] = 1,	[0x78] = 1,
	[0x79] = 1,	[0x7a] = 1,	[0x7b] = 1,	[0x7c] = 1,
	[0x7d] = 1,	[0x7e] = 1,	[0x7f] = 1,	[0x80] = M | 1,
	[0x81] = M | Z, [0x82] = NO,	[0x83] = M | 1, [0x84] = M,
	[0x85] = M,	[0x86] = M,	[0x87] = M,	[0x88] = M,
	[0x89] = M,	[0x8a] = M,	[0x8b] = M,	[0x8c] = M,
	[0x8d] = M,	[0x8e] = M,	[0x8f] = M,	[0x9a] = NO,
	[0xa0] = NO,	[0xa1] = NO,	[0xa2] = NO,	[0xa3] = NO,
	[0xa8] = 1,	[0xa9] = Z,	[0xb0] = 1,	[0xb1] = 1,
	[0xb2] = 1,	[0xb3] = 1,	[0xb4] = 1,	[0xb5] = 1,
	[0xb6] = 1,	[0xb7] = 1,	[0xb8] = Z,	[0xb9] = Z,
	[0xba] = Z,	[0xbb] = Z,	[0xbc] = Z,	[0xbd] = Z,
	[0xbe] = Z,	[0xbf] = Z,	[0xc0] = M | 1, [0xc1] = M | 1,
	[0xc2] = 2,	[0xc6] = M | 1, [0xc7] = M | Z, [0xc8] = 3,
	[0xca] = 2,	[0xcd] = 1,	[0xce] = NO,	[0xd0] = M,
	[0xd1] = M,	[0xd2] = M,	[0xd3] = M,	[0xd4] = NO,
	[0xd5] = NO,	[0xd6] = NO,	[0xd8] = M,	[0xd9] = M,
	[0xda] = M,	[0xdb] = M,	[0xdc] = M,	[0xdd] = M,
	[0xde] = M,	[0xdf] = M,	[0xe0] = 1,	[0xe1] = 1,
	[0xe2] = 1,	[0xe3] = 1,	[0xe4] = 1,	[0xe5] = 1,
	[0xe6] = 1,	[0xe7] = 1,	[0xe8] = 4,	[0xe9] = 4,
	[0xea] = NO,	[0xeb] = 1,	[0xf6] = M,	[0xf7] = M,
	[0xfe] = M,	[0xff] = M,
};

struct code_reader {
	const unsigned char *code;
	size_t room, used;     /* it may use more than there is */
	bool is_wide, is_half; /* prefixes REX.W and 66 */
	uint8_t modrm, sib;
};

static unsigned int take(struct code_reader *reader)
{
	const size_t at = reader->used++;

	return at < reader->room ? reader->code[at] : 0;
}

static void pass(struct code_reader *reader, unsigned int bytes)
{
	reader->used += bytes;
}

static void pass_modrm(struct code_reader *reader)
{
	const unsigned int modrm = take(reader);
	const unsigned int mod = modrm >> 6, rm = modrm & 7;

	reader->modrm = (uint8_t)modrm;
	if (mod == 3)
		return;
	if (rm == 4)
		reader->sib = (uint8_t)take(reader);
	if (mod == 1)
		pass(reader, 1);
	else if (mod == 2 || rm == 5 || (rm == 4 && (reader->sib & 7) == 5))
		pass(reader, 4);
}

static void pass_operands(struct code_reader *reader, unsigned int what)
{
	if (what & M)
		pass_modrm(reader);
	if (what & Z)
		pass(reader, reader->is_half && !reader->is_wide ? 2 : 4);
	pass(reader, what & 15);
}

/* Opcodes of the second map that have a byte behind their operands. */
static bool has_byte(unsigned int op)
{
	return (op >= 0x70 && op <= 0x73) || op == 0xa4 || op == 0xac ||
	       op == 0xba || op == 0xc2 || (op >= 0xc4 && op <= 0xc6);
}

static bool has_no_modrm(unsigned int op)
{
	return op == 0x05 || op == 0x06 || op == 0x07 || op == 0x08 ||
	       op == 0x09 || op == 0x0b || op == 0x0e ||
	       (op >= 0x30 && op <= 0x37) || op == 0x77 ||
	       (op >= 0xa0 && op <= 0xa2) || (op >= 0xa8 && op <= 0xaa) ||
	       (op >= 0xc8 && op <= 0xcf);
}

/* Where a jump through memory or a register goes: a slot of the linker's lies
 * at a known place and leaves; one of an object's functions has no index; a
 * switch's table has one, or was read before. */
static uint32_t indirect(const struct code_reader *reader)
{
	const unsigned int mod = reader->modrm >> 6, rm = reader->modrm & 7;

	if (mod == 3 || (rm == 4 && (reader->sib >> 3 & 7) != 4))
		return CODE_ANYWHERE;
	return mod == 0 && rm == 5 ? CODE_LEAVES : CODE_BY_MEMORY;
}

/* Behind 0f.  False: not known. */
static bool read_two(struct code_reader *reader, struct code_instruction *found)
{
	const unsigned int op = take(reader);

	if (op == 0x38 || op == 0x3a) {
		take(reader);
		pass_operands(reader, op == 0x3a ? M | 1 : M);
	} else if (op >= 0x80 && op <= 0x8f) {
		pass(reader, 4);
		found->flow = CODE_BRANCH;
	} else if (op == 0x0b || op == 0xb9 || op == 0xff) {
		/* ud2, and two like it, which compilers don't write */
		found->flow = CODE_LEAVES;
		return op == 0x0b;
	} else if (op == 0x04 || op == 0x0a || op == 0x0c || op == 0x0f ||
		   (op >= 0x24 && op <= 0x27) || op == 0x36 || op == 0x39 ||
		   (op >= 0x3b && op <= 0x3f)) {
		return false;
	} else if (!has_no_modrm(op)) {
		pass_operands(reader, has_byte(op) ? M | 1 : M);
		found->is_filling = op == 0x1f;
	}
	return true;
}

/* VEX and EVEX: their map stands in the prefix. */
static bool read_vector(struct code_reader *reader, unsigned int prefix)
{
	unsigned int map = 1, op;

	if (prefix != 0xc5)
		map = take(reader) & (prefix == 0x62 ? 7 : 31);
	take(reader);
	if (prefix == 0x62)
		take(reader);
	op = take(reader);
	if (map == 1 && op == 0x77 && prefix != 0x62)
		return true;
	pass_operands(reader,
		      map == 3 || (map == 1 && has_byte(op)) ? M | 1 : M);
	return map >= 1 && map <= 6 && map != 4;
}

static void see_flow(const struct code_reader *reader, unsigned int op,
		     struct code_instruction *found)
{
	if ((op >= 0x70 && op <= 0x7f) || (op >= 0xe0 && op <= 0xe3))
		found->flow = CODE_BRANCH;
	else if (op == 0xe9 || op == 0xeb)
		found->flow = CODE_JUMP;
	else if ((op & ~1u) == 0xc2 || (op & ~1u) == 0xca || op == 0xcc ||
		 op == 0xcf || op == 0xf4)
		found->flow = CODE_LEAVES;
	else if (op == 0xff && (reader->modrm >> 3 & 6) == 4)
		found->flow = indirect(reader);
	found->is_call = op == 0xe8;
}

static bool read_one(struct code_reader *reader, unsigned int op,
		     struct code_instruction *found)
{
	const unsigned int what =
		op < 0x40 ? arithmetic[op & 7] : after_one[op];

	if (what & NO)
		return false;
	if (op >= 0xb8 && op <= 0xbf && reader->is_wide)
		pass(reader, 8);
	else
		pass_operands(reader, what);
	/* Two forms of test alone have a number. */
	if ((op == 0xf6 || op == 0xf7) && !(reader->modrm >> 4 & 3))
		pass_operands(reader, op == 0xf6 ? 1 : Z);
	see_flow(reader, op, found);
	found->is_filling = op == 0x90 || op == 0xcc;
	return op != 0x8f || !(reader->modrm >> 3 & 7); /* else AMD's XOP */
}

static bool is_prefix(unsigned int op)
{
	return op == 0x66 || op == 0x67 || op == 0xf0 || op == 0xf2 ||
	       op == 0xf3 || op == 0x26 || op == 0x2e || op == 0x36 ||
	       op == 0x3e || op == 0x64 || op == 0x65;
}

static bool read_opcode(struct code_reader *reader,
			struct code_instruction *found)
{
	unsigned int op = take(reader);

	for (; is_prefix(op); op = take(reader))
		reader->is_half |= op == 0x66;
	if (op >> 4 == 4) {
		reader->is_wide = op & 8;
		op = take(reader);
	}
	if (op == 0x0f)
		return read_two(reader, found);
	if (op == 0xc4 || op == 0xc5 || op == 0x62)
		return read_vector(reader, op);
	return read_one(reader, op, found);
}

/* The target's distance is an instruction's last byte, behind an opcode of one
 * byte, or its last four. */
static int64_t distance_of(const unsigned char *code, size_t bytes)
{
	int32_t far;

	if (bytes < 1 + sizeof(far))
		return (int8_t)code[bytes - 1];
	memcpy(&far, code + bytes - sizeof(far), sizeof(far));
	return far;
}

bool code_read_x86(const unsigned char *at, size_t room,
		   struct code_instruction *found)
{
	struct code_reader reader = {.code = at, .room = room};

	*found = (struct code_instruction){.flow = CODE_ON};
	if (!read_opcode(&reader, found) || reader.used > room)
		return false;
	found->bytes = (uint32_t)reader.used;
	if (found->flow == CODE_BRANCH || found->flow == CODE_JUMP ||
	    found->is_call)
		found->distance = distance_of(at, reader.used);
	return true;
}

static int64_t signed_field(uint32_t word, unsigned int low, unsigned int bits)
{
	return (int64_t)((uint64_t)word << (64 - low - bits)) >> (64 - bits);
}

bool code_read_arm(const unsigned char *at, size_t room,
		   struct code_instruction *found)
{
	uint32_t word;

	if (room < sizeof(word))
		return false;
	memcpy(&word, at, sizeof(word));
	*found = (struct code_instruction){.bytes = sizeof(word),
					   .flow = CODE_ON};
	if (word >> 26 == 0x05) { /* b */
		found->flow = CODE_JUMP;
		found->distance = signed_field(word, 0, 26) * 4 - 4;
	} else if (word >> 26 == 0x25) { /* bl */
		found->is_call = true;
		found->distance = signed_field(word, 0, 26) * 4 - 4;
	} else if (word >> 24 == 0x54 || (word >> 25 & 0x3f) == 0x1a) {
		found->flow = CODE_BRANCH; /* b.cond, cbz, cbnz */
		found->distance = signed_field(word, 5, 19) * 4 - 4;
	} else if ((word >> 25 & 0x3f) == 0x1b) { /* tbz, tbnz */
		found->flow = CODE_BRANCH;
		found->distance = signed_field(word, 5, 14) * 4 - 4;
	} else if ((word & 0xfeff0000u) == 0xd61f0000u) { /* br, braa */
		found->flow = CODE_ANYWHERE;
	} else if ((word & 0xffff0000u) == 0xd65f0000u || /* ret, retaa */
		   (word & 0xffe0001fu) == 0xd4200000u || /* brk */
		   !(word >> 16)) {			  /* udf */
		found->flow = CODE_LEAVES;
	}
	found->is_filling = word == 0xd503201fu;
	return true;
}

bool code_read(const unsigned char *at, size_t room,
	       struct code_instruction *found)
{
#if defined(__x86_64__)
	return code_read_x86(at, room, found);
#else
	return code_read_arm(at, room, found);
#endif
}
