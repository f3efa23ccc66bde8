/* SPDX-License-Identifier: MIT */
/* binding.c - looks up what each of our calls goes to, as the loader would. */
#include "preload/process/binding.h"

#include "collector/system/base.h"
#include <dlfcn.h>
#include <link.h>
#include <string.h>

#if defined(__x86_64__)
#define TO_FUNCTION R_X86_64_JUMP_SLOT
#else
#define TO_FUNCTION R_AARCH64_JUMP_SLOT
#endif

/* glibc has some 40 in all, and the linker numbers those that we need. */
#define VERSIONS_MAX 64u

/* Where the linker put this library.  <link.h> has _DYNAMIC, the table that
 * says where the others are. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

struct tables {
	const ElfW(Rela) * slots;
	size_t bytes;
	const ElfW(Sym) * symbols;
	const char *strings;
	const ElfW(Half) * numbers; /* of each symbol's version */
	const ElfW(Verneed) * needs;
	const char *versions[VERSIONS_MAX];
};

/* The loader has turned most of these into addresses, but not all. */
static const void *table_at(const ElfW(Dyn) * entry)
{
	const uintptr_t base = (uintptr_t)__ehdr_start;
	const uintptr_t at = entry->d_un.d_ptr;

	return (const void *)(at < base ? at + base : at);
}

static void find_tables(struct tables *tables)
{
	for (const ElfW(Dyn) *entry = _DYNAMIC; entry->d_tag != DT_NULL;
	     entry++) {
		if (entry->d_tag == DT_JMPREL)
			tables->slots = table_at(entry);
		else if (entry->d_tag == DT_PLTRELSZ)
			tables->bytes = entry->d_un.d_val;
		else if (entry->d_tag == DT_SYMTAB)
			tables->symbols = table_at(entry);
		else if (entry->d_tag == DT_STRTAB)
			tables->strings = table_at(entry);
		else if (entry->d_tag == DT_VERSYM)
			tables->numbers = table_at(entry);
		else if (entry->d_tag == DT_VERNEED)
			tables->needs = table_at(entry);
	}
}

static void name_versions(struct tables *tables)
{
	const char *at = (const char *)tables->needs;

	while (at) {
		const ElfW(Verneed) *need = (const void *)at;
		const char *version = at + need->vn_aux;

		for (unsigned int i = 0; i < need->vn_cnt; i++) {
			const ElfW(Vernaux) *one = (const void *)version;

			if (one->vna_other < VERSIONS_MAX)
				tables->versions[one->vna_other] =
					tables->strings + one->vna_name;
			version += one->vna_next;
		}
		at = need->vn_next ? at + need->vn_next : NULL;
	}
}

/* NULL: the loader shall say so, should it ever be called. */
static void *look_up(const struct tables *tables, size_t symbol)
{
	const char *name = tables->strings + tables->symbols[symbol].st_name;
	const unsigned int number =
		tables->numbers ? tables->numbers[symbol] & 0x7fff : 0;
	const char *version =
		number < VERSIONS_MAX ? tables->versions[number] : NULL;

	return version ? dlvsym(RTLD_DEFAULT, name, version)
		       : dlsym(RTLD_DEFAULT, name);
}

static bool is_ours(uintptr_t address)
{
	return address - (uintptr_t)__ehdr_start <
	       (uintptr_t)(_end - __ehdr_start);
}

COLD void binding_complete(void)
{
	struct tables tables = {0};

	find_tables(&tables);
	if (!tables.slots || !tables.symbols || !tables.strings)
		return;
	name_versions(&tables);
	for (size_t i = 0; i < tables.bytes / sizeof(*tables.slots); i++) {
		const ElfW(Rela) *slot = tables.slots + i;
		_Atomic uintptr_t *word =
			(_Atomic uintptr_t *)((uintptr_t)__ehdr_start +
					      slot->r_offset);
		void *found;

		/* Until it is bound it leads to the loader by way of us. */
		if (ELF64_R_TYPE(slot->r_info) != TO_FUNCTION ||
		    !is_ours(load_relaxed(word)))
			continue;
		found = look_up(&tables, ELF64_R_SYM(slot->r_info));
		if (found)
			store_relaxed(word, (uintptr_t)found);
	}
}
