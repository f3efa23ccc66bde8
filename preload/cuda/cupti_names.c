/* SPDX-License-Identifier: MIT */
/* cupti_names.c - names that a program gives its streams; see cupti_side.h. */
#ifdef HAVE_CUPTI

#include "preload/cuda/cupti_side.h"

#include "collector/session/names.h"
#include "preload/cuda/cupti_source.h"
#include <dlfcn.h>

void cupti_side_name_stream(const void *handle, const char *name)
{
	struct session *session = load_relaxed(&session_here);
	CUresult (*context_of)(CUstream, CUcontext *) = NULL;
	void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	CUstream named = (CUstream)(uintptr_t)handle;
	uint32_t context_id, stream_id;
	struct gpu_stream *slot;
	CUcontext context;

	if (driver)
		*(void **)(void *)&context_of = dlsym(driver, "cuStreamGetCtx");
	if (!session || !name || !context_of || !cupti_is_alive() ||
	    !cupti.cuptiGetStreamIdEx || !cupti.cuptiGetContextId ||
	    context_of(named, &context) != CUDA_SUCCESS ||
	    cupti.cuptiGetContextId(context, &context_id) != CUPTI_SUCCESS ||
	    cupti.cuptiGetStreamIdEx(context, named, 0, &stream_id) !=
		    CUPTI_SUCCESS)
		return;
	slot = gpu_stream_slot(&session->head->gpu, context_id, stream_id);
	if (slot)
		store_relaxed(&slot->name, names_intern_string(session, name));
	else
		cupti_side_refuse_stream(session);
}

#endif
