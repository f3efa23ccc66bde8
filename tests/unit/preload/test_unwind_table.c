/* SPDX-License-Identifier: MIT */
/* test_unwind_table.c - which entries of .eh_frame are left to libunwind. */
#include "tests/unit/cmocka_base.h"

#include "preload/stack/unwind_table.h"
#include <string.h>

#if defined(__x86_64__)
#define FRAME  "\x06"
#define BFRAME "\x76"
#define BSTACK "\x77"
#else
#define FRAME  "\x1d"
#define BFRAME "\x8d"
#define BSTACK "\x8f"
#endif

#define CODE_AT	  0x400
#define TABLE_AT  0x10
#define SHARED_AT 0x100
#define ENTRY_AT  0x180

/* A file's memory with one function of 64 bytes. */
static _Alignas(16) unsigned char memory[0x600];

static const ElfW(Phdr) parts[] = {
	{.p_type = PT_LOAD,
	 .p_flags = PF_R,
	 .p_filesz = CODE_AT,
	 .p_memsz = 0x500},
	{.p_type = PT_GNU_EH_FRAME, .p_vaddr = TABLE_AT, .p_memsz = 20},
};

static void put(size_t at, uint32_t value)
{
	memcpy(memory + at, &value, sizeof(value));
}

/* Bytes at a place behind its length and distance. */
static void fill(size_t at, uint32_t distance, const char *bytes, size_t count)
{
	memset(memory + at, 0, 64);
	put(at, 60);
	put(at + 4, distance);
	memcpy(memory + at + 8, bytes, count);
}

#define SHARED(text) fill(SHARED_AT, 0, text, sizeof(text) - 1)

static void set_instructions(const char *bytes, size_t count)
{
	char text[52] = {0};
	const int32_t code = CODE_AT - (ENTRY_AT + 8);

	memcpy(text, &code, 4);
	text[4] = 64;
	memcpy(text + 9, bytes, count);
	fill(ENTRY_AT, ENTRY_AT + 4 - SHARED_AT, text, sizeof(text));
}

#define INSTRUCTIONS(text) set_instructions(text, sizeof(text) - 1)

static int build(void **state)
{
	(void)state;
	memcpy(memory + TABLE_AT, "\1\x1b\3\x3b", 4);
	put(TABLE_AT + 8, 1);
	put(TABLE_AT + 12, CODE_AT - TABLE_AT);
	put(TABLE_AT + 16, ENTRY_AT - TABLE_AT);
	SHARED("\1zR\0\1\x78\x10\1\x1b\x0c\7\x08\x90\1");
	INSTRUCTIONS("\x41\x0e\x10\x86\2");
	return 0;
}

static bool holds(void)
{
	const struct dl_phdr_info info = {
		.dlpi_addr = (uintptr_t)memory,
		.dlpi_phdr = parts,
		.dlpi_phnum = 2,
	};

	return unwind_table_holds(&info, (uintptr_t)memory + CODE_AT + 8);
}

static void what_compilers_write(void **state)
{
	(void)state;
	assert_true(holds());
	/* A function that aligns its stack. */
	INSTRUCTIONS("\x10" FRAME "\2" BFRAME "\0\x0f\3" BFRAME "\x78\x06");
	assert_true(holds());
	/* OpenSSL's. */
	INSTRUCTIONS("\x0f\5" BSTACK "\x38\x06\x23\x08");
	assert_true(holds());
	/* The PLT's. */
	INSTRUCTIONS("\x0f\x0b" BSTACK "\x08\x80\0\x3f\x1a\x3b\x2a\x33\x24"
		     "\x22");
	assert_true(holds());
	/* A signal's, which says the frame's address for itself. */
	SHARED("\1zRS\0\1\x78\x10\1\x1b");
	INSTRUCTIONS("\x0f\4" BSTACK "\xa0\1\x06");
	assert_true(holds());
}

static struct unwind_rule rule_at(uint64_t distance, bool is_there)
{
	const struct dl_phdr_info info = {
		.dlpi_addr = (uintptr_t)memory,
		.dlpi_phdr = parts,
		.dlpi_phnum = 2,
	};
	struct unwind_rule rule = {0};

