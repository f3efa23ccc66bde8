/* SPDX-License-Identifier: MIT */
/*
 * cuda_library.c - libcuda.so.1: kernels of libraries, which belong to no
 * context.
 *
 * What is launched is either the CUkernel itself, cast, or the function that
 * stands for it in a context; here both are the same.
 */
#include "tests/fake_gpu/sim_call.h"
#include "tests/fake_gpu/sim_clock.h"
#include "tests/fake_gpu/sim_kernel.h"
#include "tests/fake_gpu/sim_side.h"
#include <cuda.h>
#include <stdlib.h>

CUresult cuLibraryLoadData(CUlibrary *library, const void *code,
			   CUjit_option *jit_options, void **jit_values,
			   unsigned int jit_count, CUlibraryOption *options,
			   void **values, unsigned int count)
{
	cuLibraryLoadData_params params = {library,    code,	  jit_options,
					   jit_values, jit_count, options,
					   values,     count};
	struct sim_call call = DRIVER_CALL(cuLibraryLoadData, &params);
	const uint64_t start = clock_client_now();

	if (sim_call_begin(&call)) {
		*library = malloc(1);
		side_compiled(code, start, clock_client_now());
	}
	return sim_call_end(&call);
}

CUresult cuLibraryUnload(CUlibrary library)
{
	cuLibraryUnload_params params = {library};
	struct sim_call call = DRIVER_CALL(cuLibraryUnload, &params);

	if (sim_call_begin(&call)) {
		kernel_forget(library);
		free(library);
	}
	return sim_call_end(&call);
}

CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library,
			    const char *name)
{
	cuLibraryGetKernel_params params = {kernel, library, name};
	struct sim_call call = DRIVER_CALL(cuLibraryGetKernel, &params);

	if (sim_call_begin(&call))
		*kernel = (CUkernel)kernel_register(library, NULL, name);
	return sim_call_end(&call);
}

CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
	cuKernelGetFunction_params params = {function, kernel};
	struct sim_call call = DRIVER_CALL(cuKernelGetFunction, &params);

	if (sim_call_begin(&call)) {
		*function = (CUfunction)kernel;
		if (!kernel_valid(kernel))
			call.result = CUDA_ERROR_INVALID_HANDLE;
	}
	return sim_call_end(&call);
}

CUresult cuLibraryGetModule(CUmodule *module, CUlibrary library)
{
	cuLibraryGetModule_params params = {module, library};
	struct sim_call call = DRIVER_CALL(cuLibraryGetModule, &params);

	if (sim_call_begin(&call))
		*module = (CUmodule)library;
	return sim_call_end(&call);
}
