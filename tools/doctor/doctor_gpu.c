/* SPDX-License-Identifier: MIT */
/*
 * doctor_gpu.c - driver, devices and CUPTI.
 *
 * Asked in a process of its own: a driver that hangs or crashes does so there,
 * and is killed after PATIENCE_SECONDS.
 */
#include "tools/doctor/doctor.h"

#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/system/cupti_versions.h"

#define PATIENCE_SECONDS 20
#define NEWEST_CUPTI	 13
#define OLDEST_CUPTI	 12

struct gpu_answer {
	bool has_driver;
	int driver_version; /* 13000 is 13.0 */
	int init_error;	    /* CUresult */
	int devices;
	uint32_t cupti_version; /* as cuptiGetVersion() says; 0 none */
	char cupti[PATH_MAX];
};

typedef int ask_int(int *value);
typedef int ask_version(uint32_t *version);
typedef int init_driver(unsigned int flags);

static void *function(void *handle, const char *name)
{
	return dlsym(handle, name);
}

static void ask_driver(struct gpu_answer *answer)
{
	void *handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	ask_int *version, *devices;
	init_driver *init;

	answer->has_driver = handle != NULL;
	if (!handle)
		return;
	*(void **)&version = function(handle, "cuDriverGetVersion");
	*(void **)&init = function(handle, "cuInit");
	*(void **)&devices = function(handle, "cuDeviceGetCount");
	if (version)
		version(&answer->driver_version);
	answer->init_error = init ? init(0) : -1;
	if (!answer->init_error && devices)
		devices(&answer->devices);
}

static bool ask_cupti(struct gpu_answer *answer, const char *path)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	ask_version *version;
	Dl_info info;

	if (!handle)
		return false;
	*(void **)&version = function(handle, "cuptiGetVersion");
	if (!version || version(&answer->cupti_version))
		return false;
	if (dladdr(*(void **)&version, &info) && info.dli_fname)
		path = info.dli_fname;
	snprintf(answer->cupti, sizeof(answer->cupti), "%s", path);
	return true;
}

/* Where the library would look, but for what lies beside the program's own
 * libraries. */
static void find_cupti(struct gpu_answer *answer, const char *wanted)
{
	const char *const homes[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"),
				     "/usr/local/cuda"};
	char path[PATH_MAX];

	if (strcmp(wanted, "auto") != 0) {
		ask_cupti(answer, wanted);
		return;
	}
	for (int major = NEWEST_CUPTI; major >= OLDEST_CUPTI; major--) {
		if (answer->driver_version &&
		    major > answer->driver_version / 1000)
			continue;
		snprintf(path, sizeof(path), "libcupti.so.%d", major);
		if (ask_cupti(answer, path))
			return;
		for (int i = 0; i < 3; i++) {
			if (!homes[i])
				continue;
			snprintf(path, sizeof(path),
				 "%s/extras/CUPTI/lib64/libcupti.so.%d",
				 homes[i], major);
			if (ask_cupti(answer, path))
				return;
			snprintf(path, sizeof(path), "%s/lib64/libcupti.so.%d",
				 homes[i], major);
			if (ask_cupti(answer, path))
				return;
		}
	}
}

/* False: the process did not answer. */
static bool ask(struct gpu_answer *answer, const char *wanted)
{
	struct pollfd wait;
	int ends[2], status;
	bool answered = false;
	pid_t child;

	if (pipe(ends))
		return false;
	child = fork();
	if (child == 0) {
		close(ends[0]);
		ask_driver(answer);
		find_cupti(answer, wanted);
		_exit(write(ends[1], answer, sizeof(*answer)) < 0);
	}
	close(ends[1]);
	if (child > 0) {
		wait = (struct pollfd){ends[0], POLLIN, 0};
		if (poll(&wait, 1, PATIENCE_SECONDS * 1000) > 0)
			answered = read(ends[0], answer, sizeof(*answer)) ==
				   (ssize_t)sizeof(*answer);
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
	}
	close(ends[0]);
	return answered;
}

/* With what is known to be wrong with it, and what is done about that. */
static void say_version(struct doctor *doctor, const struct gpu_answer *answer)
{
	char name[32], row[192];

	cupti_versions_name(answer->cupti_version, name, sizeof(name));
	doctor_say(doctor, DOCTOR_GOOD, "CUPTI", NULL, "%s, of CUDA %s",
		   answer->cupti, name);
	for (enum cupti_defect defect = 0; defect < CUPTI_DEFECT_COUNT;
	     defect++)
		if (cupti_versions_row(answer->cupti_version, defect, row,
				       sizeof(row)))
			doctor_say(doctor, DOCTOR_GOOD, "CUPTI", NULL,
				   "known of it: %s", row);
}

static void say_cupti(struct doctor *doctor, const struct gpu_answer *answer)
{
	const unsigned int major = answer->cupti_version / 10000;

	if (!answer->cupti[0])
		doctor_say(doctor, DOCTOR_NOTE, "CUPTI",
			   "install CUDA's CUPTI of the driver's version, or "
			   "set TRACEPROF_CUPTI to it",
			   "none found; one that PyTorch or JAX brings along "
			   "is found when they run");
	else if (answer->driver_version && major >= 13 &&
		 (int)major > answer->driver_version / 1000)
		doctor_say(doctor, DOCTOR_NOTE, "CUPTI",
			   "install the CUPTI of the driver's version",
			   "%s is newer than the driver; host calls alone",
			   answer->cupti);
	else
		say_version(doctor, answer);
}

void doctor_look_at_gpu(struct doctor *doctor)
{
	struct gpu_answer answer = {0};

	if (doctor->options.cuda == CUDA_OFF) {
		doctor_say(doctor, DOCTOR_NOTE, "GPU", NULL,
			   "TRACEPROF_CUDA=off: not recorded");
		return;
	}
	if (!ask(&answer, doctor->options.cupti)) {
		doctor_say(doctor, DOCTOR_NOTE, "GPU",
			   "set TRACEPROF_CUDA=off if the program needs none",
			   "the driver crashed or did not answer in %d s",
			   PATIENCE_SECONDS);
		return;
	}
	if (!answer.has_driver) {
		doctor_say(doctor, DOCTOR_GOOD, "GPU", NULL,
			   "no CUDA driver here: the host alone is recorded");
		return;
	}
	if (answer.init_error || !answer.devices)
		doctor_say(doctor, DOCTOR_NOTE, "GPU",
			   "look at nvidia-smi and CUDA_VISIBLE_DEVICES",
			   "driver for CUDA %d.%d, no device (cuInit: %d)",
			   answer.driver_version / 1000,
			   answer.driver_version % 1000 / 10,
			   answer.init_error);
	else
		doctor_say(doctor, DOCTOR_GOOD, "GPU", NULL,
			   "%d, driver for CUDA %d.%d", answer.devices,
			   answer.driver_version / 1000,
			   answer.driver_version % 1000 / 10);
	say_cupti(doctor, &answer);
}
