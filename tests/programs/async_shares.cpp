/* SPDX-License-Identifier: MIT */
/*
 * async_shares.cpp - a task of two thirds and one of one third of a
 * millisecond, each in a thread of its own that std::async() begins, so many
 * times.
 */
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <future>

static long thread_us()
{
	timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static long work(long us)
{
	const long end_us = thread_us() + us;
	volatile unsigned long sum = 0;

	while (thread_us() < end_us)
		for (unsigned int i = 0; i < 10000; i++)
			sum = sum + i;
	return us;
}

__attribute__((noinline)) static long two_thirds()
{
	return work(667) + 1;
}

__attribute__((noinline)) static long one_third()
{
	return work(333) + 1;
}

int main(int argc, char **argv)
{
	const int times = argc > 1 ? atoi(argv[1]) : 1;
	long sum = 0;

	for (int i = 0; i < times; i++) {
		sum += std::async(std::launch::async, two_thirds).get();
		sum += std::async(std::launch::async, one_third).get();
	}
	printf("%ld\n", sum);
	return 0;
}
