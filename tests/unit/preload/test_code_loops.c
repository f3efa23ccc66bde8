/* SPDX-License-Identifier: MIT */
/*
 * test_code_loops.c - instructions as objdump reads them, and the loops around
 * calls in functions that were compiled in several ways.
 */
/* Before cmocka's macro of its function's name. */
#include "preload/stack/unwind_entry.h"

#include "tests/unit/cmocka_base.h"

#include "preload/stack/code_ends.h"
#include "preload/stack/code_loops.h"
#include "preload/stack/code_read.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- instructions --------------------------------------------------------- */

#define LONGEST 15u

struct line {
	unsigned char code[LONGEST + 1];
	size_t bytes;
	uint64_t address;
	char what[64]; /* mnemonic and operands, prefixes left out */
};

/* "  401000:\tf3 0f 1e fa \tendbr64" */
static bool read_line(char *text, struct line *line)
{
	char *at = strchr(text, '\t');
	char *end = at ? strchr(at + 1, '\t') : NULL;

	if (text[0] != ' ' || !end)
		return false;
	line->address = strtoull(text, NULL, 16);
	*end = '\0';
	for (line->bytes = 0; line->bytes < LONGEST; line->bytes++) {
		char *next;

		line->code[line->bytes] =
			(unsigned char)strtoul(at + 1, &next, 16);
		if (next == at + 1)
			break;
		at = next - 1;
	}
	at = end + 1;
	while (!strncmp(at, "bnd ", 4) || !strncmp(at, "notrack ", 8) ||
	       !strncmp(at, "repz ret", 8))
		at = strchr(at, ' ') + 1;
	snprintf(line->what, sizeof(line->what), "%s", at);
	/* It takes the wait in front of an instruction for a part of it. */
	return line->code[0] != 0x9b && !strstr(line->what, "(bad)");
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool has_flow(const char *what, uint32_t flow)
{
	if (begins(what, "jmp"))
		return what[3 + strspn(what + 3, " ")] == '*'
			       ? flow == CODE_LEAVES ||
					 flow == CODE_BY_MEMORY ||
					 flow == CODE_ANYWHERE
			       : flow == CODE_JUMP;
	if (what[0] == 'j' || begins(what, "loop"))
		return flow == CODE_BRANCH;
	if (begins(what, "ret") || begins(what, "hlt") || begins(what, "ud2") ||
	    begins(what, "int3"))
		return flow == CODE_LEAVES;
	return flow == CODE_ON;
}

static void expect_as_objdump(struct line *line)
{
	struct code_instruction found;
	unsigned char code[2 * LONGEST] = {0};

	memcpy(code, line->code, line->bytes);
	if (!code_read_x86(code, sizeof(code), &found) ||
	    found.bytes != line->bytes || !has_flow(line->what, found.flow))
		fail_msg("%lx: %s: %u bytes, flow %u",
			 (unsigned long)line->address, line->what, found.bytes,
			 found.flow);
	if (found.flow == CODE_JUMP || found.flow == CODE_BRANCH)
		assert_int_equal(line->address + found.bytes +
					 (uint64_t)found.distance,
				 strtoull(strchr(line->what, ' '), NULL, 16));
	assert_false(code_read_x86(code, line->bytes - 1, &found));
}

/* A library with vector instructions of all kinds. */
static void test_instructions(void **unused)
{
	static const char command[] =
		"objdump -d -w --insn-width=15 "
		"$(gcc -print-file-name=libgomp.so.1) "
		"$(gcc -print-file-name=libm.so.6) "
		"$(gcc -print-file-name=libz.so.1) 2>/dev/null";
	FILE *listing = popen(command, "r");
	struct line line;
	char text[512];
	size_t count = 0;

	(void)unused;
#if !defined(__x86_64__)
	skip(); /* objdump knows this machine's alone */
#endif
	assert_non_null(listing);
	while (fgets(text, sizeof(text), listing)) {
		if (!read_line(text, &line))
			continue;
		count++;
		expect_as_objdump(&line);
	}
	pclose(listing);
	assert_in_range(count, 50000, 10000000);
}

static void expect_arm(uint32_t word, uint32_t flow, int64_t distance)
{
	struct code_instruction found;

	assert_true(code_read_arm((const unsigned char *)&word, sizeof(word),
				  &found));
	assert_int_equal(found.bytes, 4);
	assert_int_equal(found.flow, flow);
	assert_int_equal(found.distance, distance);
}

static void test_instructions_of_arm(void **unused)
{
	(void)unused;
	expect_arm(0x17fffffe, CODE_JUMP, -12);	  /* b .-8 */
	expect_arm(0x54000041, CODE_BRANCH, 4);	  /* b.ne .+8 */
	expect_arm(0xb5ffffc0, CODE_BRANCH, -12); /* cbnz x0, .-8 */
	expect_arm(0x3607ffc0, CODE_BRANCH, -12); /* tbz w0, #0, .-8 */
	expect_arm(0xd61f0200, CODE_ANYWHERE, 0); /* br x16 */
	expect_arm(0xd71f0a30, CODE_ANYWHERE, 0); /* braa x17, x16 */
	expect_arm(0xd65f03c0, CODE_LEAVES, 0);	  /* ret */
	expect_arm(0xd65f0bff, CODE_LEAVES, 0);	  /* retaa */
	expect_arm(0xd65f0fff, CODE_LEAVES, 0);	  /* retab */
	expect_arm(0xd63f0020, CODE_ON, 0);	  /* blr x1 */
	expect_arm(0x94000010, CODE_ON, 60);	  /* bl .+64 */
	expect_arm(0x91000421, CODE_ON, 0);	  /* add */
}

/* --- loops ---------------------------------------------------------------- */

static int visit(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct code_range *range = arg;
	struct unwind_entry entry;
	uint64_t begin;

	(void)size;
	if (!unwind_entry_find(info, range->begin, &entry, &begin))
		return 0;
	*range = (struct code_range){.begin = begin, .bytes = entry.code_bytes};
	return 1;
}

static uint64_t end; /* what never comes back */

static bool find_range(uint64_t code, struct code_range *range)
{
	if (range->is_end)
		return code == end;
	*range = (struct code_range){.begin = code};
	return dl_iterate_phdr(visit, range) == 1;
}

static int told[8];    /* loops at each call, -1 it can't be told */
static bool always[8]; /* ... and whether it comes in each turn */
static bool needed[8]; /* ... and whether nothing counts its loop's turns */
static bool is_again;  /* the newest one's function calls itself */
static volatile int more, rounds;
static volatile int turns = 3;
static volatile int odd;

__attribute__((noinline, used)) static void here(int which)
{
	struct code_loops loops;
	const uint64_t code = (uint64_t)(uintptr_t)__builtin_return_address(0);

	told[which] = code_loops_around(code, find_range, &loops)
			      ? (int)loops.count
			      : -1;
	assert_int_equal(!loops.innermost, !loops.count);
	is_again = loops.calls_itself;
	always[which] = loops.is_always;
	needed[which] = loops.is_needed;
	more = ++rounds % 3;
}

/* One after the other, one in the other, from the middle, in some turns alone,
 * and one that ends in several places. */
#define FUNCTIONS(level)                                                       \
	__attribute__((noinline,                                               \
		       optimize(#level))) static int one_loop_##level(void)    \
	{                                                                      \
		int sum = 0;                                                   \
		here(0);                                                       \
		for (int i = 0; i < turns; i++)                                \
			sum += odd;                                            \
		for (int i = 0; i < turns; i++)                                \
			here(1);                                               \
		for (int i = 0; i < turns; i++)                                \
			for (int k = 0; k < turns; k++)                        \
				sum += odd;                                    \
		here(2);                                                       \
		return sum;                                                    \
	}                                                                      \
	__attribute__((noinline, optimize(#level))) static int nested_##level( \
		void)                                                          \
	{                                                                      \
		int sum = 0;                                                   \
		for (int i = 0; i < turns; i++) {                              \
			here(0);                                               \
			for (int k = 0; k < turns; k++) {                      \
				sum += odd;                                    \
				if (sum == 12345)                              \
					break;                                 \
				for (int j = 0; j < turns; j++)                \
					here(1);                               \
				here(2);                                       \
			}                                                      \
			if (i % 2 == 1)                                        \
				here(3);                                       \
		}                                                              \
		return sum;                                                    \
	}                                                                      \
	__attribute__((noinline,                                               \
		       optimize(#level))) static int with_ends_##level(void)   \
	{                                                                      \
		int i = 0;                                                     \
		for (;;) {                                                     \
			if (++i > 4 * turns)                                   \
				return odd;                                    \
			if (i % 3 == odd)                                      \
				continue;                                      \
			here(0);                                               \
			if (__builtin_expect(i % 8 == 7, 0)) {                 \
				here(1);                                       \
				continue;                                      \
			}                                                      \
			do {                                                   \
				here(2);                                       \
			} while (i++ % 4);                                     \
		}                                                              \
	}

#define CYCLE(level)                                                           \
	__attribute__((noinline, optimize(#level))) static int cycle_##level(  \
		int depth)                                                     \
	{                                                                      \
		int sum = odd;                                                 \
		here(0);                                                       \
		for (int i = 0; i < turns && depth; i++)                       \
			sum += cycle_##level(depth - 1);                       \
		here(1);                                                       \
		return sum + odd;                                              \
	}

CYCLE(O0)
CYCLE(O2)
FUNCTIONS(O0)
FUNCTIONS(O1)
FUNCTIONS(O2)
FUNCTIONS(O3)
FUNCTIONS(Os)

static void expect_told(int (*run)(void), const int *wanted, size_t count)
{
	memset(told, 0xff, sizeof(told));
	run();
	for (size_t i = 0; i < count; i++) {
		if (told[i] != wanted[i])
			fail_msg("call %zu: %d loops, wanted %d", i, told[i],
				 wanted[i]);
	}
}

#define EXPECT_ALL(name, ...)                                                  \
	do {                                                                   \
		static int (*const ways[])(void) = {                           \
			name##_O0, name##_O1, name##_O2, name##_O3, name##_Os, \
		};                                                             \
		static const int wanted[] = {__VA_ARGS__};                     \
		for (size_t w = 0; w < sizeof(ways) / sizeof(ways[0]); w++) {  \
			print_message(#name ", way %zu\n", w);                 \
			expect_told(ways[w], wanted,                           \
				    sizeof(wanted) / sizeof(wanted[0]));       \
		}                                                              \
	} while (0)

static void test_loops_around_a_call(void **unused)
{
	(void)unused;
	EXPECT_ALL(one_loop, 0, 1, 0);
	EXPECT_ALL(nested, 1, 3, 2, 1);
	EXPECT_ALL(with_ends, 1, 1, 2);
}

/* One in each turn of its loop, one in some; and what is called in none. */
static void test_calls_in_each_turn(void **unused)
{
	static int (*const nested[])(void) = {nested_O0, nested_O1, nested_O2,
					      nested_O3, nested_Os};

	(void)unused;
	for (size_t i = 0; i < sizeof(nested) / sizeof(nested[0]); i++) {
		nested[i]();
		assert_true(always[0] && always[1] && always[2]);
		assert_false(always[3]);
	}
	one_loop_O0();
	assert_true(always[1]);
	with_ends_O0();
	assert_false(always[0] || always[1]);
}

__attribute__((noinline)) static bool has_next(void)
{
	static unsigned int asked;

	return ++asked % 4;
}

/* As long as something changes; so many times; while there is another batch;
 * as wide as something is; until so much time went by. */
#define UNTIL(level)                                                           \
	__attribute__((noinline, optimize(#level))) static int until_##level(  \
		void)                                                          \
	{                                                                      \
		const int wide = turns;                                        \
		int left = 40;                                                 \
		while (left > 0) {                                             \
			odd = 0;                                               \
			do {                                                   \
				here(0);                                       \
				left -= more;                                  \
			} while (more);                                        \
			for (int i = 0; i < turns; i++)                        \
				here(1);                                       \
			while (has_next())                                     \
				here(2);                                       \
			for (int i = 0; i < 20; i += wide)                     \
				here(3);                                       \
			for (double time = 0; time < turns; time += 0.5)       \
				here(4);                                       \
		}                                                              \
		return left;                                                   \
	}

UNTIL(O1)
UNTIL(O2)
UNTIL(O3)
UNTIL(Os)

static void test_turns_that_nothing_counts(void **unused)
{
	static int (*const ways[])(void) = {until_O1, until_O2, until_O3,
					    until_Os};

	(void)unused;
#if defined(__SANITIZE_ADDRESS__)
	skip(); /* what it adds to a loop counts nothing */
#endif
#if !defined(__x86_64__)
	skip();
#endif
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		print_message("way %zu\n", i);
		memset(needed, 0, sizeof(needed));
		ways[i]();
		assert_true(needed[0]);
		assert_false(needed[1] || needed[2] || needed[3] || needed[4]);
	}
}

/* The code of the one that throws is the last of its loop, and the loop's start
 * comes behind it. */
__attribute__((noinline, used)) static void throws(void)
{
	odd++;
}

__asm__(".text\n.type before_loop, @function\nbefore_loop:\n"
	".cfi_startproc\n"
#if defined(__x86_64__)
	"push %rbx\n.cfi_adjust_cfa_offset 8\nmov $3, %ebx\njmp 2f\n"
	"1: call throws\n"
	"2: mov $0, %edi\ncall here\n"
	"cmp $99, %ebx\nje 1b\n"
	"pop %rbx\n.cfi_adjust_cfa_offset -8\nret\n"
#else
	"ret\n"
#endif
	".cfi_endproc\n.size before_loop, . - before_loop\n");
int before_loop(void);

static void test_what_never_comes_back(void **unused)
{
	(void)unused;
#if defined(__x86_64__)
	expect_told(before_loop, (const int[]){1}, 1);
	end = (uint64_t)(uintptr_t)throws;
	expect_told(before_loop, (const int[]){0}, 1);
	end = 0;
#endif
	assert_true(code_ends_by_name("abort"));
	assert_true(code_ends_by_name("_ZSt25__throw_bad_function_callv"));
	assert_true(code_ends_by_name("_ZSt24__throw_out_of_range_fmtPKcz"));
	assert_true(code_ends_by_name("_gfortran_os_error_at"));
	assert_false(code_ends_by_name("aborted"));
	assert_false(code_ends_by_name("_ZSt4sortv"));
	assert_false(code_ends_by_name("_gfortran_st_write"));
}

static void test_a_function_that_calls_itself(void **unused)
{
	(void)unused;
	cycle_O0(2);
	assert_true(is_again);
	nested_O2();
	assert_false(is_again);
	cycle_O2(2);
	assert_true(is_again);
	with_ends_O2();
	assert_false(is_again);
}

__attribute__((noinline, optimize("O2"))) static int with_switch(void)
{
	for (int i = 0; i < 8; i++) {
		switch (i * turns) {
		case 0: here(0); break;
		case 3: odd = 0; break;
		case 6: here(0); break;
		case 9: odd = 0; break;
		case 12: here(0); break;
		case 15: odd = 0; break;
		case 18: here(0); break;
		case 21: odd = 0; break;
		case 24: here(0); break;
		case 27: odd = 0; break;
		case 30: here(0); break;
		case 33: odd = 0; break;
		case 36: here(0); break;
		case 39: odd = 0; break;
		case 42: here(0); break;
		case 45: odd = 0; break;
		case 48: here(0); break;
		case 51: odd = 0; break;
		case 54: here(0); break;
		default: odd = 0;
		}
		here(1);
	}
	here(2);
	return 0;
}

/* Where a jump may go anywhere it is not told. */
static void test_a_switch(void **unused)
{
	static const int wanted[] = {-1, -1, 0};

	(void)unused;
	expect_told(with_switch, wanted, 3);
}

/* As where it is known how the first turn goes: in what some turns have,
 * too.  But a jump into the inner loop makes both such as can't be told. */
__attribute__((noinline, optimize("O0"))) static int from_the_middle(void)
{
	int i = 0;

	if (!odd)
		goto at_times;
	if (odd == 2)
		goto middle;
	for (; i < turns; i++) {
		here(0);
		if (i == odd + 2) {
		at_times:
			here(4);
		}
	middle:
		for (int k = 0; k < turns; k++)
			here(1);
		here(2);
		if (i == 1)
			here(3);
	}
	return 0;
}

__attribute__((noinline, optimize("O0"))) static int into_the_inner(void)
{
	int i = 0, k = 0;

	if (!odd)
		goto inner;
	for (; i < turns; i++) {
		here(0);
		for (k = 0; k < turns; k++) {
			odd = 0;
		inner:
			here(1);
		}
	}
	return 0;
}

static void test_a_loop_that_is_entered_in_the_middle(void **unused)
{
	static const int wanted[] = {1, 2, 1, 1, 1};
	static const int inner[] = {-1, -1};

	(void)unused;
	odd = 0;
	expect_told(from_the_middle, wanted, 5);
	assert_true(always[0] && always[1] && always[2]);
	assert_false(always[3] || always[4]);
	expect_told(into_the_inner, inner, 2);
}

static void test_no_function(void **unused)
{
	struct code_loops loops;

	(void)unused;
	assert_false(code_loops_around(4096, find_range, &loops));
	/* Not behind an instruction. */
	assert_false(code_loops_around((uint64_t)(uintptr_t)with_switch + 2,
				       find_range, &loops) &&
		     code_loops_around((uint64_t)(uintptr_t)with_switch + 3,
				       find_range, &loops));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_instructions),
		cmocka_unit_test(test_instructions_of_arm),
		cmocka_unit_test(test_loops_around_a_call),
		cmocka_unit_test(test_calls_in_each_turn),
		cmocka_unit_test(test_turns_that_nothing_counts),
		cmocka_unit_test(test_a_function_that_calls_itself),
		cmocka_unit_test(test_what_never_comes_back),
		cmocka_unit_test(test_a_switch),
		cmocka_unit_test(test_a_loop_that_is_entered_in_the_middle),
		cmocka_unit_test(test_no_function),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
