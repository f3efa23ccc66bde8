/* SPDX-License-Identifier: MIT */
/*
 * template_leak.cpp - keeps 1 MB a step through an inlined template, and passes
 * on as much.
 *
 *	template_leak STEPS
 */
#include "traceprof.h"
#include <cstdio>
#include <cstdlib>
#include <list>
#include <unistd.h>
#include <vector>

namespace nn
{
template <typename T> class Cache
{
      public:
	inline __attribute__((always_inline)) void remember(size_t count)
	{
		kept.push_back(new T[count]);
	}

      private:
	std::vector<T *> kept;
};

struct Row {
	char *room;

	explicit Row(size_t bytes) : room(new char[bytes])
	{
	}

	~Row()
	{
		delete[] room;
	}
};

struct Trainer {
	Cache<double> cache;

	__attribute__((noinline)) void step()
	{
		std::vector<char> passed(1000000);
		std::list<Row> rows;

		rows.emplace_back(3000);
		cache.remember(125000);
		passed[0] = 1;
	}
};
} // namespace nn

int main(int argc, char **argv)
{
	nn::Trainer trainer;
	const int steps = argc > 1 ? std::atoi(argv[1]) : 0;

	for (int step = 0; step < steps; step++) {
		traceprof_step();
		trainer.step();
		usleep(500);
	}
	std::puts("done");
	return 0;
}
