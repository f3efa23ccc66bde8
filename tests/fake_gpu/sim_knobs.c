/* SPDX-License-Identifier: MIT */
/*
 * sim_knobs.c - reads SIMGPU_* from the environment.
 *
 * A knob that nobody knows, or a value that makes no sense, ends the program:
 * a test that sets it would otherwise pass without having tested anything.
 */
#include "tests/fake_gpu/sim_knobs.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FAILURES = 16 };

struct failure {
	char function[64];
	int code;
	unsigned long nth; /* 0: every call */
	_Atomic unsigned long seen;
};

static struct sim_knobs knobs = {
	.version = VERSION_NEWEST,
	.per_thread = PER_THREAD_BY_CLIENT,
	.latency_ns = 2000,
	.kernel_ns = 5000,
	.withhold = 1,
	.devices = 1,
	.dup_driver = 1,
	.name_reuse = BY_VERSION,
	.old_names = 1,
	.hang_disable = BY_VERSION,
	.graph_ids = BY_VERSION,
	.ids_anew = BY_VERSION,
	.thread_race = BY_VERSION,
	.carry_over = 1,
	.disable_ns = 1000000,
	.zero_times = BY_VERSION,
	.drift_ppm = 20,
	.jitter_ns = 300,
	.second_from = 100,
	.second_calls = 100,
};
static struct failure failures[MOST_FAILURES];
static int failure_count;
static pthread_once_t once = PTHREAD_ONCE_INIT;
extern char **environ;

_Noreturn void sim_fault(const char *what, ...)
{
	va_list arguments;

	va_start(arguments, what);
	fprintf(stderr, "simgpu: ");
	vfprintf(stderr, what, arguments);
	fprintf(stderr, "\n");
	va_end(arguments);
	abort();
}

static int64_t number(const char *name, const char *value)
{
	char *end;
	const long long result = strtoll(value, &end, 0);

	if (end == value || *end)
		sim_fault("SIMGPU_%s=%s is not a number", name, value);
	return result;
}

/* "fn:code[:nth]", several separated by commas */
static void read_failures(const char *value)
{
	char *copy = strdup(value), *rest = copy, *item;

	while ((item = strsep(&rest, ",")) != NULL) {
		struct failure *f = &failures[failure_count++];
		char *name = strsep(&item, ":");
		char *code = strsep(&item, ":");

		if (failure_count > MOST_FAILURES || !code)
			sim_fault("SIMGPU_FAIL=%s is not fn:code[:nth]", value);
		snprintf(f->function, sizeof(f->function), "%s", name);
		f->code = (int)number("FAIL", code);
		f->nth = item ? (unsigned long)number("FAIL", item) : 0;
	}
	free(copy);
}

/* The place of the word among the words, which are separated by blanks. */
static int choice(const char *name, const char *value, const char *words)
{
	char list[128], *rest = list, *word;
	int place = 0;

	snprintf(list, sizeof(list), "%s", words);
	for (; (word = strsep(&rest, " ")) != NULL; place++)
		if (strcmp(word, value) == 0)
			return place;
	sim_fault("SIMGPU_%s=%s is none of: %s", name, value, words);
}

