/* SPDX-License-Identifier: MIT */
/* named_worker.c - one worker of a team gives itself a name. */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>

int main(void)
{
#pragma omp parallel num_threads(3)
	if (omp_get_thread_num() == 1)
		pthread_setname_np(pthread_self(), "shuffler");
#pragma omp parallel num_threads(3)
	{
	}
	puts("done");
	return 0;
}
