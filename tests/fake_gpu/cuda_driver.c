/* SPDX-License-Identifier: MIT */
/*
 * cuda_driver.c - libcuda.so.1: start, device, context, launches, modules.
 */
#include "tests/fake_gpu/sim_call.h"
#include "tests/fake_gpu/sim_clock.h"
#include "tests/fake_gpu/sim_device.h"
#include "tests/fake_gpu/sim_graph.h"
#include "tests/fake_gpu/sim_kernel.h"
#include "tests/fake_gpu/sim_knobs.h"
#include "tests/fake_gpu/sim_life.h"
#include "tests/fake_gpu/sim_side.h"
#include "tests/fake_gpu/sim_stream.h"
#include "tests/fake_gpu/sim_work.h"
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

CUresult cuInit(unsigned int flags)
{
	cuInit_params params = {flags};
	struct sim_call call = DRIVER_CALL(cuInit, &params);

	/* Whoever is let in by the first call cannot have seen its start. */
	call.silent = life_state() == LIFE_BEFORE;
	const int error = life_initialise();
	if (sim_call_begin(&call))
		call.result = error;
	return sim_call_end(&call);
}

CUresult cuDriverGetVersion(int *version)
{
	*version = device_driver_version();
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count)
{
	cuDeviceGetCount_params params = {count};
	struct sim_call call = DRIVER_CALL(cuDeviceGetCount, &params);

	if (sim_call_begin(&call))
		*count = sim_knobs()->devices;
	return sim_call_end(&call);
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
	cuDeviceGet_params params = {device, ordinal};
	struct sim_call call = DRIVER_CALL(cuDeviceGet, &params);

	if (sim_call_begin(&call)) {
		*device = ordinal;
		if (ordinal < 0 || ordinal >= sim_knobs()->devices)
			call.result = CUDA_ERROR_INVALID_DEVICE;
	}
	return sim_call_end(&call);
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device)
{
	cuDeviceGetName_params params = {name, length, device};
	struct sim_call call = DRIVER_CALL(cuDeviceGetName, &params);

	if (sim_call_begin(&call))
		snprintf(name, (size_t)length, "%s", device_name);
	return sim_call_end(&call);
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute,
			      CUdevice device)
{
	cuDeviceGetAttribute_params params = {value, attribute, device};
	struct sim_call call = DRIVER_CALL(cuDeviceGetAttribute, &params);

	if (sim_call_begin(&call))
		*value = device_attribute((int)attribute);
	return sim_call_end(&call);
}

CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
	cuDeviceTotalMem_v2_params params = {bytes, device};
	struct sim_call call = DRIVER_CALL(cuDeviceTotalMem_v2, &params);

	if (sim_call_begin(&call))
		*bytes = DEVICE_MEMORY_BYTES;
	return sim_call_end(&call);
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
	cuDevicePrimaryCtxRetain_params params = {context, device};
	struct sim_call call = DRIVER_CALL(cuDevicePrimaryCtxRetain, &params);

	if (sim_call_begin(&call))
		*context = life_need_context();
	return sim_call_end(&call);
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
	(void)device;
	return CUDA_SUCCESS;
}

/* As programs of CUDA 12 call it. */
CUresult cuCtxCreate_v2(CUcontext *context, unsigned int flags,
			CUdevice device);

CUresult cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device)
{
	cuCtxCreate_v2_params params = {context, flags, device};
	struct sim_call call = DRIVER_CALL(cuCtxCreate_v2, &params);

	if (sim_call_begin(&call)) {
		*context = life_make_context(device);
		call.result = *context ? 0 : CUDA_ERROR_INVALID_DEVICE;
	}
	return sim_call_end(&call);
}

CUresult cuCtxDestroy(CUcontext context)
{
	cuCtxDestroy_v2_params params = {context};
	struct sim_call call = DRIVER_CALL(cuCtxDestroy_v2, &params);

	if (sim_call_begin(&call)) {
		stream_synchronize_all();
		life_end_context(context);
	}
	return sim_call_end(&call);
}

CUresult cuCtxSetCurrent(CUcontext context)
{
	cuCtxSetCurrent_params params = {context};
	struct sim_call call = DRIVER_CALL(cuCtxSetCurrent, &params);

	if (sim_call_begin(&call))
		life_set_context(context);
	return sim_call_end(&call);
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
	cuCtxGetCurrent_params params = {context};
	struct sim_call call = DRIVER_CALL(cuCtxGetCurrent, &params);

	if (sim_call_begin(&call))
		*context = life_context();
	return sim_call_end(&call);
}

