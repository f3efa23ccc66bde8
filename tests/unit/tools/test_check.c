/* SPDX-License-Identifier: MIT */
/*
 * test_check.c - breaks a good trace in one place at a time and wants
 * the rule that was broken to be named.
 *
 * Runs from the top of the repository, where tests/fixtures/ lies.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "tests/unit/unit_folder.h"
#include "tools/check/check.h"

#define NAME "node1_4242.1791057570000000000.pt.trace.json"
#define CPU  "tests/fixtures/openmp_4242.1791057570000000000.pt.trace.json"
#define GPU  "tests/fixtures/gpu_4242.1791057570000000000.pt.trace.json"

static char folder[256];
static char path[sizeof(folder) + 64];

static char *read_text(const char *from)
{
	static char text[1 << 16];
	FILE *file = fopen(from, "r");
	size_t len;

	assert_non_null(file);
	len = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[len] = '\0';
	return text;
}

static void write_bytes(const char *text, size_t len)
{
	FILE *file;

	snprintf(path, sizeof(path), "%s/" NAME, folder);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, len, file), len);
	fclose(file);
}

/* The fixture with its first `from` replaced. */
static void write_mutant(const char *fixture, const char *from, const char *to)
{
	char *text = read_text(fixture);
	char *at = strstr(text, from);
	char *mutant;
	int len;

	assert_non_null(at);
	*at = '\0';
	len = asprintf(&mutant, "%s%s%s", text, to, at + strlen(from));
	assert_true(len > 0);
	write_bytes(mutant, (size_t)len);
	free(mutant);
}

/* Checks what was written; the printed lines. */
static char *check(struct check_result *result)
{
	char *printed = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&printed, &len);

	check_trace(path, out, result);
	fclose(out);
	unlink(path);
	return printed;
}

static void expect_rule(const char *fixture, const char *from, const char *to,
			const char *rule)
{
	struct check_result result;
	char wanted[32];
	char *printed;

	write_mutant(fixture, from, to);
	printed = check(&result);
	snprintf(wanted, sizeof(wanted), "[rule %s]", rule);
	if (!strstr(printed, wanted))
		fail_msg("%s -> %s: no %s in\n%s", from, to, wanted, printed);
	free(printed);
}

static void good_files_have_no_fault(void **state)
{
	static const char *const files[] = {CPU, GPU};
	struct check_result result;
	char *printed;

	(void)state;
	for (int at = 0; at < 2; at++) {
		const char *text = read_text(files[at]);

		write_bytes(text, strlen(text));
		printed = check(&result);
		if (!result.readable || result.faults || result.warnings)
			fail_msg("%s", printed);
		free(printed);
	}
}

/* One place of a fixture, what it becomes, the rule that this breaks. */
static const struct {
	const char *fixture, *from, *to, *rule;
} mutants[] = {
	{CPU, "\"schemaVersion\":1,",
	 "\"schemaVersion\":1,\"schemaVersion\":1,", "2"},
	{CPU, "{\"ph\":\"X\"", "{\"pg\":\"X\"", "3"},
	{CPU, "\"ph\":\"C\",\"name\"", "\"ph\":\"C\",\"nome\"", "3"},
	{CPU, "{\"ph\":\"X\"", "17,{\"ph\":\"X\"", "3"},
	{CPU, "\"cat\":\"cpu_op\",", "", "4"},
	{CPU, "\"dur\":", "\"dura\":", "4"},
	{CPU, "\"args\":{\"name\":\"train\"}", "\"args\":null", "5"},
	{CPU, "\"dur\":50.000", "\"dur\":\"50.000\"", "6"},
	{CPU, "\"dur\":50.000", "\"dur\":50.0001", "6"},
	{CPU, "\"dur\":50.000", "\"dur\":-50.000", "6"},
	{GPU, "\"bytes\":4194304", "\"bytes\":\"inf\"", "7"},
	{CPU, "forward pass", "forward\tpass", "8"},
	{CPU, "forward pass", "forward\xff pass", "8"},
	{CPU, "forward pass", "\\ud83d\\ude00", "8"},
	{CPU, "forward pass", "\\ude00", "8"},
	{CPU, "\"process_labels\"", "\"process_uptime\"", "9"},
	{CPU, "\"labels\":", "\"label\":", "9"},
	{GPU, "\"ph\":\"s\",\"id\":101", "\"ph\":\"s\",\"id\":\"101\"", "10"},
	{GPU, "\"ph\":\"s\",\"id\":101", "\"ph\":\"s\",\"id\":999", "10"},
	{GPU, "\"ph\":\"f\",\"id\":101", "\"ph\":\"f\",\"id\":102", "10"},
	{GPU, "\"ph\":\"f\",\"id\":101,\"pid\":0,\"tid\":7",
	 "\"ph\":\"f\",\"id\":101,\"pid\":0,\"tid\":8", "11"},
	{GPU, "\"tid\":7,\"ts\":1300.000,\"dur\"",
	 "\"tid\":7,\"ts\":1100.000,\"dur\"", "12"},
	{GPU, ",\"bp\":\"e\"", "", "11"},
	{GPU, "\"ph\":\"s\",\"id\":101,\"pid\":4242", "\"ph\":\"s\",\"id\":101",
	 "11"},
	{CPU, "\"s\":\"g\"", "\"s\":\"x\"", "21"},
	{CPU, "\"ph\":\"C\"", "\"ph\":\"O\"", "27"},
	{GPU, "\"cbid\":41", "\"stream\":7", "13"},
	{CPU, "ProfilerStep#1", "ProfilerStep1", "14"},
	{CPU, "\"rank\": 0", "\"rank\":0", "16"},
	{CPU, "\"rank\": 0", "\"rank\": \"0\"", "16"},
	{CPU, "\"rank\": 0,", "", "16"},
	{CPU, "\"displayTimeUnit\":\"ms\"", "\"displayTimeUnit\":\"s\"", "17"},
	{CPU, "\"deviceProperties\":[]", "\"deviceproperties\":[]", "17"},
	{CPU, "\"pid\":4242,\"tid\":4242,\"ts\":1201",
	 "\"pid\":1,\"tid\":4242,\"ts\":1201", "19"},
	{CPU, "\"seen\":70", "\"seen\":71", "20"},
	{CPU, "{\"task\": 2}", "{\"task\": 1}", "20"},
	{CPU, "{\"4243\": 2}", "{\"4243\": 3}", "20"},
	{CPU, "\"dropped_by_kind\"",
	 "\"written_by_kind\":{\"task\": 60, \"wait\": 7},"
	 "\"dropped_by_kind\"",
	 "20"},
	{GPU, "\"pid\":0,\"tid\":7,\"ts\":1080",
	 "\"pid\":1,\"tid\":7,"
	 "\"ts\":1080",
	 "26"},
};

