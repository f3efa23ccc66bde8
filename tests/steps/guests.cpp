/* SPDX-License-Identifier: MIT */
/*
 * guests.cpp - programs as people write them in C++; see guests.c.
 *
 *	server		30	requests of six layers each
 *	agent		200	moments of a game, learning at every fourth
 *	colony		45	generations of ants, with the best one kept
 */
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

using Vector = std::vector<float>;

static void parallel(size_t count, const std::function<void(size_t)> &body)
{
#pragma omp parallel for
	for (size_t i = 0; i < count; i++)
		body(i);
}

struct Layer {
	virtual ~Layer() = default;
	virtual Vector forward(const Vector &in) = 0;
};

struct Attention : Layer {
	Vector forward(const Vector &in) override
	{
		Vector scores(in.size()), out(in.size());
#pragma omp parallel for
		for (size_t i = 0; i < in.size(); i++)
			scores[i] = std::exp(-std::fabs(in[i]));
#pragma omp parallel for
		for (size_t i = 0; i < in.size(); i++)
			out[i] = in[i] + scores[i] * in[in.size() - 1 - i];
		return out;
	}
};

struct Mlp : Layer {
	Vector forward(const Vector &in) override
	{
		Vector out(in.size());
#pragma omp parallel for
		for (size_t i = 0; i < in.size(); i++)
			out[i] = std::tanh(in[i]);
		return out;
	}
};

static int server()
{
	std::vector<std::unique_ptr<Layer>> layers;
	double told = 0;

	for (int i = 0; i < 6; i++) {
		layers.push_back(std::make_unique<Attention>());
		layers.push_back(std::make_unique<Mlp>());
	}
	for (int request = 0; request < 30; request++) {
		Vector x(2048 + request * 16);
#pragma omp parallel for
		for (size_t i = 0; i < x.size(); i++)
			x[i] = float(i % 17 + request);
		for (auto &layer : layers)
			x = layer->forward(x);
		float best = 0;
#pragma omp parallel for reduction(max : best)
		for (size_t i = 0; i < x.size(); i++)
			best = std::fmax(best, x[i]);
		told += best;
	}
	fprintf(stderr, "%g\n", told);
	return 30;
}

struct Network {
	Vector weight = Vector(4096, 0.1f), out = Vector(4096);
	void forward(float in)
	{
		parallel(4096, [&](size_t i) { out[i] = weight[i] * in; });
		parallel(4096, [&](size_t i) { out[i] = std::tanh(out[i]); });
	}
	void backward()
	{
		parallel(4096, [&](size_t i) { out[i] *= 1 - out[i]; });
	}
	void update()
	{
		parallel(4096, [&](size_t i) { weight[i] -= 1e-4f * out[i]; });
	}
};

static int agent()
{
	Network policy, target;

	for (int t = 0; t < 200; t++) {
		policy.forward(float(t % 7));
		if (t % 4 == 3) {
			target.forward(float(t % 5));
			policy.forward(float(t % 3));
			policy.backward();
			policy.update();
		}
		if (t % 50 == 49)
			target = policy;
	}
	return 200;
}

static int colony()
{
	Vector trail(4096, 1), cost(256);

	for (int t = 0; t < 45; t++) {
#pragma omp parallel for schedule(dynamic)
		for (size_t ant = 0; ant < cost.size(); ant++)
			for (size_t k = 0; k < 64; k++)
				cost[ant] += trail[(ant * 31 + k) % 4096];
		size_t best = 0;
		for (size_t ant = 1; ant < cost.size(); ant++)
			best = cost[ant] < cost[best] ? ant : best;
#pragma omp parallel for
		for (size_t i = 0; i < trail.size(); i++)
			trail[i] *= 0.9f;
#pragma omp parallel for
		for (size_t i = best; i < best + 64; i++)
			trail[i] += 1 / (1 + cost[best]);
	}
	return 45;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	const int steps = !std::strcmp(name, "server")	 ? server()
			  : !std::strcmp(name, "agent")	 ? agent()
			  : !std::strcmp(name, "colony") ? colony()
							 : 0;

	printf("steps %d\n", steps);
}
