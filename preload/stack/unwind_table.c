/* SPDX-License-Identifier: MIT */
/*
 * unwind_table.c - reads an entry of .eh_frame before libunwind does; see
 * unwind_table.h.
 *
 * The same way as libunwind: the table of .eh_frame_hdr by halves, an entry
 * (FDE), what it shares with others (CIE), the instructions of both.  Memory
 * that these make libunwind read is of two kinds.  Registers that were saved
 * are read after a look whether the page is there.  What an expression
 * dereferences is not: so that may be a word of the stack alone, in the forms
 * that compilers write.
 */
#include "preload/stack/unwind_entry.h"

#include <elf.h>

/* Of what an expression may reach from the stack pointer, the frame pointer. */
#define STACK_REACH   65536
#define RED_ZONE      128

/* How a pointer is written. */
#define AS_OMITTED    0xff
#define AS_SIZE	      0x0f
#define AS_BASE	      0x70
#define AS_RELATIVE   0x10
#define AS_INDIRECT   0x80

#define HEAD_RELATIVE 0x1b /* from here, 4 bytes with a sign */
#define HEAD_COUNT    0x03 /* 4 bytes */
#define HEAD_TABLE    0x3b /* from the head, 4 bytes with a sign */

struct head {
	uint8_t version, frame_as, count_as, table_as;
	int32_t frame;
	uint32_t count;
	struct {
		int32_t code, entry;
	} row[];
};

static unsigned int take_register(struct reader *reader)
{
	const uint64_t number = take_leb(reader, false);

	if (number >= REGISTERS)
		fail(reader);
	return (unsigned int)number;
}

/* The part of a file's memory that begins at `address`; empty: none does. */
static struct reader memory_at(const struct dl_phdr_info *info,
			       uint64_t address)
{
	struct reader found = {NULL, NULL};

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		const uint64_t low = info->dlpi_addr + part->p_vaddr;

		if (part->p_type == PT_LOAD && part->p_flags & PF_R &&
		    address - low < part->p_filesz) {
			found.at = (const unsigned char *)(uintptr_t)address;
			found.end =
				(const unsigned char
					 *)(uintptr_t)(low + part->p_filesz);
		}
	}
	return found;
}

static bool is_readable(const struct dl_phdr_info *info, uint64_t address)
{
	const struct reader there = memory_at(info, address);

	return there.end - there.at >= (ptrdiff_t)sizeof(uint64_t);
}

/* An encoded pointer, which libunwind follows if it is an indirect one. */
static void pass_pointer(const struct dl_phdr_info *info, struct reader *reader,
			 uint8_t as)
{
	static const uint8_t bytes[16] = {[0] = 8,  [2] = 2,  [3] = 4, [4] = 8,
					  [10] = 2, [11] = 4, [12] = 8};
	const uint8_t base = as & AS_BASE;
	const unsigned int size = bytes[as & AS_SIZE];
	const uint64_t here = (uint64_t)(uintptr_t)reader->at;
	uint64_t value;

	if (as == AS_OMITTED)
		return;
	value = take(reader, size);
	if (!size || (base && base != AS_RELATIVE)) {
		fail(reader);
		return;
	}
	if (!(as & AS_INDIRECT) || !value || has_failed(reader))
		return;
	if ((as & AS_SIZE) == 11)
		value = (uint64_t)(int64_t)(int32_t)value;
	if (!is_readable(info, base ? here + value : value))
		fail(reader);
}

/* --- expressions -----------------------------------------------------------*/

#define OP_PLUS_NUMBER 0x23
#define OP_LIT0	       0x30

/* Those without an operand: what computes, and neither jumps nor divides. */
static bool is_plain(unsigned int op)
{
	return op == 0x12 || op == 0x96 || /* dup, nop */
	       (op >= 0x19 && op <= 0x27 && op != 0x1b && op != 0x1d) ||
	       (op >= 0x29 && op <= 0x2e) || /* comparisons */
	       (op >= OP_LIT0 && op < OP_LIT0 + 32);
}

/* Does a program read the stack by the frame pointer, and say that this is one?
 * So gcc does in a function that aligns its stack. */
struct frame_use {
	bool is_read, is_kept;
};

