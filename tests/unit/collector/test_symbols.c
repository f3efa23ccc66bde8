/* SPDX-License-Identifier: MIT */
/*
 * test_symbols.c - names of this program's own functions, which call of its
 * kind a return address belongs to, and ELF files that are damaged.
 *
 * The damaged files are copies of this program with some bytes changed, by a
 * fixed seed, or cut short.  No fault is all that is asked of them.
 */
#include "tests/unit/cmocka_base.h"
#include "tests/unit/unit_folder.h"

#include "collector/system/symbols.h"
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MUTATIONS 2000
#define SELF	  "/proc/self/exe"

static char path[256];
static uint8_t *original; /* this program's file */
static size_t original_bytes;
static uint64_t bias;

static int set_up_all(void **state)
{
	const int fd = open(SELF, O_RDONLY);
	struct stat status;
	Dl_info info;

	(void)state;
	if (fd < 0 || fstat(fd, &status) ||
	    !dladdr((void *)(uintptr_t)set_up_all, &info))
		return -1;
	original_bytes = (size_t)status.st_size;
	original = mmap(NULL, original_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	/* The file's addresses begin at 0 where it may lie anywhere. */
	if (((const Elf64_Ehdr *)original)->e_type == ET_DYN)
		bias = (uint64_t)(uintptr_t)info.dli_fbase;
	unit_template(path, sizeof(path), "unit");
	close(mkstemp(path));
	return original == MAP_FAILED;
}

static int tear_down_all(void **state)
{
	(void)state;
	unlink(path);
	return 0;
}

static void save(const uint8_t *bytes, size_t count)
{
	const int fd = open(path, O_WRONLY | O_TRUNC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, count), count);
	close(fd);
}

static uint64_t address_of(void (*function)(void))
{
	return (uint64_t)(uintptr_t)function - bias;
}

/* What the calls below return to. */
static uint64_t returns[4];
static int return_count;

__attribute__((noinline, noclone)) static void note_return(void)
{
	if (return_count < 4)
		returns[return_count++] =
			(uint64_t)(uintptr_t)__builtin_return_address(0) - bias;
}

__attribute__((noinline, noclone)) static void do_nothing(void)
{
	__asm__ volatile("");
}

__attribute__((noinline, noclone)) static void call_three_times(void)
{
	do_nothing();
	note_return();
	do_nothing();
	note_return();
	note_return();
	do_nothing();
}

static void test_a_function_is_found_from_first_to_last_byte(void **state)
{
	struct symbols *symbols = symbols_open(SELF);
	const uint64_t start = address_of(call_three_times);
	struct symbol found;

	(void)state;
	assert_non_null(symbols);
	assert_int_equal(symbols_find(symbols, start, &found), 0);
	assert_string_equal(found.name, "call_three_times");
	assert_int_equal(found.name_len, 16);
	assert_int_equal(found.start, start);
	assert_true(found.size > 10);
	assert_int_equal(symbols_find(symbols, start + found.size - 1, &found),
			 0);
	assert_string_equal(found.name, "call_three_times");
	if (!symbols_find(symbols, start - 1, &found))
		assert_string_not_equal(found.name, "call_three_times");
	assert_int_equal(symbols_find(symbols, 0, &found), -ENOENT);
	assert_int_equal(symbols_find(symbols, UINT64_MAX, &found), -ENOENT);
	symbols_close(symbols);
}

static void test_a_call_is_numbered_among_those_with_its_target(void **state)
{
	struct symbols *symbols = symbols_open(SELF);

	(void)state;
	return_count = 0;
	call_three_times();
	assert_int_equal(return_count, 3);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(symbols_call_ordinal(symbols, returns[i]),
				 i + 1);
	assert_int_equal(symbols_call_ordinal(symbols, returns[0] + 1), 0);
	assert_int_equal(symbols_call_ordinal(symbols, 0), 0);
	assert_int_equal(symbols_call_ordinal(symbols, UINT64_MAX), 0);
	symbols_close(symbols);
}

/* As the loader has it, not as the file says. */
static int find_own_id(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	(void)bytes;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		const char *at =
			(const char *)info->dlpi_addr + segment->p_vaddr;
		const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)at;

		if (segment->p_type != PT_NOTE ||
		    note->n_type != NT_GNU_BUILD_ID)
			continue;
		memcpy(arg, at + sizeof(*note) + 4, 20);
		return 1;
	}
	return 2; /* the first object is the program */
}

static void test_a_file_that_was_built_again_is_told(void **state)
{
	struct symbols *symbols = symbols_open(SELF);
	uint8_t id[20];

	(void)state;
	if (dl_iterate_phdr(find_own_id, id) != 1)
		skip();
	assert_true(symbols_is_build(symbols, id, sizeof(id)));
	assert_true(symbols_is_build(symbols, id, 8));
	assert_true(symbols_is_build(symbols, NULL, 0));
	id[19] ^= 1;
	assert_false(symbols_is_build(symbols, id, sizeof(id)));
	symbols_close(symbols);
}

