/* SPDX-License-Identifier: MIT */
/*
 * cuda_attack.cpp - ends, forks, resets and unloads in the middle of launches.
 *
 *	cuda_attack HOW [STEPS [THREADS]]
 *
 * THREADS threads start others over and over, each of which launches kernels
 * and ends, while the main thread marks STEPS steps and does one of
 *
 *	storm	nothing else
 *	reset	device resets
 *	fork	children that try to launch, and end in three ways
 *	unload	a library's last dlclose(): the runtime's own, with no threads
 *	load	libraries that come and go
 *
 * or
 *
 *	start	forks children while THREADS threads are in their first call,
 *		where CUDA is initialised
 *	cancel	first calls of threads that are to be cancelled
 *
 * or ends the program while they launch: exit, _exit, quick_exit, throw, abort,
 * segv, term; or, for any other word, when they have ended.
 */
#include "traceprof.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <signal.h>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

struct size3 {
	unsigned int x, y, z;
};

static int (*launch)(const void *, size3, size3, void **, size_t, void *);
static int (*new_stream)(void **);
static int (*reset)();
static std::atomic<bool> is_over;

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

static void *load()
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
	new_stream = (decltype(new_stream))find(runtime, "cudaStreamCreate");
	reset = (decltype(reset))find(runtime, "cudaDeviceReset");
	function(module(nullptr), (const void *)kernel, nullptr, "_Z6kernelv",
		 -1, nullptr, nullptr, nullptr, nullptr, nullptr);
	return runtime;
}

static int launch_one(void *stream)
{
	const size3 one = {1, 1, 1};

	return launch((const void *)kernel, one, one, nullptr, 0, stream);
}

static void launch_some()
{
	for (int i = 0; i < 20; i++)
		launch_one(nullptr);
}

static void keep_launching()
{
	while (!is_over)
		std::thread(launch_some).join();
}

static void fork_one(int way)
{
	const pid_t child = fork();
	int status;

	if (child) {
		waitpid(child, &status, 0);
		return;
	}
	launch_some();
	switch (way % 3) {
	case 0: _exit(0);
	case 1: quick_exit(0);
	default: execlp("true", "true", nullptr); _exit(1);
	}
}

static void load_one()
{
	void *library = dlopen("libcudart.so.13", RTLD_NOW);
	void *other = dlopen("libcupti.so.13", RTLD_NOW);

	launch_one(nullptr);
	if (other)
		dlclose(other);
	dlclose(library);
}

static void step(const char *how, int number)
{
	traceprof_step();
	launch_one(nullptr);
	if (!strcmp(how, "reset"))
		reset();
	else if (!strcmp(how, "fork"))
		fork_one(number);
	else if (!strcmp(how, "load"))
		load_one();
	usleep(2000);
}

static void unload(int steps)
{
	for (int i = 0; i < steps; i++) {
		void *runtime = load();

		traceprof_step();
		launch_some();
		dlclose(runtime);
	}
}

/* One of them initialises CUDA, the others wait for it. */
static void start(int count)
{
	std::atomic<int> done{0};
	std::vector<std::thread> threads;

	for (int i = 0; i < count; i++)
		threads.emplace_back([&done] {
			launch_some();
			done++;
		});
	for (int i = 0; i < 3 || done < count; i++) {
		traceprof_step();
		fork_one(i);
	}
	for (std::thread &thread : threads)
		thread.join();
	puts("started");
}

static void make_stream() noexcept
{
	void *stream;

	if (new_stream(&stream))
		exit(4);
}

static void *make_cancelled(void *has_come_by)
{
	pthread_cancel(pthread_self());
	make_stream();
	*(bool *)has_come_by = true;
	pthread_testcancel();
	return nullptr;
}

static void cancel(int count)
{
	for (int i = 0; i < count; i++) {
		bool has_come_by = false;
		pthread_t thread;

		pthread_create(&thread, nullptr, make_cancelled, &has_come_by);
		pthread_join(thread, nullptr);
		puts(has_come_by ? "done" : "cut");
	}
}

static void end(const char *how)
{
	if (!strcmp(how, "exit"))
		exit(3);
	if (!strcmp(how, "_exit"))
		_exit(3);
	if (!strcmp(how, "quick_exit"))
		quick_exit(3);
	if (!strcmp(how, "throw"))
		throw std::runtime_error("thrown");
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "segv"))
		raise(SIGSEGV);
	if (!strcmp(how, "term"))
		raise(SIGTERM);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "storm";
	const int steps = argc > 2 ? atoi(argv[2]) : 20;
	const int count = argc > 3 ? atoi(argv[3]) : 4;
	std::vector<std::thread> threads;

	setvbuf(stdout, nullptr, _IONBF, 0);
	if (!strcmp(how, "unload")) {
		unload(steps);
		puts("done");
		return 0;
	}
	load();
	if (!strcmp(how, "start") || !strcmp(how, "cancel")) {
		(how[0] == 's' ? start : cancel)(count);
		return 0;
	}
	for (int i = 0; i < count; i++)
		threads.emplace_back(keep_launching);
	for (int i = 0; i < steps; i++)
		step(how, i);
	puts("ends");
	end(how);
	is_over = true;
	for (std::thread &thread : threads)
		thread.join();
	return 0;
}