	assert_int_equal(
		unwind_table_rule(&info, (uintptr_t)memory + CODE_AT + distance,
				  &rule),
		is_there);
	return rule;
}

#if defined(__aarch64__)
/* A call leaves the return address in a register, which may be signed before it
 * is saved. */
static void how_a_frame_is_left(void **state)
{
	struct unwind_rule rule;

	(void)state;
	SHARED("\1zR\0\4\x78\x1e\1\x1b\x0c\x1f\0");
	INSTRUCTIONS("\x41\x2d\x41\x0e\x10\x9d\2\x9e\1\x42\xdd\xde\x0e\0"
		     "\x41\x2d");
	rule = rule_at(0, true);
	assert_false(rule.is_by_pointer);
	assert_int_equal(rule.distance, 0);
	assert_int_equal(rule.back, UNWIND_KEPT);
	rule = rule_at(4, true);
	assert_int_equal(rule.back, UNWIND_KEPT);
	rule = rule_at(8, true);
	assert_int_equal(rule.distance, 16);
	assert_int_equal(rule.pointer, UNWIND_AT_FRAME);
	assert_int_equal(rule.pointer_at, -16);
	assert_int_equal(rule.back, UNWIND_AT_FRAME);
	assert_int_equal(rule.back_at, -8);
	rule = rule_at(20, true);
	assert_int_equal(rule.distance, 0);
	assert_int_equal(rule.back, UNWIND_KEPT);
	/* Where a thread begins. */
	INSTRUCTIONS("\x41\x07\x1e");
	rule_at(0, true);
	rule_at(4, false);
	assert_int_equal(unwind_unsigned(0x123456789abc), 0x123456789abc);
}
#else
static void how_a_frame_is_left(void **state)
{
	struct unwind_rule rule = rule_at(0, true);

	(void)state;
	assert_int_equal(rule.distance, 8);
	assert_int_equal(rule.pointer, UNWIND_KEPT);
	assert_int_equal(rule.back_at, -8);
	rule = rule_at(1, true);
	assert_false(rule.is_by_pointer);
	assert_int_equal(rule.distance, 16);
	assert_int_equal(rule.pointer, UNWIND_AT_FRAME);
	assert_int_equal(rule.pointer_at, -16);
	rule_at(64, false);
	/* By the frame pointer, and back behind it. */
	INSTRUCTIONS("\x42\x0a\x0d\6\x0e\x20\x41\x0b\x41\xc6");
	rule = rule_at(2, true);
	assert_true(rule.is_by_pointer);
	assert_int_equal(rule.distance, 32);
	rule = rule_at(3, true);
	assert_false(rule.is_by_pointer);
	assert_int_equal(rule.distance, 8);
	/* A function that aligns its stack. */
	INSTRUCTIONS("\x10" FRAME "\2" BFRAME "\0\x0f\3" BFRAME "\x78\x06");
	rule = rule_at(9, true);
	assert_true(rule.is_by_pointer && rule.is_there);
	assert_int_equal(rule.distance, -8);
	assert_int_equal(rule.pointer, UNWIND_AT_POINTER);
	/* With arguments on it another register says it first. */
	INSTRUCTIONS("\x41\x0c\x0a\0\x44\x10" FRAME "\2" BFRAME
		     "\0\x44\x0f\3" BFRAME "\x78\x06");
	rule = rule_at(9, true);
	assert_true(rule.is_by_pointer && rule.is_there);
	rule_at(3, false);
	/* What it doesn't know: another register, another expression. */
	INSTRUCTIONS("\x0d\3");
	rule_at(9, false);
	INSTRUCTIONS("\x0f\5" BSTACK "\x38\x06\x23\x08");
	rule_at(9, false);
	INSTRUCTIONS("\x0b");
	rule_at(9, false);
	INSTRUCTIONS("\x07\x10");
	rule_at(9, false);
}
#endif

static void other_files_are_none_of_its_business(void **state)
{
	const struct dl_phdr_info info = {.dlpi_addr = (uintptr_t)memory,
					  .dlpi_phdr = parts,
					  .dlpi_phnum = 2};

	(void)state;
	put(TABLE_AT, 0);
	assert_true(unwind_table_holds(&info, (uintptr_t)&info));
	assert_false(holds());
}

