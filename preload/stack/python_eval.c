/* SPDX-License-Identifier: MIT */
/* python_eval.c - a function and where its jumps lead; see python_eval.h. */
#include "preload/stack/python_eval.h"

#include "preload/stack/code_read.h"
#include "preload/stack/unwind_entry.h"
#include <dlfcn.h>

/* The function, and parts of it. */
#define PARTS_MAX 4u

static struct {
	uint64_t low, high;
} part[PARTS_MAX];
static uint32_t parts;

struct file_search {
	uint64_t code;
	struct dl_phdr_info info;
};

static int has_code(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct file_search *search = arg;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *loaded = &info->dlpi_phdr[i];

		if (loaded->p_type == PT_LOAD &&
		    search->code - info->dlpi_addr - loaded->p_vaddr <
			    loaded->p_memsz) {
			search->info = *info;
			return 1;
		}
	}
	return 0;
}

static bool is_known(uint64_t code)
{
	for (uint32_t i = 0; i < parts; i++)
		if (code >= part[i].low && code < part[i].high)
			return true;
	return false;
}

/* What is jumped into and not to its begin is no function of its own. */
static COLD void add_part(const struct dl_phdr_info *info, uint64_t goal)
{
	struct unwind_entry entry;
	uint64_t begin;

	if (parts == PARTS_MAX || is_known(goal) ||
	    !unwind_entry_find(info, goal, &entry, &begin) || begin == goal)
		return;
	part[parts].low = begin;
	part[parts++].high = begin + entry.code_bytes;
}

static COLD void find_parts(const struct dl_phdr_info *info)
{
	const uint64_t end = part[0].high;
	struct code_instruction found;

	for (uint64_t at = part[0].low;
	     at < end && code_read((const unsigned char *)(uintptr_t)at,
				   end - at, &found);) {
		at += found.bytes;
		if (found.flow == CODE_BRANCH || found.flow == CODE_JUMP)
			add_part(info, at + (uint64_t)found.distance);
	}
}

COLD bool python_eval_find(void)
{
	void *loop = dlsym(RTLD_DEFAULT, PYTHON_EVAL);
	struct file_search search = {.code = (uint64_t)(uintptr_t)loop};
	ElfW(Sym) *symbol = NULL;
	Dl_info info;

	if (!loop || !dladdr1(loop, &info, (void **)&symbol, RTLD_DL_SYMENT) ||
	    !symbol)
		return false;
	part[0].low = search.code;
	part[0].high = search.code + symbol->st_size;
	parts = 1;
	if (dl_iterate_phdr(has_code, &search) &&
	    unwind_entry_reads(&search.info, part[0].low, symbol->st_size))
		find_parts(&search.info);
	return true;
}

bool python_eval_holds(uint64_t code)
{
	for (uint32_t i = 0; i < parts; i++)
		if (code > part[i].low && code <= part[i].high)
			return true;
	return false;
}
