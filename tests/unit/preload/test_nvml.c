/* SPDX-License-Identifier: MIT */
/*
 * test_nvml.c - what is asked of NVML, and what becomes of the answers.
 *
 * NVML is played here, and so are dlopen() and dlsym(), which find it
 * (--wrap): in an old driver some names are others, and not every GPU has all
 * of it.
 */
#include "tests/unit/cmocka_base.h"

#ifdef HAVE_CUPTI
#include "preload/cuda/cupti_source.h"
#include "preload/cuda/nvml.h"
#include "preload/process/process.h"
#include "tests/unit/session_fixture.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CLOCK_SM = 1, SENSOR_GPU = 0, ANSWERS = 6, ALL = (1 << ANSWERS) - 1 };

struct process process;

static int its_library, its_device;
static bool is_there;
static _Atomic unsigned int fails; /* a bit for each question */
static _Atomic int handle_error;
static const char *reasons_name;
static char asked_for[64];
static _Atomic unsigned int handles, looks, asked_again;
static _Atomic bool is_asked, may_answer;

void cupti_flush_ask(void)
{
	add_relaxed(&asked_again, 1);
}

static int ready(void)
{
	return 0;
}

static int handle_of(const char *uuid, void **device)
{
	strcpy(asked_for, uuid);
	add_relaxed(&handles, 1);
	*device = load_relaxed(&handle_error) ? &its_library : &its_device;
	return load_relaxed(&handle_error);
}

static int answer(const void *device, int number)
{
	assert_ptr_equal(device, &its_device);
	return load_relaxed(&fails) >> number & 1 ? 3 : 0;
}

static int load_of(void *device, unsigned int rates[2])
{
	rates[0] = 87;
	rates[1] = 12;
	return answer(device, 0);
}

static int memory_of(void *device, unsigned long long memory[3])
{
	memory[0] = 1000;
	memory[1] = 700;
	memory[2] = 300;
	return answer(device, 1);
}

static int power_of(void *device, unsigned int *milliwatts)
{
	*milliwatts = 412500;
	return answer(device, 2);
}

static int clock_of(void *device, int clock, unsigned int *megahertz)
{
	*megahertz = clock == CLOCK_SM ? 1980 : 1;
	return answer(device, 3);
}

static int heat_of(void *device, int sensor, unsigned int *celsius)
{
	*celsius = sensor == SENSOR_GPU ? 71 : 1;
	return answer(device, 4);
}

static int reasons_of(void *device, unsigned long long *reasons)
{
	*reasons = 0x44;
	/* The last question of a look; one may take its time. */
	store_relaxed(&is_asked, true);
	while (!load_relaxed(&may_answer))
		usleep(1000);
	store_relaxed(&is_asked, false);
	add_relaxed(&looks, 1);
	return answer(device, 5);
}

void *__wrap_dlopen(const char *name, int how);
void *__wrap_dlsym(void *library, const char *name);

void *__wrap_dlopen(const char *name, int how)
{
	(void)how;
	assert_string_equal(name, "libnvidia-ml.so.1");
	return is_there ? &its_library : NULL;
}

void *__wrap_dlsym(void *library, const char *name)
{
	static const struct {
		const char *name;
		void *function;
	} known[] = {
		{"nvmlInit_v2", (void *)ready},
		{"nvmlDeviceGetHandleByUUID", (void *)handle_of},
		{"nvmlDeviceGetUtilizationRates", (void *)load_of},
		{"nvmlDeviceGetMemoryInfo", (void *)memory_of},
		{"nvmlDeviceGetPowerUsage", (void *)power_of},
		{"nvmlDeviceGetClockInfo", (void *)clock_of},
		{"nvmlDeviceGetTemperature", (void *)heat_of},
	};

	assert_ptr_equal(library, &its_library);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (!strcmp(name, known[i].name))
			return known[i].function;
	}
	return strcmp(name, reasons_name) ? NULL : (void *)reasons_of;
}

static struct session *begin(bool is_part)
{
	struct session *session = fixture_begin(4);
	struct gpu_device *device = &session->head->gpu.device[2];

