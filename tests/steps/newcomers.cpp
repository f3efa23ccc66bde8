/* SPDX-License-Identifier: MIT */
/*
 * newcomers.cpp - as newcomers.c:
 *
 *	agent	250	updates, from the 51st step of 300 on; or 300
 *	frames	30	frames of 8 samples; or 240
 *	sorted	20	arrays sorted by tasks
 *	ants	45	generations, up to 6 neighborhoods tried in each
 *
 *	newcomers NAME
 */
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

namespace
{

struct Layer {
	std::vector<double> weight, slope;
	explicit Layer(size_t n) : weight(n, 0.5), slope(n, 0.0)
	{
	}

	void forward(const std::vector<double> &in,
		     std::vector<double> &out) const
	{
#pragma omp parallel for
		for (size_t i = 0; i < weight.size(); i++)
			out[i] = std::tanh(in[i] * weight[i]);
	}

	void backward(const std::vector<double> &error)
	{
#pragma omp parallel for
		for (size_t i = 0; i < weight.size(); i++)
			slope[i] = error[i] * weight[i];
	}

	void update()
	{
#pragma omp parallel for
		for (size_t i = 0; i < weight.size(); i++)
			weight[i] -= 1e-3 * slope[i];
	}
};

int agent()
{
	const size_t n = 4096;
	std::vector<double> state(n, 0.1), next(n), value(n), error(n);
	Layer one(n), two(n), target(n);
	int updates = 0;

	for (int step = 0; step < 300; step++) {
		one.forward(state, next);
		two.forward(next, value);
#pragma omp parallel for
		for (size_t i = 0; i < n; i++)
			state[i] = std::cos(value[i] + step);
		if (step < 50)
			continue;
		one.forward(state, next);
		two.forward(next, value);
		target.forward(next, error);
#pragma omp parallel for
		for (size_t i = 0; i < n; i++)
			error[i] = value[i] - 0.99 * error[i];
		two.backward(error);
		one.backward(error);
		one.update();
		two.update();
		if (step % 20 == 0) {
#pragma omp parallel for
			for (size_t i = 0; i < n; i++)
				target.weight[i] = two.weight[i];
		}
		updates++;
	}
	return updates;
}

int frames()
{
	const int width = 96, height = 64;
	std::vector<float> image(width * height), sum(width * height);

	for (int frame = 0; frame < 30; frame++) {
#pragma omp parallel for
		for (int i = 0; i < width * height; i++)
			sum[i] = 0;
		for (int sample = 0; sample < 8; sample++) {
#pragma omp parallel for schedule(dynamic)
			for (int y = 0; y < height; y++)
				for (int x = 0; x < width; x++)
					sum[y * width + x] += std::sin(
						0.1f * x * y + frame + sample);
		}
#pragma omp parallel for
		for (int i = 0; i < width * height; i++)
			image[i] = std::sqrt(std::abs(sum[i] / 8));
#pragma omp parallel for
		for (int i = 1; i < width * height - 1; i++)
			sum[i] = (image[i - 1] + image[i] + image[i + 1]) / 3;
	}
	return 30;
}

void merge_sort(std::vector<int> &all, size_t from, size_t to)
{
	const size_t middle = (from + to) / 2;

	if (to - from < 512) {
		std::sort(all.begin() + from, all.begin() + to);
		return;
	}
#pragma omp task shared(all)
	merge_sort(all, from, middle);
	merge_sort(all, middle, to);
#pragma omp taskwait
	std::inplace_merge(all.begin() + from, all.begin() + middle,
			   all.begin() + to);
}

int sorted()
{
	std::vector<int> all(20000);

	for (int turn = 0; turn < 20; turn++) {
#pragma omp parallel for
		for (size_t i = 0; i < all.size(); i++)
			all[i] = static_cast<int>((i * 7919 + turn) % 10007);
#pragma omp parallel
#pragma omp single
		merge_sort(all, 0, all.size());
		long wrong = 0;
#pragma omp parallel for reduction(+ : wrong)
		for (size_t i = 1; i < all.size(); i++)
			wrong += all[i] < all[i - 1];
		std::printf("%ld\n", wrong);
	}
	return 20;
}

int ants()
{
	const int n = 4096;
	std::vector<double> trail(n, 1.0), tour(n), best(n);
	unsigned seed = 7;

	for (int generation = 0; generation < 45; generation++) {
#pragma omp parallel for
		for (int i = 0; i < n; i++)
			tour[i] = trail[i] * (i % 11);
		for (int near = 0; near < 6; near++) {
			double gain = 0;
#pragma omp parallel for reduction(+ : gain)
			for (int i = 1; i < n; i++)
				gain += tour[i] - tour[i - 1] * near;
			seed = seed * 1103515245u + 12345u;
			if ((seed >> 16) % 4 == 0 && gain > -1e9)
				break;
		}
#pragma omp parallel for
		for (int i = 0; i < n; i++)
			best[i] = std::max(best[i], tour[i]);
#pragma omp parallel for
		for (int i = 0; i < n; i++)
			trail[i] = 0.9 * trail[i] + 1e-3 * best[i];
	}
	return 45;
}

} // namespace

int main(int argc, char **argv)
{
	const struct {
		const char *name;
		int (*run)();
	} programs[] = {{"agent", agent},
			{"frames", frames},
			{"sorted", sorted},
			{"ants", ants}};

	for (const auto &program : programs) {
		if (argc > 1 && !std::strcmp(argv[1], program.name))
			std::printf("steps %d\n", program.run());
	}
	return 0;
}
