/* SPDX-License-Identifier: MIT */
/*
 * cuda_ends.cpp - launches kernels and ends, while its GPU is seconds behind.
 *
 *	cuda_ends HOW [STEPS [LAUNCHES]]
 *
 * It marks STEPS steps of LAUNCHES kernels each, and never waits for one.  HOW
 * is how it ends: exit, _exit, quick_exit, throw, abort, segv, raise, term,
 * kill, exec, thread, pthread_exit; beside: exit, while another thread
 * launches on and on, faster than the GPU works; failing, _failing,
 * quick_failing, raise_failing, abort_failing: the same, and that thread ends
 * the program by exit, _exit, quick_exit, SIGTERM or abort when CUDA is gone;
 * any other word: it returns.
 * Before an end that nobody sees it goes on for three times as long as it took
 * until then.
 */
#include "traceprof.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdexcept>
#include <thread>
#include <unistd.h>

struct size3 {
	unsigned int x, y, z;
};

static int (*launch)(const void *, size3, size3, void **, size_t, void *);

static void kernel()
{
}

static void *find(void *runtime, const char *name)
{
	void *found = dlsym(runtime, name);

	if (!found)
		exit(2);
	return found;
}

static void load()
{
	void **(*module)(void *);
	void (*function)(void **, const void *, void *, const char *, int,
			 void *, void *, void *, void *, void *);
	void *runtime = dlopen("libcudart.so.13", RTLD_NOW | RTLD_GLOBAL);

	if (!runtime)
		exit(77);
	module = (decltype(module))find(runtime, "__cudaRegisterFatBinary");
	function = (decltype(function))find(runtime, "__cudaRegisterFunction");
	launch = (decltype(launch))find(runtime, "cudaLaunchKernel");
	function(module(nullptr), (const void *)kernel, nullptr, "_Z6kernelv",
		 -1, nullptr, nullptr, nullptr, nullptr, nullptr);
}

static int try_one()
{
	const size3 one = {1, 1, 1};

	return launch((const void *)kernel, one, one, nullptr, 0, nullptr);
}

static void launch_one()
{
	if (try_one())
		exit(4);
}

static void outlive_main()
{
	usleep(300000);
	puts("last thread");
}

static void keep_launching(const char *how)
{
	/* Until the driver is gone. */
	while (!try_one())
		usleep(1000);
	if (!strcmp(how, "failing"))
		exit(4);
	if (!strcmp(how, "_failing"))
		_exit(4);
	if (!strcmp(how, "quick_failing"))
		quick_exit(4);
	if (!strcmp(how, "raise_failing"))
		raise(SIGTERM);
	if (!strcmp(how, "abort_failing"))
		abort();
}

static void end_by_a_call(const char *how)
{
	if (!strcmp(how, "beside") || strstr(how, "failing")) {
		std::thread(keep_launching, how).detach();
		usleep(50000);
		exit(3);
	}
	if (!strcmp(how, "exit"))
		exit(3);
	if (!strcmp(how, "_exit"))
		_exit(3);
	if (!strcmp(how, "quick_exit"))
		quick_exit(3);
	if (!strcmp(how, "exec"))
		execlp("true", "true", nullptr);
	if (!strcmp(how, "thread"))
		std::thread(exit, 5).join();
	if (!strcmp(how, "pthread_exit")) {
		std::thread(outlive_main).detach();
		pthread_exit(nullptr);
	}
}

using steady = std::chrono::steady_clock;

static void go_on(steady::duration took)
{
	std::this_thread::sleep_for(3 * took);
	traceprof_mark("the end");
}

static bool is_unseen(const char *how)
{
	return !strcmp(how, "throw") || !strcmp(how, "abort") ||
	       !strcmp(how, "segv") || !strcmp(how, "kill");
}

static void end_badly(const char *how)
{
	if (!strcmp(how, "throw"))
		throw std::runtime_error("thrown");
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "segv"))
		raise(SIGSEGV);
	if (!strcmp(how, "raise"))
		raise(SIGTERM);
	if (!strcmp(how, "term"))
		kill(getpid(), SIGTERM);
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "return";
	const int steps = argc > 2 ? atoi(argv[2]) : 10;
	const int launches = argc > 3 ? atoi(argv[3]) : 10;
	const steady::time_point begun = steady::now();

	setvbuf(stdout, nullptr, _IONBF, 0);
	load();
	for (int i = 0; i < steps; i++) {
		traceprof_step();
		for (int j = 0; j < launches; j++)
			launch_one();
	}
	puts("ends");
	end_by_a_call(how);
	if (is_unseen(how))
		go_on(steady::now() - begun);
	end_badly(how);
	return 0;
}