static int read_number(const char *name, const char *value)
{
	const struct {
		const char *name;
		int *number;
	} flags[] = {
		{"PER_THREAD", &knobs.per_thread},
		{"OOO", &knobs.out_of_order},
		{"NAME_REUSE", &knobs.name_reuse},
		{"OLD_NAMES", &knobs.old_names},
		{"SUBSCRIBER_TAKEN", &knobs.subscriber_taken},
		{"FORCED_INCOMPLETE", &knobs.forced_incomplete},
		{"DUP_DRIVER", &knobs.dup_driver},
		{"WRAP_CORR", &knobs.wrap_correlation},
		{"OVERLAP", &knobs.overlap},
		{"NULL_OK", &knobs.null_ok},
		{"NO_KERNELS", &knobs.no_kernels},
		{"INIT_SILENT", &knobs.init_silent},
		{"OLD_DRIVER", &knobs.old_driver},
		{"WITHHOLD", &knobs.withhold},
		{"MIG", &knobs.mig},
		{"CAPTURED_MEMORY", &knobs.captured_memory},
		{"GRAPH_IDS", &knobs.graph_ids},
		{"BODY", &knobs.body},
		{"THREAD_RACE", &knobs.thread_race},
		{"CARRY_OVER", &knobs.carry_over},
		{"IDS_ANEW", &knobs.ids_anew},
	};
	const struct {
		const char *name;
		int64_t *number;
	} amounts[] = {
		{"SKEW_NS", &knobs.skew_ns},
		{"LATENCY_NS", &knobs.latency_ns},
		{"KERNEL_NS", &knobs.kernel_ns},
		{"DISABLE_NS", &knobs.disable_ns},
		{"CALL_NS", &knobs.call_ns},
		{"INIT_NS", &knobs.init_ns},
		{"ZERO_TIMES", &knobs.zero_times},
		{"DRIFT_PPM", &knobs.drift_ppm},
		{"JITTER_NS", &knobs.jitter_ns},
		{"WOBBLE_NS", &knobs.wobble_ns},
		{"SET_NS", &knobs.set_ns},
		{"DROP", (int64_t *)&knobs.drop},
		{"NVML_REASONS", (int64_t *)&knobs.nvml_reasons},
		{"SECOND_FROM", (int64_t *)&knobs.second_from},
		{"SECOND_CALLS", (int64_t *)&knobs.second_calls},
		{"FATAL_STATE_AFTER", (int64_t *)&knobs.fatal_after},
		{"STILL_AT", (int64_t *)&knobs.still_at},
	};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (strcmp(name, flags[i].name) == 0) {
			*flags[i].number = choice(name, value, "0 1");
			return 1;
		}
	for (size_t i = 0; i < sizeof(amounts) / sizeof(amounts[0]); i++)
		if (strcmp(name, amounts[i].name) == 0) {
			*amounts[i].number = number(name, value);
			return 1;
		}
	return 0;
}

static void read_knob(const char *name, const char *value)
{
	if (read_number(name, value))
		return;
	if (strcmp(name, "VERSION") == 0)
		knobs.version = (uint32_t)number(name, value);
	else if (strcmp(name, "HANG_FLUSH") == 0)
		knobs.hang_flush = choice(name, value, "0 1 forced");
	else if (strcmp(name, "HANG_DISABLE") == 0)
		knobs.hang_disable = choice(name, value, "0 1 first");
	else if (strcmp(name, "HANG_ENABLE") == 0)
		knobs.hang_enable = choice(name, value, "0 1 first");
	else if (strcmp(name, "NVML_HANG") == 0)
		knobs.nvml_hang = choice(name, value, "no load start");
	else if (strcmp(name, "COMPLETE_ON") == 0)
		knobs.complete_on = choice(name, value, "worker flusher app");
	else if (strcmp(name, "SECOND_CLIENT") == 0)
		knobs.second_client =
			choice(name, value, "0 subscribe takeover");
	else if (strcmp(name, "DRIVER") == 0)
		knobs.driver_absent = choice(name, value, "present absent");
	else if (strcmp(name, "DEVICES") == 0)
		knobs.devices = choice(name, value, "0 1 2 3 4 5 6 7 8");
	else if (strcmp(name, "HIDDEN_DEVICES") == 0)
		knobs.hidden_devices = choice(name, value, "0 1 2 3 4");
	else if (strcmp(name, "DEVICE_RECORDS") == 0)
		knobs.no_device_records = choice(name, value, "1 0 late");
	else if (strcmp(name, "REPLAY") == 0)
		knobs.replay = value;
	else if (strcmp(name, "FAIL") == 0)
		read_failures(value);
	else
		sim_fault("SIMGPU_%s is no knob", name);
}

static void read_all(void)
{
	for (char **entry = environ; entry && *entry; entry++) {
		const char *equals = strchr(*entry, '=');
		char name[32];

		if (strncmp(*entry, "SIMGPU_", 7) != 0 || !equals)
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)(equals - *entry - 7),
			 *entry + 7);
		read_knob(name, equals + 1);
	}
}

const struct sim_knobs *sim_knobs(void)
{
	pthread_once(&once, read_all);
	return &knobs;
}

int knobs_failure(const char *function)
{
	pthread_once(&once, read_all);
	for (int i = 0; i < failure_count; i++) {
		struct failure *f = &failures[i];

		if (strcmp(f->function, function) != 0)
			continue;
		if (f->seen++ + 1 == f->nth || f->nth == 0)
			return f->code;
	}
	return 0;
}
