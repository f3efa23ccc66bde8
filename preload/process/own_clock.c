/* SPDX-License-Identifier: MIT */
/*
 * own_clock.c - the kernel's clocks, whatever stands before the C library's.
 *
 * libfaketime and its like have a clock_gettime() of their own, for each
 * library: it may run ten times as fast, and wherever we wait for a while we
 * waited as long by that; or stand still, and we waited for ever.  The program
 * is to see that clock, its profile is of the time that it took.
 *
 * So the linker puts this in the place of that name (OWN_CALLS in the
 * Makefile).  It asks what the kernel has mapped into each process, without
 * which each look is a system call.
 */
#include "collector/system/base.h"
#include "preload/process/object_tables.h"

#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#define MAPPED_NAME "__vdso_clock_gettime"
#else
#define MAPPED_NAME "__kernel_clock_gettime"
#endif

typedef int clock_function(clockid_t clock, struct timespec *now);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now);

static int ask_kernel(clockid_t clock, struct timespec *now)
{
	return (int)syscall(SYS_clock_gettime, clock, now);
}

static clock_function *find_in(const struct object_tables *tables,
			       uintptr_t base)
{
	const uint32_t count = tables->hash
				       ? object_tables_symbols(tables->hash)
				       : tables->old_hash[1];

	for (uint32_t at = 0; at < count; at++) {
		const ElfW(Sym) *symbol = &tables->symbols[at];

		if (symbol->st_shndx != SHN_UNDEF &&
		    !strcmp(tables->strings + symbol->st_name, MAPPED_NAME))
			return (clock_function *)(base + symbol->st_value);
	}
	return ask_kernel;
}

/* valgrind hides what the kernel maps. */
static clock_function *find(void)
{
	const uintptr_t start = getauxval(AT_SYSINFO_EHDR);
	const ElfW(Ehdr) *head = (const ElfW(Ehdr) *)start;
	const ElfW(Phdr) * parts;
	struct object_tables tables = {0};
	uintptr_t base = 0;

	if (!head)
		return ask_kernel;
	parts = (const ElfW(Phdr) *)(start + head->e_phoff);
	for (unsigned int at = 0; at < head->e_phnum; at++)
		if (parts[at].p_type == PT_LOAD)
			base = start + parts[at].p_offset - parts[at].p_vaddr;
	for (unsigned int at = 0; at < head->e_phnum; at++)
		if (parts[at].p_type == PT_DYNAMIC)
			object_tables_read(
				base,
				(const ElfW(Dyn) *)(base + parts[at].p_vaddr),
				&tables);
	return tables.symbols && tables.strings &&
			       (tables.hash || tables.old_hash)
		       ? find_in(&tables, base)
		       : ask_kernel;
}

/* Any thread, signal handlers too: who comes at once with another finds the
 * same. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	static clock_function *known;
	clock_function *function = __atomic_load_n(&known, __ATOMIC_RELAXED);

	if (unlikely(!function)) {
		function = find();
		__atomic_store_n(&known, function, __ATOMIC_RELAXED);
	}
	return function(clock, now) ? -1 : 0;
}
