/* SPDX-License-Identifier: MIT */
/*
 * hook_hide.c - takes hooks out of the loader's sight.
 *
 * A preloaded library has its names for everybody: dlsym() and a weak symbol
 * find them though no library of the program has such a function, and who calls
 * one calls us, wanted or not.  So for a family that isn't wanted our own table
 * of symbols says from the constructor on that they aren't defined here, and
 * the loader looks on behind us.  What it had bound to us before is bound to
 * what it would have found.  Of BLAS that is wanted this is done where it would
 * have found nothing; a library that is loaded later and dlsym() still find us.
 *
 * It keeps what was bound by other libraries' constructors before ours, and in
 * files with relocations in their code; who calls such a pointer is handed on
 * by the hook.
 */
#include "preload/process/hook_hide.h"

#include "collector/session/thread.h"
#include "collector/system/page_size.h"
#include "preload/process/object_tables.h"
#include <dlfcn.h>
#include <elf.h>
#include <string.h>
#include <sys/mman.h>

/* Looked up together; then again, until there are no more. */
#define SLOTS_AT_ONCE 256u

/* Where the linker put this library. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
/* <link.h> has _DYNAMIC, the table that says where the others are. */

/* A word that the loader bound to us. */
struct slot {
	uintptr_t *at;
	uintptr_t hook; /* what it holds */
	void *found;	/* behind us, NULL nobody */
	const char *name;
	bool is_weak, is_sealed, is_hidden;
};

struct search {
	const struct hook_range *ranges;
	uint32_t range_count;
	uintptr_t low, high; /* of all of them */
	uint32_t count;
	struct slot slots[SLOTS_AT_ONCE];
};

static const struct hook_range *range_of(const struct hook_range *ranges,
					 uint32_t count, uintptr_t address)
{
	for (uint32_t i = 0; i < count; i++) {
		if (address - (uintptr_t)ranges[i].low <
		    (uintptr_t)(ranges[i].high - ranges[i].low))
			return &ranges[i];
	}
	return NULL;
}

static bool allow(const void *low, const void *high, int protection)
{
	const uintptr_t from = page_of((uintptr_t)low);
	const uintptr_t to = align_up((uintptr_t)high, page_bytes());

	return !mprotect((void *)from, to - from, protection);
}

/* A symbol without a value is passed over by the loader.  Each process does
 * this at its start. */
static void hide_within(ElfW(Sym) * symbol, const ElfW(Sym) * end,
			const char *low, const char *high)
{
	const uintptr_t first = (uintptr_t)low - (uintptr_t)__ehdr_start;
	const uintptr_t bytes = (uintptr_t)(high - low);

	for (; symbol < end; symbol++)
		if (symbol->st_value - first < bytes)
			symbol->st_value = 0;
}

static bool hide_names(const struct hook_range *ranges, uint32_t count)
{
	const uintptr_t base = (uintptr_t)__ehdr_start;
	/* On larger pages than the linker keeps them apart by, our code lies
	 * beside the symbols. */
	const int beside = page_bytes() > PAGE_BYTES ? PROT_EXEC : 0;
	struct object_tables own = {0};
	ElfW(Sym) * symbol, *end;

	object_tables_read(base, _DYNAMIC, &own);
	if (!own.symbols || !own.hash)
		return false;
	symbol = (ElfW(Sym) *)(uintptr_t)own.symbols;
	end = symbol + object_tables_symbols(own.hash);
	symbol += own.hash[1]; /* those before it are others' */
	if (!allow(symbol, end, PROT_READ | PROT_WRITE | beside))
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (ranges[i].is_hidden)
			hide_within(symbol, end, ranges[i].low, ranges[i].high);
	return allow(symbol, end, PROT_READ | beside);
}

static void look_at(uintptr_t base, const struct object_tables *tables,
		    uintptr_t sealed_low, uintptr_t sealed_high,
		    struct search *search)
{
	for (int part = 0; part < 2; part++) {
		const ElfW(Rela) *one = tables->relocations[part];
		const ElfW(Rela) *end =
			one ? one + tables->bytes[part] / sizeof(*one) : one;

		if (one && part == 1)
			one += tables->relative;
		for (; one < end && search->count < SLOTS_AT_ONCE; one++) {
			const uint64_t kind = ELF64_R_TYPE(one->r_info);
			uintptr_t *at = (uintptr_t *)(base + one->r_offset);
			const struct hook_range *range;
			const ElfW(Sym) * symbol;

			if (kind != TO_SYMBOL && kind != TO_FUNCTION &&
			    kind != TO_DATA)
				continue;
			if (likely(*at - search->low >=
				   search->high - search->low))
				continue;
			range = range_of(search->ranges, search->range_count,
					 *at);
			if (!range || range->keeps_bound)
				continue;
			symbol = &tables->symbols[ELF64_R_SYM(one->r_info)];
			search->slots[search->count++] = (struct slot){
				at,
				*at,
				NULL,
				tables->strings + symbol->st_name,
				ELF64_ST_BIND(symbol->st_info) == STB_WEAK,
				(uintptr_t)at - sealed_low <
					sealed_high - sealed_low,
				range->is_hidden};
		}
	}
}

/* What the loader has sealed, in whole pages. */
static void sealed_by(uintptr_t base, const ElfW(Phdr) * part, uintptr_t *low,
		      uintptr_t *high)
{
	*low = base + part->p_vaddr;
	*high = page_of(*low + part->p_memsz);
	*low = page_of(*low);
}

