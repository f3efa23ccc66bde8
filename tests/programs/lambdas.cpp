/* SPDX-License-Identifier: MIT */
/*
 * lambdas.cpp - memory held by code that the compiler puts into functions of
 * C++'s library: a thread's lambda, and a std::function's.
 */
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>

static void *held[2][64];

int main()
{
	std::function<void(int)> keep = [](int at) {
		held[0][at] = malloc(300000); /* of the function */
	};
	std::thread worker([] {
		for (int at = 0; at < 64; at++)
			held[1][at] = malloc(200000); /* of the thread */
	});

	worker.join();
	for (int at = 0; at < 64; at++)
		keep(at);
	std::printf("%d\n", held[0][0] && held[1][63]);
	return 0;
}
