/* SPDX-License-Identifier: MIT */
/*
 * symbols.h - function names from ELF symbol tables.
 *
 * One index per module (.symtab, else .dynsym), built once from the file on
 * disk, sorted by address.  Used by the writer to name code and, on the cold
 * path of a step marker's first call, by a hook.  Its memory comes from mmap,
 * never from malloc.  Not thread-safe: each user keeps its own index.
 */
#ifndef COLLECTOR_SYMBOLS_H
#define COLLECTOR_SYMBOLS_H

#include "collector/system/base.h"

struct symbols; /* opaque */

/* Index of one ELF file; NULL when it can't be read or is no ELF of ours.
 * A hostile file yields NULL or an index with wrong names, never a fault. */
struct symbols *symbols_open(const char *path);
void symbols_close(struct symbols *symbols);

/* True if the file has this build-id, the first `id_len` bytes of it, or if
 * there is none to ask for.  False: it was built anew since. */
bool symbols_is_build(const struct symbols *symbols, const uint8_t *id,
		      size_t id_len);

/* The build-id among the notes of a segment; NULL: none there. */
const uint8_t *symbols_build_id(const char *notes, uint64_t bytes, size_t *len);

struct symbol {
	const char *name; /* as in the table, mangled; lives as the index */
	size_t name_len;
	uint64_t start, size; /* ELF virtual addresses */
};

/* The function that holds an ELF virtual address.  0 or -ENOENT. */
int symbols_find(const struct symbols *symbols, uint64_t address,
		 struct symbol *found);

/* The ordinal (1-based, by address) of the call that returns to `address`
 * among the calls in the same function with the same target; 0 when the code
 * can't be read that way. */
unsigned int symbols_call_ordinal(const struct symbols *symbols,
				  uint64_t address);

#endif
