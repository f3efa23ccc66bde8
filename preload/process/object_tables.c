/* SPDX-License-Identifier: MIT */
/* object_tables.c - reads the dynamic section of a loaded file. */
#include "preload/process/object_tables.h"

#include <string.h>

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

void object_tables_of(const struct dl_phdr_info *file,
		      struct object_tables *tables)
{
	for (int i = 0; i < file->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &file->dlpi_phdr[i];

		if (part->p_type == PT_DYNAMIC)
			object_tables_read(file->dlpi_addr,
					   (const ElfW(Dyn) *)(file->dlpi_addr +
							       part->p_vaddr),
					   tables);
	}
}

/* The last symbol ends the last chain. */
uint32_t object_tables_symbols(const uint32_t *hash)
{
	const uint32_t buckets = hash[0], first = hash[1];
	const uint32_t *bucket = hash + 4 + 2 * hash[2];
	const uint32_t *chain = bucket + buckets;
	uint32_t last = 0;

	for (uint32_t i = 0; i < buckets; i++)
		last = bucket[i] > last ? bucket[i] : last;
	if (last < first)
		return first;
	while (!(chain[last - first] & 1))
		last++;
	return last + 1;
}

/* As GNU's linker writes it: four numbers, a filter, the first symbol of each
 * bucket, and for each symbol its hash, whose lowest bit ends the bucket. */
static bool is_exported(const struct object_tables *tables, const char *name,
			uint32_t wanted)
{
	const uint32_t *hash = tables->hash;
	const uint32_t buckets = hash[0], first = hash[1], words = hash[2];
	const uint32_t *bucket =
		hash + 4 + words * sizeof(ElfW(Addr)) / sizeof(uint32_t);
	const uint32_t *chain = bucket + buckets;
	uint32_t at = buckets ? bucket[wanted % buckets] : 0;

	if (at < first)
		return false;
	for (;; at++) {
		const ElfW(Sym) *symbol = &tables->symbols[at];
		const uint32_t found = chain[at - first];

		if ((found | 1) == (wanted | 1) && symbol->st_shndx &&
		    !strcmp(tables->strings + symbol->st_name, name))
			return true;
		if (found & 1)
			return false;
	}
}

struct wanted {
	const char *name;
	uint32_t hash;
};

static int look(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	const struct wanted *wanted = arg;
	struct object_tables tables = {0};

	(void)bytes;
	object_tables_of(info, &tables);
	if (!tables.symbols || !tables.strings)
		return 0;
	if (!tables.hash)
		return tables.old_hash != NULL;
	return is_exported(&tables, wanted->name, wanted->hash);
}

bool object_tables_export(const char *name)
{
	struct wanted wanted = {name, 5381};

	for (const char *c = name; *c; c++)
		wanted.hash = wanted.hash * 33 + (unsigned char)*c;
	return dl_iterate_phdr(look, &wanted);
}
