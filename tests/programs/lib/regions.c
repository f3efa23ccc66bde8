/* SPDX-License-Identifier: MIT */
/* regions.c - regions of OpenMP that an interpreter may call. */
#include <string.h>
#include <sys/mman.h>

#define N 4096

static double x[N];

void region_one(void)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		x[i] += 1.0;
}

void region_two(void)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		x[i] *= 0.5;
}

void region_three(void)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		x[i] -= 0.1;
}

void region_four(void)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		x[i] *= x[i];
}

void region_deep(int depth)
{
	if (depth)
		region_deep(depth - 1);
	else
		region_one();
	x[0] += 1.0;
}

/* As an interpreter's just-in-time compiler has them: no file says of these
 * instructions where their caller's frame lies. */
static const unsigned int calls_what_it_gets[] = {
#if defined(__x86_64__)
	0xe5894855,
	0xc35dd7ff,
#else
	0xa9bf7bfd, 0x910003fd, 0xd63f0000, 0xa8c17bfd, 0xd65f03c0,
#endif
};

void region_opaque(int times)
{
	static void *page;

	if (!page) {
		page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		memcpy(page, calls_what_it_gets, sizeof(calls_what_it_gets));
		mprotect(page, 4096, PROT_READ | PROT_EXEC);
	}
	while (times--)
		((void (*)(void (*)(void)))page)(region_one);
}
