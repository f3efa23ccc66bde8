/* SPDX-License-Identifier: MIT */
/*
 * source_scopes.h - the functions around an address, inlined ones too, as a
 * module's debug information has them.
 *
 * libdw alone finds neither a compilation unit that isn't in .debug_aranges,
 * which clang doesn't write, nor a function that lies in a namespace's entry,
 * where clang and rustc put theirs.
 */
#ifndef TOOLS_SOURCE_SCOPES_H
#define TOOLS_SOURCE_SCOPES_H

#ifdef HAVE_LIBDW
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>

/* Where the code of a module's units lies; read at the first address that libdw
 * doesn't know.  Zero at first. */
struct source_units {
	bool is_read;
	struct source_unit *spans; /* in the order of their beginnings */
	size_t count, capacity;
};

/* The unit that an address of the module belongs to, and the address as the
 * unit counts.  False: none. */
bool source_unit_find(struct source_units *units, Dwfl_Module *module,
		      Dwarf_Addr *address, Dwarf_Die *unit);

/* From the innermost scope at an address outwards to the unit: how many, 0 none
 * is known.  `scopes` is to be freed. */
int source_scopes_find(Dwarf_Die *unit, Dwarf_Addr address, Dwarf_Die **scopes);

void source_units_free(struct source_units *units);
#endif

#endif
