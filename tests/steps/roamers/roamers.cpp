/* SPDX-License-Identifier: MIT */
/* roamers.cpp - as roamers.c, in C++. */
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

using column = std::vector<double>;

constexpr int rows = 4000;

/* A model that any optimizer may train. */
struct model {
	column weight = column(rows, 0.1), slope = column(rows);

	double loss(int batch)
	{
		double sum = 0;

#pragma omp parallel for reduction(+ : sum)
		for (int i = 0; i < rows; i++) {
			const double off = weight[i] - std::sin(i + batch % 7);

			slope[i] = off;
			sum += off * off;
		}
		return sum;
	}
};

class optimizer
{
      public:
	virtual ~optimizer() = default;
	virtual double minimize(const std::function<double()> &loss) = 0;
};

class momentum : public optimizer
{
      public:
	explicit momentum(model &of) : of_(of), speed_(rows)
	{
	}

	double minimize(const std::function<double()> &loss) override
	{
		const double found = loss();

#pragma omp parallel for
		for (int i = 0; i < rows; i++) {
			speed_[i] = 0.9 * speed_[i] - 0.01 * of_.slope[i];
			of_.weight[i] += speed_[i];
		}
		return found;
	}

      private:
	model &of_;
	column speed_;
};

int closures()
{
	model net;
	const std::unique_ptr<optimizer> by = std::make_unique<momentum>(net);
	double last = 0;

	for (int step = 0; step < 70; step++)
		last = by->minimize([&] { return net.loss(step); });
	std::printf("loss %g\n", last);
	return 70;
}

/* What happens calls whoever asked for it; a clock ticks 90 times. */
class events
{
      public:
	using callback = std::function<void(int)>;

	void on(const std::string &what, callback then)
	{
		then_[what].push_back(std::move(then));
	}
	void happen(const std::string &what, int when)
	{
		for (const auto &then : then_[what])
			then(when);
	}

      private:
	std::map<std::string, std::vector<callback>> then_;
};

int clocks()
{
	column charge(rows, 1), flow(rows);
	events bus;

	bus.on("tick", [&](int when) {
#pragma omp parallel for
		for (int i = 0; i < rows; i++)
			flow[i] = 0.1 * (charge[(i + 1) % rows] - charge[i]) +
				  when % 3;
	});
	bus.on("tick", [&](int when) {
#pragma omp parallel for
		for (int i = 0; i < rows; i++)
			charge[i] += 0.1 * flow[i];
		if (when % 15 == 14)
			bus.happen("report", when);
	});
	bus.on("report", [&](int when) {
		double sum = 0;

#pragma omp parallel for reduction(+ : sum)
		for (int i = 0; i < rows; i++)
			sum += charge[i];
		std::printf("%d %g\n", when, sum);
	});
	for (int tick = 0; tick < 90; tick++)
		bus.happen("tick", tick);
	return 90;
}

/* A search for a minimum, along each way as far as it needs. */
int search()
{
	column x(rows, 1), to(rows), slope(rows), way(rows);
	int iterations = 0;
	const auto value = [&](const column &at) {
		double sum = 0;

#pragma omp parallel for reduction(+ : sum)
		for (int i = 0; i < rows; i++)
			sum += std::pow(at[i] - 0.5, 4) +
			       (1 + i % 9) * at[i] * at[i];
		return sum;
	};
	double best = value(x);

	while (iterations < 45) {
		double by = 0.6;

#pragma omp parallel for
		for (int i = 0; i < rows; i++)
			slope[i] = 4 * std::pow(x[i] - 0.5, 3) +
				   2 * (1 + i % 9) * x[i];
#pragma omp parallel for
		for (int i = 0; i < rows; i++)
			way[i] = -slope[i] + 0.1 * way[i];
		for (;;) {
#pragma omp parallel for
			for (int i = 0; i < rows; i++)
				to[i] = x[i] + by * way[i];
			const double found = value(to);

			if (found < best || by < 1e-9) {
				best = found;
				break;
			}
			by *= 0.4;
		}
		x.swap(to);
		iterations++;
	}
	std::printf("best %g\n", best);
	return iterations;
}

/* An agent walks as long as it may, and learns from it: 60 episodes. */
int walks()
{
	column policy(rows, 0.01), seen(rows), gain(rows);
	std::mt19937 random(3);

	for (int episode = 0; episode < 60; episode++) {
		const int length = 4 + (int)(random() % 20);

		std::fill(gain.begin(), gain.end(), 0);
		for (int t = 0; t < length; t++) {
			double act = 0;

#pragma omp parallel for
			for (int i = 0; i < rows; i++)
				seen[i] = std::sin(i * 0.1 + t);
#pragma omp parallel for reduction(+ : act)
			for (int i = 0; i < rows; i++)
				act += policy[i] * seen[i];
#pragma omp parallel for
			for (int i = 0; i < rows; i++)
				gain[i] += seen[i] * (act > 0 ? 1 : -1);
		}
#pragma omp parallel for
		for (int i = 0; i < rows; i++)
			policy[i] += 0.001 * gain[i] / length;
	}
	return 60;
}

int main()
{
	std::printf("steps %d\n", PROGRAM());
	return 0;
}
