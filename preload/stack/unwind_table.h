/* SPDX-License-Identifier: MIT */
/*
 * unwind_table.h - may libunwind follow what a file says of its frames?
 *
 * libunwind believes each length and each pointer that it finds in .eh_frame;
 * damaged ones lead it anywhere.  So what it is about to read for an address is
 * read here first, within the file's own segments, and refused as a whole if
 * anything in it isn't as a compiler writes it: the stack ends there, or goes
 * on by the frame pointer.  Asked once for each new return address; any thread;
 * async-signal-safe.
 */
#ifndef PRELOAD_UNWIND_TABLE_H
#define PRELOAD_UNWIND_TABLE_H

#include "collector/system/base.h"
#include <link.h>

/* False: `code` lies in this file, and its entry can't be followed. */
bool unwind_table_holds(const struct dl_phdr_info *info, uint64_t code);

/* Where a caller's register was put away. */
enum unwind_saved {
	UNWIND_KEPT,	   /* nowhere: it has the caller's value */
	UNWIND_AT_FRAME,   /* so far from the frame's address, */
	UNWIND_AT_POINTER, /* ... from the frame pointer */
	UNWIND_LOST
};

/* How the frame of one address is left; the frame's address is that of the
 * stack pointer, or of the frame pointer, and a distance, or lies there. */
struct unwind_rule {
	bool is_by_pointer, is_there;
	bool is_elsewhere; /* by a register that isn't followed */
	bool is_by_code;   /* not by a file's entry; */
	bool is_adrift;	   /* ... the frame's address isn't the stack pointer */
	uint8_t pointer, back; /* enum unwind_saved: of the frame pointer, of
				  the return address */
	uint8_t other;	       /* by the register before this one; 0 not so */
	int32_t distance, pointer_at, back_at;
	int32_t behind; /* so far behind what lies there */
};

/* The rule for `code`, of a file that holds it.  False: it has none of this
 * kind. */
bool unwind_table_rule(const struct dl_phdr_info *info, uint64_t code,
		       struct unwind_rule *rule);

/* The part of a file that holds an address; NULL: none does. */
static inline const ElfW(Phdr) *
	unwind_part_of(const struct dl_phdr_info *info, uint64_t code)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type == PT_LOAD &&
		    code - info->dlpi_addr - part->p_vaddr < part->p_memsz)
			return part;
	}
	return NULL;
}

/* A return address as it was saved: on aarch64 it may be signed.  On processors
 * that know nothing of it the instruction does nothing. */
static inline uint64_t unwind_unsigned(uint64_t code)
{
#if defined(__aarch64__)
	register uint64_t link __asm__("x30") = code;

	__asm__("hint #7" : "+r"(link)); /* xpaclri */
	return link;
#else
	return code;
#endif
}

/* What libunwind gave to dl_iterate_phdr(). */
struct unwind_visit {
	int (*visit)(struct dl_phdr_info *info, size_t size, void *arg);
	void *arg;
};

/* In its place, with a struct unwind_visit: passes over a file whose entry for
 * what libunwind looks for can't be followed. */
int unwind_visit_checked(struct dl_phdr_info *info, size_t size, void *arg);

/* Does for libunwind what dl_iterate_phdr() would, without a lock: it holds one
 * of its own then, and who has the loader's may come for that.  False: it can't
 * be done here. */
bool unwind_answer(const struct unwind_visit *own, int *rc);

#endif
