/* SPDX-License-Identifier: MIT */
/* test_writer_pass.c - from events in rings to a finished file. */
#include "tests/unit/sample_session.h"
#include "writer/pass.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#ifdef HAVE_YAJL
#include <yajl/yajl_parse.h>
#endif

#define MS 1000000u

static void assert_json(const char *text)
{
#ifdef HAVE_YAJL
	yajl_handle parser = yajl_alloc(NULL, NULL, NULL);

	assert_int_equal(
		yajl_parse(parser, (const unsigned char *)text, strlen(text)),
		yajl_status_ok);
	assert_int_equal(yajl_complete_parse(parser), yajl_status_ok);
	yajl_free(parser);
#else
	assert_int_equal(text[0], '{');
#endif
}

/* The account of the file closes. */
static void assert_account(const char *text, unsigned long written,
			   unsigned long cut, unsigned long dropped)
{
	assert_int_equal(sample_number(text, "written"), written);
	assert_int_equal(sample_number(text, "cut"), cut);
	assert_int_equal(sample_number(text, "dropped"), dropped);
	assert_int_equal(sample_number(text, "seen"), written + cut + dropped);
}

static void finish(struct sample *sample, struct scribe *scribe, uint64_t end)
{
	assert_int_equal(pass_finish(scribe, sample->zero + end), 0);
	scribe_end(scribe);
}

static void one_scope_makes_a_whole_file(void **state)
{
	struct sample sample;
	struct scribe scribe;
	struct thread *thread;
	const char *text;

	(void)state;
	sample_begin(&sample);
	sample_session(&sample);
	sample_window(&sample, 0);
	thread = sample_thread(&sample, 4711);
	assert_int_equal(scribe_start(&scribe, sample.session, true), 0);
	sample_scope(&sample, thread, "hello \"w\"\n", 1 * MS, 3 * MS);
	pass_run(&scribe);
	text = sample_text(&sample);
	assert_json(text);
	assert_non_null(strstr(text, "\"final\":false"));
	finish(&sample, &scribe, 10 * MS);
	text = sample_text(&sample);
	assert_json(text);
	assert_non_null(strstr(text, "\"final\":true"));
	assert_non_null(strstr(text, "\"rank\": 0"));
	assert_non_null(strstr(text, "\"name\":\"hello \\\"w\\\"\\n\""));
	assert_non_null(strstr(text, "\"dur\":2000.000,"));
	assert_non_null(strstr(text, "\"thread 4711 ("));
	assert_account(text, 1, 0, 0);
	sample_end(&sample);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_scope_makes_a_whole_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
