/* SPDX-License-Identifier: MIT */
/*
 * sim_kernel.h - the kernels that the program has brought along.
 */
#ifndef FAKE_GPU_SIM_KERNEL_H
#define FAKE_GPU_SIM_KERNEL_H

#include <stddef.h>

struct sim_kernel {
	struct sim_kernel *next;
	const void *host;  /* the function that stands for it on the host */
	const void *image; /* its module */
	char *name;	   /* mangled */
	const char *record_name; /* in CUPTI's records */
	int is_taken;		 /* it has gone, and another has its place */
	int registers;
	_Atomic int loaded; /* launched before: the code is on the device */
};

struct sim_kernel *kernel_register(const void *image, const void *host,
				   const char *name);
struct sim_kernel *kernel_of_host(const void *host);

/* 1 if the handle is one of ours. */
int kernel_valid(const void *handle);

/* Its module is gone. */
void kernel_forget(const void *image);

#endif
