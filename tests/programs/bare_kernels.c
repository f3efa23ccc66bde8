/* SPDX-License-Identifier: MIT */
/*
 * bare_kernels.c - calls functions of which no file tells how their frames are
 * left, each from one of its own, over stacks on which others have left their
 * addresses: one without a frame, one that aligns its stack, one whose frame
 * pointer is any address, one that keeps the stack pointer in a register of its
 * caller's, and one that is made at run time.  All turn as long.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define TURNS 3000000ul

#if defined(__x86_64__)
#define COUNT                                                                  \
	"1: imul $1103515245, %rax, %rax\n"                                    \
	"add $12345, %rax\n"                                                   \
	"dec %rdi\n"                                                           \
	"jnz 1b\n"

__asm__(".text\n"
	".globl leaf, aligned, pushes, keeps\n"
	".type leaf, @function\n"
	".type aligned, @function\n"
	".type pushes, @function\n"
	".type keeps, @function\n"
	"leaf: xor %eax, %eax\n" COUNT "ret\n"
	"aligned:\n"
	"push %rbp\n"
	"mov %rsp, %rbp\n"
	"push %rbx\n"
	"and $-64, %rsp\n"
	"sub $256, %rsp\n"
	"xor %eax, %eax\n" COUNT "lea -8(%rbp), %rsp\n"
	"pop %rbx\n"
	"pop %rbp\n"
	"ret\n"
	"pushes: push %rbx\n"
	"push %rbp\n"
	"sub $520, %rsp\n"
	"lea 64(%rsp), %rbp\n"
	"xor %eax, %eax\n" COUNT "add $520, %rsp\n"
	"pop %rbp\n"
	"pop %rbx\n"
	"ret\n"
	"keeps: sub $24, %rsp\n"
	"mov %rbx, (%rsp)\n"
	"mov %rbp, 8(%rsp)\n"
	"mov %rsp, %rbx\n"
	"sub $512, %rsp\n"
	"and $-4096, %rsp\n"
	"mov $77, %ebp\n"
	"xor %eax, %eax\n" COUNT "mov %rbx, %rsp\n"
	"mov (%rsp), %rbx\n"
	"mov 8(%rsp), %rbp\n"
	"add $24, %rsp\n"
	"ret\n");

unsigned long leaf(unsigned long), aligned(unsigned long),
	pushes(unsigned long), keeps(unsigned long);
void outer(void);

static volatile unsigned long sum;
static unsigned long (*made)(unsigned long);

__attribute__((noinline)) static void leave_addresses(int depth)
{
	volatile char room[200];

	room[0] = (char)depth;
	if (depth)
		leave_addresses(depth - 1);
	room[1] = room[0];
}

#define CALLS(kernel)                                                          \
	void calls_##kernel(void);                                             \
	__attribute__((noinline)) void calls_##kernel(void)                    \
	{                                                                      \
		leave_addresses(5);                                            \
		sum += kernel(TURNS);                                          \
		sum++;                                                         \
	}

CALLS(leaf)
CALLS(aligned)
CALLS(pushes)
CALLS(keeps)
CALLS(made)

__attribute__((noinline)) void outer(void)
{
	calls_leaf();
	calls_aligned();
	calls_pushes();
	calls_keeps();
	calls_made();
	sum++;
}

/* push %rbx; xor %ebx, %ebx; 1: imul $1103515245, %rbx, %rbx; dec %rdi; jnz 1b;
 * mov %rbx, %rax; pop %rbx; ret */
static const unsigned char code[] = {0x53, 0x31, 0xdb, 0x48, 0x69, 0xdb, 0x6d,
				     0x4e, 0xc6, 0x41, 0x48, 0xff, 0xcf, 0x75,
				     0xf4, 0x48, 0x89, 0xd8, 0x5b, 0xc3};

int main(void)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return 77;
	memcpy(page, code, sizeof(code));
	made = (unsigned long (*)(unsigned long))(void *)page;
	for (int i = 0; i < 50; i++)
		outer();
	printf("%lu\n", sum);
	return 0;
}
#else
int main(void)
{
	return 77;
}
#endif
