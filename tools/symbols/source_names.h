/* SPDX-License-Identifier: MIT */
/*
 * source_names.h - a module's symbols by address.
 *
 * libdw looks at each symbol of the module for each address; of a compiler's
 * 70,000 and the thousands of addresses of its stacks that is nearly all of a
 * report's time.
 */
#ifndef TOOLS_SOURCE_NAMES_H
#define TOOLS_SOURCE_NAMES_H

#ifdef HAVE_LIBDW
#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>

/* Read at the first question.  Zero at first. */
struct source_names {
	bool is_read;
	struct source_name *names; /* by where they begin */
	size_t count, capacity;
};

/* The innermost symbol that holds the address, NULL none.  Where none does, one
 * without a size reaches up to the next one. */
const char *source_names_find(struct source_names *names, Dwfl_Module *module,
			      Dwarf_Addr address);

void source_names_free(struct source_names *names);
#endif

#endif
