/* SPDX-License-Identifier: MIT */
/* seafarers.cpp - as seafarers.c, in C++. */
#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <queue>
#include <random>
#include <thread>
#include <vector>

namespace
{

using field = std::vector<double>;

std::mt19937 luck(5);

double noise()
{
	return std::uniform_real_distribution<>(-0.5, 0.5)(luck);
}

template <class F> void each(std::size_t count, F f)
{
#pragma omp parallel for
	for (std::size_t i = 0; i < count; i++)
		f(i);
}

// --- pictures go through stages; where something moved there are more ---

struct stage {
	virtual ~stage() = default;
	virtual void run(field &in, field &out) = 0;
};

struct blur : stage {
	void run(field &in, field &out) override
	{
		each(in.size() - 2, [&](std::size_t i) {
			out[i + 1] = (in[i] + in[i + 1] + in[i + 2]) / 3;
		});
	}
};

struct gamma_of : stage {
	void run(field &in, field &out) override
	{
		each(in.size(), [&](std::size_t i) {
			out[i] = std::pow(std::fabs(in[i]), 0.8);
		});
	}
};

struct edges : stage {
	void run(field &in, field &out) override
	{
		each(in.size() - 1, [&](std::size_t i) {
			out[i] = std::fabs(in[i + 1] - in[i]);
		});
	}
};

double moved(const field &a, const field &b)
{
	double sum = 0;

#pragma omp parallel for reduction(+ : sum)
	for (std::size_t i = 0; i < a.size(); i++)
		sum += std::fabs(a[i] - b[i]);
	return sum / a.size();
}

} // namespace

int pipeline()
{
	std::vector<std::unique_ptr<stage>> always, sometimes;
	field in(6000), out(6000), last(6000);
	int frame = 0, busy = 0;

	always.push_back(std::make_unique<gamma_of>());
	always.push_back(std::make_unique<blur>());
	always.push_back(std::make_unique<blur>());
	sometimes.push_back(std::make_unique<edges>());
	sometimes.push_back(std::make_unique<blur>());
	for (; frame < 64; frame++) {
		const double loud = luck() % 3 ? 0.1 : 1;

		std::generate(in.begin(), in.end(),
			      [&] { return noise() * loud; });
		for (auto &s : always) {
			s->run(in, out);
			std::swap(in, out);
		}
		if (moved(in, last) > 0.1) {
			busy++;
			for (auto &s : sometimes) {
				s->run(in, out);
				std::swap(in, out);
			}
		}
		last = in;
		if (frame % 16 == 15)
			std::printf("%d: %d busy\n", frame, busy);
	}
	return frame;
}

// --- a crowd: cells, neighbours, walls that open each 50 ---

int crowd()
{
	const std::size_t people = 5000;
	field x(people), speed(people), push(people), wall(100);
	std::vector<int> cell(people), order(people);
	int step = 0;

	for (auto &one : x)
		one = noise() * 100;
	for (; step < 200; step++) {
		each(people, [&](std::size_t i) {
			cell[i] = int(x[i] / 2 + 50) % 100;
		});
		std::iota(order.begin(), order.end(), 0);
		std::sort(order.begin(), order.end(),
			  [&](int a, int b) { return cell[a] < cell[b]; });
#pragma omp parallel for schedule(dynamic, 64)
		for (std::size_t k = 1; k < people - 1; k++) {
			const int i = order[k];

			push[i] = (x[i] - x[order[k - 1]]) +
				  (x[i] - x[order[k + 1]]);
		}
		if (step % 50 == 0) {
#pragma omp parallel for
			for (std::size_t i = 0; i < wall.size(); i++)
				wall[i] = std::sin(i * step);
		}
		each(people, [&](std::size_t i) {
			speed[i] = 0.9 * speed[i] + 0.01 * push[i] -
				   0.1 * wall[cell[i] < 0 ? 0 : cell[i]];
			x[i] += 0.1 * speed[i];
		});
		if (step % 40 == 39)
			std::printf("%d: %f\n", step, x[0]);
	}
	return step;
}

// --- a pool of threads, a queue of work: nothing that is recorded tells ---

