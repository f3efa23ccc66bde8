/* SPDX-License-Identifier: MIT */
/* source_scopes.c - a unit and the scopes in it; see source_scopes.h. */
#include "tools/symbols/source_scopes.h"

#ifdef HAVE_LIBDW
#include "tools/util/memory.h"
#include <dwarf.h>
#include <stdlib.h>

/* Of a damaged file, entries may lie in each other without end. */
#define DEPTH_MAX 256

struct source_unit {
	Dwarf_Addr low, high;
	Dwarf_Off offset; /* of its entry */
};

static int by_low(const void *a, const void *b)
{
	const struct source_unit *one = a, *other = b;

	if (one->low != other->low)
		return one->low < other->low ? -1 : 1;
	return 0;
}

static void read_units(struct source_units *units, Dwfl_Module *module)
{
	Dwarf_Addr bias, base, low, high;
	Dwarf_Die *unit = NULL;
	ptrdiff_t at;

	units->is_read = true;
	while ((unit = dwfl_module_nextcu(module, unit, &bias))) {
		for (at = 0;
		     (at = dwarf_ranges(unit, at, &base, &low, &high)) > 0;) {
			if (low >= high)
				continue;
			units->spans = memory_grow(units->spans, units->count,
						   &units->capacity,
						   sizeof(units->spans[0]));
			units->spans[units->count++] = (struct source_unit){
				low, high, dwarf_dieoffset(unit)};
		}
	}
	if (units->count)
		qsort(units->spans, units->count, sizeof(units->spans[0]),
		      by_low);
}

bool source_unit_find(struct source_units *units, Dwfl_Module *module,
		      Dwarf_Addr *address, Dwarf_Die *unit)
{
	Dwarf_Addr bias;
	Dwarf_Die *known = dwfl_module_addrdie(module, *address, &bias);
	Dwarf *dwarf;
	size_t low = 0, high;

	if (known) {
		*address -= bias;
		*unit = *known;
		return true;
	}
	dwarf = dwfl_module_getdwarf(module, &bias);
	if (!dwarf)
		return false;
	if (!units->is_read)
		read_units(units, module);
	*address -= bias;
	for (high = units->count; low < high;) {
		const size_t middle = low + (high - low) / 2;

		if (units->spans[middle].low <= *address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && *address < units->spans[low - 1].high &&
	       dwarf_offdie(dwarf, units->spans[low - 1].offset, unit);
}

void source_units_free(struct source_units *units)
{
	free(units->spans);
}

/* Functions lie in these without a word of where their code is. */
static bool may_hold_functions(Dwarf_Die *die)
{
	const int tag = dwarf_tag(die);

	return tag == DW_TAG_namespace || tag == DW_TAG_module ||
	       tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
	       tag == DW_TAG_union_type || tag == DW_TAG_enumeration_type;
}

/* The innermost entry below `die` whose code holds the address. */
static bool go_in(Dwarf_Die *die, Dwarf_Addr address, int depth,
		  Dwarf_Die *innermost)
{
	Dwarf_Die child;

	if (depth >= DEPTH_MAX || dwarf_child(die, &child))
		return false;
	do {
		if (dwarf_haspc(&child, address) > 0) {
			*innermost = child;
			go_in(&child, address, depth + 1, innermost);
			return true;
		}
		if (may_hold_functions(&child) &&
		    go_in(&child, address, depth + 1, innermost))
			return true;
	} while (!dwarf_siblingof(&child, &child));
	return false;
}

int source_scopes_find(Dwarf_Die *unit, Dwarf_Addr address, Dwarf_Die **scopes)
{
	Dwarf_Die innermost;

	return go_in(unit, address, 0, &innermost)
		       ? dwarf_getscopes_die(&innermost, scopes)
		       : 0;
}
#endif
