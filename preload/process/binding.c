/* SPDX-License-Identifier: MIT */
/*
 * binding.c - binds our calls as the loader would.
 *
 * By reading the loaded files' tables, since dlsym() and dlvsym() find others:
 * the one takes libc's newest function where we were linked to an older one,
 * and an entry in an executable at a fixed address for the function that it
 * jumps to; the other passes over a function of the program's own that has no
 * version.
 */
#include "preload/process/binding.h"

#include "preload/process/object_tables.h"
#include <dlfcn.h>
#include <string.h>

/* Calls beyond are left to the loader. */
#define SLOTS_MAX 512u

/* Where the linker put this library.  <link.h> has _DYNAMIC, the table that
 * says where the others are. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

typedef int visit_file(struct dl_phdr_info *info, size_t size, void *arg);

struct binding {
	struct object_tables own;
	size_t count;
	size_t left; /* not found yet */
	uint64_t found[SLOTS_MAX / 64];
	/* Found, but one of several functions is chosen by the processor. */
	uint64_t chosen[SLOTS_MAX / 64];
};

static uintptr_t own_base(void)
{
	return (uintptr_t)__ehdr_start;
}

/* A slot that isn't bound leads to the loader by way of us. */
static bool is_ours(uintptr_t address)
{
	return address - own_base() < (uintptr_t)_end - own_base();
}

static _Atomic uintptr_t *slot_word(const struct binding *binding, size_t i)
{
	const ElfW(Rela) *slot = &binding->own.relocations[0][i];

	return (_Atomic uintptr_t *)(own_base() + slot->r_offset);
}

static void set(uint64_t *bits, size_t i)
{
	bits[i / 64] |= UINT64_C(1) << i % 64;
}

static bool is_set(const uint64_t *bits, size_t i)
{
	return bits[i / 64] >> i % 64 & 1;
}

/* The version that files ask of others under that number. */
static const char *needed_version(const struct object_tables *tables,
				  unsigned int number)
{
	const char *at = (const char *)tables->needs;

	while (at) {
		const ElfW(Verneed) *need = (const void *)at;
		const char *next = at + need->vn_aux;

		for (unsigned int i = 0; i < need->vn_cnt; i++) {
			const ElfW(Vernaux) *one = (const void *)next;

			if ((one->vna_other & 0x7fff) == number)
				return tables->strings + one->vna_name;
			next += one->vna_next;
		}
		at = need->vn_next ? at + need->vn_next : NULL;
	}
	return NULL;
}

/* The same of what it has itself; NULL: without a version. */
static const char *defined_version(const struct object_tables *tables,
				   unsigned int number)
{
	const char *at = (const char *)tables->defines;

	while (at) {
		const ElfW(Verdef) *one = (const void *)at;
		const ElfW(Verdaux) *name = (const void *)(at + one->vd_aux);

		if ((one->vd_ndx & 0x7fff) == number)
			return one->vd_flags & VER_FLG_BASE
				       ? NULL
				       : tables->strings + name->vda_name;
		at = one->vd_next ? at + one->vd_next : NULL;
	}
	return NULL;
}

/* A call of ours: whom it asks for. */
struct call {
	const struct object_tables *own;
	size_t symbol;
	const char *name;
};

static struct call call_of(const struct binding *binding, size_t i)
{
	const ElfW(Rela) *slot = &binding->own.relocations[0][i];
	struct call call = {&binding->own, ELF64_R_SYM(slot->r_info), NULL};

	call.name = call.own->strings + call.own->symbols[call.symbol].st_name;
	return call;
}

/* NULL: without one, as our own functions are. */
static const char *version_of(const struct call *call)
{
	const ElfW(Half) *versions = call->own->versions;

	return versions ? needed_version(call->own,
					 versions[call->symbol] & 0x7fff)
			: NULL;
}

/* As check_match() of the loader does for a call. */
static bool matches(const struct object_tables *tables, size_t i,
		    const struct call *call)
{
	const ElfW(Sym) *symbol = &tables->symbols[i];
	const unsigned int kind = ELF64_ST_TYPE(symbol->st_info);
	const char *version, *wanted;

	if (!symbol->st_value || symbol->st_shndx == SHN_UNDEF ||
	    ELF64_ST_BIND(symbol->st_info) == STB_LOCAL ||
	    (kind != STT_FUNC && kind != STT_GNU_IFUNC && kind != STT_NOTYPE) ||
	    strcmp(tables->strings + symbol->st_name, call->name))
		return false;
	if (!tables->versions)
		return true;
	version = defined_version(tables, tables->versions[i] & 0x7fff);
	wanted = version ? version_of(call) : NULL;
	if (wanted)
		return !strcmp(version, wanted);
	return !(tables->versions[i] & 0x8000);
}

