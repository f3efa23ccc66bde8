/* SPDX-License-Identifier: MIT */
/*
 * doctor_machine.c - whether the library works here: its settings, the memory
 * and the disk that it needs, the clock, and other tools in its place.
 */
#include "tools/doctor/doctor.h"

#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "collector/system/clock.h"
#include "collector/system/proc.h"
#include "tools/record/library.h"
#include "tools/util/numbers.h"

#define MIB 1048576.0

static struct doctor *complaining;

static void complain(const char *line)
{
	doctor_say(complaining, DOCTOR_NOTE, "settings",
		   "see `traceprof options`", "%s", line);
}

static void look_at_settings(struct doctor *doctor)
{
	const char *off = getenv("TRACEPROF");
	const size_t before = doctor->count;

	complaining = doctor;
	options_default(&doctor->options);
	options_read(&doctor->options, environ, complain);
	if (off && (!strcmp(off, "0") || !strcmp(off, "off")))
		doctor_say(doctor, DOCTOR_STOP, "settings", "unset TRACEPROF",
			   "TRACEPROF=%s turns recording off", off);
	if (doctor->count == before)
		doctor_say(doctor, DOCTOR_GOOD, "settings", NULL,
			   "each TRACEPROF_* is known and well formed");
}

static void look_at_library(struct doctor *doctor)
{
	char path[PATH_MAX], command[PATH_MAX + 64], said[512] = "";
	FILE *out;

	if (library_find(path, sizeof(path))) {
		doctor_say(doctor, DOCTOR_STOP, "library",
			   "install it beside the command, or in ../lib",
			   LIBRARY_NAME " is neither beside this command nor "
					"in ../lib");
		return;
	}
	if (strpbrk(path, " :'")) {
		doctor_say(
			doctor, DOCTOR_STOP, "library", "install it elsewhere",
			"LD_PRELOAD cannot hold the blank, colon or quote in "
			"%s",
			path);
		return;
	}
	/* What ld.so says of a library that it can't preload. */
	snprintf(command, sizeof(command),
		 "LD_PRELOAD='%s' TRACEPROF=0 /bin/true 2>&1", path);
	out = popen(command, "r");
	if (out) {
		said[fread(said, 1, sizeof(said) - 1, out)] = '\0';
		pclose(out);
	}
	said[strcspn(said, "\n")] = '\0';
	if (said[0])
		doctor_say(doctor, DOCTOR_STOP, "library",
			   "build it on this machine, or an older one", "%s",
			   said);
	else
		doctor_say(doctor, DOCTOR_GOOD, "library", NULL,
			   "%s can be preloaded", path);
}

static double free_bytes(const char *folder)
{
	struct statvfs space;

	return statvfs(folder, &space)
		       ? -1
		       : (double)space.f_bavail * (double)space.f_frsize;
}

/* Where a session would lie: a file that outlives a killed program, else
 * memory that doesn't. */
static void look_at_shared_memory(struct doctor *doctor)
{
	const double wanted = 4.0 * MIB * (double)doctor->options.buffer_mb;
	const char *const folders[] = {"/dev/shm", getenv("XDG_RUNTIME_DIR")};

	for (int i = 0; i < 2; i++) {
		const double room = folders[i] ? free_bytes(folders[i]) : -1;

		if (room < wanted || access(folders[i], W_OK))
			continue;
		doctor_say(doctor, DOCTOR_GOOD, "buffer", NULL,
			   "%s has %s free; a killed program loses nothing",
			   folders[i], quantity_bytes(room).text);
		return;
	}
	doctor_say(doctor, DOCTOR_NOTE, "buffer",
		   "start programs with `traceprof record`, which keeps the "
		   "buffer alive, or make /dev/shm larger",
		   "/dev/shm has less than %s free; the buffer dies with a "
		   "killed program",
		   quantity_bytes(wanted).text);
}

/* The folder itself, or the nearest one above it that there is. */
static void nearest_folder(const char *wanted, char *path, size_t bytes)
{
	struct stat status;
	char *slash;

	snprintf(path, bytes, "%s", wanted);
	while (stat(path, &status)) {
		slash = strrchr(path, '/');
		if (!slash) {
			snprintf(path, bytes, ".");
			return;
		}
		slash[slash == path] = '\0';
		if (slash == path)
			return;
	}
}

