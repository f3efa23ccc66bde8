/* SPDX-License-Identifier: MIT */
/*
 * test_command.c - what the commands print, and how they end.
 *
 * Each runs in a process of its own, since argp ends it when the usage is
 * wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/control/options.h"
#include "tools/util/command.h"

#define CPU "tests/fixtures/openmp_4242.1791057570000000000.pt.trace.json"

static char printed[64 << 10];

/* Runs a command with blank-separated arguments; its exit status. */
static int run(int (*command)(int, char **), const char *arguments)
{
	char words[512], *argv[32] = {"traceprof test"};
	int argc = 1, output[2], status;
	size_t len = 0;
	ssize_t got;
	pid_t child;

	snprintf(words, sizeof(words), "%s", arguments);
	for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	assert_int_equal(pipe(output), 0);
	fflush(stdout);
	child = fork();
	if (!child) {
		dup2(output[1], STDOUT_FILENO);
		dup2(output[1], STDERR_FILENO);
		exit(command(argc, argv));
	}
	close(output[1]);
	while ((got = read(output[0], printed + len,
			   sizeof(printed) - 1 - len)) > 0)
		len += (size_t)got;
	printed[len] = '\0';
	close(output[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void expect(int (*command)(int, char **), const char *arguments,
		   int code, const char *wanted)
{
	const int got = run(command, arguments);

	if (got != code || !strstr(printed, wanted))
		fail_msg("%s: ended with %d, printed\n%s", arguments, got,
			 printed);
}

static void usage_errors_end_with_2(void **state)
{
	(void)state;
	expect(check_command, "", EXIT_USAGE, "no FILE");
	expect(check_command, "--frob x", EXIT_USAGE, "--frob");
	expect(report_command, "--sort x y", EXIT_USAGE, "one of total");
	expect(report_command, "--top -1 y", EXIT_USAGE, "not a number");
	expect(record_command, "", EXIT_USAGE, "no COMMAND");
	expect(record_command, "--max-mb x true", EXIT_USAGE,
	       "a whole number from 0");
	expect(record_command, "--active 0 true", EXIT_USAGE, "from 1");
	expect(record_command, "--gzipp off true", EXIT_USAGE, "--gzipp");
	expect(plan_command, "--steps x", EXIT_USAGE, "not a number of steps");
	expect(plan_command, "word", EXIT_USAGE, "unexpected");
	expect(options_command, "word", EXIT_USAGE, "unexpected");
	expect(recover_command, "--frob", EXIT_USAGE, "--frob");
}

static void files_decide_the_end(void **state)
{
	(void)state;
	expect(check_command, CPU, EXIT_GOOD, "76 entries, good");
	expect(check_command, "/dev/null", EXIT_UNREADABLE, "empty");
	expect(check_command, CPU " /dev/null", EXIT_UNREADABLE, "good");
	expect(check_command, "--rules", EXIT_GOOD, "one gzip member");
	expect(report_command, CPU, EXIT_GOOD, "max/mean");
	expect(report_command, "/dev/null", EXIT_UNREADABLE, "empty");
	expect(report_command, "--json --top 1 " CPU, EXIT_GOOD,
	       "\"max_over_mean\"");
	expect(report_command, "-n 1 " CPU, EXIT_GOOD, "and 1 more names");
	expect(report_command, "--tree " CPU, EXIT_GOOD, "ProfilerStep#*");
}

static void commands_that_cannot_run(void **state)
{
	(void)state;
	expect(record_command, "/no/such", 127, "No such file");
	expect(record_command, "/", 126, "Permission denied");
}

static void plans(void **state)
{
	(void)state;
	expect(plan_command, "", EXIT_GOOD, "No schedule");
	expect(plan_command, "--wait 3 --warmup 1 --active 3 --repeat 2",
	       EXIT_GOOD,
	       "steps 0-2                not recorded\n"
	       "step  3                  warm up\n"
	       "steps 4-6                recorded in file 1\n"
	       "steps 7-9                not recorded\n"
	       "step  10                 warm up\n"
	       "steps 11-13              recorded in file 2\n"
	       "from step 14             not recorded\n"
	       "\n"
	       "The first file is whole after 7 steps.\n");
	expect(plan_command, "--skip-first 150 --active 6 --repeat 1",
	       EXIT_GOOD,
	       "steps 150-155            recorded in file 1\n"
	       "from step 156            not recorded\n");
	expect(plan_command, "--wait 999 --active 1", EXIT_GOOD,
	       "step  2999               recorded in file 3\n"
	       "and so on to the end of the run\n");
	expect(plan_command, "--active 2 --repeat 2", EXIT_GOOD,
	       "steps 0-1                recorded in file 1\n"
	       "steps 2-3                recorded in file 2\n"
	       "from step 4              not recorded\n");
	expect(plan_command,
	       "--skip-first 1 --wait 2 --skip-first-wait 1 --active 1 "
	       "--repeat 2",
	       EXIT_GOOD,
	       "step  0                  not recorded\n"
	       "step  1                  recorded in file 1\n"
	       "steps 2-3                not recorded\n"
	       "step  4                  recorded in file 2\n"
	       "from step 5              not recorded\n");
	expect(plan_command, "--warmup 2", EXIT_GOOD,
	       "from step 2              recorded in file 1\n");
	expect(plan_command, "--wait 3 --active 3 --steps 5", EXIT_FOUND,
	       "too short");
	expect(plan_command, "--wait 3 --active 3 --steps 6", EXIT_GOOD,
	       "6 steps make 1 whole file.\n");
	expect(plan_command, "--wait 2147483647 --active 2147483647", EXIT_GOOD,
	       "and so on");
}

static void every_setting_is_listed(void **state)
{
	(void)state;
	expect(options_command, "", EXIT_GOOD, "In this build");
	for (unsigned int row = 0; row < option_row_count; row++)
		assert_non_null(strstr(printed, option_rows[row].name));
	expect(record_command, "--help", EXIT_GOOD, "--malloc-min=BYTES");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(usage_errors_end_with_2),
		cmocka_unit_test(files_decide_the_end),
		cmocka_unit_test(commands_that_cannot_run),
		cmocka_unit_test(plans),
		cmocka_unit_test(every_setting_is_listed),
	};

	return cmocka_run_group_tests_name("tools_command", tests, NULL, NULL);
}