static const ElfW(Sym) * find_by_old_hash(const struct object_tables *tables,
					  const struct call *call)
{
	const uint32_t buckets = tables->old_hash[0];
	const uint32_t *bucket = tables->old_hash + 2;
	uint32_t hash = 0;

	for (const char *c = call->name; *c; c++) {
		hash = (hash << 4) + (unsigned char)*c;
		hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
	}
	for (uint32_t i = buckets ? bucket[hash % buckets] : 0; i;
	     i = bucket[buckets + i]) {
		if (matches(tables, i, call))
			return &tables->symbols[i];
	}
	return NULL;
}

static const ElfW(Sym) * find_by_hash(const struct object_tables *tables,
				      const struct call *call)
{
	const uint32_t buckets = tables->hash[0], first = tables->hash[1];
	const uint32_t words = tables->hash[2], shift = tables->hash[3];
	const uint64_t *filter = (const void *)(tables->hash + 4);
	const uint32_t *bucket = (const void *)(filter + words);
	uint32_t hash = 5381, i;
	uint64_t may;

	for (const char *c = call->name; *c; c++)
		hash = hash * 33 + (unsigned char)*c;
	may = filter[hash / 64 % words];
	if (!(may >> hash % 64 & may >> (hash >> shift) % 64 & 1) || !buckets)
		return NULL;
	i = bucket[hash % buckets];
	if (i < first)
		return NULL;
	for (;; i++) {
		const uint32_t one = bucket[buckets + i - first];

		if ((one | 1) == (hash | 1) && matches(tables, i, call))
			return &tables->symbols[i];
		if (one & 1)
			return NULL;
	}
}

static void bind_to(struct binding *binding, size_t i, uintptr_t function)
{
	/* Not what is there: the page may be for reading only by now. */
	if (load_relaxed(slot_word(binding, i)) != function)
		store_relaxed(slot_word(binding, i), function);
}

static void look_in(struct binding *binding, const struct object_tables *tables,
		    uintptr_t base)
{
	for (size_t i = 0; i < binding->count; i++) {
		const ElfW(Sym) * symbol;
		struct call call;

		if (is_set(binding->found, i))
			continue;
		call = call_of(binding, i);
		symbol = tables->hash ? find_by_hash(tables, &call)
				      : find_by_old_hash(tables, &call);
		if (!symbol)
			continue;
		set(binding->found, i);
		binding->left--;
		if (ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC)
			set(binding->chosen, i);
		else
			bind_to(binding, i, base + symbol->st_value);
	}
}

/* They come in the order in which the loader looks. */
static int look_at_file(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct binding *binding = arg;
	struct object_tables tables = {0};

	(void)size;
	object_tables_of(info, &tables);
	if (tables.symbols && tables.strings &&
	    (tables.hash || tables.old_hash))
		look_in(binding, &tables, info->dlpi_addr);
	return !binding->left;
}

/* The loader's bound calls are none of ours. */
static void look_at_slots(struct binding *binding)
{
	const size_t count = binding->own.bytes[0] / sizeof(ElfW(Rela));

	binding->count = count < SLOTS_MAX ? count : SLOTS_MAX;
	for (size_t i = 0; i < binding->count; i++) {
		const ElfW(Rela) *slot = &binding->own.relocations[0][i];

		if (ELF64_R_TYPE(slot->r_info) == TO_FUNCTION &&
		    is_ours(load_relaxed(slot_word(binding, i))))
			binding->left++;
		else
			set(binding->found, i);
	}
}

/* Behind our own, which would look up all functions that we wrap. */
static void visit_files(visit_file *visit, void *arg)
{
	int (*visit_all)(visit_file *, void *);

	*(void **)&visit_all = dlsym(RTLD_NEXT, "dl_iterate_phdr");
	if (visit_all)
		visit_all(visit, arg);
}

COLD void binding_complete(void)
{
	struct binding binding = {0};

	object_tables_read(own_base(), _DYNAMIC, &binding.own);
	if (!binding.own.relocations[0] || !binding.own.symbols ||
	    !binding.own.strings)
		return;
	look_at_slots(&binding);
	if (!binding.left)
		return;
	visit_files(look_at_file, &binding);
	for (size_t i = 0; i < binding.count; i++) {
		const char *version;
		struct call call;
		void *found;

		if (!is_set(binding.chosen, i))
			continue;
		call = call_of(&binding, i);
		version = version_of(&call);
		found = version ? dlvsym(RTLD_DEFAULT, call.name, version)
				: dlsym(RTLD_DEFAULT, call.name);
		/* Else the loader binds it at its first call. */
		if (found)
			bind_to(&binding, i, (uintptr_t)found);
	}
}
