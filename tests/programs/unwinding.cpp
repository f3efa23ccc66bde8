/* SPDX-License-Identifier: MIT */
/*
 * unwinding.cpp - control that leaves a region by other roads: an exception
 * inside it, a cancelled thread, a long jump over annotations.
 */
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <pthread.h>
#include <stdexcept>
#include <unistd.h>

#include "traceprof.h"

static std::jmp_buf landing;
static int cleaned;

__attribute__((noinline)) static int caught_inside()
{
	int caught = 0;

#pragma omp parallel num_threads(2) reduction(+ : caught)
	try {
		throw std::runtime_error("inside");
	} catch (const std::exception &) {
		caught += 1;
	}
	return caught;
}

struct cleanup {
	~cleanup()
	{
		cleaned++;
	}
};

static void *cancelled(void *)
{
	cleanup guard;

	TRACEPROF_SCOPE("cancelled");
	for (;;)
		usleep(1000);
	return nullptr;
}

static void jumps()
{
	traceprof_push("left by a jump");
	std::longjmp(landing, 1);
}

int main()
{
	pthread_t thread;
	void *result;

	std::printf("caught %d\n", caught_inside());
	pthread_create(&thread, nullptr, cancelled, nullptr);
	usleep(20000);
	pthread_cancel(thread);
	pthread_join(thread, &result);
	std::printf("cancelled %d cleaned %d\n", result == PTHREAD_CANCELED,
		    cleaned);
	if (setjmp(landing) == 0)
		jumps();
	traceprof_push("after the jump");
	traceprof_pop();
	try {
		volatile std::size_t huge = ~static_cast<std::size_t>(0) / 2;
		char *volatile block =
			static_cast<char *>(::operator new(huge));

		std::printf("impossible %p\n", static_cast<void *>(block));
	} catch (const std::bad_alloc &) {
		std::printf("bad_alloc\n");
	}
	return 0;
}
