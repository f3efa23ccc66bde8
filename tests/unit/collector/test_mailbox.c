/* SPDX-License-Identifier: MIT */
/* test_mailbox.c - whose turn it is at the mailbox, and names of signals. */
#include "tests/unit/cmocka_base.h"

#include "collector/control/mailbox.h"
#include "collector/system/log.h"
#include "collector/control/options.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND_NS UINT64_C(1000000000)

static struct mailbox box;
static const struct mailbox_request start = {.verb = MAILBOX_START, .steps = 3};

static int begin(void **state)
{
	(void)state;
	memset(&box, 0, sizeof(box));
	return 0;
}

static void *answer(void *unused)
{
	struct mailbox_request request;
	struct mailbox_answer said = {.error = 0, .seen = 7};
	uint64_t word;

	(void)unused;
	while (!mailbox_take(&box, &request, &word))
		usleep(1000);
	strcpy(said.text, "done");
	said.written = (uint64_t)request.steps;
	mailbox_reply(&box, word, &said);
	return NULL;
}

static void test_a_request_and_its_answer(void **state)
{
	struct mailbox_answer got;
	pthread_t writer;
	uint64_t word;

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(pthread_create(&writer, NULL, answer, NULL),
				 0);
		assert_int_equal(
			mailbox_post(&box, (uint32_t)getpid(), &start, &word),
			0);
		assert_int_equal(mailbox_wait(&box, word, 60 * SECOND_NS, &got),
				 0);
		pthread_join(writer, NULL);
		assert_string_equal(got.text, "done");
		assert_int_equal(got.seen, 7);
		assert_int_equal(got.written, 3);
		assert_int_equal(mailbox_turn(box.turn), MAILBOX_FREE);
	}
}

static void test_one_request_at_a_time(void **state)
{
	struct mailbox_request request;
	uint64_t mine, others, taken;

	(void)state;
	assert_false(mailbox_is_rung(&box));
	assert_int_equal(mailbox_post(&box, (uint32_t)getpid(), &start, &mine),
			 0);
	assert_true(mailbox_is_rung(&box));
	assert_int_equal(
		mailbox_post(&box, (uint32_t)getpid(), &start, &others),
		-EBUSY);
	assert_true(mailbox_take(&box, &request, &taken));
	assert_int_equal(request.steps, 3);
	/* Taken once, and no longer rung: the writer may sleep meanwhile. */
	assert_false(mailbox_is_rung(&box));
	assert_false(mailbox_take(&box, &request, &taken));
}

static void test_a_withdrawn_request_gets_no_answer(void **state)
{
	struct mailbox_answer said = {.seen = 1};
	struct mailbox_request request;
	uint64_t first, second, taken;

	(void)state;
	mailbox_post(&box, (uint32_t)getpid(), &start, &first);
	assert_true(mailbox_take(&box, &request, &taken));
	assert_int_equal(mailbox_wait(&box, first, 1000, &said), -ETIMEDOUT);
	assert_int_equal(
		mailbox_post(&box, (uint32_t)getpid(), &start, &second), 0);
	assert_int_not_equal(first, second);
	mailbox_reply(&box, taken, &said);
	assert_int_equal(box.turn, second);
	assert_int_equal(mailbox_wait(&box, second, 1000, &said), -ETIMEDOUT);
}

static void test_the_request_of_a_dead_tool_is_passed_over(void **state)
{
	uint64_t word;
	const pid_t tool = fork();

	(void)state;
	if (!tool)
		_exit(0);
	waitpid(tool, NULL, 0);
	assert_int_equal(mailbox_post(&box, (uint32_t)tool, &start, &word), 0);
	assert_int_equal(mailbox_post(&box, (uint32_t)getpid(), &start, &word),
			 0);
}

/* Whatever stands in the box, a tool comes back. */
static void test_a_box_full_of_nonsense(void **state)
{
	struct mailbox_answer got;
	uint64_t word;

	(void)state;
	for (unsigned int byte = 0; byte < 256; byte++) {
		memset(&box, (int)byte, sizeof(box));
		if (mailbox_post(&box, (uint32_t)getpid(), &start, &word))
			continue;
		memset(&box, (int)byte, sizeof(box));
		if (mailbox_wait(&box, word, 1000, &got))
			continue;
		assert_true(memchr(got.text, 0, sizeof(got.text)));
		assert_true(memchr(got.path, 0, sizeof(got.path)));
	}
}

static void test_names_of_signals(void **state)
{
	static const struct {
		const char *text;
		int offset; /* from SIGRTMIN; 0: `number` holds */
		int number;
	} good[] = {{"USR1", 0, SIGUSR1},
		    {"SIGUSR2", 0, SIGUSR2},
		    {"10", 0, SIGUSR1},
		    {"RTMIN+1", 1, 0},
		    {"SIGRTMIN+12", 12, 0}};
	static const char *const bad[] = {
		"",	   "KILL",     "SIGKILL", "9",	    "STOP",
		"SEGV",	   "BUS",      "CHLD",	  "TERM",   "INT",
		"ALRM",	   "PROF",     "usr1",	  "USR3",   "SIG",
		"0",	   "-1",       "65",	  "32",	    "RTMIN-",
		"RTMIN-1", "RTMIN+99", "RTMAX+1", "RTMINX", "10x"};
	char why[LOG_LINE_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_int_equal(
			signal_name_parse(good[i].text, why, sizeof(why)),
			good[i].number ? good[i].number
				       : SIGRTMIN + good[i].offset);
	assert_int_equal(signal_name_parse("RTMAX-30", why, sizeof(why)),
			 SIGRTMAX - 30);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(signal_name_parse(bad[i], why, sizeof(why)),
				 -EINVAL);
		assert_non_null(strstr(why, "TRACEPROF_SIGNAL="));
		assert_non_null(strstr(why, "USR2"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_a_request_and_its_answer, begin),
		cmocka_unit_test_setup(test_one_request_at_a_time, begin),
		cmocka_unit_test_setup(test_a_withdrawn_request_gets_no_answer,
				       begin),
		cmocka_unit_test_setup(
			test_the_request_of_a_dead_tool_is_passed_over, begin),
		cmocka_unit_test_setup(test_a_box_full_of_nonsense, begin),
		cmocka_unit_test(test_names_of_signals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
