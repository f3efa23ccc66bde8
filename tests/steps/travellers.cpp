/* SPDX-License-Identifier: MIT */
/*
 * travellers.cpp - programs in C++, for the third set that no rule was set on;
 * the number behind each is its steps:
 *
 *	decode	80	tokens after a prompt, 4 layers of 5 regions each
 *	boost	36	trees of 5 levels, each split scanned, then leaves
 *	image	55	frames: blurred in 3 passes, edges, a histogram
 */
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

template <class F> static void parallel(int n, F &&f)
{
#pragma omp parallel for
	for (int i = 0; i < n; i++)
		f(i);
}

struct Layer {
	std::vector<float> q, k, v, out;
	explicit Layer(int n) : q(n, 1.f), k(n, 1.f), v(n, 1.f), out(n)
	{
	}
	void run(std::vector<float> &x)
	{
		const int n = (int)x.size();
		parallel(n, [&](int i) { q[i] = x[i] * 0.5f; });
		parallel(n, [&](int i) { k[i] = x[i] * 0.25f; });
		parallel(n, [&](int i) { v[i] = q[i] * k[(i * 3) % n]; });
		parallel(n, [&](int i) { out[i] = std::tanh(v[i]); });
		parallel(n, [&](int i) { x[i] += 0.1f * out[i]; });
	}
};

static int decode()
{
	std::vector<Layer> layers(4, Layer(4096));
	std::vector<float> x(4096, 1.f);
	for (auto &layer : layers)
		layer.run(x);
	for (int token = 0; token < 80; token++) {
		for (auto &layer : layers)
			layer.run(x);
		parallel(4096, [&](int i) { x[i] = std::fmod(x[i], 3.f); });
		x[token] = *std::max_element(x.begin(), x.end());
	}
	return 80;
}

static int boost()
{
	const int n = 8192;
	std::vector<float> f(n), g(n), h(n, 1.f);
	std::vector<int> node(n);
	for (int round = 0; round < 36; round++) {
		parallel(n, [&](int i) { g[i] = f[i] - (i % 3); });
		std::fill(node.begin(), node.end(), 0);
		for (int depth = 0; depth < 5; depth++) {
			for (int feature = 0; feature < 1 << depth; feature++)
				parallel(n,
					 [&](int i) { h[i] += 1e-6f * g[i]; });
			parallel(n, [&](int i) {
				node[i] = 2 * node[i] + (i >> depth & 1);
			});
		}
		parallel(n, [&](int i) { f[i] -= 0.1f * g[i]; });
	}
	return 36;
}

static int image()
{
	const int n = 1 << 14;
	std::vector<float> in(n, 1.f), out(n);
	for (int frame = 0; frame < 55; frame++) {
		for (int pass = 0; pass < 3; pass++) {
			parallel(n - 2, [&](int i) {
				out[i] = in[i] + in[i + 1] + in[i + 2];
			});
			std::swap(in, out);
		}
		parallel(n - 1, [&](int i) { out[i] = in[i + 1] - in[i]; });
		long bins[16] = {0};
#pragma omp parallel for reduction(+ : bins[:16])
		for (int i = 0; i < n; i++)
			bins[(int)std::fabs(out[i]) & 15]++;
		in[0] = (float)bins[3];
		parallel(n, [&](int i) { in[i] = std::fmin(1.f, out[i]); });
	}
	return 55;
}

int main(int argc, char **argv)
{
	int steps = 0;
	if (argc > 1 && !strcmp(argv[1], "decode"))
		steps = decode();
	else if (argc > 1 && !strcmp(argv[1], "boost"))
		steps = boost();
	else if (argc > 1)
		steps = image();
	printf("steps %d\n", steps);
}
