/* SPDX-License-Identifier: MIT */
/*
 * communication.h - is a slice a message between processes or GPUs?
 *
 * By how the libraries that send begin their names: PyTorch's operators and
 * ranges, MPI's functions, NCCL's ranges and kernels, NVSHMEM's kernels.  Words
 * within a name, which may be a program's own, say nothing.
 */
#ifndef TOOLS_COMMUNICATION_H
#define TOOLS_COMMUNICATION_H

#include <stdbool.h>

bool is_communication(const char *category, const char *name);

#endif
