/* SPDX-License-Identifier: MIT */
/*
 * cudart_device.c - libcudart.so.13: start, devices, errors, versions.
 *
 * The runtime finds the driver by dlopen(), as the real one does.
 */
#include "tests/fake_gpu/cudart.h"

#include "tests/fake_gpu/sim_device.h"
#include "tests/fake_gpu/sim_kernel.h"
#include "tests/fake_gpu/sim_knobs.h"
#include "tests/fake_gpu/sim_life.h"
#include "tests/fake_gpu/sim_memory.h"
#include "tests/fake_gpu/sim_stream.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static __thread cudaError_t last_error;

static int start(void)
{
	void *driver = sim_knobs()->driver_absent
			       ? NULL
			       : dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
	CUresult (*initialise)(unsigned int) = NULL;

	if (driver)
		*(void **)&initialise = dlsym(driver, "cuInit");
	if (!initialise)
		return cudaErrorInsufficientDriver;
	return initialise(0) ? cudaErrorNoDevice : cudaSuccess;
}

__attribute__((constructor)) static void tell_how_to_start(void)
{
	life_set_runtime_start(start);
}

cudaError_t cudart_end(struct sim_call *call)
{
	const cudaError_t error = (cudaError_t)sim_call_end(call);

	if (error && error != cudaErrorNotReady)
		last_error = error;
	return error;
}

cudaError_t cudaGetLastError(void)
{
	struct sim_call call = RUNTIME_CALL(cudaGetLastError_v3020, NULL);

	if (sim_call_begin(&call)) {
		call.result = last_error;
		last_error = cudaSuccess;
	}
	return (cudaError_t)sim_call_end(&call);
}

cudaError_t cudaPeekAtLastError(void)
{
	struct sim_call call = RUNTIME_CALL(cudaPeekAtLastError_v3020, NULL);

	if (sim_call_begin(&call))
		call.result = last_error;
	return (cudaError_t)sim_call_end(&call);
}

static const struct {
	cudaError_t error;
	const char *name, *text;
} errors[] = {
	/* clang-format off */
	{cudaSuccess, "cudaSuccess", "no error"},
	{cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
	{cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
	{cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
	{cudaErrorCudartUnloading, "cudaErrorCudartUnloading", "driver shutting down"},
	{cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
	{cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver", "CUDA driver version is insufficient for CUDA runtime version"},
	{cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "invalid device function"},
	{cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
	{cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
	{cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
	{cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
	{cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing"},
	/* clang-format on */
};

const char *cudaGetErrorString(cudaError_t error)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].error == error)
			return errors[i].text;
	return "unrecognized error code";
}

const char *cudaGetErrorName(cudaError_t error)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].error == error)
			return errors[i].name;
	return "unrecognized error code";
}

cudaError_t cudaGetDeviceCount(int *count)
{
	cudaGetDeviceCount_v3020_params params = {count};
	struct sim_call call = RUNTIME_CALL(cudaGetDeviceCount_v3020, &params);

	*count = 0;
	if (sim_call_begin(&call))
		*count = sim_knobs()->devices;
	return cudart_end(&call);
}

cudaError_t cudaGetDevice(int *device)
{
	cudaGetDevice_v3020_params params = {device};
	struct sim_call call = RUNTIME_CALL(cudaGetDevice_v3020, &params);

	if (sim_call_begin(&call))
		*device = (int)life_device();
	return cudart_end(&call);
}

cudaError_t cudaSetDevice(int device)
{
	cudaSetDevice_v3020_params params = {device};
	struct sim_call call = RUNTIME_CALL(cudaSetDevice_v3020, &params);

	if (sim_call_begin(&call) && !life_set_device(device))
		call.result = cudaErrorInvalidDevice;
	return cudart_end(&call);
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties,
				    int device)
{
	cudaGetDeviceProperties_v12000_params params = {properties, device};
	struct sim_call call =
		RUNTIME_CALL(cudaGetDeviceProperties_v12000, &params);

	if (sim_call_begin(&call)) {
		if (device >= 0 && device < sim_knobs()->devices)
			device_properties(properties);
		else
			call.result = cudaErrorInvalidDevice;
	}
	return cudart_end(&call);
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute,
				   int device)
{
	cudaDeviceGetAttribute_v5000_params params = {value, attribute, device};
	struct sim_call call =
		RUNTIME_CALL(cudaDeviceGetAttribute_v5000, &params);

	if (sim_call_begin(&call))
		*value = device_attribute((int)attribute);
	return cudart_end(&call);
}

cudaError_t cudaDeviceSynchronize(void)
{
	struct sim_call call = RUNTIME_CALL(cudaDeviceSynchronize_v3020, NULL);

	if (sim_call_begin(&call)) {
		stream_synchronize_all();
		/* The program looks at it now. */
		memory_move_managed(0, 0);
	}
	return cudart_end(&call);
}

cudaError_t cudaDeviceReset(void)
{
	struct sim_call call = RUNTIME_CALL(cudaDeviceReset_v3020, NULL);

	if (sim_call_begin(&call)) {
		stream_synchronize_all();
		life_reset();
	}
	return cudart_end(&call);
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
	cudaMemGetInfo_v3020_params params = {available, total};
	struct sim_call call = RUNTIME_CALL(cudaMemGetInfo_v3020, &params);

	if (sim_call_begin(&call)) {
		*total = DEVICE_MEMORY_BYTES;
		*available = DEVICE_MEMORY_BYTES - memory_in_use();
	}
	return cudart_end(&call);
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
	*version = RUNTIME_VERSION;
	return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
	*version = sim_knobs()->driver_absent ? 0 : device_driver_version();
	return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes,
				  const void *function)
{
	cudaFuncGetAttributes_v3020_params params = {attributes, function};
	struct sim_call call =
		RUNTIME_CALL(cudaFuncGetAttributes_v3020, &params);

	if (sim_call_begin(&call)) {
		const struct sim_kernel *kernel = kernel_of_host(function);

		memset(attributes, 0, sizeof(*attributes));
		attributes->maxThreadsPerBlock = DEVICE_THREADS_PER_BLOCK;
		attributes->numRegs = kernel ? kernel->registers : 0;
		if (!kernel)
			call.result = cudaErrorInvalidDeviceFunction;
	}
	return cudart_end(&call);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks,
							  const void *function,
							  int threads,
							  size_t shared)
{
	cudaOccupancyMaxActiveBlocksPerMultiprocessor_v6050_params params = {
		blocks, function, threads, shared};
	struct sim_call call = RUNTIME_CALL(
		cudaOccupancyMaxActiveBlocksPerMultiprocessor_v6050, &params);

	if (sim_call_begin(&call)) {
		const struct sim_kernel *kernel = kernel_of_host(function);

		if (kernel)
			*blocks = device_blocks_per_multiprocessor(
				threads, kernel->registers, shared);
		else
			call.result = cudaErrorInvalidDeviceFunction;
	}
	return cudart_end(&call);
}
