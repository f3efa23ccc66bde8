/* SPDX-License-Identifier: MIT */
/* code_ends.c - functions that never return; see code_ends.h. */
#include "preload/stack/code_ends.h"

#include <elf.h>
#include <string.h>

/* Relocations of a file that are looked at. */
#define RELOCATIONS_MAX 65536u

/* In one string, since pointers would have to be set by the loader.  A name
 * that ends with * begins so. */
static const char ends[] = "abort\0exit\0_exit\0_Exit\0quick_exit\0"
			   "__assert_fail\0__stack_chk_fail\0__chk_fail\0"
			   "longjmp\0__longjmp_chk\0siglongjmp\0"
			   "pthread_exit\0__cxa_throw\0__cxa_rethrow\0"
			   "__cxa_bad_cast\0__cxa_throw_bad_array_new_length\0"
			   "__cxa_pure_virtual\0_Unwind_Resume\0"
			   "_ZSt9terminatev\0_ZSt*__throw_\0"
			   "_gfortran_runtime_error*\0_gfortran_os_error*\0"
			   "_gfortran_stop_*\0_gfortran_error_stop_*\0";

bool code_ends_by_name(const char *name)
{
	for (const char *end = ends; *end; end += strlen(end) + 1) {
		const char *star = strchr(end, '*');

		if (!star ? !strcmp(name, end)
			  : !strncmp(name, end, (size_t)(star - end)) &&
				    strstr(name + (star - end), star + 1))
			return true;
	}
	return false;
}

#if defined(__x86_64__)
/* endbr64, bnd, and a jump through memory at a distance. */
static uint64_t slot_of(uint64_t target)
{
	static const unsigned char mark[] = {0xf3, 0x0f, 0x1e, 0xfa};
	const unsigned char *code = (const unsigned char *)(uintptr_t)target;
	int32_t distance;

	if (!memcmp(code, mark, sizeof(mark)))
		code += sizeof(mark);
	code += *code == 0xf2;
	if (code[0] != 0xff || code[1] != 0x25)
		return 0;
	memcpy(&distance, code + 2, sizeof(distance));
	return (uint64_t)(uintptr_t)(code + 6) + (uint64_t)(int64_t)distance;
}
#else
static uint64_t slot_of(uint64_t target)
{
	(void)target;
	return 0;
}
#endif

/* What the file says of its slots; addresses as the loader has set them. */
struct tables {
	const ElfW(Sym) * symbols;
	const char *strings;
	const ElfW(Rela) * slots, *others;
	size_t slots_bytes, others_bytes;
};

static struct tables read_tables(const struct link_map *file)
{
	struct tables tables = {NULL};

	for (const ElfW(Dyn) *entry = file->l_ld; entry->d_tag != DT_NULL;
	     entry++) {
		const void *at = (const void *)entry->d_un.d_ptr;

		switch (entry->d_tag) {
		case DT_SYMTAB: tables.symbols = at; break;
		case DT_STRTAB: tables.strings = at; break;
		case DT_JMPREL: tables.slots = at; break;
		case DT_PLTRELSZ: tables.slots_bytes = entry->d_un.d_val; break;
		case DT_RELA: tables.others = at; break;
		case DT_RELASZ: tables.others_bytes = entry->d_un.d_val; break;
		default: break;
		}
	}
	return tables;
}

static const char *name_of(const struct tables *tables,
			   const ElfW(Rela) * relocations, size_t bytes,
			   uint64_t slot)
{
	const size_t count = relocations ? bytes / sizeof(*relocations) : 0;

	for (size_t i = 0; i < count && i < RELOCATIONS_MAX; i++) {
		if (relocations[i].r_offset == slot)
			return tables->strings +
			       tables->symbols[ELF64_R_SYM(
						       relocations[i].r_info)]
				       .st_name;
	}
	return NULL;
}

bool code_ends(const struct link_map *file, uint64_t target)
{
	const uint64_t slot = slot_of(target);
	struct tables tables;
	const char *name;

	if (!slot || !file->l_ld)
		return false;
	tables = read_tables(file);
	if (!tables.symbols || !tables.strings)
		return false;
	name = name_of(&tables, tables.slots, tables.slots_bytes,
		       slot - file->l_addr);
	if (!name)
		name = name_of(&tables, tables.others, tables.others_bytes,
			       slot - file->l_addr);
	return name && code_ends_by_name(name);
}
