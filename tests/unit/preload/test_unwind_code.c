/* SPDX-License-Identifier: MIT */
/*
 * test_unwind_code.c - how a frame is left by its code alone: as the files that
 * are loaded say it of theirs, instruction by instruction; and forms in which
 * kernels are written by hand.
 */
/* Before cmocka's macro of its function's name. */
#include "preload/stack/unwind_entry.h"

#include "tests/unit/cmocka_base.h"

#include "preload/stack/code_effect.h"
#include "preload/stack/code_read.h"
#include "preload/stack/unwind_code.h"
#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
/* --- files ----------------------------------------------------------------*/

/* A prime: not each instruction's turn comes. */
#define EACH 13u

static struct counts {
	uint64_t asked, told, same, other_base, wrong;
} counts;

struct text {
	uint64_t low, high;
};

static const unsigned char *read_text(void *arg, uint64_t at, uint32_t *bytes)
{
	const struct text *text = arg;

	if (at < text->low || at >= text->high)
		return NULL;
	*bytes = (uint32_t)min_u64(*bytes, text->high - at);
	return (const unsigned char *)(uintptr_t)at;
}

/* A register that was put away may still be, or be again, what it was. */
static bool is_same_pointer(const struct unwind_rule *by_table,
			    const struct unwind_rule *by_code)
{
	return by_code->pointer == UNWIND_LOST ||
	       (by_code->pointer == by_table->pointer &&
		by_code->pointer_at == by_table->pointer_at) ||
	       (by_code->pointer == UNWIND_KEPT &&
		by_table->pointer != UNWIND_LOST);
}

/* Functions in assembly that push and don't tell, as two of the C library's
 * (GMP's) do; and the linker's jump with two words more on the stack. */
static bool is_false(const struct dl_phdr_info *info, uint64_t begin,
		     uint64_t code)
{
	const unsigned char *first = (const unsigned char *)(uintptr_t)begin;
	const unsigned char *here = (const unsigned char *)(uintptr_t)code;
	struct code_instruction found;
	struct unwind_rule rule;

	return (code_read_x86(first, 15, &found) &&
		code_effect_of(first, found.bytes).act == CODE_PUSHES &&
		unwind_table_rule(info, begin + found.bytes, &rule) &&
		!rule.is_by_pointer && rule.distance == 8) ||
	       (code_read_x86(here, 15, &found) &&
		code_effect_of(here, found.bytes).act == CODE_GOES);
}

static void compare(const struct dl_phdr_info *info, struct text *text,
		    uint64_t begin, uint64_t code)
{
	struct unwind_rule by_table, by_code;

	if (!unwind_table_rule(info, code, &by_table) || by_table.is_there)
		return;
	counts.asked++;
	if (!unwind_code_rule(code, false, read_text, text, &by_code))
		return;
	counts.told++;
	if (by_code.other || by_code.is_there ||
	    by_code.is_by_pointer != by_table.is_by_pointer) {
		counts.other_base++;
		return;
	}
	if (by_code.distance == by_table.distance &&
	    by_code.back_at == by_table.back_at &&
	    is_same_pointer(&by_table, &by_code)) {
		counts.same++;
		return;
	}
	if (is_false(info, begin, code))
		return;
	counts.wrong++;
	if (getenv("SHOW"))
		printf("%s+%#lx: %d%+d, by code %d%+d; pointer %u%+d, %u%+d\n",
		       info->dlpi_name, code - info->dlpi_addr,
		       by_table.is_by_pointer, by_table.distance,
		       by_code.is_by_pointer, by_code.distance,
		       by_table.pointer, by_table.pointer_at, by_code.pointer,
		       by_code.pointer_at);
}

static void look_at(const struct dl_phdr_info *info, struct text *text)
{
	static uint64_t number;
	uint64_t at = text->low;

	while (at < text->high) {
		struct code_instruction found;
		struct unwind_entry entry;
		uint64_t begin, end;

		if (!unwind_entry_find(info, at, &entry, &begin)) {
			at += 16 - at % 16;
			continue;
		}
		end = min_u64(begin + entry.code_bytes, text->high);
		for (; at < end; at += found.bytes) {
			if (!code_read_x86((const unsigned char *)(uintptr_t)at,
					   end - at, &found))
				break;
			/* What lies between is told of as what came before. */
			if (!found.is_filling && !(number++ % EACH))
				compare(info, text, begin, at);
		}
		at = end;
	}
}

static int look_at_file(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		struct text text = {info->dlpi_addr + part->p_vaddr,
				    info->dlpi_addr + part->p_vaddr +
					    part->p_filesz};

		if (part->p_type == PT_LOAD && part->p_flags & PF_X)
			look_at(info, &text);
	}
	return 0;
}

static void as_the_files_say(void **state)
{
	static const char *const more[] = {"libm.so.6", "libstdc++.so.6",
					   "libcrypto.so.3", "libz.so.1"};

	(void)state;
	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		dlopen(more[i], RTLD_NOW);
	dl_iterate_phdr(look_at_file, NULL);
	if (getenv("SHOW"))
		printf("asked %lu, told %lu: same %lu, by another register "
		       "%lu, wrong %lu\n",
		       counts.asked, counts.told, counts.same,
		       counts.other_base, counts.wrong);
	assert_true(counts.asked > 10000);
	assert_true(counts.told > counts.asked / 3);
	/* Files err by an instruction here and there (libcrypto). */
	assert_true(counts.wrong <= counts.asked / 10000);
}