/* Bytes of the head, of what entries share and of an entry. */
static void lengths_and_pointers(void **state)
{
	static const struct {
		size_t at;
		uint32_t value;
	} wrong[] = {
		{TABLE_AT + 8, 2},
		{TABLE_AT + 8, UINT32_MAX},
		{TABLE_AT + 16, CODE_AT - TABLE_AT},
		{TABLE_AT + 16, 0x80000000},
		{SHARED_AT, 0x7fffffff},
		{SHARED_AT, 12},
		{SHARED_AT + 4, 1},
		{ENTRY_AT, 0x10000},
		{ENTRY_AT, UINT32_MAX},
		{ENTRY_AT, 10},
		{ENTRY_AT + 4, 0},
		{ENTRY_AT + 4, 0x70000000},
		{ENTRY_AT + 16, 0xff},
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		build(state);
		put(wrong[i].at, wrong[i].value);
		if (holds())
			fail_msg("%zu is followed", i);
	}
}

static void what_entries_share(void **state)
{
	(void)state;
	/* A return address in no register; another version; no frame. */
	SHARED("\1zR\0\1\x78\x70\1\x1b\x0c\7\x08\x90\1");
	assert_false(holds());
	SHARED("\2zR\0\1\x78\x10\1\x1b\x0c\7\x08\x90\1");
	assert_false(holds());
	SHARED("\1zR\0\1\x78\x10\1\x1b\x90\1");
	assert_false(holds());
	/* A personality that is to be read from nowhere. */
	SHARED("\1zPR\0\1\x78\x10\6\x9b\x10\x20\x30\x40\x1b\x0c\7\x08\x90\1");
	assert_false(holds());
	SHARED("\1zPR\0\1\x78\x10\6\x9b\x10\0\0\0\x1b\x0c\7\x08\x90\1");
	assert_true(holds());
	/* Letters without an end. */
	memset(memory + SHARED_AT + 9, 'z', 55);
	assert_false(holds());
}

#define REFUSED(text)                                                          \
	do {                                                                   \
		INSTRUCTIONS(text);                                            \
		assert_false(holds());                                         \
	} while (0)

static void instructions(void **state)
{
	(void)state;
	REFUSED("\x09\6\x70");			     /* from register 112 */
	REFUSED("\x07\x7f");			     /* of register 127 */
	REFUSED("\x3f");			     /* unknown */
	REFUSED("\x0f\x7f" BSTACK "\0");	     /* too long */
	REFUSED("\x0f\0");			     /* empty */
	REFUSED("\x0f\2\x06\x06");		     /* reads nothing known */
	REFUSED("\x0f\4" BFRAME "\x78\x06\x96");     /* a frame not kept */
	REFUSED("\x0f\5" BSTACK "\x80\x80\x7f\x06"); /* far from the stack */
	REFUSED("\x0f\5" BSTACK "\x80\x80\x10\x06"); /* ... on top */
	REFUSED("\x0f\3\x31\x30\x1b");		     /* divides by zero */
	REFUSED("\x0f\4\x31\x2f\xfc\xff");	     /* jumps for ever */
	REFUSED("\x0e\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80");
}

/* Each byte in turn is each value: what is still followed must not be what
 * leads outside, which a sanitizer or a guard page would tell. */
static void no_damage_leads_outside(void **state)
{
	static const struct {
		size_t at, bytes;
	} all[] = {{TABLE_AT, 20}, {SHARED_AT, 64}, {ENTRY_AT, 64}};
	size_t refused = 0;

	for (size_t part = 0; part < 3; part++)
		for (size_t i = 0; i < all[part].bytes; i++)
			for (unsigned int value = 0; value < 256; value++) {
				build(state);
				memory[all[part].at + i] = (uint8_t)value;
				refused += !holds();
			}
	assert_true(refused > 5000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(what_compilers_write, build),
		cmocka_unit_test_setup(how_a_frame_is_left, build),
		cmocka_unit_test_setup(other_files_are_none_of_its_business,
				       build),
		cmocka_unit_test(lengths_and_pointers),
		cmocka_unit_test_setup(what_entries_share, build),
		cmocka_unit_test_setup(instructions, build),
		cmocka_unit_test(no_damage_leads_outside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
