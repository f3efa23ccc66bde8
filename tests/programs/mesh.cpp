/* SPDX-License-Identifier: MIT */
/*
 * mesh.cpp - steps with all that OpenMP has to draw: a template's loop,
 * recursive tasks with scopes in them, a critical section and a barrier, a
 * large block that comes and goes, and another thread with scopes and regions
 * of its own.
 *
 *	mesh [steps]
 */
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>
#include <vector>

#include "traceprof.h"

template <typename T> struct Mesh {
	std::vector<T> now, next;

	explicit Mesh(std::size_t cells) : now(cells), next(cells)
	{
		now[0] = 1;
	}

	T relax()
	{
		const long last = static_cast<long>(now.size()) - 1;
		T moved = 0;

#pragma omp parallel for num_threads(2) reduction(+ : moved)
		for (long i = 1; i < last; i++) {
			next[i] = (now[i - 1] + now[i + 1]) / 2;
			moved += std::fabs(next[i] - now[i]);
		}
		std::swap(now, next);
		return moved;
	}
};

static long fibonacci(int n)
{
	long left, right;

	if (n < 2)
		return n;
	traceprof_push("fibonacci");
#pragma omp task shared(left) if (n > 6)
	left = fibonacci(n - 1);
	right = fibonacci(n - 2);
#pragma omp taskwait
	traceprof_pop();
	return left + right;
}

static long count_members()
{
	std::vector<char> scratch(1 << 20, 1);
	long members = 0;

#pragma omp parallel num_threads(2)
	{
#pragma omp critical
		members += scratch[members];
#pragma omp barrier
	}
	return members;
}

static void beside(int steps)
{
	Mesh<float> other(1000);

	for (int step = 0; step < steps; step++) {
		TRACEPROF_SCOPE("beside");
		TRACEPROF_SCOPE("beside, inner");
		other.relax();
	}
}

int main(int argc, char **argv)
{
	const int steps = argc > 1 ? std::atoi(argv[1]) : 10;
	Mesh<double> mesh(100000);
	std::thread other(beside, steps);
	long found = 0;

	for (int step = 0; step < steps; step++) {
		traceprof_step();
		TRACEPROF_SCOPE("turn");
		for (int sweep = 0; sweep < 3; sweep++)
			mesh.relax();
#pragma omp parallel num_threads(2)
#pragma omp single
		found += fibonacci(9);
		TRACEPROF_SCOPE("check");
		found += count_members();
	}
	other.join();
	std::printf("%ld %g\n", found, mesh.relax());
	return 0;
}
