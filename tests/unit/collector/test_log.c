/* SPDX-License-Identifier: MIT */
/*
 * test_log.c - formatting against printf, and what may reach stderr.
 */
#include "tests/unit/cmocka_base.h"

#include "collector/system/loader.h"
#include "collector/system/log.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Both formatters get the same arguments. */
#define SAME(...)                                                              \
	same_text(snprintf(wanted, sizeof(wanted), __VA_ARGS__),               \
		  log_format(given, sizeof(given), __VA_ARGS__))

static char wanted[512];
static char given[512];

static void same_text(int wanted_len, size_t given_len)
{
	assert_string_equal(given, wanted);
	assert_int_equal(given_len, wanted_len);
}

static void test_integers_as_printf(void **state)
{
	(void)state;
	SAME("%d %d %i", 0, -1, 42);
	SAME("%d %d", INT_MAX, INT_MIN);
	SAME("%ld %ld", LONG_MAX, LONG_MIN);
	SAME("%u %lu %zu", UINT_MAX, ULONG_MAX, (size_t)7);
	SAME("%lld %llu", LLONG_MIN, ULLONG_MAX);
	SAME("%x %016lx %08x", 0xdeadbeefu, 0x1234abcdul, 0u);
	SAME("[%5d] [%05d] [%5d] [%05d]", 42, 42, -42, -42);
	SAME("[%2u] [%02u]", 12345u, 3u);
}

static void test_texts_as_printf(void **state)
{
	const char *volatile none = NULL;

	(void)state;
	SAME("%s|%s|%c|%%", "", "text", 'x');
	SAME("%.*s|%.3s|%.*s", 2, "abcdef", "abcdef", 10, "short");
	log_format(given, sizeof(given), "%s", none);
	assert_string_equal(given, "(none)");
}

static void test_times_have_a_unit(void **state)
{
	static const struct {
		double us;
		const char *text;
	} rows[] = {{0.4, "0.4 us"},
		    {999.4, "999.4 us"},
		    {1000, "1.0 ms"},
		    {455334, "455.3 ms"},
		    {2.5e6, "2.5 s"}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		log_time(given, sizeof(given), rows[i].us);
		assert_string_equal(given, rows[i].text);
	}
}

static void test_decimals_as_printf(void **state)
{
	(void)state;
	SAME("%.0f %.1f %.2f", 3.0, 2.75, -1.128);
	SAME("%.3f %.9f %f", 0.9996, 0.000000001, 1.5);
	SAME("%.1f %.2f", 9.96, 99.999);
	log_format(given, sizeof(given), "%.1f", 1e300);
	assert_string_equal(given, "huge");
	log_format(given, sizeof(given), "%.1f", __builtin_nan(""));
	assert_string_equal(given, "huge");
}

static void test_one_and_many(void **state)
{
	char text[80];

	(void)state;
	log_format(text, sizeof(text),
		   "%lu {call was|calls were} of %d {one|many}", 1ul, 2);
	assert_string_equal(text, "1 call was of 2 many");
	log_format(text, sizeof(text), "%d {call|calls}, %u {|s}, {b", -1, 1u);
	assert_string_equal(text, "-1 calls, 1 , {b");
}

static void test_long_text_is_cut_and_terminated(void **state)
{
	char text[8];

	(void)state;
	memset(text, 'x', sizeof(text));
	assert_int_equal(log_format(text, 6, "%s", "0123456789"), 5);
	assert_string_equal(text, "01234");
	assert_int_equal(text[6], 'x');
	assert_int_equal(log_format(text, 1, "%d", 12), 0);
	assert_string_equal(text, "");
}

/* What a child that runs `body` leaves on its stderr. */
static char *stderr_of(void (*body)(void))
{
	static char text[16384];
	int ends[2];
	size_t len = 0;
	ssize_t got;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (!child) {
		dup2(ends[1], STDERR_FILENO);
		close(ends[0]);
		close(ends[1]);
		body();
		_exit(0);
	}
	close(ends[1]);
	while ((got = read(ends[0], text + len, sizeof(text) - 1 - len)) > 0)
		len += (size_t)got;
	close(ends[0]);
	waitpid(child, NULL, 0);
	text[len] = '\0';
	return text;
}

static void print_many(void)
{
	log_start(false);
	for (int i = 0; i < 20; i++) {
		log_say("line %d", i);
		log_trouble("trouble %d", i);
	}
}

