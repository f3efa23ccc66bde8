/* SPDX-License-Identifier: MIT */
/*
 * long_names.cpp - three quarters of the processor time in one function of a
 * template and a quarter in another, both with arguments so long that their
 * names begin with the same 400 bytes.
 */
#include <ctime>
#include <map>
#include <string>

static double used()
{
	timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static volatile double sink;

[[gnu::always_inline]] static inline void spin(double seconds)
{
	for (const double end = used() + seconds; used() < end;)
		for (int i = 0; i < 10000; i++)
			sink = sink + i;
}

template <class First, class Second> struct work {
	__attribute__((noinline)) static void most()
	{
		spin(0.3);
	}
	__attribute__((noinline)) static void rest()
	{
		spin(0.1);
	}
};

int main()
{
	using map = std::map<std::map<std::string, std::string>, std::string>;

	work<map, map>::most();
	work<map, map>::rest();
	return 0;
}