/* May the word be read that lies so far from a register's value? */
static bool may_deref(unsigned int from, int64_t offset, struct frame_use *use)
{
	if (from == OP_BREG0 + STACK_POINTER)
		return offset >= -RED_ZONE && offset < STACK_REACH;
	use->is_read = true;
	return from == OP_BREG0 + FRAME_POINTER && offset < 0 &&
	       offset > -STACK_REACH;
}

/* The expression that comes, which tells where `number` was saved. */
static void pass_expression(struct reader *reader, unsigned int number,
			    struct frame_use *use)
{
	const uint64_t bytes = take_leb(reader, false);
	struct reader inner = *reader;
	unsigned int last = 0, count = 0;
	int64_t offset = 0;

	if (has_failed(reader) ||
	    bytes > (uint64_t)(reader->end - reader->at)) {
		fail(reader);
		return;
	}
	reader->at = inner.end = inner.at + bytes;
	for (; !is_at_end(&inner); count++) {
		const unsigned int op = (unsigned int)take(&inner, 1);

		if (op >= OP_BREG0 && op < OP_BREG0 + 32 &&
		    op - OP_BREG0 < REGISTERS)
			offset = (int64_t)take_leb(&inner, true);
		else if (op >= 0x08 && op <= 0x0f) /* constants */
			take(&inner, 1u << (op - 0x08) / 2);
		else if (op == 0x10 || op == 0x11 || op == OP_PLUS_NUMBER)
			take_leb(&inner, op == 0x11);
		else if (op == OP_DEREF ? !may_deref(last, offset, use)
					: !is_plain(op))
			fail(&inner);
		last = op;
	}
	if (has_failed(&inner) || !count)
		fail(reader);
	else if (number == FRAME_POINTER && count == 1 && !offset &&
		 last == OP_BREG0 + FRAME_POINTER)
		use->is_kept = true;
}

/* --- instructions ----------------------------------------------------------*/

/* What an instruction's operands are. */
enum operands {
	UNKNOWN,
	NOTHING,
	BYTE,
	WORD,
	LONG,
	REGISTER,
	NUMBER,
	TWO_REGISTERS,
	REGISTER_NUMBER,
	EXPRESSION,
	REGISTER_EXPRESSION
};

static const uint8_t operands[64] = {
	[0x00] = NOTHING,	      /* nop */
	[0x02] = BYTE,		      /* advance_loc1 */
	[0x03] = WORD,		      /* advance_loc2 */
	[0x04] = LONG,		      /* advance_loc4 */
	[0x05] = REGISTER_NUMBER,     /* offset_extended */
	[0x06] = REGISTER,	      /* restore_extended */
	[0x07] = REGISTER,	      /* undefined */
	[0x08] = REGISTER,	      /* same_value */
	[0x09] = TWO_REGISTERS,	      /* register */
	[0x0a] = NOTHING,	      /* remember_state */
	[0x0b] = NOTHING,	      /* restore_state */
	[0x0c] = REGISTER_NUMBER,     /* def_cfa */
	[0x0d] = REGISTER,	      /* def_cfa_register */
	[0x0e] = NUMBER,	      /* def_cfa_offset */
	[0x0f] = EXPRESSION,	      /* def_cfa_expression */
	[0x10] = REGISTER_EXPRESSION, /* expression */
	[0x11] = REGISTER_NUMBER,     /* offset_extended_sf */
	[0x12] = REGISTER_NUMBER,     /* def_cfa_sf */
	[0x13] = NUMBER,	      /* def_cfa_offset_sf */
	[0x16] = REGISTER_EXPRESSION, /* val_expression */
	[0x2d] = NOTHING,	      /* AArch64's signed return address */
	[0x2e] = NUMBER,	      /* GNU_args_size */
	[0x2f] = REGISTER_NUMBER,     /* GNU_negative_offset_extended */
};

static bool says_where(unsigned int op)
{
	return op == 0x0c || op == 0x0f || op == 0x12;
}

/* One instruction of those that are a whole byte. */
static void pass_whole(struct reader *reader, unsigned int op,
		       struct frame_use *use)
{

