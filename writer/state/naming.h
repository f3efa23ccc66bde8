/* SPDX-License-Identifier: MIT */
/*
 * naming.h - from the return address of a call to the name of a region.
 *
 * The name is that of the enclosing function by its ELF symbol table, without
 * what the compiler appended, demangled and without parameters; the number of
 * the call in the function tells regions of one function apart.  An address
 * that no symbol holds becomes "module.so+0x1234".  Answers are kept by
 * address: a file is opened once, a name is made once.
 */
#ifndef WRITER_NAMING_H
#define WRITER_NAMING_H

#include "collector/session/session.h"
#include "writer/state/generated.h"
#include "writer/state/hash_index.h"

struct naming_module;

struct naming {
	const struct session *session;
	struct arena arena;
	struct hash_index codes;    /* struct code_name by address */
	struct hash_index ordinals; /* those taken, by function and number */
	struct naming_module *modules;
	struct generated generated; /* by torch.compile */
};

struct code_name {
	uint64_t key; /* of codes: the code, and what it is asked for as */
	uint64_t code;
	const char *function; /* NUL-terminated */
	size_t len;
	const char *shown; /* the same, or folded where that is long */
	size_t shown_len;
	unsigned int ordinal;	     /* from 1; 0 not asked for yet */
	unsigned int wanted;	     /* what the code says, 0 nothing */
	struct code_name *origin;    /* whose number it shares, NULL none */
	const struct module *module; /* that has it, NULL not known */
	uint64_t until_ticks;	     /* another lies there since */
	uint64_t modules; /* so many were known when that was looked up */
};

/* As stacks and lanes of samples have it: whole, or as it is shown where that
 * is longer than what they have room for.  Cut off, two functions of one
 * template would be one. */
struct frame_name {
	const char *text;
	size_t len;
};

struct frame_name naming_frame(const struct code_name *name);

void naming_start(struct naming *naming, const struct session *session);

/* The name of a call site; never NULL.  `named` is `code`, or lies in the
 * function that is to name it, where its own has no name in the source.
 * `outlined` is the function that the call hands over, 0 unknown: where the
 * call was inlined into another function, it still carries its own name; there
 * a frame of a call stack has the name of the function that it lies in. */
struct code_name *naming_find(struct naming *naming, uint64_t code,
			      uint64_t named, uint64_t outlined);

/* As naming_find() of the code alone, but what lay there then. */
struct code_name *naming_find_at(struct naming *naming, uint64_t code,
				 uint64_t ticks);

/* The number of a region among those of its function, as that is shown, given
 * when it is first asked for. */
unsigned int naming_ordinal(struct naming *naming, struct code_name *name);

/* What torch.compile made a kernel of on a GPU; NULL: not known. */
const char *naming_operators(struct naming *naming, const char *kernel);
void naming_end(struct naming *naming);

/* What a symbol is called in the source, as far as can be told: compiler
 * suffixes removed, C++ demangled.  Returns the length, at most bytes - 1. */
size_t naming_tidy(const char *symbol, size_t symbol_len, char *text,
		   size_t bytes);

#endif
