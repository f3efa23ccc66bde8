/* SPDX-License-Identifier: MIT */
/*
 * annotate_scopes.cpp - include/traceprof.h from C++11, with exceptions: a
 * scope that is left by a throw is closed by its destructor.
 */
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "traceprof.h"

namespace net
{
template <typename T> struct Layer {
	T sum = 0;

	__attribute__((noinline)) T forward(const std::vector<T> &input)
	{
		TRACEPROF_FUNCTION();
		T total = 0;
		const T *cells = input.data();
		const long count = static_cast<long>(input.size());

#pragma omp parallel for num_threads(2) reduction(+ : total)
		for (long i = 0; i < count; i++)
			total += cells[i];
		return sum = total;
	}
};
} // namespace net

static void throws(const std::string &name)
{
	TRACEPROF_SCOPE(name.c_str());
	throw std::runtime_error("thrown");
}

int main()
{
	net::Layer<double> layer;

	std::printf("%g\n", layer.forward(std::vector<double>(100, 0.5)));
	try {
		TRACEPROF_SCOPE("try");
		throws("throws");
	} catch (const std::exception &error) {
		std::printf("%s\n", error.what());
	}
	{
		TRACEPROF_SCOPE("after");
	}
	return 0;
}