/* --- forms ----------------------------------------------------------------*/

/* As V8's interpreter returns, whose function takes its arguments away; as
 * OpenBLAS keeps the stack pointer while it aligns another; as a length that
 * isn't a number ends by the frame pointer; and what can't be told. */
__asm__(".text\n"
	"form_begin:\n"
	"form_takes_away:\n"
	"	mov -0x20(%rbp), %r12\n"
	"	cmp $3, %bl\n"
	"	ja 1f\n"
	"	jmp 1f\n"
	"2:	call *%rcx\n"
	"	jmp form_takes_away\n"
	"1:	cmp $0xa9, %bl\n"
	"	jne 2b\n"
	"	lea 0(,%rcx,8), %rcx\n"
	"	cmp %rcx, %rbx\n"
	"	jge 3f\n"
	"	mov %rcx, %rbx\n"
	"3:	leave\n"
	"	pop %rcx\n"
	"	add %rbx, %rsp\n"
	"	push %rcx\n"
	"	ret\n"
	"form_aligned:\n"
	"	vfmadd231pd %ymm4, %ymm5, %ymm12\n"
	"	dec %rax\n"
	"	jnz form_aligned\n"
	"	mov %rbx, %rsp\n"
	"	mov (%rsp), %rbx\n"
	"	mov 8(%rsp), %rbp\n"
	"	mov 16(%rsp), %r12\n"
	"	add $24, %rsp\n"
	"	ret\n"
	"form_kept_there:\n"
	"	vzeroupper\n"
	"	mov 0x40(%rsp), %rsp\n"
	"	pop %rbp\n"
	"	ret\n"
	"form_length:\n"
	"	sub %rax, %rsp\n"
	"	lea -8(%rbp), %rsp\n"
	"	pop %rbx\n"
	"	pop %rbp\n"
	"	ret $16\n"
	"form_before_its_frame:\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	push %rbx\n"
	"	and $-64, %rsp\n"
	"	sub $256, %rsp\n"
	"	shl $3, %ecx\n"
	"	setc %ah\n"
	"	lea -8(%rbp), %rsp\n"
	"	pop %rbx\n"
	"	pop %rbp\n"
	"	ret\n"
	"form_two_ways:\n"
	"	test %eax, %eax\n"
	"	jz 1f\n"
	"	pop %rdx\n"
	"1:	ret\n"
	"form_unknown_length:\n"
	"	add %rax, %rsp\n"
	"	ret\n"
	"form_its_own:\n"
	"	push %rax\n"
	"	ret\n"
	"form_endless:\n"
	"	dec %rax\n"
	"	jmp form_endless\n"
	"form_other_frame:\n"
	"	mov $1, %ebp\n"
	"	leave\n"
	"	ret\n"
	"form_end:\n");

extern const char form_begin[], form_end[], form_takes_away[], form_aligned[],
	form_kept_there[], form_length[], form_before_its_frame[],
	form_two_ways[], form_unknown_length[], form_its_own[], form_endless[],
	form_other_frame[];

static bool tell(const char *form, bool is_called, struct unwind_rule *rule)
{
	struct text text = {(uintptr_t)form_begin, (uintptr_t)form_end};

	return unwind_code_rule((uintptr_t)form, is_called, read_text, &text,
				rule);
}

static void forms_of_kernels(void **state)
{
	struct unwind_rule rule;

	(void)state;
	assert_true(tell(form_takes_away, true, &rule));
	assert_true(rule.is_by_pointer && rule.is_adrift);
	assert_int_equal(rule.distance + rule.back_at, 8);
	assert_int_equal(rule.pointer, UNWIND_AT_FRAME);
	assert_int_equal(rule.distance + rule.pointer_at, 0);

	assert_true(tell(form_aligned, false, &rule));
	assert_int_equal(rule.other, CODE_RBX + 1);
	assert_int_equal(rule.distance, 32);
	assert_int_equal(rule.back_at, -8);
	assert_int_equal(rule.pointer, UNWIND_AT_FRAME);
	assert_int_equal(rule.pointer_at, -24);
	/* Of a caller that register isn't known. */
	assert_false(tell(form_aligned, true, &rule));

	assert_true(tell(form_kept_there, false, &rule));
	assert_true(rule.is_there && !rule.is_by_pointer);
	assert_int_equal(rule.distance, 0x40);
	assert_int_equal(rule.behind, 16);
	assert_int_equal(rule.pointer_at, -16);

	assert_true(tell(form_length, false, &rule));
	assert_true(rule.is_by_pointer);
	assert_int_equal(rule.distance + rule.back_at, 8);
	assert_int_equal(rule.back_at, -24);

	assert_true(tell(form_before_its_frame, false, &rule));
	assert_false(rule.is_by_pointer);
	assert_int_equal(rule.distance, 8);
	assert_int_equal(rule.pointer, UNWIND_KEPT);
}

static void what_is_in_doubt_is_not_told(void **state)
{
	struct unwind_rule rule;

	(void)state;
	assert_false(tell(form_two_ways, false, &rule));
	assert_false(tell(form_unknown_length, false, &rule));
	assert_false(tell(form_its_own, false, &rule));
	assert_false(tell(form_endless, false, &rule));
	assert_false(tell(form_other_frame, false, &rule));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_the_files_say),
		cmocka_unit_test(forms_of_kernels),
		cmocka_unit_test(what_is_in_doubt_is_not_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
	return 77; /* its code is x86-64's */
}
#endif