static void look_at_folder(struct doctor *doctor)
{
	const double wanted = MIB * (double)doctor->options.max_mb / 8;
	char path[PATH_MAX], here[PATH_MAX];
	double room;

	nearest_folder(doctor->options.dir, path, sizeof(path));
	room = free_bytes(path);
	/* The file system's answers to "." are those of one that is there. */
	if (doctor->options.dir[0] != '/' && !getcwd(here, sizeof(here)))
		doctor_say(doctor, DOCTOR_STOP, "traces",
			   "change to a folder that exists, or set "
			   "TRACEPROF_DIR to a path from the root",
			   "%s: this folder was deleted", doctor->options.dir);
	else if (access(path, W_OK | X_OK))
		doctor_say(doctor, DOCTOR_STOP, "traces",
			   "set TRACEPROF_DIR to a folder that can be written",
			   "%s: %s: %s", doctor->options.dir, path,
			   strerror(errno));
	else if (room < wanted)
		doctor_say(doctor, DOCTOR_NOTE, "traces",
			   "set TRACEPROF_DIR to another disk, or "
			   "TRACEPROF_MAX_MB lower",
			   "%s has only %s free", path,
			   quantity_bytes(room < 0 ? 0 : room).text);
	else
		doctor_say(doctor, DOCTOR_GOOD, "traces", NULL,
			   "go to %s, %s free", doctor->options.dir,
			   quantity_bytes(room).text);
}

static void look_at_memory(struct doctor *doctor)
{
	const uint64_t left = proc_memory_left();
	const double wanted = MIB * (double)doctor->options.buffer_mb;

	if (left != UINT64_MAX && (double)left < 2 * wanted)
		doctor_say(doctor, DOCTOR_NOTE, "memory",
			   "set TRACEPROF_BUFFER_MB lower",
			   "the cgroup has %s left, the buffer may take %s",
			   quantity_bytes((double)left).text,
			   quantity_bytes(wanted).text);
}

static void look_at_processors(struct doctor *doctor)
{
	const uint64_t percent = proc_processors_percent();
	cpu_set_t allowed;
	int count = 0;

	if (!sched_getaffinity(0, sizeof(allowed), &allowed))
		count = CPU_COUNT(&allowed);
	if (percent != UINT64_MAX)
		doctor_say(doctor, DOCTOR_NOTE, "processors", NULL,
			   "%d may be used, of them %.1f by the cgroup's limit",
			   count, (double)percent / 100);
	else if (count == 1)
		doctor_say(doctor, DOCTOR_NOTE, "processors", NULL,
			   "one: the trace is written in the program's time");
	else
		doctor_say(doctor, DOCTOR_GOOD, "processors", NULL,
			   "%d may be used", count);
}

static void look_at_clock(struct doctor *doctor)
{
	clock_choose(doctor->options.clock == CLOCK_MONOTONIC_ONLY);
	if (clock_uses_counter)
		doctor_say(doctor, DOCTOR_GOOD, "clock", NULL,
			   "the processor's counter");
	else
		doctor_say(doctor, DOCTOR_NOTE, "clock", NULL,
			   "the system's: each event costs some 20 ns more "
			   "than by the processor's counter");
}

/* What else stands where we would, or is asked for what we ask for. */
static void look_at_other_tools(struct doctor *doctor)
{
	static const struct {
		const char *variable, *meaning;
	} tools[] = {
		{"LD_PRELOAD", "is loaded too; both stand in front of the "
			       "program"},
		{"LD_AUDIT", "audits each binding and slows calls down"},
		{"CUDA_INJECTION64_PATH", "is a CUDA tool; CUPTI serves one "
					  "client, so there may be host calls "
					  "alone"},
		{"NVTX_INJECTION64_PATH", "gets the NVTX ranges instead of us"},
		{"INTEL_LIBITTNOTIFY64", "gets the ITT tasks instead of us"},
	};
	const size_t before = doctor->count;

	for (size_t i = 0; i < sizeof(tools) / sizeof(*tools); i++) {
		const char *value = getenv(tools[i].variable);

		if (value && *value && !strstr(value, LIBRARY_NAME))
			doctor_say(doctor, DOCTOR_NOTE, "other tools", NULL,
				   "%s=%s %s", tools[i].variable, value,
				   tools[i].meaning);
	}
	if (doctor->count == before)
		doctor_say(doctor, DOCTOR_GOOD, "other tools", NULL,
			   "none in the environment");
}

void doctor_look_at_machine(struct doctor *doctor)
{
	look_at_settings(doctor);
	look_at_library(doctor);
	look_at_shared_memory(doctor);
	look_at_folder(doctor);
	look_at_memory(doctor);
	look_at_processors(doctor);
	look_at_clock(doctor);
	look_at_other_tools(doctor);
}
