/* SPDX-License-Identifier: MIT */
/*
 * cancels.cpp - threads that are to be cancelled while they call what is no
 * point of cancellation, out of code that lets nothing be thrown; they go at
 * the point that follows.
 *
 *	cancels [MS]
 *
 * MS: for so long each thread computes, too.
 */
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "traceprof.h"

enum { LARGE = 1 << 20, SMALL = 32, TURNS = 50, PAGE = 4096, DEEP = 12 };

typedef void work_call();

static long milliseconds;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static void annotates() noexcept
{
	traceprof_push("annotated");
	traceprof_mark("here");
	traceprof_counter("count", 1);
	traceprof_pop();
}

static void totals() noexcept
{
	traceprof_push("annotated");
	traceprof_pop();
	traceprof_totals([](const traceprof_total *, void *) { usleep(0); },
			 nullptr);
}

static void steps() noexcept
{
	traceprof_step();
}

static void allocates() noexcept
{
	for (int i = 0; i < TURNS; i++) {
		void *volatile small = std::malloc(SMALL);
		void *volatile large = std::malloc(LARGE);

		large = std::realloc(large, 2 * LARGE);
		std::free(small);
		std::free(large);
	}
}

/* Each frame is on a page of its own and of a function of its own: who walks
 * the stack knows none of them. */
template <int FRAMES> struct below {
	static __attribute__((noipa)) void *allocate(volatile char *above)
	{
		volatile char page[PAGE];
		void *found;

		page[0] = above[0];
		found = below<FRAMES - 1>::allocate(page);
		above[0] = page[0];
		return found;
	}
};

template <> struct below<0> {
	static void *allocate(volatile char *)
	{
		return std::malloc(SMALL);
	}
};

static void allocates_deep() noexcept
{
	volatile char first = 0;

	std::free(below<DEEP>::allocate(&first));
}

static void maps() noexcept
{
	munmap(mmap(nullptr, LARGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0),
	       LARGE);
}

static void runs_region() noexcept
{
	volatile int sum = 0;

#pragma omp parallel for num_threads(2) schedule(dynamic)
	for (int i = 0; i < TURNS; i++) {
#pragma omp atomic
		sum += i;
	}
}

static void locks() noexcept
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	pthread_rwlock_rdlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
	pthread_rwlock_wrlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
}

static void loads() noexcept
{
	void *library = dlopen("libm.so.6", RTLD_NOW);

	if (library)
		dlclose(library);
}

static void computes() noexcept
{
	struct timespec now;
	long end;

	clock_gettime(CLOCK_MONOTONIC, &now);
	end = now.tv_sec * 1000 + now.tv_nsec / 1000000 + milliseconds;
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < end);
}

static const struct {
	const char *name;
	work_call *work;
} kinds[] = {
	{"annotates", annotates}, {"totals", totals},
	{"steps", steps},	  {"allocates", allocates},
	{"maps", maps},		  {"runs a region", runs_region},
	{"locks", locks},	  {"loads", loads},
	{"computes", computes},	  {"allocates deep", allocates_deep},
};

static const int count = sizeof(kinds) / sizeof(kinds[0]);

struct task {
	int kind;
	int times;	  /* the work is done so often before the cancelling */
	bool has_come_by; /* the work that nothing was to end */
};

static void *thread_main(void *arg)
{
	task *own = static_cast<task *>(arg);

	for (int i = 0; i < own->times; i++)
		kinds[own->kind].work();
	pthread_cancel(pthread_self());
	kinds[own->kind].work();
	own->has_come_by = true;
	pthread_testcancel();
	return nullptr;
}

int main(int argc, char **argv)
{
	milliseconds = argc > 1 ? std::atol(argv[1]) : 0;
	for (int i = 0; i < 2 * count; i++) {
		task task = {i / 2, i % 2, false};
		pthread_t thread;
		void *result;

		pthread_create(&thread, nullptr, thread_main, &task);
		pthread_join(thread, &result);
		std::printf("%s: %s, %s\n", kinds[task.kind].name,
			    task.has_come_by ? "done" : "cut",
			    result == PTHREAD_CANCELED ? "cancelled" : "ended");
	}
	return 0;
}
