/* SPDX-License-Identifier: MIT */
/* drifters.cpp - as drifters.c, in C++. */
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

namespace
{

constexpr int count = 4096;
using field = std::vector<double>;

template <class Body> void each(int n, Body body)
{
#pragma omp parallel for schedule(static)
	for (int i = 0; i < n; i++)
		body(i);
}

template <class Body> double sum(int n, Body body)
{
	double all = 0;

#pragma omp parallel for reduction(+ : all)
	for (int i = 0; i < n; i++)
		all += body(i);
	return all;
}

struct network {
	field weight = field(count, 0.1), out = field(count);

	void forward(const field &in)
	{
		each(count, [&](int i) { out[i] = weight[i] * in[i]; });
		each(count, [&](int i) { out[i] = std::tanh(out[i]); });
	}
	void backward(double rate)
	{
		each(count, [&](int i) { weight[i] -= rate * out[i]; });
	}
};

} // namespace

// An agent: 400 actions, a batch from what it remembers each fourth, the other
// network copied each hundredth.
int agent()
{
	network policy, target;
	std::deque<double> memory;
	field state(count, 1.0);

	for (int t = 0; t < 400; t++) {
		policy.forward(state);
		memory.push_back(policy.out[t]);
		if (memory.size() > 64)
			memory.pop_front();
		if (t % 4 == 3) {
			target.forward(state);
			each(count, [&](int i) {
				policy.out[i] -= 0.9 * target.out[i];
			});
			policy.backward(1e-3);
		}
		if (t % 100 == 99)
			target.weight = policy.weight;
	}
	return 400;
}

// 50 rounds of boosting to a depth of five, the loss of another set behind
// each.
int rounds()
{
	field guess(count), gradient(count), other(count), bins(256);
	std::vector<int> node(count);
	int done = 0;

	for (double best = 1e300; done < 50; done++) {
		each(count, [&](int i) { gradient[i] = i % 7 - guess[i]; });
		std::fill(node.begin(), node.end(), 0);
		for (int depth = 0; depth < 5; depth++) {
			each(256, [&](int k) { bins[k] = gradient[k * 16]; });
			each(1 << depth,
			     [&](int k) { bins[k] += bins[k + 1]; });
			each(count, [&](int i) {
				node[i] = 2 * node[i] +
					  (gradient[i] > bins[i % 256]);
			});
		}
		each(count, [&](int i) { guess[i] += 0.1 * (node[i] % 5); });
		each(count, [&](int i) { other[i] += 0.1 * (node[i] % 3); });
		best = std::fmin(best, sum(count, [&](int i) {
					 return std::fabs(other[i] - i % 7);
				 }));
	}
	return done;
}

// Light: 32 passes, the rays of each until none is left.
int light()
{
	field ray(count), picture(count), hit(count);

	for (int pass = 0; pass < 32; pass++) {
		int left = 3 + std::rand() % 5;

		each(count, [&](int i) { ray[i] = i + pass; });
		while (left-- > 0) {
			each(count, [&](int i) { hit[i] = std::sin(ray[i]); });
			each(count, [&](int i) { ray[i] *= hit[i]; });
		}
		each(count, [&](int i) { picture[i] += ray[i] / 32; });
	}
	return 32;
}

// 60 frames through stages that are kept in a list.
int frames()
{
	field in(count), out(count);
	std::vector<std::function<void()>> stages;

	for (int k = 0; k < 3; k++) {
		stages.emplace_back([&] {
			each(count, [&](int i) { out[i] = in[i] * 0.5; });
		});
		stages.emplace_back([&, k] {
			each(count, [&](int i) { in[i] = out[i] + k; });
		});
	}
	stages.emplace_back(
		[&] { each(count, [&](int i) { in[i] = std::sqrt(in[i]); }); });
	for (int frame = 0; frame < 60; frame++) {
		for (auto &stage : stages)
			stage();
		if (frame % 12 == 11)
			std::printf("%g\n",
				    sum(count, [&](int i) { return in[i]; }));
	}
	return 60;
}

// Molecules: their neighbours anew when one has moved far, a thermostat each
// tenth.
int molecules()
{
	field at(count), speed(count, 1.0), force(count);
	std::vector<int> near(count);
	double moved = 1;

	for (int t = 0; t < 300; t++) {
		each(count, [&](int i) { speed[i] += 1e-3 * force[i]; });
		each(count, [&](int i) { at[i] += 1e-3 * speed[i]; });
		moved += 0.05 + 0.02 * (t % 5);
		if (moved > 1) {
			each(count, [&](int i) { near[i] = i % 64; });
			each(count, [&](int i) { near[i] ^= near[count - 1]; });
			moved = 0;
		}
		each(count, [&](int i) { force[i] = at[near[i]] - at[i]; });
		each(count, [&](int i) { speed[i] += 1e-3 * force[i]; });
		if (t % 10 == 0) {
			const double heat = sum(count, [&](int i) {
				return speed[i] * speed[i];
			});

			each(count,
			     [&](int i) { speed[i] /= 1 + heat * 1e-9; });
		}
	}
	return 300;
}

int main()
{
	std::printf("steps %d\n", PROGRAM());
	return 0;
}
