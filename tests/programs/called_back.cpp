/* SPDX-License-Identifier: MIT */
/*
 * called_back.cpp - 200 time steps of one region, called through what may throw
 * if it is empty: the code that throws has no way back, and lies before the
 * loop's.
 */
#include <cstdio>
#include <functional>
#include <vector>

int main()
{
	std::vector<double> field(512, 1.0);
	std::vector<std::function<void()>> stages;

	for (int k = 0; k < 3; k++)
		stages.emplace_back([&field, k] { field[k] = k; });
	stages.emplace_back([&field] {
#pragma omp parallel for
		for (int i = 0; i < 512; i++)
			field[i] = field[i] * 0.5 + 1;
	});
	for (int t = 0; t < 200; t++) {
		stages[0]();
		stages[3]();
	}
	std::printf("steps 200\n");
	return 0;
}
