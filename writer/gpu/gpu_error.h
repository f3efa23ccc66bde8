/* SPDX-License-Identifier: MIT */
/* gpu_error.h - what a call of CUDA returned, by name. */
#ifndef WRITER_GPU_ERROR_H
#define WRITER_GPU_ERROR_H

#include "collector/system/base.h"

#define GPU_ERROR_BYTES 80u

/* "cudaErrorInvalidValue", "CUDA_ERROR_INVALID_VALUE", or "error 4711". */
void gpu_error_name(bool is_driver, uint32_t number, char *text, size_t bytes);

#endif
