/* SPDX-License-Identifier: MIT */
/*
 * foreign_frames.c - allocates under frames that no unwinder can know: code
 * whose tables are wrong or missing, code made at run time, and stacks that the
 * program switches by itself.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define ROUNDS	   200
#define COROUTINES 8
#define NOINLINE   __attribute__((noinline))

static size_t sum;

static NOINLINE void leaf(void)
{
	char *block = malloc(4000);

	block[0] = 1;
	__asm__ volatile("" : : "r"(block) : "memory");
	sum += block[0];
	free(block);
}

#if defined(__x86_64__)
/* Its frame is said to lie by a register that holds anything. */
void wild(void (*then)(void));
__asm__(".text\n	.globl wild\n	.type wild, @function\nwild:\n"
	"	.cfi_startproc\n"
	"	push %rbp\n"
	"	.cfi_def_cfa_offset 16\n	.cfi_offset 6, -16\n"
	"	mov $0x123456789000, %rbp\n	.cfi_def_cfa 6, 16\n"
	"	call *%rdi\n"
	"	pop %rbp\n	.cfi_def_cfa 7, 8\n"
	"	ret\n	.cfi_endproc\n");

/* Far beyond the stack. */
void distant(void (*then)(void));
__asm__(".text\n	.globl distant\n	.type distant, @function\n"
	"distant:\n	.cfi_startproc\n"
	"	push %rbp\n	.cfi_def_cfa_offset 0x700000000\n"
	"	call *%rdi\n"
	"	pop %rbp\n	ret\n	.cfi_endproc\n");

/* Without a table, and without a frame pointer. */
void silent(void (*then)(void));
__asm__(".text\n	.globl silent\n	.type silent, @function\n"
	"silent:\n"
	"	push %rbp\n	sub $48, %rsp\n"
	"	mov $0x77777777, %ebp\n"
	"	call *%rdi\n"
	"	add $48, %rsp\n	pop %rbp\n	ret\n");

static const unsigned char code[] = {
	0x55,				 /* push %rbp */
	0x48, 0x83, 0xec, 0x20,		 /* sub $32, %rsp */
	0x48, 0xc7, 0xc5, 1,	2, 3, 4, /* mov $0x04030201, %rbp */
	0xff, 0xd7,			 /* call *%rdi */
	0x48, 0x83, 0xc4, 0x20,		 /* add $32, %rsp */
	0x5d, 0xc3,			 /* pop %rbp; ret */
};

static void assembly(void)
{
	void (*made)(void (*)(void));
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return;
	memcpy(page, code, sizeof(code));
	*(void **)&made = page;
	for (int i = 0; i < ROUNDS; i++) {
		wild(leaf);
		distant(leaf);
		silent(leaf);
		made(leaf);
	}
}
#else
static void assembly(void)
{
	for (int i = 0; i < 4 * ROUNDS; i++)
		leaf();
}
#endif

static ucontext_t home, others[COROUTINES];
static int turns;

static void coroutine(int number)
{
	for (;;) {
		leaf();
		turns++;
		swapcontext(&others[number], &home);
	}
}

static void storm(void)
{
	for (int i = 0; i < COROUTINES; i++) {
		getcontext(&others[i]);
		others[i].uc_stack.ss_sp = malloc(65536);
		others[i].uc_stack.ss_size = 65536;
		others[i].uc_link = &home;
		makecontext(&others[i], (void (*)(void))coroutine, 1, i);
	}
	for (int i = 0; i < ROUNDS; i++) {
		swapcontext(&home, &others[i * 7 % COROUTINES]);
		leaf();
	}
}

int main(void)
{
	assembly();
	storm();
	printf("%zu blocks, %d turns\n", sum, turns);
	return 0;
}
