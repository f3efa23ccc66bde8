/* SPDX-License-Identifier: MIT */
/*
 * nomads.cpp - as nomads.c, in C++: loops by iterators, functions that are
 * handed over, recursion.
 */
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace
{

constexpr int count = 4096;
using field = std::vector<double>;

// Runs a body for all, as libraries do.
template <class Body> void for_all(int n, Body body)
{
#pragma omp parallel for
	for (int i = 0; i < n; i++)
		body(i);
}

// 36 rounds of boosting, each a tree of four levels.
int boosted()
{
	struct round {
		int seed;
	};
	std::list<round> rounds;
	field target(count), guess(count), gradient(count), sums(64);
	std::vector<int> node(count);

	for (int i = 0; i < 36; i++)
		rounds.push_back({i});
	for (auto &one : rounds) {
		for_all(count,
			[&](int i) { gradient[i] = target[i] - guess[i]; });
		std::fill(node.begin(), node.end(), 0);
		for (int depth = 0; depth < 4; depth++) {
			for_all(64, [&](int bin) {
				sums[bin] =
					gradient[(bin * 31 + one.seed) % count];
			});
			for_all(count, [&](int i) {
				node[i] = 2 * node[i] +
					  (gradient[i] > sums[i % 64]);
			});
		}
		for_all(count, [&](int i) { guess[i] += 0.1 * (node[i] % 3); });
	}
	return 36;
}

// Bodies in a while loop that ends with the time.
int leap()
{
	field at(count), speed(count), force(count);
	double now = 0;
	int steps = 0;

	std::iota(at.begin(), at.end(), 0.0);
	while (now < 1.8 - 1e-9) {
		for_all(count, [&](int i) {
			double sum = 0;

			for (int j = 0; j < 32; j++)
				sum += 1 / (1 + std::fabs(at[i] - at[j]));
			force[i] = sum;
		});
		for_all(count, [&](int i) { speed[i] += 0.01 * force[i]; });
		for_all(count, [&](int i) { at[i] += 0.01 * speed[i]; });
		now += 0.01;
		steps++;
	}
	return steps;
}

// Tours that are bred: measured, sorted, crossed, and mended each ten.
int tours()
{
	std::mt19937 rng(1);
	std::vector<std::vector<int>> all(128, std::vector<int>(48));
	std::vector<double> length(128);

	for (auto &tour : all) {
		std::iota(tour.begin(), tour.end(), 0);
		std::shuffle(tour.begin(), tour.end(), rng);
	}
	for (int generation = 0; generation < 80; generation++) {
#pragma omp parallel for
		for (int k = 0; k < 128; k++) {
			length[k] = 0;
			for (int i = 1; i < 48; i++)
				length[k] +=
					std::abs(all[k][i] - all[k][i - 1]);
		}
		std::vector<int> order(128);
		std::iota(order.begin(), order.end(), 0);
		std::sort(order.begin(), order.end(),
			  [&](int a, int b) { return length[a] < length[b]; });
#pragma omp parallel for
		for (int k = 64; k < 128; k++) {
			all[order[k]] = all[order[k - 64]];
			std::swap(all[order[k]][k % 48],
				  all[order[k]][(k * 7) % 48]);
		}
		if (generation % 10 == 9) {
#pragma omp parallel for
			for (int k = 0; k < 128; k++)
				std::reverse(all[k].begin() + 5,
					     all[k].begin() + 15);
		}
	}
	return 80;
}

struct grid {
	field u, f, r;
	explicit grid(int n) : u(n), f(n, 1.0), r(n)
	{
	}
};

void smooth(grid &g)
{
	const int n = int(g.u.size());

	for_all(n, [&](int i) {
		if (i && i < n - 1)
			g.r[i] = 0.5 * (g.u[i - 1] + g.u[i + 1] + g.f[i]);
	});
	for_all(n, [&](int i) { g.u[i] = g.r[i]; });
}

void cycle(std::vector<grid>::iterator here, std::vector<grid>::iterator end)
{
	smooth(*here);
	auto next = std::next(here);
	if (next == end)
		return;
	const int n = int(next->u.size());
	for_all(n, [&](int i) { next->f[i] = here->r[2 * i]; });
	cycle(next, end);
	for_all(n, [&](int i) { here->u[2 * i] += next->u[i]; });
	smooth(*here);
}

// 30 V cycles that call themselves, and the norm behind each.
int vcycles()
{
	std::vector<grid> levels;

	for (int n = 4096; n >= 256; n /= 2)
		levels.emplace_back(n);
	for (int k = 0; k < 30; k++) {
		double norm = 0;

		cycle(levels.begin(), levels.end());
#pragma omp parallel for reduction(+ : norm)
		for (int i = 0; i < count; i++)
			norm += levels[0].r[i] * levels[0].r[i];
		std::printf("%d %g\n", k, norm);
	}
	return 30;
}

// Layers behind virtual functions, from a vector of them.
struct layer {
	field out = field(count), back = field(count),
	      weight = field(count, 0.1);
	virtual ~layer() = default;
	virtual void forward(const field &in) = 0;
	virtual void backward(const field &gradient) = 0;
};

struct dense : layer {
	void forward(const field &in) override
	{
		for_all(count, [&](int i) { out[i] = weight[i] * in[i]; });
	}
	void backward(const field &gradient) override
	{
		for_all(count,
			[&](int i) { back[i] = weight[i] * gradient[i]; });
		for_all(count, [&](int i) { weight[i] -= 1e-3 * gradient[i]; });
	}
};

struct bend : layer {
	void forward(const field &in) override
	{
		for_all(count, [&](int i) { out[i] = std::tanh(in[i]); });
	}
	void backward(const field &gradient) override
	{
		for_all(count, [&](int i) {
			back[i] = gradient[i] * (1 - out[i] * out[i]);
		});
	}
};

int layers()
{
	std::vector<std::unique_ptr<layer>> all;
	field input(count, 0.5), gradient(count);

	for (int i = 0; i < 5; i++) {
		all.push_back(std::make_unique<dense>());
		all.push_back(std::make_unique<bend>());
	}
	for (int step = 0; step < 55; step++) {
		const field *at = &input;

		for (auto &one : all) {
			one->forward(*at);
			at = &one->out;
		}
		for_all(count, [&](int i) { gradient[i] = (*at)[i] - 1; });
		at = &gradient;
		for (auto one = all.rbegin(); one != all.rend(); ++one) {
			(*one)->backward(*at);
			at = &(*one)->back;
		}
	}
	return 55;
}

} // namespace

int main(int argc, char **argv)
{
	const std::map<std::string, std::function<int()>> all = {
		{"boosted", boosted},
		{"leap", leap},
		{"tours", tours},
		{"vcycles", vcycles},
		{"layers", layers}};

	for (const auto &[name, run] : all)
		if (argc > 1 && name == argv[1])
			std::printf("steps %d\n", run());
}
