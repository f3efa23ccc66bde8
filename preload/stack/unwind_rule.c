/* SPDX-License-Identifier: MIT */
/*
 * unwind_rule.c - what an entry of .eh_frame says of the frame of one address:
 * a row of the table that its instructions describe, as far as two registers
 * are concerned.  unwind_table.c has read them, so each is whole.
 */
#include "preload/stack/unwind_entry.h"

#define KEPT_MOST 4u

/* Of a function that says nothing of it: on aarch64 a call leaves the return
 * address in a register. */
#if defined(__x86_64__)
#define BACK_AT_FIRST UNWIND_LOST
#else
#define BACK_AT_FIRST UNWIND_KEPT
#endif

/* What the instructions have said so far. */
struct machine {
	struct unwind_rule rule, shared, kept[KEPT_MOST];
	const struct unwind_shared *units;
	unsigned int depth;
	uint64_t code; /* that the next one is about */
	bool is_lost;
};

static void save(struct machine *machine, uint64_t number,
		 enum unwind_saved how, int64_t at)
{
	struct unwind_rule *rule = &machine->rule;

	machine->is_lost |= at != (int32_t)at;
	if (number == FRAME_POINTER) {
		rule->pointer = (uint8_t)how;
		rule->pointer_at = (int32_t)at;
	} else if (number == RETURNS_TO) {
		rule->back = (uint8_t)how;
		rule->back_at = (int32_t)at;
	}
}

/* Back to what entries share. */
static void restore(struct machine *machine, uint64_t number)
{
	const struct unwind_rule *shared = &machine->shared;

	if (number == FRAME_POINTER)
		save(machine, number, (enum unwind_saved)shared->pointer,
		     shared->pointer_at);
	else
		save(machine, number, (enum unwind_saved)shared->back,
		     shared->back_at);
}

/* In a prologue that aligns the stack another register says it for a while. */
static void set_base(struct machine *machine, uint64_t number)
{
	machine->rule.is_by_pointer = number == FRAME_POINTER;
	machine->rule.is_there = false;
	machine->rule.is_elsewhere =
		number != FRAME_POINTER && number != STACK_POINTER;
}

static void set_distance(struct machine *machine, int64_t distance)
{
	machine->rule.distance = (int32_t)distance;
	machine->is_lost |= distance != machine->rule.distance;
}

/* An expression of the forms that gcc writes: a word's address by one of the
 * two registers, or for the frame's address what lies there. */
static void take_expression(struct machine *machine, struct reader *reader,
			    uint64_t number)
{
	const uint64_t bytes = take_leb(reader, false);
	struct reader inner = {reader->at, reader->at + bytes};
	const uint64_t base = take(&inner, 1) - OP_BREG0;
	const int64_t offset = (int64_t)take_leb(&inner, true);

	reader->at += bytes;
	if (number != REGISTERS) {
		save(machine, number,
		     base == FRAME_POINTER && is_at_end(&inner)
			     ? UNWIND_AT_POINTER
			     : UNWIND_LOST,
		     offset);
		return;
	}
	set_base(machine, base);
	set_distance(machine, offset);
	machine->rule.is_there = take(&inner, 1) == OP_DEREF;
	machine->is_lost |= !machine->rule.is_there || !is_at_end(&inner);
}

/* The states are kept as a whole, as gcc means it. */
static void keep(struct machine *machine)
{
	if (machine->depth == KEPT_MOST)
		machine->is_lost = true;
	else
		machine->kept[machine->depth++] = machine->rule;
}

static void take_back(struct machine *machine)
{
	if (machine->depth)
		machine->rule = machine->kept[--machine->depth];
	else
		machine->is_lost = true;
}

static int64_t take_units(struct machine *machine, struct reader *reader,
			  bool has_sign)
{
	return (int64_t)take_leb(reader, has_sign) * machine->units->data_unit;
}

/* Those that are a whole byte. */
static void run_whole(struct machine *machine, struct reader *reader,
		      unsigned int op)
{
	uint64_t number;

	switch (op) {
	case 0x02:
	case 0x03:
	case 0x04:
		machine->code += take(reader, 1u << (op - 2)) *
				 machine->units->code_unit;
		break;
	case 0x05:
	case 0x11:
		number = take_leb(reader, false);
		save(machine, number, UNWIND_AT_FRAME,
		     take_units(machine, reader, op == 0x11));
		break;
	case 0x06: restore(machine, take_leb(reader, false)); break;
	case 0x08:
		save(machine, take_leb(reader, false), UNWIND_KEPT, 0);
		break;
	case 0x07:
		save(machine, take_leb(reader, false), UNWIND_LOST, 0);
		break;
	case 0x09:
		save(machine, take_leb(reader, false), UNWIND_LOST, 0);
		take_leb(reader, false);
		break;
	case 0x0a: keep(machine); break;
	case 0x0b: take_back(machine); break;
	case 0x0c:
		set_base(machine, take_leb(reader, false));
		set_distance(machine, (int64_t)take_leb(reader, false));
		break;
	case 0x0d: set_base(machine, take_leb(reader, false)); break;
	case 0x0e:
		set_distance(machine, (int64_t)take_leb(reader, false));
		break;
	case 0x0f: take_expression(machine, reader, REGISTERS); break;
	case 0x10:
		number = take_leb(reader, false);
		take_expression(machine, reader, number);
		break;
	case 0x12:
		set_base(machine, take_leb(reader, false));
		set_distance(machine, take_units(machine, reader, true));
		break;
	case 0x13:
		set_distance(machine, take_units(machine, reader, true));
		break;
#if defined(__aarch64__)
	case 0x2d: break; /* the return address is signed, or no longer */
#else
	case 0x2d:
#endif
	case 0x16:
	case 0x2f: machine->is_lost = true; break;
	case 0x2e: take_leb(reader, false); break;
	default: break; /* nop */
	}
}

/* As far as what lies before `code`. */
static void run_program(struct machine *machine, struct reader reader,
			uint64_t code)
{
	while (!is_at_end(&reader) && !machine->is_lost &&
	       machine->code <= code) {
		const unsigned int op = (unsigned int)take(&reader, 1);

		if (op >> 6 == 1)
			machine->code += (op & 63) * machine->units->code_unit;
		else if (op >> 6 == 2)
			save(machine, op & 63, UNWIND_AT_FRAME,
			     take_units(machine, &reader, false));
		else if (op >> 6 == 3)
			restore(machine, op & 63);
		else
			run_whole(machine, &reader, op);
	}
}

bool unwind_table_rule(const struct dl_phdr_info *info, uint64_t code,
		       struct unwind_rule *rule)
{
	struct machine machine = {.rule = {.back = BACK_AT_FIRST}};
	struct unwind_entry entry;
	uint64_t begin;

	if (!unwind_entry_find(info, code, &entry, &begin) ||
	    entry.shared.is_signal)
		return false;
	machine.units = &entry.shared;
	run_program(&machine, entry.shared.program, UINT64_MAX);
	machine.shared = machine.rule;
	machine.code = begin;
	run_program(&machine, entry.program, code);
	*rule = machine.rule;
	return !machine.is_lost && !rule->is_elsewhere &&
	       (rule->back == UNWIND_AT_FRAME ||
		(rule->back == UNWIND_KEPT && BACK_AT_FIRST == UNWIND_KEPT)) &&
	       rule->pointer != UNWIND_LOST;
}