	process.options.nvml = 1;
	is_there = true;
	reasons_name = "nvmlDeviceGetCurrentClocksEventReasons";
	store_relaxed(&fails, 0);
	store_relaxed(&handle_error, 0);
	store_relaxed(&handles, 0);
	store_relaxed(&looks, 0);
	store_relaxed(&asked_again, 0);
	store_relaxed(&may_answer, true);
	for (int i = 0; i < 16; i++) {
		device->uuid[i] = (uint8_t)(i + 1);
		device->mig_uuid[i] = (uint8_t)(i + 0xa0);
	}
	device->is_mig = is_part;
	device->is_known = 1;
	nvml_forget();
	nvml_start();
	return session;
}

/* Threads beside this one, or those of them that don't sleep. */
static unsigned int others(bool that_run)
{
	DIR *tasks = opendir("/proc/self/task");
	unsigned int count = 0;
	struct dirent *entry;

	while ((entry = readdir(tasks))) {
		char path[320], text[64] = "";
		FILE *stat;

		if (atoi(entry->d_name) <= 0 || atoi(entry->d_name) == getpid())
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%s/stat",
			 entry->d_name);
		stat = fopen(path, "r");
		if (!stat)
			continue;
		count += fgets(text, sizeof(text), stat) &&
			 (!that_run || !strstr(text, ") S "));
		fclose(stat);
	}
	closedir(tasks);
	return count;
}

/* Its thread ends with it, asleep or not. */
static void end(struct session *session)
{
	nvml_end();
	for (int i = 0; i < 60000 && others(false); i++)
		usleep(1000);
	assert_int_equal(others(false), 0);
	nvml_forget();
	fixture_end(session);
}

static void wait_until(_Atomic unsigned int *count, unsigned int least)
{
	while (load_relaxed(count) < least)
		usleep(1000);
}

/* The ring of NVML's thread, which is the only one that has a record. */
static const struct event *next_sample(struct session *session,
				       struct ring_walk *walk)
{
	const uint64_t at = load_acquire(&session->head->threads);
	struct thread *thread = at ? session_at(session, at) : NULL;

	return thread ? ring_walk_next(walk, session, &thread->ring) : NULL;
}

/* The first one, in a window that is closed again. */
static struct event first_sample(struct session *session)
{
	struct ring_walk walk = {0};
	const struct event *event;

	nvml_follow(true);
	while (!(event = next_sample(session, &walk)))
		usleep(1000);
	nvml_follow(false);
	return *event;
}

static void a_sample_has_all_that_is_known(void **state)
{
	struct session *session = begin(false);
	const uint64_t before = clock_ticks();
	struct event event;

	(void)state;
	event = first_sample(session);
	assert_int_equal(event.kind, EVENT_GPU_SAMPLE);
	assert_int_equal(event.sample.device, 2);
	assert_int_equal(event.sample.known,
			 GPU_KNOWS_LOAD | GPU_KNOWS_MEMORY | GPU_KNOWS_POWER |
				 GPU_KNOWS_CLOCK | GPU_KNOWS_HEAT);
	assert_int_equal(event.sample.utilization, 87);
	assert_int_equal(event.sample.memory_bytes, 300);
	assert_int_equal(event.sample.milliwatts, 412500);
	assert_int_equal(event.sample.clock_mhz, 1980);
	assert_int_equal(event.sample.celsius, 71);
	assert_int_equal(event.sample.reasons, 0x44);
	/* The time since the window began. */
	assert_true(event.start_ticks >= before);
	assert_true(event.end_ticks >= event.start_ticks);
	assert_string_equal(asked_for,
			    "GPU-01020304-0506-0708-090a-0b0c0d0e0f10");
	end(session);
}

/* Each is for the time since the one before, and none for that between two
 * windows. */
