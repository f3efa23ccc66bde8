/* SPDX-License-Identifier: MIT */
/*
 * object_tables.h - what a loaded file says of itself to the loader: symbols,
 * relocations, versions.  Addresses in this process; NULL or 0 what it lacks.
 */
#ifndef PRELOAD_OBJECT_TABLES_H
#define PRELOAD_OBJECT_TABLES_H

#include "collector/system/base.h"
#include <link.h>

#if defined(__x86_64__)
#define TO_SYMBOL   R_X86_64_64
#define TO_FUNCTION R_X86_64_JUMP_SLOT
#define TO_DATA	    R_X86_64_GLOB_DAT
#else
#define TO_SYMBOL   R_AARCH64_ABS64
#define TO_FUNCTION R_AARCH64_JUMP_SLOT
#define TO_DATA	    R_AARCH64_GLOB_DAT
#endif

struct object_tables {
	const ElfW(Sym) * symbols;
	const char *strings;
	const uint32_t *hash;		   /* GNU's */
	const uint32_t *old_hash;	   /* System V's */
	const ElfW(Rela) * relocations[2]; /* of calls, all others */
	size_t bytes[2];
	size_t relative; /* so many of the second come first and name nobody */
	const ElfW(Half) * versions; /* each symbol's */
	const ElfW(Verdef) * defines;
	const ElfW(Verneed) * needs;
	bool is_in_code; /* some words lie where nobody may write */
};

/* `entry`: the file's dynamic section.  Adds to what is in `tables`.  Any
 * thread; takes no lock. */
void object_tables_read(uintptr_t base, const ElfW(Dyn) * entry,
			struct object_tables *tables);

/* Of a file that the loader tells of. */
void object_tables_of(const struct dl_phdr_info *file,
		      struct object_tables *tables);

/* How many symbols a file has, by its GNU table of hashes. */
uint32_t object_tables_symbols(const uint32_t *hash);

/* True: a loaded file exports that name, or may.  dlsym() would allocate where
 * none does, in a program's own allocator, too, and leave a message for the
 * program's dlerror().  Takes the loader's lock. */
bool object_tables_export(const char *name);

#endif