	switch ((enum operands)operands[op]) {
	case NOTHING: break;
	case BYTE: take(reader, 1); break;
	case WORD: take(reader, 2); break;
	case LONG: take(reader, 4); break;
	case REGISTER: take_register(reader); break;
	case NUMBER: take_leb(reader, false); break;
	case TWO_REGISTERS:
		take_register(reader);
		take_register(reader);
		break;
	case REGISTER_NUMBER:
		take_register(reader);
		take_leb(reader, false);
		break;
	case EXPRESSION: pass_expression(reader, REGISTERS, use); break;
	case REGISTER_EXPRESSION:
		pass_expression(reader, take_register(reader), use);
		break;
	case UNKNOWN: fail(reader); break;
	}
}

/* All instructions up to the end.  libunwind ends the process where nothing
 * says the frame's address: what entries share is to do so, or the first. */
static bool is_program(struct reader reader, bool *is_said)
{
	struct frame_use use = {false, false};
	bool has_moved = false;

	while (!is_at_end(&reader)) {
		const unsigned int op = (unsigned int)take(&reader, 1);

		/* advance_loc, offset and restore hold an operand. */
		has_moved |= op >> 6 == 1 || (op >= 2 && op <= 4);
		if (op >> 6 == 0) {
			*is_said |= says_where(op) && !has_moved;
			pass_whole(&reader, op, &use);
		} else if (op >> 6 == 2) {
			take_leb(&reader, false);
		}
		if (op >> 6 >= 2 && (op & 63) >= REGISTERS)
			fail(&reader);
	}
	return !has_failed(&reader) && (use.is_kept || !use.is_read);
}

/* --- entries ---------------------------------------------------------------*/

/* The letters of "zPLR" say what comes. */
static void pass_letters(const struct dl_phdr_info *info, struct reader *reader,
			 const unsigned char *letter,
			 struct unwind_shared *shared)
{
	const unsigned char *sized = NULL;

	shared->code_as = 0;
	shared->data_as = AS_OMITTED;
	for (; *letter; letter++) {
		if (*letter == 'z') {
			const uint64_t bytes = take_leb(reader, false);

			shared->is_sized = true;
			sized = reader->at + min_u64(bytes, 1024);
		} else if (*letter == 'L') {
			shared->data_as = (uint8_t)take(reader, 1);
		} else if (*letter == 'R') {
			shared->code_as = (uint8_t)take(reader, 1);
		} else if (*letter == 'P') {
			pass_pointer(info, reader, (uint8_t)take(reader, 1));
		} else if (*letter == 'S') {
			shared->is_signal = true;
		} else if (*letter != 'B') {
			fail(reader);
		}
	}
	if (sized && reader->at != sized)
		fail(reader);
}

static bool is_shared_part(const struct dl_phdr_info *info, uint64_t address,
			   struct unwind_shared *shared)
{
	struct reader reader = memory_at(info, address);
	const uint64_t bytes = take(&reader, 4);
	const unsigned char *letters;
	uint64_t version;

	if (has_failed(&reader) || bytes > (uint64_t)(reader.end - reader.at))
		return false;
	reader.end = reader.at + bytes;
	if (take(&reader, 4))
		return false;
	version = take(&reader, 1);
	letters = reader.at;
	/* libunwind takes note of the first four. */
	while (!has_failed(&reader) && take(&reader, 1))
		;
	if ((version != 1 && version != 3) || has_failed(&reader) ||
	    reader.at - letters > 6 || (*letters && *letters != 'z'))
		return false;
	shared->code_unit = take_leb(&reader, false);
	shared->data_unit = (int64_t)take_leb(&reader, true);
	if ((version == 1 ? take(&reader, 1) : take_leb(&reader, false)) >=
	    REGISTERS)
		return false;
	pass_letters(info, &reader, letters, shared);
	shared->program = reader;
	return !has_failed(&reader) && is_program(reader, &shared->says_where);
}

/* The entry at an address.  False: it can't be followed. */
static bool read_entry(const struct dl_phdr_info *info, uint64_t address,
		       struct unwind_entry *entry)
{
	struct reader reader = memory_at(info, address);
	const unsigned char *segment_end = reader.end;
	const uint64_t bytes = take(&reader, 4);
	struct unwind_shared *shared = &entry->shared;
	struct reader length;
	uint64_t distance;

	*entry = (struct unwind_entry){0};

