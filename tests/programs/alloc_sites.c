/* SPDX-License-Identifier: MIT */
/*
 * alloc_sites.c - allocates in known functions, in known amounts.
 *
 *	alloc_sites leak STEPS		1 MB kept and 64 KiB passed on a step
 *	alloc_sites clean STEPS [NOISE]	the same, and all of it freed
 *	alloc_sites warm STEPS		a cache grows over 20 steps, then not
 *	alloc_sites alternate		allocates on a small alternate stack
 *	alloc_sites jump		leaves functions by longjmp
 *	alloc_sites reload FILE COUNT	opens and closes a library
 *	alloc_sites deep DEPTH		allocates under so many frames
 *	alloc_sites fork		a child and its parent go on
 *	alloc_sites churn BLOCKS	three sizes, known sums
 *	alloc_sites maps		mmap() and its family
 *	alloc_sites handed BLOCKS	another thread frees half of them
 *	alloc_sites born THREADS	one after the other, each with a block
 *	alloc_sites crowd BLOCKS	four threads free what others made
 *	alloc_sites sizes		1 byte to 100 MB, at least 24 MB each
 */
#include "traceprof.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEPT	 4096
#define NOINLINE __attribute__((noinline))

static void *kept[KEPT];
static size_t kept_count;

static NOINLINE void *make_block(size_t bytes)
{
	char *block = malloc(bytes);

	block[0] = 1;
	return block;
}

static NOINLINE void keep_tensor(void)
{
	kept[kept_count++ % KEPT] = make_block(1000000);
}

static NOINLINE void pass_tensor(void)
{
	free(make_block(65536));
}

static NOINLINE void train_step(int leaks)
{
	pass_tensor();
	if (leaks)
		keep_tensor();
}

static NOINLINE void fill_cache(int step)
{
	if (step < 20)
		kept[step] = make_block(500000);
}

/* Between nothing and 200 kB more, at random and without a trend. */
static NOINLINE void *make_noise(unsigned int *seed)
{
	return make_block(1 + rand_r(seed) % 200000);
}

static NOINLINE void run_steps(const char *mode, int steps, int noise)
{
	unsigned int seed = 7;
	void *last = NULL;

	for (int step = 0; step < steps; step++) {
		traceprof_step();
		if (noise) {
			free(last);
			last = make_noise(&seed);
		}
		if (!strcmp(mode, "warm"))
			fill_cache(step);
		train_step(!strcmp(mode, "leak"));
		usleep(500);
	}
	free(last);
}

static volatile sig_atomic_t handled;

static void on_signal(int number)
{
	(void)number;
	free(make_block(100000));
	handled++;
}

static NOINLINE void alternate(void)
{
	static char small[8192];
	const stack_t stack = {.ss_sp = small, .ss_size = sizeof(small)};
	struct sigaction action = {.sa_handler = on_signal,
				   .sa_flags = SA_ONSTACK};

	sigaltstack(&stack, NULL);
	sigaction(SIGUSR2, &action, NULL);
	for (int i = 0; i < 100; i++) {
		raise(SIGUSR2);
		pass_tensor();
	}
	printf("handled %d\n", (int)handled);
}

static jmp_buf place;

static NOINLINE void leave(int depth)
{
	volatile char frame[64] = {0};

	if (depth > 0)
		leave(depth - 1);
	kept[0] = make_block(70000);
	if (kept[0])
		longjmp(place, 1 + frame[0]);
}

static NOINLINE void jump(void)
{
	volatile int i = 0;

	while (i < 1000) {
		if (!setjmp(place))
			leave(i % 20);
		free(kept[0]);
		i++;
	}
	printf("jumped %d\n", i);
}

static NOINLINE void reload(const char *file, int count)
{
	long sum = 0;

	for (int i = 0; i < count; i++) {
		void *library = dlopen(file, RTLD_NOW);
		void *(*make)(size_t) =
			library ? (void *(*)(size_t))dlsym(library,
							   "library_block")
				: NULL;

		if (!make) {
			printf("%s\n", dlerror());
			return;
		}
		free(make(100000));
		sum += i;
		dlclose(library);
	}
	printf("reloaded %ld\n", sum);
}

static NOINLINE int deep(int depth)
{
	volatile int frame = depth;

	if (depth > 0)
		return deep(depth - 1) + (frame == depth);
	pass_tensor();
	return 0;
}

static NOINLINE void split(void)
{
	pid_t pid;
	int status;

	pass_tensor();
	pid = fork();
	for (int i = 0; i < 100; i++)
		pass_tensor();
	if (!pid)
		exit(0);
	waitpid(pid, &status, 0);
	printf("child %d\n", status);
}

static NOINLINE void *small_site(void)
{
	return malloc(24);
}
static NOINLINE void *middle_site(void)
{
	return malloc(5000);
}
static NOINLINE void *large_site(void)
{
	return malloc(1000000);
}