static void test_at_most_five_lines(void **state)
{
	(void)state;
	assert_string_equal(stderr_of(print_many), "traceprof: line 0\n"
						   "traceprof: trouble 0\n"
						   "traceprof: line 1\n"
						   "traceprof: trouble 1\n"
						   "traceprof: line 2\n");
}

static void print_with_two_for_the_end(void)
{
	log_start(false);
	log_reserve(2);
	for (int i = 0; i < 5; i++)
		log_say("line %d", i);
	for (int i = 0; i < 5; i++)
		log_trouble("trouble %d", i);
	log_reserve(0);
	log_say("where the trace is");
}

static void test_the_end_has_its_lines(void **state)
{
	(void)state;
	assert_string_equal(stderr_of(print_with_two_for_the_end),
			    "traceprof: line 0\n"
			    "traceprof: line 1\n"
			    "traceprof: line 2\n"
			    "traceprof: trouble 0\n"
			    "traceprof: where the trace is\n");
}

static void print_quietly(void)
{
	log_start(true);
	log_say("good to know");
	log_trouble("wrong");
}

static void test_quiet_keeps_trouble(void **state)
{
	(void)state;
	assert_string_equal(stderr_of(print_quietly), "traceprof: wrong\n");
}

static void print_elsewhere(void)
{
	const int saved = dup(STDERR_FILENO);
	char text[64];
	int other[2];

	log_start(false);
	if (pipe2(other, O_NONBLOCK)) /* on the same device as ours */
		_exit(1);
	dup2(other[1], STDERR_FILENO);
	log_trouble("into the program's file");
	dup2(saved, STDERR_FILENO);
	log_trouble("ours again");
	if (read(other[0], text, sizeof(text)) >= 0)
		log_trouble("something went there");
}

static void test_a_replaced_stderr_is_left_alone(void **state)
{
	(void)state;
	assert_string_equal(stderr_of(print_elsewhere),
			    "traceprof: ours again\n");
}

static void print_after_close(void)
{
	log_start(false);
	log_keep();
	log_trouble("open");
	close(STDERR_FILENO);
	log_trouble("closed");
	open("/dev/null", O_WRONLY); /* takes its number */
	log_trouble("replaced");
}

static void test_a_stderr_that_the_end_closes_is_kept(void **state)
{
	(void)state;
	assert_string_equal(stderr_of(print_after_close),
			    "traceprof: open\ntraceprof: closed\n");
}

static void keep_and_open(void)
{
	const int next = dup(STDERR_FILENO);

	close(next);
	log_start(false);
	log_keep();
	if (dup(STDERR_FILENO) == next)
		log_trouble("the same number");
}

static void test_the_kept_copy_takes_no_low_number(void **state)
{
	(void)state;
	assert_string_equal(stderr_of(keep_and_open),
			    "traceprof: the same number\n");
}

static void print_before_start(void)
{
	log_trouble("nothing is known of fd 2");
	close(STDERR_FILENO);
	log_start(false);
	log_trouble("no fd 2");
}

static void test_nothing_before_the_start_or_without_stderr(void **state)
{
	(void)state;
	assert_string_equal(stderr_of(print_before_start), "");
}

