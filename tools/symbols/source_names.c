/* SPDX-License-Identifier: MIT */
/* source_names.c - symbols, sorted; see source_names.h. */
#include "tools/symbols/source_names.h"

#ifdef HAVE_LIBDW
#include "tools/util/memory.h"
#include <stdint.h>
#include <stdlib.h>

struct source_name {
	Dwarf_Addr low, high;
	Dwarf_Addr reach; /* the highest end of this one and those before it */
	const char *text;
	int rank; /* of several at one place the least, of these the first */
	int index;
};

static int rank_of(const GElf_Sym *symbol)
{
	switch (GELF_ST_BIND(symbol->st_info)) {
	case STB_GLOBAL: return 0;
	case STB_WEAK: return 1;
	default: return 2;
	}
}

/* On aarch64 names such as $x mark where code begins. */
static bool is_of_code(const GElf_Sym *symbol, const char *text)
{
	const int type = GELF_ST_TYPE(symbol->st_info);

	return symbol->st_shndx != SHN_UNDEF &&
	       (type == STT_FUNC || type == STT_GNU_IFUNC ||
		(type == STT_NOTYPE && text[0] != '$'));
}

/* Of those that begin at one place the best comes last. */
static int compare(const void *a, const void *b)
{
	const struct source_name *one = a, *other = b;

	if (one->low != other->low)
		return one->low < other->low ? -1 : 1;
	if (one->rank != other->rank)
		return one->rank > other->rank ? -1 : 1;
	if (one->high != other->high)
		return one->high > other->high ? -1 : 1;
	return other->index - one->index;
}

static void add_names(struct source_names *names, Dwfl_Module *module)
{
	const int count = dwfl_module_getsymtab(module);

	for (int at = 0; at < count; at++) {
		GElf_Sym symbol;
		GElf_Addr low;
		const char *text = dwfl_module_getsym_info(
			module, at, &symbol, &low, NULL, NULL, NULL);

		if (!text || !text[0] || !is_of_code(&symbol, text) ||
		    low + symbol.st_size < low)
			continue;
		names->names =
			memory_grow(names->names, names->count,
				    &names->capacity, sizeof(names->names[0]));
		names->names[names->count++] =
			(struct source_name){.low = low,
					     .high = low + symbol.st_size,
					     .text = text,
					     .rank = rank_of(&symbol),
					     .index = at};
	}
}

static void read_names(struct source_names *names, Dwfl_Module *module)
{
	Dwarf_Addr reach = 0;

	names->is_read = true;
	add_names(names, module);
	if (names->count)
		qsort(names->names, names->count, sizeof(names->names[0]),
		      compare);
	for (size_t at = 0; at < names->count; at++) {
		if (names->names[at].high > reach)
			reach = names->names[at].high;
		names->names[at].reach = reach;
	}
}

static Elf_Scn *section_of(Dwfl_Module *module, Dwarf_Addr address)
{
	GElf_Addr bias;

	return dwfl_module_address_section(module, &address, &bias);
}

/* Where the last symbol is without a size, and none before it reaches further.
 * What follows in another section, the linker's calls say, is nothing of it. */
static const char *sizeless(const struct source_name *last, Dwfl_Module *module,
			    Dwarf_Addr address)
{
	return last->high == last->low && last->reach <= last->low &&
			       section_of(module, last->low) ==
				       section_of(module, address)
		       ? last->text
		       : NULL;
}

const char *source_names_find(struct source_names *names, Dwfl_Module *module,
			      Dwarf_Addr address)
{
	size_t low = 0, high, at;

	if (!names->is_read)
		read_names(names, module);
	for (high = names->count; low < high;) {
		const size_t middle = low + (high - low) / 2;

		if (names->names[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (at = low; at-- > 0 && names->names[at].reach > address;)
		if (names->names[at].high > address)
			return names->names[at].text;
	return low ? sizeless(&names->names[low - 1], module, address) : NULL;
}

void source_names_free(struct source_names *names)
{
	free(names->names);
}
#endif