CUresult cuCtxSynchronize(void)
{
	struct sim_call call = DRIVER_CALL(cuCtxSynchronize, NULL);

	if (sim_call_begin(&call))
		stream_synchronize_all();
	return sim_call_end(&call);
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
	cuModuleLoadData_params params = {module, image};
	struct sim_call call = DRIVER_CALL(cuModuleLoadData, &params);

	const uint64_t start = clock_client_now();

	if (sim_call_begin(&call)) {
		*module = malloc(1);
		side_compiled(image, start, clock_client_now());
	}
	return sim_call_end(&call);
}

CUresult cuModuleUnload(CUmodule module)
{
	cuModuleUnload_params params = {module};
	struct sim_call call = DRIVER_CALL(cuModuleUnload, &params);

	if (sim_call_begin(&call)) {
		kernel_forget(module);
		free(module);
	}
	return sim_call_end(&call);
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module,
			     const char *name)
{
	cuModuleGetFunction_params params = {function, module, name};
	struct sim_call call = DRIVER_CALL(cuModuleGetFunction, &params);

	if (sim_call_begin(&call))
		*function = (CUfunction)kernel_register(module, NULL, name);
	return sim_call_end(&call);
}

static CUresult launch(struct sim_call *call, CUfunction function,
		       const unsigned int grid[3], const unsigned int block[3],
		       unsigned int shared, CUstream stream)
{
	struct sim_kernel *kernel =
		kernel_valid(function) ? (struct sim_kernel *)function : NULL;

	call->symbol = kernel ? kernel->name : NULL;
	if (sim_call_begin(call))
		call->result = kernel ? work_launch(stream_of(stream), kernel,
						    grid, block, shared)
				      : CUDA_ERROR_INVALID_HANDLE;
	return sim_call_end(call);
}

CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x,
			unsigned int grid_y, unsigned int grid_z,
			unsigned int block_x, unsigned int block_y,
			unsigned int block_z, unsigned int shared,
			CUstream stream, void **arguments, void **extra)
{
	const unsigned int grid[3] = {grid_x, grid_y, grid_z};
	const unsigned int block[3] = {block_x, block_y, block_z};
	cuLaunchKernel_params params = {function, grid_x,    grid_y,  grid_z,
					block_x,  block_y,   block_z, shared,
					stream,	  arguments, extra};
	struct sim_call call = DRIVER_CALL(cuLaunchKernel, &params);

	return launch(&call, function, grid, block, shared, stream);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function,
			  void **arguments, void **extra)
{
	const unsigned int grid[3] = {config->gridDimX, config->gridDimY,
				      config->gridDimZ};
	const unsigned int block[3] = {config->blockDimX, config->blockDimY,
				       config->blockDimZ};
	cuLaunchKernelEx_params params = {config, function, arguments, extra};
	struct sim_call call = DRIVER_CALL(cuLaunchKernelEx, &params);

	return launch(&call, function, grid, block, config->sharedMemBytes,
		      config->hStream);
}

CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream)
{
	cuGraphLaunch_params params = {executable, stream};
	struct sim_call call = DRIVER_CALL(cuGraphLaunch, &params);

	if (sim_call_begin(&call))
		call.result = graph_launch((struct sim_graph *)executable,
					   stream_of(stream));
	return sim_call_end(&call);
}

CUresult cuGetErrorName(CUresult error, const char **name)
{
	*name = error == CUDA_SUCCESS ? "CUDA_SUCCESS" : "CUDA_ERROR";
	return CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult error, const char **text)
{
	*text = error == CUDA_SUCCESS ? "no error" : "simulated error";
	return CUDA_SUCCESS;
}

/* The newest form of the function that the double has. */
CUresult cuGetProcAddress(const char *symbol, void **function, int version,
			  cuuint64_t flags,
			  CUdriverProcAddressQueryResult *status)
{
	char name[128];

	(void)version, (void)flags;
	*function = NULL;
	snprintf(name, sizeof(name), "%s_v2", symbol);
	*function = dlsym(RTLD_DEFAULT, name);
	if (!*function)
		*function = dlsym(RTLD_DEFAULT, symbol);
	if (status)
		*status = *function ? CU_GET_PROC_ADDRESS_SUCCESS
				    : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
