/* SPDX-License-Identifier: MIT */
/* test_spare_stack.c - what is left of a stack, and another one. */
#include "tests/unit/cmocka_base.h"

#include "collector/system/spare_stack.h"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define ROOM_BYTES (64u << 10)

static char *outer; /* where the frame lies that calls */
static uint32_t ran;

static void on_another(void *arg)
{
	volatile char here, room[ROOM_BYTES / 2];
	stack_t stack;

	room[0] = room[sizeof(room) - 1] = 1;
	assert_true(arg == &ran);
	/* Neither near the caller's frame, nor on the signals' stack. */
	assert_true(labs((char *)&here - outer) > (long)ROOM_BYTES);
	assert_int_equal(sigaltstack(NULL, &stack), 0);
	assert_false(stack.ss_flags & SS_ONSTACK);
	ran++;
}

static void runs_elsewhere(void **state)
{
	char here;

	(void)state;
	outer = &here;
	ran = 0;
	spare_stack_run(ROOM_BYTES, on_another, &ran);
	assert_int_equal(ran, 1);
}

static void in_handler(int signal_number)
{
	char here;
	stack_t stack;

	(void)signal_number;
	outer = &here;
	assert_false(spare_stack_is_needless(ROOM_BYTES));
	assert_true(spare_stack_is_needless(1024));
	spare_stack_run(ROOM_BYTES, on_another, &ran);
	assert_int_equal(sigaltstack(NULL, &stack), 0);
	assert_true(stack.ss_flags & SS_ONSTACK);
}

static void leaves_the_stack_of_signals(void **state)
{
	static char memory[32 << 10];
	const stack_t stack = {.ss_sp = memory, .ss_size = sizeof(memory)};
	const stack_t none = {.ss_flags = SS_DISABLE};
	struct sigaction action = {.sa_handler = in_handler,
				   .sa_flags = SA_ONSTACK};

	(void)state;
	ran = 0;
	assert_int_equal(sigaltstack(&stack, NULL), 0);
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	raise(SIGUSR1);
	assert_int_equal(ran, 1);
	assert_int_equal(sigaltstack(&none, NULL), 0);
}

static void knows_the_main_stack(void **state)
{
	struct rlimit limit;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_STACK, &limit), 0);
	assert_true(spare_stack_is_needless(ROOM_BYTES));
	if (limit.rlim_cur != RLIM_INFINITY)
		assert_false(spare_stack_is_needless(limit.rlim_cur));
}

static void *on_thread(void *bytes)
{
	*(bool *)bytes = spare_stack_is_needless(ROOM_BYTES);
	return NULL;
}

static bool thread_has_room(size_t bytes)
{
	char *stack = mmap(NULL, bytes + 65536, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attributes;
	pthread_t thread;
	bool has = false;

	assert_true(stack != MAP_FAILED);
	assert_int_equal(mprotect(stack, 65536, PROT_NONE), 0);
	assert_int_equal(pthread_attr_init(&attributes), 0);
	assert_int_equal(
		pthread_attr_setstack(&attributes, stack + 65536, bytes), 0);
	assert_int_equal(pthread_create(&thread, &attributes, on_thread, &has),
			 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	munmap(stack, bytes + 65536);
	return has;
}

static void finds_the_end_of_a_threads(void **state)
{
	(void)state;
	assert_true(thread_has_room(1u << 20));
	assert_false(thread_has_room(ROOM_BYTES));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_elsewhere),
		cmocka_unit_test(leaves_the_stack_of_signals),
		cmocka_unit_test(knows_the_main_stack),
		cmocka_unit_test(finds_the_end_of_a_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