int pool()
{
	std::queue<std::function<void()>> work;
	std::mutex lock;
	std::condition_variable there, done;
	std::vector<std::thread> threads;
	field made(64 * 100);
	int left = 0, round = 0;
	bool is_over = false;

	for (int t = 0; t < 3; t++)
		threads.emplace_back([&] {
			std::unique_lock<std::mutex> held(lock);

			while (true) {
				there.wait(held, [&] {
					return is_over || !work.empty();
				});
				if (work.empty())
					return;
				auto one = std::move(work.front());
				work.pop();
				held.unlock();
				one();
				held.lock();
				if (!--left)
					done.notify_all();
			}
		});
	for (; round < 50; round++) {
		std::unique_lock<std::mutex> held(lock);

		left = 64;
		for (int part = 0; part < 64; part++)
			work.push([&made, part, round] {
				for (int i = 0; i < 100; i++)
					made[part * 100 + i] +=
						std::sin(i * round);
			});
		there.notify_all();
		done.wait(held, [&] { return !left; });
	}
	{
		std::lock_guard<std::mutex> held(lock);

		is_over = true;
	}
	there.notify_all();
	for (auto &thread : threads)
		thread.join();
	std::printf("%f\n", made[99]);
	return round;
}

// --- light: a pass over the picture, where it is still rough each fourth ---

int light()
{
	const std::size_t pixels = 8000;
	field sum(pixels), square(pixels), rough(pixels, 1.0), shown(pixels);
	int pass = 0;

	for (; pass < 44; pass++) {
#pragma omp parallel for schedule(dynamic, 128)
		for (std::size_t i = 0; i < pixels; i++) {
			double ray = i * 0.37 + pass;

			for (int k = 0; k < (rough[i] > 0.1 ? 12 : 3); k++)
				ray = std::fabs(std::sin(ray * 91.7)) + 0.3;
			sum[i] += ray;
			square[i] += ray * ray;
		}
		if (pass % 4 == 3) {
			each(pixels, [&](std::size_t i) {
				const double mean = sum[i] / (pass + 1);

				rough[i] = square[i] / (pass + 1) - mean * mean;
			});
			each(pixels - 2, [&](std::size_t i) {
				shown[i + 1] = std::max(
					{rough[i], rough[i + 1], rough[i + 2]});
			});
			std::swap(rough, shown);
		}
		each(pixels, [&](std::size_t i) {
			shown[i] = std::sqrt(sum[i] / (pass + 1));
		});
	}
	std::printf("%f\n", shown[pixels / 2]);
	return pass;
}

// --- tours: all neighbours are looked at, one is taken, some forbidden; from
// elsewhere after 16 without gain ---

int forbidden()
{
	const std::size_t towns = 400;
	field x(towns), gain(towns);
	std::vector<int> tour(towns), until(towns);
	double best = 1e9;
	int move = 0, idle = 0;

	for (auto &one : x)
		one = noise();
	std::iota(tour.begin(), tour.end(), 0);
	for (; move < 240; move++) {
		double length = 0;

#pragma omp parallel for schedule(dynamic, 16)
		for (std::size_t i = 0; i < towns - 2; i++) {
			gain[i] = 0;
			for (std::size_t k = i + 1; k < towns - 1; k++)
				gain[i] = std::max(
					gain[i],
					std::fabs(x[tour[i]] - x[tour[k]]) -
						0.1 * (until[i] > move));
		}
		const auto at = std::max_element(gain.begin(), gain.end()) -
				gain.begin();

		std::swap(tour[at], tour[(at + 1 + luck() % 7) % towns]);
		until[at] = move + 10;
#pragma omp parallel for reduction(+ : length)
		for (std::size_t i = 1; i < towns; i++)
			length += std::fabs(x[tour[i]] - x[tour[i - 1]]);
		idle = length < best ? 0 : idle + 1;
		best = std::min(best, length);
		if (idle == 16) {
			std::shuffle(tour.begin(), tour.end(), luck);
			each(towns, [&](std::size_t i) { until[i] = 0; });
			idle = 0;
		}
	}
	std::printf("%f\n", best);
	return move;
}

int main()
{
	std::printf("steps %d\n", PROGRAM());
	return 0;
}