static void print_wide(void)
{
	char text[3 * LOG_LINE_BYTES];

	memset(text, 'w', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	log_start(false);
	errno = ERANGE;
	log_say("%s", text);
	log_say("errno %d", errno == ERANGE);
}

/* Whoever reads stderr has stopped, and its pipe is full. */
static void test_a_full_pipe_costs_the_line(void **state)
{
	int ends[2];
	int status;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (!child) {
		char block[4096] = {0};

		alarm(10);
		dup2(ends[1], STDERR_FILENO);
		fcntl(STDERR_FILENO, F_SETFL, O_NONBLOCK);
		while (write(STDERR_FILENO, block, sizeof(block)) > 0)
			;
		fcntl(STDERR_FILENO, F_SETFL, 0);
		log_start(false);
		log_trouble("nobody reads this");
		_exit(0);
	}
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
	close(ends[0]);
	close(ends[1]);
}

/* The status of a child that says a line on `to`, all signals as they are
 * unless `blocked` is blocked and pending already; then it is to stay so. */
static int status_of_line(int to, int blocked)
{
	sigset_t set;
	int status;
	pid_t child;

	child = fork();
	if (!child) {
		alarm(10);
		signal(SIGPIPE, SIG_DFL);
		signal(SIGXFSZ, SIG_DFL);
		sigemptyset(&set);
		if (blocked) {
			sigaddset(&set, blocked);
			pthread_sigmask(SIG_BLOCK, &set, NULL);
			raise(blocked);
		}
		dup2(to, STDERR_FILENO);
		log_start(false);
		log_trouble("nobody reads this");
		sigpending(&set);
		for (int signal = 1; signal < SIGRTMIN; signal++)
			if (sigismember(&set, signal) != (signal == blocked))
				_exit(signal);
		pthread_sigmask(SIG_BLOCK, NULL, &set);
		_exit(sigismember(&set, SIGPIPE) != (blocked == SIGPIPE));
	}
	waitpid(child, &status, 0);
	return status;
}

/* ./train 2>&1 | head */
static void test_a_pipe_without_readers_costs_the_line(void **state)
{
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	assert_int_equal(status_of_line(ends[1], 0), 0);
	assert_int_equal(status_of_line(ends[1], SIGPIPE), 0);
	assert_int_equal(status_of_line(ends[1], SIGXFSZ), 0);
	close(ends[1]);
}

/* ulimit -f */
static void test_a_file_that_may_not_grow_costs_the_line(void **state)
{
	struct rlimit was, none;
	FILE *file = tmpfile();

	(void)state;
	assert_non_null(file);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	none = was;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	const int status = status_of_line(fileno(file), 0);

	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	assert_int_equal(status, 0);
	fclose(file);
}

/* Into a file that ends within a line; `forks`: while a fork is under way. */
static void check_line_in_file(bool forks, const char *expected)
{
	char text[64] = "";
	FILE *file = tmpfile();
	pid_t child;

	assert_non_null(file);
	assert_int_equal(write(fileno(file), "50 %", 4), 4);
	child = fork();
	if (!child) {
		dup2(fileno(file), STDERR_FILENO);
		if (forks)
			loader_before_fork();
		log_start(false);
		log_say("line");
		_exit(0);
	}
	waitpid(child, NULL, 0);
	assert_true(pread(fileno(file), text, sizeof(text) - 1, 0) > 0);
	assert_string_equal(text, expected);
	fclose(file);
}

static void test_a_line_of_a_file_is_ended_first(void **state)
{
	(void)state;
	check_line_in_file(false, "50 %\ntraceprof: line\n");
}

/* To see that it isn't ended a file is opened. */
static void test_none_is_opened_while_a_fork_is_under_way(void **state)
{
	(void)state;
	check_line_in_file(true, "50 %traceprof: line\n");
}

static void test_a_long_line_ends_in_a_newline_and_errno_stays(void **state)
{
	char *text = stderr_of(print_wide);
	const char *end = strchr(text, '\n');

	(void)state;
	assert_non_null(end);
	assert_in_range(end - text, LOG_LINE_BYTES - 8, LOG_LINE_BYTES - 1);
	assert_string_equal(end + 1, "traceprof: errno 1\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_integers_as_printf),
		cmocka_unit_test(test_texts_as_printf),
		cmocka_unit_test(test_times_have_a_unit),
		cmocka_unit_test(test_decimals_as_printf),
		cmocka_unit_test(test_one_and_many),
		cmocka_unit_test(test_long_text_is_cut_and_terminated),
		cmocka_unit_test(test_at_most_five_lines),
		cmocka_unit_test(test_the_end_has_its_lines),
		cmocka_unit_test(test_quiet_keeps_trouble),
		cmocka_unit_test(test_the_kept_copy_takes_no_low_number),
		cmocka_unit_test(test_a_replaced_stderr_is_left_alone),
		cmocka_unit_test(test_a_stderr_that_the_end_closes_is_kept),
		cmocka_unit_test(test_a_full_pipe_costs_the_line),
		cmocka_unit_test(test_a_pipe_without_readers_costs_the_line),
		cmocka_unit_test(test_a_file_that_may_not_grow_costs_the_line),
		cmocka_unit_test(test_a_line_of_a_file_is_ended_first),
		cmocka_unit_test(test_none_is_opened_while_a_fork_is_under_way),
		cmocka_unit_test(
			test_nothing_before_the_start_or_without_stderr),
		cmocka_unit_test(
			test_a_long_line_ends_in_a_newline_and_errno_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
