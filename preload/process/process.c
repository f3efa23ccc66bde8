/* SPDX-License-Identifier: MIT */
/* process.c - reads the environment at the start of the process. */
#include "preload/process/process.h"

#include "collector/system/log.h"
#include "preload/process/process_kind.h"
#include <sys/syscall.h>
#include <unistd.h>

START_DATA struct process process;

static void keep_complaint(const char *line)
{
	if (process.complaints < PROCESS_COMPLAINTS_MAX)
		log_format(process.complaint[process.complaints++],
			   sizeof(process.complaint[0]), "%s", line);
}

COLD bool process_matters(void)
{
	static START_DATA _Atomic int known; /* 1 it does, -1 it doesn't */
	char *const *const environment = environ;
	bool matters;

	if (load_relaxed(&known))
		return load_relaxed(&known) > 0;
	matters = !process_kind_is_off(environment) &&
		  (process_kind_is_direct(environment) ||
		   !process_kind_is_tool());
	store_relaxed(&known, matters ? 1 : -1);
	return matters;
}

COLD bool process_read(void)
{
	char *const *const environment = environ;

	if (!process_matters())
		return false;
	process.direct = process_kind_is_direct(environment);
	options_default(&process.options);
	options_read(&process.options, environment, keep_complaint);
	if (process.options.children == CHILDREN_NONE && !process.direct &&
	    process_kind_is_child())
		return false;
	log_start(process.options.quiet);
	process.affinity_bytes =
		syscall(SYS_sched_getaffinity, 0, PROCESS_AFFINITY_BYTES,
			process.affinity);
	return true;
}

void process_complain(void)
{
	for (unsigned int i = 0; i < process.complaints; i++)
		log_trouble("%s", process.complaint[i]);
	process.complaints = 0;
}