static void each_rule_is_named(void **state)
{
	(void)state;
	for (size_t at = 0; at < sizeof(mutants) / sizeof(mutants[0]); at++)
		expect_rule(mutants[at].fixture, mutants[at].from,
			    mutants[at].to, mutants[at].rule);
}

static void crossing_slices_are_found(void **state)
{
	struct check_result result;
	char *printed;

	(void)state;
	/* One nanosecond beyond the step is too much, touching is not. */
	write_mutant(CPU, "\"ts\":1100.000,\"dur\":3502.000",
		     "\"ts\":1100.000,\"dur\":8900.000");
	printed = check(&result);
	assert_int_equal(result.faults, 0);
	free(printed);
	write_mutant(CPU, "\"ts\":1100.000,\"dur\":3502.000",
		     "\"ts\":1100.000,\"dur\":8900.001");
	printed = check(&result);
	assert_int_equal(result.faults, 1);
	assert_non_null(strstr(printed, "ends 1 ns after it"));
	assert_non_null(strstr(printed, "\"ProfilerStep#0\""));
	free(printed);
}

static void lines_of_a_rule_are_limited(void **state)
{
	struct check_result result;
	char *printed, *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	fputs("{\"traceEvents\":[", out);
	for (int at = 0; at < 50; at++)
		fprintf(out,
			"%s{\"ph\":\"X\",\"name\":\"a\",\"ts\":%d.000,"
			"\"dur\":1.000,\"pid\":99,\"tid\":1}",
			at ? "," : "", at);
	fputs("]}", out);
	fclose(out);
	write_bytes(text, len);
	free(text);
	printed = check(&result);
	assert_non_null(strstr(printed, "and 30 more"));
	assert_non_null(strstr(printed, "event 19 (name \"a\")"));
	assert_null(strstr(printed, "event 20 (name \"a\")"));
	free(printed);
}

static size_t deflate_text(const char *text, unsigned char *to, size_t room)
{
	z_stream stream = {0};

	assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, 0),
			 Z_OK);
	stream.next_in = (unsigned char *)text;
	stream.avail_in = (unsigned int)strlen(text);
	stream.next_out = to;
	stream.avail_out = (unsigned int)room;
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	deflateEnd(&stream);
	return stream.total_out;
}

static void gzip_members(void **state)
{
	static unsigned char packed[1 << 16];
	struct check_result result;
	const size_t len = deflate_text(read_text(CPU), packed, sizeof(packed));
	char *printed;

	(void)state;
	write_bytes((char *)packed, len);
	printed = check(&result);
	assert_non_null(strstr(printed, "[rule 18]")); /* below 4096 bytes */
	assert_null(strstr(printed, "[rule 1]"));
	free(printed);

	packed[len] = 'x';
	write_bytes((char *)packed, len + 1);
	printed = check(&result);
	assert_non_null(strstr(printed, "[rule 1]"));
	free(printed);

	deflate_text("\n", packed + len, sizeof(packed) - len);
	write_bytes((char *)packed, len + 21);
	printed = check(&result);
	assert_non_null(strstr(printed, "2 gzip members"));
	free(printed);

	for (size_t cut = 0; cut < len; cut += 97) {
		write_bytes((char *)packed, cut);
		printed = check(&result);
		assert_false(result.readable);
		free(printed);
	}
}

static void what_is_no_trace_is_refused(void **state)
{
	static const char *const texts[] = {
		"",
		"hello",
		"5",
		"{\"a\":1}",
		"[{\"ph\":\"X\"}]",
		"{\"traceEvents\":[",
		"{\"traceEvents\":[]}}",
		"{\"traceEvents\":[{\"ts\":NaN}]}",
		"{\"traceEvents\":[]}\n{}",
		"{\"traceEvents\":[,]}",
		"\xef\xbb\xbf{\"traceEvents\":[]}",
	};
	struct check_result result;

	(void)state;
	for (size_t at = 0; at < sizeof(texts) / sizeof(texts[0]); at++) {
		write_bytes(texts[at], strlen(texts[at]));
		free(check(&result));
		if (result.readable)
			fail_msg("read: %s", texts[at]);
	}
}

static int make_folder(void **state)
{
	(void)state;
	unit_template(folder, sizeof(folder), "check");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	return rmdir(folder);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_files_have_no_fault),
		cmocka_unit_test(each_rule_is_named),
		cmocka_unit_test(crossing_slices_are_found),
		cmocka_unit_test(lines_of_a_rule_are_limited),
		cmocka_unit_test(gzip_members),
		cmocka_unit_test(what_is_no_trace_is_refused),
	};

	return cmocka_run_group_tests_name("tools_contract", tests, make_folder,
					   remove_folder);
}