static void test_what_is_no_elf_file_is_refused(void **state)
{
	uint8_t header[sizeof(Elf64_Ehdr) + 64];

	(void)state;
	assert_null(symbols_open("/no/such/file"));
	assert_null(symbols_open("/tmp"));
	assert_null(symbols_open("/dev/null"));
	assert_null(symbols_open("/dev/zero"));
	assert_null(symbols_open("/etc/passwd"));
	save(original, 0);
	assert_null(symbols_open(path));
	memcpy(header, original, sizeof(header));
	header[EI_CLASS] = ELFCLASS32;
	save(header, sizeof(header));
	assert_null(symbols_open(path));
	header[EI_CLASS] = ELFCLASS64;
	header[EI_DATA] = ELFDATA2MSB;
	save(header, sizeof(header));
	assert_null(symbols_open(path));
	symbols_close(NULL);
}

/* Opens the file and asks it this and that. */
static unsigned int question(const char *file)
{
	struct symbols *symbols = symbols_open(file);
	unsigned int found = 0;
	struct symbol symbol;

	if (!symbols)
		return 0;
	for (unsigned int i = 0; i < 40; i++) {
		const uint64_t address =
			i < 3 ? returns[i]
			      : (uint64_t)rand() % (2 * original_bytes);

		if (!symbols_find(symbols, address, &symbol)) {
			found++;
			assert_int_equal(
				strnlen(symbol.name, symbol.name_len + 1),
				symbol.name_len);
		}
		symbols_call_ordinal(symbols, address);
	}
	symbols_find(symbols, UINT64_MAX, &symbol);
	symbols_call_ordinal(symbols, UINT64_MAX);
	symbols_close(symbols);
	return found;
}

/* Where most of the damage is done: headers, section and symbol tables. */
static size_t place_to_change(void)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)original;
	const Elf64_Shdr *sections =
		(const Elf64_Shdr *)(original + header->e_shoff);
	const Elf64_Shdr *section = &sections[rand() % header->e_shnum];

	switch (rand() % 5) {
	case 0: return (size_t)rand() % sizeof(*header);
	case 1:
		return header->e_phoff +
		       (size_t)rand() % (header->e_phnum * sizeof(Elf64_Phdr));
	case 2:
		return header->e_shoff +
		       (size_t)rand() % (header->e_shnum * sizeof(Elf64_Shdr));
	case 3:
		if (section->sh_type != SHT_NOBITS && section->sh_size)
			return section->sh_offset +
			       (size_t)rand() % section->sh_size;
		break;
	}
	return (size_t)rand() % original_bytes;
}

static void test_damaged_files_do_no_harm(void **state)
{
	unsigned int answered = 0;
	int fd;

	(void)state;
	srand(20240229);
	save(original, original_bytes);
	fd = open(path, O_WRONLY);
	assert_true(fd >= 0);
	for (int i = 0; i < MUTATIONS; i++) {
		size_t places[8];
		const int count = 1 + rand() % 8;

		for (int j = 0; j < count; j++) {
			const uint8_t byte =
				rand() % 4 ? (uint8_t)rand() : 0xff;

			places[j] = place_to_change();
			assert_int_equal(pwrite(fd, &byte, 1, (off_t)places[j]),
					 1);
		}
		answered += question(path) > 0;
		for (int j = 0; j < count; j++)
			assert_int_equal(pwrite(fd, original + places[j], 1,
						(off_t)places[j]),
					 1);
	}
	close(fd);
	/* Some are beyond use and some are hardly hurt, or we tried nothing. */
	assert_in_range(answered, MUTATIONS / 10, MUTATIONS - MUTATIONS / 20);
}

static void test_truncated_files_do_no_harm(void **state)
{
	(void)state;
	srand(42);
	save(original, original_bytes);
	for (int i = 400; i-- > 0;) {
		assert_int_equal(
			truncate(path, (off_t)(original_bytes * i / 400)), 0);
		question(path);
	}
}

/* Symbols of hand-written assembly may have no size: they reach to the next
 * one, or to the end of their section. */
static void test_functions_without_size(void **state)
{
	uint8_t *copy = malloc(original_bytes);
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)copy;
	const Elf64_Shdr *sections;
	struct symbols *symbols;
	struct symbol found;

	(void)state;
	assert_non_null(copy);
	memcpy(copy, original, original_bytes);
	sections = (const Elf64_Shdr *)(copy + header->e_shoff);
	for (int i = 0; i < header->e_shnum; i++) {
		if (sections[i].sh_type != SHT_SYMTAB)
			continue;
		for (size_t at = 0; at < sections[i].sh_size;
		     at += sizeof(Elf64_Sym))
			((Elf64_Sym *)(copy + sections[i].sh_offset + at))
				->st_size = 0;
	}
	save(copy, original_bytes);
	free(copy);
	symbols = symbols_open(path);
	assert_non_null(symbols);
	assert_int_equal(symbols_find(symbols, returns[1], &found), 0);
	assert_string_equal(found.name, "call_three_times");
	assert_int_equal(symbols_call_ordinal(symbols, returns[1]), 2);
	for (uint64_t at = 1; at < 64 << 20; at += 999)
		symbols_call_ordinal(symbols, at);
	symbols_close(symbols);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_a_function_is_found_from_first_to_last_byte),
		cmocka_unit_test(
			test_a_call_is_numbered_among_those_with_its_target),
		cmocka_unit_test(test_a_file_that_was_built_again_is_told),
		cmocka_unit_test(test_what_is_no_elf_file_is_refused),
		cmocka_unit_test(test_damaged_files_do_no_harm),
		cmocka_unit_test(test_truncated_files_do_no_harm),
		cmocka_unit_test(test_functions_without_size),
	};

	return cmocka_run_group_tests(tests, set_up_all, tear_down_all);
}
