/* SPDX-License-Identifier: MIT */
/*
 * test_sandbox.c - filters that let us and filters that don't.
 */
#include "tests/unit/cmocka_base.h"

#include "preload/process/sandbox.h"
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define COUNT(filter) (sizeof(filter) / sizeof((filter)[0]))
#define LOAD(field)                                                            \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(action) BPF_STMT(BPF_RET | BPF_K, action)
#define IF(test, value, yes, no)                                               \
	BPF_JUMP(BPF_JMP | (test) | BPF_K, value, yes, no)

static void test_what_lets_all(void **state)
{
	const struct sock_filter all[] = {RETURN(SECCOMP_RET_ALLOW)};
	const struct sock_filter logs[] = {RETURN(SECCOMP_RET_LOG)};
	const struct sock_filter none[] = {RETURN(SECCOMP_RET_KILL_PROCESS)};
	const struct sock_filter error[] = {RETURN(SECCOMP_RET_ERRNO | 1)};

	(void)state;
	assert_true(sandbox_lets_us(all, COUNT(all)));
	assert_true(sandbox_lets_us(logs, COUNT(logs)));
	assert_false(sandbox_lets_us(none, COUNT(none)));
	assert_false(sandbox_lets_us(error, COUNT(error)));
	assert_false(sandbox_lets_us(all, 0));
}

/* All but one call. */
static bool lets_without(uint32_t call)
{
	const struct sock_filter filter[] = {
		LOAD(arch),
		IF(BPF_JSET, 0x40000000, 0, 3),
		LOAD(nr),
		IF(BPF_JEQ, call, 0, 1),
		RETURN(SECCOMP_RET_ERRNO | EPERM),
		RETURN(SECCOMP_RET_ALLOW),
	};

	return sandbox_lets_us(filter, COUNT(filter));
}

static void test_one_call_is_forbidden(void **state)
{
	(void)state;
	assert_true(lets_without(SYS_ptrace));
	assert_true(lets_without(SYS_socket));
	assert_false(lets_without(SYS_futex));
	assert_false(lets_without(SYS_write));
	assert_false(lets_without(SYS_clock_nanosleep));
}

static void test_what_cannot_be_told_is_no(void **state)
{
	const struct sock_filter argument[] = {LOAD(args),
					       RETURN(SECCOMP_RET_ALLOW)};
	const struct sock_filter index[] = {BPF_STMT(BPF_MISC | BPF_TAX, 0),
					    RETURN(SECCOMP_RET_ALLOW)};
	const struct sock_filter beyond[] = {
		BPF_STMT(BPF_JMP | BPF_JA, UINT32_MAX),
		RETURN(SECCOMP_RET_ALLOW)};
	const struct sock_filter value[] = {
		BPF_STMT(BPF_LD | BPF_IMM, 0x7ff),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x8), IF(BPF_JGE, 8, 0, 1),
		RETURN(SECCOMP_RET_ALLOW), RETURN(SECCOMP_RET_KILL_THREAD)};

	(void)state;
	assert_false(sandbox_lets_us(argument, COUNT(argument)));
	assert_false(sandbox_lets_us(index, COUNT(index)));
	assert_false(sandbox_lets_us(beyond, COUNT(beyond)));
	assert_true(sandbox_lets_us(value, COUNT(value)));
}

static void test_noise_ends(void **state)
{
	struct sock_filter filter[64];

	(void)state;
	srand(7);
	for (int round = 0; round < 20000; round++) {
		unsigned char *bytes = (unsigned char *)filter;

		for (size_t i = 0; i < sizeof(filter); i++)
			bytes[i] = (unsigned char)(rand() & rand());
		sandbox_lets_us(filter, COUNT(filter));
	}
}

static void test_programs_that_are_not_there(void **state)
{
	struct sock_filter all[] = {RETURN(SECCOMP_RET_ALLOW)};
	struct sock_fprog program = {.len = 1, .filter = all};
	char *gone =
		mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_int_equal(sandbox_judge(&program), 1);
	assert_int_equal(sandbox_judge(gone), -EFAULT);
	program.filter = (struct sock_filter *)(void *)gone;
	assert_int_equal(sandbox_judge(&program), -EFAULT);
	program.len = 0;
	assert_int_equal(sandbox_judge(&program), -EFAULT);
	munmap(gone, 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_lets_all),
		cmocka_unit_test(test_one_call_is_forbidden),
		cmocka_unit_test(test_what_cannot_be_told_is_no),
		cmocka_unit_test(test_noise_ends),
		cmocka_unit_test(test_programs_that_are_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
