/* SPDX-License-Identifier: MIT */
/* settings.c - reads the environment at the start of the process. */
#include "preload/settings.h"

#include "collector/log.h"
#include "preload/verdict.h"
#include <sys/syscall.h>
#include <unistd.h>

struct settings settings;

static void keep_complaint(const char *line)
{
	if (settings.complaints < SETTINGS_COMPLAINTS_MAX)
		log_format(settings.complaint[settings.complaints++],
			   sizeof(settings.complaint[0]), "%s", line);
}

bool settings_read(void)
{
	char *const *const environment = environ;

	if (verdict_is_off(environment))
		return false;
	settings.direct = verdict_is_direct(environment);
	if (!settings.direct && verdict_is_tool())
		return false;
	options_default(&settings.options);
	options_read(&settings.options, environment, keep_complaint);
	if (settings.options.children == CHILDREN_NONE && !settings.direct &&
	    verdict_is_child())
		return false;
	log_start(settings.options.quiet);
	settings.affinity_bytes =
		syscall(SYS_sched_getaffinity, 0, SETTINGS_AFFINITY_BYTES,
			settings.affinity);
	return true;
}

void settings_complain(void)
{
	for (unsigned int i = 0; i < settings.complaints; i++)
		log_trouble("%s", settings.complaint[i]);
	settings.complaints = 0;
}
