/* SPDX-License-Identifier: MIT */
/*
 * fuzz_trace.c - any bytes as a trace file: `traceprof check` and `traceprof
 * report` read them, gzipped or plain, and neither falls over.
 */
#include "tests/fuzz/fuzz_input.h"

#include "tools/check/check.h"
#include "tools/report/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct report_choice choice = {.top = 20, .tree = true};
	const char *path = fuzz_file(data, size);
	struct check_result result;
	struct report report;

	check_trace(path, fuzz_nowhere(), &result);
	if (!report_read(&report, path, &choice)) {
		report_print_text(&report, fuzz_nowhere());
		report_print_json(&report, fuzz_nowhere());
	}
	report_free(&report);
	return 0;
}
