/* SPDX-License-Identifier: MIT */
/*
 * cmocka_base.h - cmocka with the headers that it wants included before it.
 */
#ifndef UNIT_CMOCKA_BASE_H
#define UNIT_CMOCKA_BASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

/* TEST_ONLY names the test that is to run alone, of all that a program has. */
__attribute__((constructor)) static void only_one_test(void)
{
	const char *name = getenv("TEST_ONLY");

	if (name)
		cmocka_set_test_filter(name);
}

/* In place of all tests of a program that can't be built here. */
static inline void not_here(void **state)
{
	print_message("%s\n", (const char *)*state);
	skip();
}

static inline int cmocka_skip_all(const char *why)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(not_here, (void *)why)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* For the few tests that limit memory, which a sanitizer needs for itself. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define UNDER_SANITIZER 1
#else
#define UNDER_SANITIZER 0
#endif

#endif
