/* SPDX-License-Identifier: MIT */
/* test_process_kind.c - which processes are left alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "preload/process/process.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void tools_are_known(void **state)
{
	static const char *const tools[] = {
		"/bin/sh",
		"/usr/bin/bash",
		"/usr/bin/x86_64-linux-gnu-gcc-12",
		"/usr/bin/x86_64-linux-gnu-ld.bfd",
		"/usr/bin/arm-linux-gnueabihf-g++-9.4",
		"/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus",
		"/usr/lib/llvm-14/bin/clang",
		"/home/me/conda/bin/ninja",
		"/usr/local/cuda/bin/ptxas",
		"/usr/lib/git-core/git-remote-http",
		"/usr/bin/sort",
		"/bin/true",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++) {
		if (!process_kind_names_tool(tools[i]))
			fail_msg("not known: %s", tools[i]);
	}
}

static void programs_are_not_tools(void **state)
{
	static const char *const programs[] = {
		"/usr/bin/python3.11",
		"/home/me/train",
		"/home/me/sort", /* the name of a benchmark */
		"/home/me/graphs/cc",
		"./test",
		"/home/me/gccx",
		"/home/me/my-gcc",
		"/usr/bin/julia",
		"",
		"/usr/bin/",
		"/home/me/sh bash",
		"/home/me/"
		"a-name-that-is-much-longer-than-that-of-any-tool-that-"
		"was-ever-made",
		"-12",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		if (process_kind_names_tool(programs[i]))
			fail_msg("taken for a tool: %s", programs[i]);
	}
}

static void variables_are_found_whole(void **state)
{
	char *environment[] = {"TRACEPROF_X=1", "TRACEPROF=0", "A=", NULL};
	char *on[] = {"TRACEPROF=1", NULL};
	char *similar[] = {"TRACEPROF_OFF=0", NULL};

	(void)state;
	assert_string_equal(process_variable(environment, "A"), "");
	assert_null(process_variable(environment, "TRACE"));
	assert_null(process_variable(NULL, "A"));
	assert_true(process_kind_is_off(environment));
	assert_false(process_kind_is_off(on));
	assert_false(process_kind_is_off(similar));
}

static void direct_means_the_parent(void **state)
{
	char text[64];
	char *environment[] = {text, NULL};

	(void)state;
	snprintf(text, sizeof(text), "TRACEPROF_RECORD_PID=%d", getppid());
	assert_true(process_kind_is_direct(environment));
	snprintf(text, sizeof(text), "TRACEPROF_RECORD_PID=%d", getpid());
	assert_false(process_kind_is_direct(environment));
	assert_false(process_kind_is_direct(environment + 1));
}

/* This program, run again in a child with another environment: its status. */
static int run_again(char *const environment[])
{
	char *arguments[] = {"test", NULL};
	const pid_t child = fork();
	int status = 0;

	if (!child) {
		execve("/proc/self/exe", arguments, environment);
		_exit(99);
	}
	waitpid(child, &status, 0);
	return WEXITSTATUS(status);
}

/* Run with the variable, or without: starts a child that asks about it. */
static int be_parent(void)
{
	char *environment[] = {"ROLE=child", NULL};

	return run_again(environment);
}

static int be_child(void)
{
	return process_kind_is_child() ? 10 : 11;
}

/* `padding` bytes come before the assignment. */
static int run_parent(char *assignment, size_t padding)
{
	static char filler[8192];
	char *environment[] = {"ROLE=parent", filler, assignment, NULL};

	memset(filler, 'x', padding);
	filler[1] = '=';
	filler[padding] = '\0';
	return run_again(environment);
}

static void parents_environment_tells_children(void **state)
{
	(void)state;
	assert_int_equal(run_parent("TRACEPROF_CHILDREN=none", 10), 10);
	assert_int_equal(run_parent("TRACEPROF_CHILDREN=all", 10), 11);
	assert_int_equal(run_parent("XTRACEPROF_CHILDREN=none", 10), 11);
	/* Across the end of what is read at a time. */
	for (size_t padding = 4050; padding < 4100; padding += 5)
		assert_int_equal(run_parent("TRACEPROF_CHILDREN=none", padding),
				 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tools_are_known),
		cmocka_unit_test(programs_are_not_tools),
		cmocka_unit_test(variables_are_found_whole),
		cmocka_unit_test(direct_means_the_parent),
		cmocka_unit_test(parents_environment_tells_children),
	};

	if (getenv("ROLE"))
		return strcmp(getenv("ROLE"), "child") ? be_parent()
						       : be_child();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