static int look_at_file(struct dl_phdr_info *info, size_t size, void *arg)
{
	const uintptr_t base = info->dlpi_addr;
	const ElfW(Dyn) *dynamic = NULL;
	uintptr_t low = 0, high = 0;
	struct object_tables tables = {0};

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type == PT_DYNAMIC) {
			dynamic = (const ElfW(Dyn) *)(base + part->p_vaddr);
		} else if (part->p_type == PT_GNU_RELRO) {
			sealed_by(base, part, &low, &high);
		}
	}
	if (dynamic && base != (uintptr_t)__ehdr_start) {
		object_tables_read(base, dynamic, &tables);
		if (tables.symbols && tables.strings && !tables.is_in_code)
			look_at(base, &tables, low, high, arg);
	}
	return ((struct search *)arg)->count == SLOTS_AT_ONCE;
}

/* Many files call the same few functions. */
static void *behind(const struct search *search, const struct slot *slot)
{
	void *found;

	for (const struct slot *other = search->slots; other < slot; other++) {
		if (other->hook == slot->hook)
			return other->found;
	}
	found = dlsym(RTLD_NEXT, slot->name);
	dlerror();
	return found;
}

/* True: it is no longer bound to us. */
static bool rebind(const struct search *search, struct slot *slot)
{
	slot->found = behind(search, slot);
	/* One that isn't weak and nobody's is not to crash before it is
	 * called. */
	if (slot->found ? !slot->is_hidden : !slot->is_weak)
		return false;
	if (slot->is_sealed &&
	    !allow(slot->at, slot->at + 1, PROT_READ | PROT_WRITE))
		return false;
	*slot->at = (uintptr_t)slot->found;
	return !slot->is_sealed || allow(slot->at, slot->at + 1, PROT_READ);
}

static bool is_any_hidden(const struct hook_range *ranges, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (ranges[i].is_hidden)
			return true;
	}
	return false;
}

COLD void hook_hide(const struct hook_range *ranges, uint32_t count)
{
	struct thread *was = thread_busy();
	struct search search;
	uint32_t gone;

	search.ranges = ranges;
	search.range_count = count;
	search.low = UINTPTR_MAX;
	search.high = 0;
	for (uint32_t i = 0; i < count; i++) {
		search.low = min_u64(search.low, (uintptr_t)ranges[i].low);
		search.high = max_u64(search.high, (uintptr_t)ranges[i].high);
	}
	if (!is_any_hidden(ranges, count) || hide_names(ranges, count))
		do {
			search.count = gone = 0;
			dl_iterate_phdr(look_at_file, &search);
			for (uint32_t i = 0; i < search.count; i++)
				gone += rebind(&search, &search.slots[i]);
		} while (gone && search.count == SLOTS_AT_ONCE);
	thread_unbusy(was);
}

/* --- one file's calls ------------------------------------------------------*/

struct redirection {
	uintptr_t base;
	const char *name;
	void *to;
	uintptr_t sealed_low, sealed_high;
	bool is_done; /* in each place that calls it */
};

static bool put(const struct redirection *wanted, uintptr_t *at)
{
	const bool is_sealed = (uintptr_t)at - wanted->sealed_low <
			       wanted->sealed_high - wanted->sealed_low;

	if (is_sealed && !allow(at, at + 1, PROT_READ | PROT_WRITE))
		return false;
	*at = (uintptr_t)wanted->to;
	if (is_sealed)
		allow(at, at + 1, PROT_READ);
	return true;
}

static void redirect_in(const struct object_tables *tables,
			struct redirection *wanted)
{
	for (int part = 0; part < 2; part++) {
		const ElfW(Rela) *one = tables->relocations[part];
		const ElfW(Rela) *end =
			one ? one + tables->bytes[part] / sizeof(*one) : one;

		for (; one < end; one++) {
			const uint64_t kind = ELF64_R_TYPE(one->r_info);
			const ElfW(Sym) *symbol =
				&tables->symbols[ELF64_R_SYM(one->r_info)];

			if ((kind == TO_FUNCTION || kind == TO_DATA) &&
			    !strcmp(tables->strings + symbol->st_name,
				    wanted->name))
				wanted->is_done &= put(
					wanted, (uintptr_t *)(wanted->base +
							      one->r_offset));
		}
	}
}

static int redirect_file(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct redirection *wanted = arg;
	struct object_tables tables = {0};

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		/* A file begins where its first segment does. */
		if (part->p_type == PT_LOAD && !part->p_offset &&
		    info->dlpi_addr + part->p_vaddr != wanted->base)
			return 0;
		if (part->p_type == PT_GNU_RELRO)
			sealed_by(info->dlpi_addr, part, &wanted->sealed_low,
				  &wanted->sealed_high);
		if (part->p_type == PT_DYNAMIC)
			object_tables_read(info->dlpi_addr,
					   (const ElfW(Dyn) *)(info->dlpi_addr +
							       part->p_vaddr),
					   &tables);
	}
	wanted->is_done =
		tables.symbols && tables.strings && !tables.is_in_code;
	if (wanted->is_done)
		redirect_in(&tables, wanted);
	return 1;
}

COLD bool hook_redirect(uintptr_t base, const char *name, void *to)
{
	struct redirection wanted = {.base = base, .name = name, .to = to};

	dl_iterate_phdr(redirect_file, &wanted);
	return wanted.is_done;
}
