/* SPDX-License-Identifier: MIT */
/* cupti_name.c - names of API calls, each asked for once; see cupti_name.h. */
#ifdef HAVE_CUPTI

#include "preload/cuda/cupti_name.h"

#include "collector/session/names.h"
#include <string.h>

static struct {
	uint32_t name[2][CUPTI_CALLS_MAX];
	uint8_t launch[2][CUPTI_CALLS_MAX];
} known;

/* cudaMalloc_v3020, cuMemAlloc_v2, cudaLaunchKernel_ptsz_v7000. */
static size_t plain_length(const char *name)
{
	size_t len = strlen(name);
	size_t digits = len;

	while (digits && name[digits - 1] >= '0' && name[digits - 1] <= '9')
		digits--;
	if (digits < len && digits > 2 && name[digits - 1] == 'v' &&
	    name[digits - 2] == '_')
		len = digits - 2;
	if (len > 5 && (!strncmp(name + len - 5, "_ptsz", 5) ||
			!strncmp(name + len - 5, "_ptds", 5)))
		len -= 5;
	return len;
}

enum gpu_launch_kind cupti_name_launch(const char *name)
{
	if (strstr(name, "Launch") && !strstr(name, "HostFunc"))
		return GPU_LAUNCH_KERNEL;
	return strstr(name, "Memcpy") || strstr(name, "Memset")
		       ? GPU_LAUNCH_COPY
		       : GPU_LAUNCH_NONE;
}

uint32_t cupti_name_of(struct session *session, bool is_driver, uint32_t cbid,
		       enum gpu_launch_kind *launch)
{
	const char *name = NULL;
	uint32_t *id;

	*launch = GPU_LAUNCH_NONE;
	if (cbid >= CUPTI_CALLS_MAX)
		return names_intern_string(session, "(unknown CUDA call)");
	id = &known.name[is_driver][cbid];
	if (!*id) {
		if (cupti.cuptiGetCallbackName(
			    is_driver ? CUPTI_CB_DOMAIN_DRIVER_API
				      : CUPTI_CB_DOMAIN_RUNTIME_API,
			    cbid, &name) != CUPTI_SUCCESS ||
		    !name)
			name = "(unknown CUDA call)";
		known.launch[is_driver][cbid] =
			(uint8_t)cupti_name_launch(name);
		while (*name == '_')
			name++;
		*id = names_intern(session, name, plain_length(name));
	}
	*launch = (enum gpu_launch_kind)known.launch[is_driver][cbid];
	return *id;
}

void cupti_name_forget(void)
{
	memset(&known, 0, sizeof(known));
}

#endif
