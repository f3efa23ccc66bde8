/* SPDX-License-Identifier: MIT */
/*
 * sim_kernel.c - a list of kernels.
 *
 * A name is kept when its module goes, as long as no record has been given
 * back that points to it: with NAME_REUSE the records have copies.
 *
 * With OLD_NAMES a kernel that comes where one has gone has that one's name in
 * its records, as in 13.0: CUPTI keeps names by the place of the code.
 */
#include "tests/fake_gpu/sim_kernel.h"

#include "tests/fake_gpu/sim_knobs.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sim_kernel *kernels;

static void take(void)
{
	pthread_mutex_lock(&lock);
}

static void give(void)
{
	pthread_mutex_unlock(&lock);
}

/* A forked child looks for its kernel before it hears that it has no CUDA. */
__attribute__((constructor)) static void keep_forks_out(void)
{
	pthread_atfork(take, give, give);
}

/* The newest that has gone, and whose place is still free. */
static struct sim_kernel *free_place(void)
{
	struct sim_kernel *kernel = kernels;

	while (kernel && (kernel->image || kernel->is_taken))
		kernel = kernel->next;
	return kernel;
}

struct sim_kernel *kernel_register(const void *image, const void *host,
				   const char *name)
{
	struct sim_kernel *kernel = calloc(1, sizeof(*kernel));
	struct sim_kernel *gone;
	unsigned int sum = 0;

	for (const char *c = name; *c; c++)
		sum = sum * 31 + (unsigned char)*c;
	kernel->image = image;
	kernel->host = host;
	kernel->name = strdup(name);
	kernel->record_name = kernel->name;
	kernel->registers = 16 + (int)(sum % 12) * 8;
	pthread_mutex_lock(&lock);
	gone = free_place();
	if (gone && sim_knobs()->old_names) {
		kernel->record_name = gone->record_name;
		gone->is_taken = 1;
	}
	kernel->next = kernels;
	kernels = kernel;
	pthread_mutex_unlock(&lock);
	return kernel;
}

struct sim_kernel *kernel_of_host(const void *host)
{
	struct sim_kernel *kernel;

	pthread_mutex_lock(&lock);
	for (kernel = kernels; kernel; kernel = kernel->next)
		if (kernel->host == host && host)
			break;
	pthread_mutex_unlock(&lock);
	return kernel;
}

int kernel_valid(const void *handle)
{
	const struct sim_kernel *kernel;

	pthread_mutex_lock(&lock);
	for (kernel = kernels; kernel; kernel = kernel->next)
		if (kernel == handle && kernel->image)
			break;
	pthread_mutex_unlock(&lock);
	return kernel != NULL;
}

void kernel_forget(const void *image)
{
	pthread_mutex_lock(&lock);
	for (struct sim_kernel *k = kernels; k; k = k->next)
		if (k->image == image)
			k->image = k->host = NULL;
	pthread_mutex_unlock(&lock);
}