	if (has_failed(&reader) || bytes > (uint64_t)(reader.end - reader.at))
		return false;
	reader.end = reader.at + bytes;
	distance = take(&reader, 4);
	if (has_failed(&reader) || !distance ||
	    !is_shared_part(info,
			    address + 4 - (uint64_t)(int64_t)(int32_t)distance,
			    shared))
		return false;
	pass_pointer(info, &reader, shared->code_as);
	length = reader;
	pass_pointer(info, &reader, shared->code_as & AS_SIZE);
	if (has_failed(&reader))
		return false;
	length.end = reader.at;
	entry->code_bytes =
		take(&length, (unsigned int)(length.end - length.at));
	if (shared->is_sized) {
		const uint64_t more = take_leb(&reader, false);
		struct reader inner = reader;

		if (has_failed(&reader) ||
		    more > (uint64_t)(reader.end - reader.at))
			return false;
		for (; reader.at < inner.at + more; reader.at++)
			entry->has_pads |=
				shared->data_as != AS_OMITTED && *reader.at;
		pass_pointer(info, &inner, shared->data_as);
		/* It looks for two numbers of an old kind there. */
		if (has_failed(&inner) ||
		    (shared->is_signal && segment_end - inner.at < 4))
			return false;
	}
	entry->program = reader;
	return is_program(reader, &shared->says_where) && shared->says_where;
}

bool unwind_entry_reads(const struct dl_phdr_info *info, uint64_t address,
			uint64_t bytes)
{
	const struct reader there = memory_at(info, address);

	return bytes <= (uint64_t)(there.end - there.at);
}

/* The row of the table that is to tell of an address: where the code begins, 0
 * none, and its entry.  False: no table that libunwind and we read. */
static bool find_row(const struct dl_phdr_info *info, uint64_t head_address,
		     uint64_t head_bytes, uint64_t code, uint64_t *begin,
		     uint64_t *entry)
{
	const struct reader there = memory_at(info, head_address);
	const struct head *head = (const struct head *)there.at;
	const uint64_t room = (uint64_t)(there.end - there.at);
	const int32_t wanted = (int32_t)(code - head_address);
	uint32_t low = 0, high;

	if (room < sizeof(*head) || head_bytes > room || head->version != 1 ||
	    head->frame_as != HEAD_RELATIVE || head->count_as != HEAD_COUNT ||
	    head->table_as != HEAD_TABLE ||
	    head->count > (head_bytes - sizeof(*head)) / sizeof(head->row[0]))
		return false;
	high = head->count;
	while (low < high) {
		const uint32_t middle = (low + high) / 2;

		if (wanted < head->row[middle].code)
			high = middle;
		else
			low = middle + 1;
	}
	*begin = *entry = 0;
	if (!high)
		return true;
	*begin = head_address + (uint64_t)(int64_t)head->row[high - 1].code;
	*entry = head_address + (uint64_t)(int64_t)head->row[high - 1].entry;
	return true;
}

static bool is_followed(const struct dl_phdr_info *info, uint64_t head_address,
			uint64_t head_bytes, uint64_t code)
{
	uint64_t begin, at;
	struct unwind_entry entry;

	return find_row(info, head_address, head_bytes, code, &begin, &at) &&
	       (!begin || read_entry(info, at, &entry));
}

bool unwind_table_holds(const struct dl_phdr_info *info, uint64_t code)
{
	const ElfW(Phdr) *head = NULL;
	bool is_here = false;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type == PT_LOAD)
			is_here |= code - info->dlpi_addr - part->p_vaddr <
				   part->p_memsz;
		else if (part->p_type == PT_GNU_EH_FRAME)
			head = part;
	}
	/* Without a table libunwind would open the file. */
	return !is_here ||
	       (head && is_followed(info, info->dlpi_addr + head->p_vaddr,
				    head->p_memsz, code));
}

bool unwind_entry_find(const struct dl_phdr_info *info, uint64_t code,
		       struct unwind_entry *entry, uint64_t *begin)
{
	const ElfW(Phdr) *head = NULL;
	uint64_t at;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
			head = &info->dlpi_phdr[i];
	}
	return head &&
	       find_row(info, info->dlpi_addr + head->p_vaddr, head->p_memsz,
			code, begin, &at) &&
	       *begin && read_entry(info, at, entry) &&
	       code - *begin < entry->code_bytes;
}
