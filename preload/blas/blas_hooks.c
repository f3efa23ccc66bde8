/* SPDX-License-Identifier: MIT */
/*
 * blas_hooks.c - stands in front of BLAS, LAPACK and cuBLAS.
 *
 * A hook is its number and a jump; what follows is the same for all: without
 * TRACEPROF_SHAPES on to the real function, registers and stack as they came;
 * with it to blas_run(), which finds the arguments in a struct blas_frame.  In
 * C each of these would move a dozen arguments about.
 */
#include "preload/blas/blas.h"

#include "collector/session/gate.h"
#include "preload/blas/blas_real.h"

/* As the text below has them. */
_Static_assert((GATE_BLAS | GATE_BLAS_WATCH) == 0xc000, "gate");
_Static_assert(offsetof(struct gate_page, bits) == 0, "gate");
_Static_assert(offsetof(struct blas_caller, start) == 0, "start");
_Static_assert(offsetof(struct blas_caller, bytes) == 8, "bytes");
_Static_assert(offsetof(struct blas_caller, real) == 16, "real");

/* clang-format off */
#if defined(__x86_64__)
#define NUMBER_AND_JUMP "mov $blas_number, %r11d\n\tjmp blas_enter\n"
_Static_assert(offsetof(struct blas_frame, stack) == 80, "what is pushed");

#define SAVE								\
	"	push %r11\n	.cfi_adjust_cfa_offset 8\n"		\
	"	sub $16, %rsp\n	.cfi_adjust_cfa_offset 16\n"		\
	"	movsd %xmm0, (%rsp)\n"					\
	"	movsd %xmm1, 8(%rsp)\n"					\
	"	push %r9\n	.cfi_adjust_cfa_offset 8\n"		\
	"	push %r8\n	.cfi_adjust_cfa_offset 8\n"		\
	"	push %rcx\n	.cfi_adjust_cfa_offset 8\n"		\
	"	push %rdx\n	.cfi_adjust_cfa_offset 8\n"		\
	"	push %rsi\n	.cfi_adjust_cfa_offset 8\n"		\
	"	push %rdi\n	.cfi_adjust_cfa_offset 8\n"

__asm__(".text\n"
	"	.type blas_enter, @function\n"
	"blas_enter:\n"
	"	.cfi_startproc\n"
	"	testl $0xc000, gate_page(%rip)\n"
	"	jnz 1f\n"
	"	mov (%rsp), %rax\n"
	"	sub blas_callers(%rip), %rax\n"
	"	cmp blas_callers+8(%rip), %rax\n"
	"	jae 2f\n"
	"	lea blas_callers+16(%rip), %r10\n"
	"	mov (%r10,%r11,8), %rax\n"
	"	test %rax, %rax\n"
	"	jz 2f\n"
	"	jmp *%rax\n"
	"1:\n"
	"	.cfi_remember_state\n" SAVE
	"	mov %rsp, %rdi\n"
	"	call blas_run\n"
	"	add $72, %rsp\n	.cfi_adjust_cfa_offset -72\n"
	"	ret\n"
	"	.cfi_restore_state\n"
	"2:\n" SAVE
	"	mov %r11, %rdi\n"
	"	mov 72(%rsp), %rsi\n"
	"	call blas_real_find\n"
	"	pop %rdi\n	.cfi_adjust_cfa_offset -8\n"
	"	pop %rsi\n	.cfi_adjust_cfa_offset -8\n"
	"	pop %rdx\n	.cfi_adjust_cfa_offset -8\n"
	"	pop %rcx\n	.cfi_adjust_cfa_offset -8\n"
	"	pop %r8\n	.cfi_adjust_cfa_offset -8\n"
	"	pop %r9\n	.cfi_adjust_cfa_offset -8\n"
	"	movsd (%rsp), %xmm0\n"
	"	movsd 8(%rsp), %xmm1\n"
	"	add $24, %rsp\n	.cfi_adjust_cfa_offset -24\n"
	"	jmp *%rax\n"
	"	.cfi_endproc\n"
	"	.size blas_enter, . - blas_enter\n");
#else
#define NUMBER_AND_JUMP "mov w16, #blas_number\n\tb blas_enter\n"
_Static_assert(offsetof(struct blas_frame, stack) == 96, "what is pushed");

#define SAVE								\
	"	sub sp, sp, #96\n	.cfi_adjust_cfa_offset 96\n"	\
	"	stp x0, x1, [sp]\n"					\
	"	stp x2, x3, [sp, #16]\n"				\
	"	stp x4, x5, [sp, #32]\n"				\
	"	stp x6, x7, [sp, #48]\n"				\
	"	stp d0, d1, [sp, #64]\n"				\
	"	stp x16, x30, [sp, #80]\n	.cfi_offset x30, -8\n"

#define RESTORE								\
	"	ldr x30, [sp, #88]\n	.cfi_restore x30\n"		\
	"	add sp, sp, #96\n	.cfi_adjust_cfa_offset -96\n"

__asm__(".text\n"
	"	.type blas_enter, @function\n"
	"blas_enter:\n"
	"	.cfi_startproc\n"
	"	adrp x9, gate_page\n"
	"	ldr w9, [x9, :lo12:gate_page]\n"
	"	tst w9, #0xc000\n"
	"	b.ne 1f\n"
	"	adrp x9, blas_callers\n"
	"	add x9, x9, :lo12:blas_callers\n"
	"	ldar x10, [x9]\n"
	"	ldr x11, [x9, #8]\n"
	"	sub x10, x30, x10\n"
	"	cmp x10, x11\n"
	"	b.hs 2f\n"
	"	add x9, x9, #16\n"
	"	ldr x17, [x9, x16, lsl #3]\n"
	"	cbz x17, 2f\n"
	"	br x17\n"
	"1:\n"
	"	.cfi_remember_state\n" SAVE
	"	mov x0, sp\n"
	"	bl blas_run\n" RESTORE
	"	ret\n"
	"	.cfi_restore_state\n"
	"2:\n" SAVE
	"	mov x0, x16\n"
	"	mov x1, x30\n"
	"	bl blas_real_find\n"
	"	mov x17, x0\n"
	"	ldp x0, x1, [sp]\n"
	"	ldp x2, x3, [sp, #16]\n"
	"	ldp x4, x5, [sp, #32]\n"
	"	ldp x6, x7, [sp, #48]\n"
	"	ldp d0, d1, [sp, #64]\n" RESTORE
	"	br x17\n"
	"	.cfi_endproc\n"
	"	.size blas_enter, . - blas_enter\n");
#endif

#define X(name, how, op, type, words)					\
	"	.globl " #name "\n"					\
	"	.type " #name ", %function\n"				\
	#name ":\n"							\
	"	" NUMBER_AND_JUMP					\
	"	.size " #name ", . - " #name "\n"			\
	"	.set blas_number, blas_number + 1\n"

__asm__("	.set blas_number, 0\n"
	"	.globl blas_hooks_low\n	.hidden blas_hooks_low\n"
	"	.globl blas_hooks_high\n	.hidden blas_hooks_high\n"
	"	.cfi_startproc\n"
	"blas_hooks_low:\n" BLAS_WRAPPED_FUNCTIONS(X)
	"blas_hooks_high:\n"
	"	.cfi_endproc\n");
#undef X
/* clang-format on */
