/* SPDX-License-Identifier: MIT */
/* object_tables.c - reads the dynamic section of a loaded file. */
#include "preload/process/object_tables.h"

/* The loader has turned most of these into addresses, but not all. */
static const void *table_at(uintptr_t base, const ElfW(Dyn) * entry)
{
	const uintptr_t at = entry->d_un.d_ptr;

	return (const void *)(at < base ? at + base : at);
}

void object_tables_read(uintptr_t base, const ElfW(Dyn) * entry,
			struct object_tables *tables)
{
	for (; entry->d_tag != DT_NULL; entry++) {
		const void *at = table_at(base, entry);

		switch (entry->d_tag) {
		case DT_SYMTAB: tables->symbols = at; break;
		case DT_STRTAB: tables->strings = at; break;
		case DT_GNU_HASH: tables->hash = at; break;
		case DT_HASH: tables->old_hash = at; break;
		case DT_JMPREL: tables->relocations[0] = at; break;
		case DT_PLTRELSZ: tables->bytes[0] = entry->d_un.d_val; break;
		case DT_RELA: tables->relocations[1] = at; break;
		case DT_RELASZ: tables->bytes[1] = entry->d_un.d_val; break;
		case DT_RELACOUNT: tables->relative = entry->d_un.d_val; break;
		case DT_VERSYM: tables->versions = at; break;
		case DT_VERDEF: tables->defines = at; break;
		case DT_VERNEED: tables->needs = at; break;
		case DT_TEXTREL: tables->is_in_code = true; break;
		case DT_FLAGS:
			tables->is_in_code |=
				(entry->d_un.d_val & DF_TEXTREL) != 0;
			break;
		default: break;
		}
	}
}
