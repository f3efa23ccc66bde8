/* SPDX-License-Identifier: MIT */
/*
 * cupti_tools.c - other tools in the process that record the GPU themselves.
 *
 * Nsight and compute-sanitizer inject libraries and announce themselves to them
 * in the environment.  CUPTI beside them is refused, or spoils what they find.
 */
#ifdef HAVE_CUPTI

#include "preload/cuda/cupti_library.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>

/* What it is known by: how the name of a loaded file begins, or a variable. */
static const struct {
	char file[32];
	char variable[36];
	char tool[28];
} tools[] = {
	{"libToolsInjection", "NSYS_PROFILING_SESSION_ID", "Nsight Systems"},
	{"libToolsInjection", "QUADD_INJECTION_PROXY", "Nsight Systems"},
	{"libsanitizer-", "", "compute-sanitizer"},
	{"libcuda-injection", "NV_COMPUTE_PROFILER_PERFWORKS_DIR",
	 "Nsight Compute"},
	{"libTreeLauncherTargetInjection", "NV_NSIGHT_INJECTION_TRANSPORT_TYPE",
	 "Nsight or compute-sanitizer"},
	{"libdcgmmoduleprofiling", "", "DCGM"},
};

#define TOOLS (sizeof(tools) / sizeof(tools[0]))

static int look_at_file(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	const char *slash = strrchr(info->dlpi_name, '/');
	const char *base = slash ? slash + 1 : info->dlpi_name;

	(void)bytes;
	for (size_t i = 0; i < TOOLS; i++) {
		if (strncmp(base, tools[i].file, strlen(tools[i].file)))
			continue;
		*(const char **)arg = tools[i].tool;
		return 1;
	}
	return 0;
}

const char *cupti_tools_find(void)
{
	const char *found = NULL;

	if (dl_iterate_phdr(look_at_file, &found))
		return found;
	for (size_t i = 0; i < TOOLS; i++) {
		if (tools[i].variable[0] && getenv(tools[i].variable))
			return tools[i].tool;
	}
	return NULL;
}

#endif