/* Of each site a known number is kept. */
static NOINLINE void churn(int blocks)
{
	size_t held = 0;

	for (int i = 0; i < blocks; i++) {
		void *small = small_site();
		void *middle = i % 10 ? NULL : middle_site();
		void *large = i % 5000 ? NULL : large_site();

		if (i % 4)
			free(small);
		else
			held += 24;
		free(middle);
		free(large);
	}
	printf("held %zu\n", held);
}

#define SITE(number, bytes)                                                    \
	static NOINLINE void *site##number(void)                               \
	{                                                                      \
		void *block = malloc(bytes);                                   \
                                                                               \
		__asm__ volatile("" : : "r"(block) : "memory");                \
		return block;                                                  \
	}
SITE(0, 1)
SITE(1, 30)
SITE(2, 100)
SITE(3, 300)
SITE(4, 1000)
SITE(5, 10000)
SITE(6, 100000)
SITE(7, 1000000)
SITE(8, 10000000)
SITE(9, 100000000)

/* Every second block is kept as long as its site is at work. */
static NOINLINE void sizes(void)
{
	static void *(*const sites[])(void) = {site0, site1, site2, site3,
					       site4, site5, site6, site7,
					       site8, site9};
	static const int counts[] = {1000000, 600000, 240000, 80000, 24000,
				     2400,    240,    24,     3,     1};
	void **held = malloc(counts[0] * sizeof(*held));

	for (int i = 0; i < 10; i++) {
		for (int at = 0; at < counts[i]; at++) {
			held[at] = sites[i]();
			if (at % 2)
				free(held[at]);
		}
		for (int at = 0; at < counts[i]; at += 2)
			free(held[at]);
	}
	free(held);
}

static NOINLINE void *producer_site(void)
{
	return make_block(5000);
}

static void *produce(void *arg)
{
	for (int i = 0; i < *(int *)arg; i++)
		kept[kept_count++ % KEPT] = producer_site();
	for (int i = 0; i < *(int *)arg / 4; i++)
		free(kept[i]);
	return NULL;
}

static NOINLINE void handed(int blocks)
{
	pthread_t thread;

	pthread_create(&thread, NULL, produce, &blocks);
	pthread_join(thread, NULL);
	for (int i = blocks / 4; i < blocks * 3 / 4; i++)
		free(kept[i]);
}

static void *one_block(void *arg)
{
	free(make_block(5000));
	return arg;
}

static NOINLINE void born(int threads)
{
	pthread_t thread;

	for (int i = 0; i < threads; i++) {
		pthread_create(&thread, NULL, one_block, NULL);
		pthread_join(thread, NULL);
	}
}

#define CROWD 4
static void *_Atomic shared[64];

/* Each frees what another left, as soon as that is there. */
static void *exchange(void *arg)
{
	for (int i = 0; i < *(int *)arg; i++)
		free(atomic_exchange(&shared[i % 64],
				     malloc(16 + (size_t)i % 500)));
	return NULL;
}

static NOINLINE void crowd(int blocks)
{
	pthread_t thread[CROWD];

	for (int i = 0; i < CROWD; i++)
		pthread_create(&thread[i], NULL, exchange, &blocks);
	for (int i = 0; i < CROWD; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < 64; i++)
		free(shared[i]);
}

static NOINLINE char *map_site(size_t pages)
{
	return mmap(NULL, pages * 4096, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void *nothing(void *arg)
{
	free(make_block(70000));
	return arg;
}

/* 100 pages, of which 10 are left in the middle and 20 are replaced; 7 that
 * become 70; a thread. */
static NOINLINE void maps(void)
{
	char *first = map_site(100), *grown = map_site(7);
	pthread_t thread;

	munmap(first + 40 * 4096, 10 * 4096);
	mmap64(first + 60 * 4096, 20 * 4096, PROT_NONE,
	       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	grown = mremap(grown, 7 * 4096, 70 * 4096, MREMAP_MAYMOVE);
	grown[69 * 4096] = 1;
	if (mmap(NULL, 0, 0, 0, -1, 0) != MAP_FAILED || munmap(first, 0) == 0)
		puts("strange");
	pthread_create(&thread, NULL, nothing, NULL);
	pthread_join(thread, NULL);
	brk((char *)sbrk(8192) + 4096);
	kept[kept_count++] = grown;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	const int count = argc > 2 ? atoi(argv[2]) : 0;

	if (!strcmp(mode, "alternate"))
		alternate();
	else if (!strcmp(mode, "jump"))
		jump();
	else if (!strcmp(mode, "reload") && argc > 3)
		reload(argv[2], atoi(argv[3]));
	else if (!strcmp(mode, "deep"))
		printf("deep %d\n", deep(count));
	else if (!strcmp(mode, "fork"))
		split();
	else if (!strcmp(mode, "sizes"))
		sizes();
	else if (!strcmp(mode, "maps"))
		maps();
	else if (!strcmp(mode, "handed"))
		handed(count);
	else if (!strcmp(mode, "born"))
		born(count);
	else if (!strcmp(mode, "crowd"))
		crowd(count);
	else if (!strcmp(mode, "churn"))
		churn(count);
	else
		run_steps(mode, count, argc > 3);
	printf("kept %zu\n", kept_count);
	return 0;
}