static void samples_follow_each_other(void **state)
{
	struct session *session = begin(false);
	struct ring_walk walk = {0};
	const struct event *event;
	uint64_t last = 0, between;

	(void)state;
	nvml_follow(true);
	wait_until(&looks, 3);
	nvml_follow(false);
	/* It was woken, and sleeps again: until a window opens. */
	while (others(true))
		usleep(1000);
	between = clock_ticks();
	nvml_follow(true);
	wait_until(&looks, load_relaxed(&looks) + 2);
	nvml_end();
	while ((event = next_sample(session, &walk))) {
		assert_true(event->start_ticks >= last);
		assert_true(event->end_ticks >= event->start_ticks);
		assert_false(event->start_ticks < between &&
			     event->end_ticks > between);
		last = event->end_ticks;
	}
	assert_true(last > between);
	assert_int_equal(load_relaxed(&handles), 1);
	end(session);
}

static void a_part_of_a_gpu_has_its_own_name(void **state)
{
	struct session *session = begin(true);

	(void)state;
	first_sample(session);
	assert_string_equal(asked_for,
			    "MIG-a0a1a2a3-a4a5-a6a7-a8a9-aaabacadaeaf");
	end(session);
}

static void what_fails_is_left_out(void **state)
{
	struct session *session = begin(false);
	struct event event;

	(void)state;
	store_relaxed(&fails, 1 << 2 | 1 << 5);
	event = first_sample(session);
	assert_int_equal(event.sample.known, GPU_KNOWS_LOAD | GPU_KNOWS_MEMORY |
						     GPU_KNOWS_CLOCK |
						     GPU_KNOWS_HEAT);
	assert_int_equal(event.sample.reasons, 0);
	end(session);
}

static void a_gpu_that_says_nothing_has_no_sample(void **state)
{
	struct session *session = begin(false);
	struct ring_walk walk = {0};

	(void)state;
	store_relaxed(&fails, ALL);
	nvml_follow(true);
	wait_until(&looks, 2);
	assert_null(next_sample(session, &walk));
	end(session);
}

/* It is not asked for again, and CUPTI is asked for devices. */
static void a_gpu_that_nvml_does_not_know(void **state)
{
	struct session *session = begin(false);
	struct ring_walk walk = {0};

	(void)state;
	store_relaxed(&handle_error, 6);
	nvml_follow(true);
	wait_until(&asked_again, 3);
	assert_null(next_sample(session, &walk));
	assert_int_equal(load_relaxed(&handles), 1);
	assert_int_equal(load_relaxed(&looks), 0);
	end(session);
}

static void an_old_driver_has_another_name(void **state)
{
	struct session *session = begin(false);

	(void)state;
	reasons_name = "nvmlDeviceGetCurrentClocksThrottleReasons";
	assert_int_equal(first_sample(session).sample.reasons, 0x44);
	end(session);
}

static void without_the_library_it_is_said_once(void **state)
{
	struct session *session = begin(false);

	(void)state;
	is_there = false;
	nvml_follow(true);
	while (!load_acquire(&session->head->note_count))
		usleep(1000);
	nvml_follow(false);
	nvml_follow(true);
	end(session);
}

/* But for a moment: the library's own end must not come in its midst.  What is
 * answered after that is in no ring, which nobody reads any more. */
static void the_end_waits_for_a_call(void **state)
{
	struct session *session = begin(false);
	struct ring_walk walk = {0};
	uint64_t start;

	(void)state;
	store_relaxed(&may_answer, false);
	nvml_follow(true);
	while (!load_relaxed(&is_asked))
		usleep(1000);
	start = clock_monotonic_ns();
	nvml_end();
	assert_true(clock_monotonic_ns() - start >= UINT64_C(50000000));
	store_relaxed(&may_answer, true);
	while (others(false))
		usleep(1000);
	assert_int_equal(load_relaxed(&looks), 1);
	assert_null(next_sample(session, &walk));
	end(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sample_has_all_that_is_known),
		cmocka_unit_test(samples_follow_each_other),
		cmocka_unit_test(a_part_of_a_gpu_has_its_own_name),
		cmocka_unit_test(what_fails_is_left_out),
		cmocka_unit_test(a_gpu_that_says_nothing_has_no_sample),
		cmocka_unit_test(a_gpu_that_nvml_does_not_know),
		cmocka_unit_test(an_old_driver_has_another_name),
		cmocka_unit_test(without_the_library_it_is_said_once),
		cmocka_unit_test(the_end_waits_for_a_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	return cmocka_skip_all("no NVML without CUDA's headers");
}

#endif
