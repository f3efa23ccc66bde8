/* SPDX-License-Identifier: MIT */
/*
 * no_frames.S - spin(turns): a function of which no file says how its frame is
 * left, as kernels of mathematics' libraries are written.  The register that
 * may point to a frame holds a number.
 */
	.text
	.globl spin
	.type spin, @function
spin:
	push %rbp
	push %rbx
	sub $1032, %rsp
	mov $1, %ebp
	xor %ebx, %ebx
1:	imul $1103515245, %rbp, %rbp
	add $12345, %rbp
	inc %rbx
	cmp %rdi, %rbx
	jb 1b
	mov %rbp, %rax
	add $1032, %rsp
	pop %rbx
	pop %rbp
	ret
	.size spin, . - spin

	.section .note.GNU-stack, "", @progbits
