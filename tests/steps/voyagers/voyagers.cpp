/* SPDX-License-Identifier: MIT */
/* voyagers.cpp - as voyagers.c, in C++. */
#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

static std::mt19937 bits(11);

static double noise()
{
	return std::uniform_real_distribution<double>(-1, 1)(bits);
}

using numbers = std::vector<double>;

/* --- layers of two kinds, called through what they have in common --- */

class part
{
      public:
	virtual ~part() = default;
	virtual numbers forward(const numbers &x) = 0;
	virtual numbers backward(const numbers &g) = 0;
	virtual void update(double)
	{
	}
};

class dense : public part
{
      public:
	explicit dense(size_t n) : n(n), weight(n * n), slope(n * n)
	{
		std::generate(weight.begin(), weight.end(),
			      [n] { return noise() / std::sqrt(n); });
	}
	numbers forward(const numbers &x) override
	{
		numbers y(n);

		kept = x;
#pragma omp parallel for
		for (size_t o = 0; o < n; o++)
			y[o] = std::inner_product(x.begin(), x.end(),
						  weight.begin() + o * n, 0.0);
		return y;
	}
	numbers backward(const numbers &g) override
	{
		numbers down(n);

#pragma omp parallel for
		for (size_t i = 0; i < n; i++) {
			for (size_t o = 0; o < n; o++) {
				down[i] += g[o] * weight[o * n + i];
				slope[o * n + i] += g[o] * kept[i];
			}
		}
		return down;
	}
	void update(double rate) override
	{
#pragma omp parallel for
		for (size_t i = 0; i < n * n; i++) {
			weight[i] -= rate * slope[i];
			slope[i] = 0;
		}
	}

      private:
	size_t n;
	numbers weight, slope, kept;
};

class bend : public part
{
      public:
	numbers forward(const numbers &x) override
	{
		made.resize(x.size());
#pragma omp parallel for
		for (size_t i = 0; i < x.size(); i++)
			made[i] = std::tanh(x[i]);
		return made;
	}
	numbers backward(const numbers &g) override
	{
		numbers down(g.size());

#pragma omp parallel for
		for (size_t i = 0; i < g.size(); i++)
			down[i] = g[i] * (1 - made[i] * made[i]);
		return down;
	}

      private:
	numbers made;
};

/* Three epochs of 32, a validation behind each, and a rate by a function. */
int stack()
{
	std::vector<std::unique_ptr<part>> parts;
	const std::function<double(int)> rate = [](int t) {
		return 0.01 * std::cos(t * 0.01);
	};
	int batches = 0;

	for (int i = 0; i < 3; i++) {
		parts.push_back(std::make_unique<dense>(64));
		parts.push_back(std::make_unique<bend>());
	}
	const auto pass = [&](numbers x) {
		for (auto &p : parts)
			x = p->forward(x);
		return x;
	};

	for (int epoch = 0; epoch < 3; epoch++) {
		double loss = 0;

		for (int b = 0; b < 32; b++, batches++) {
			numbers x(64);

			std::generate(x.begin(), x.end(), noise);
			numbers g = pass(x);

			std::transform(g.begin(), g.end(), x.begin(), g.begin(),
				       std::minus<>());
			for (auto p = parts.rbegin(); p != parts.rend(); ++p)
				g = (*p)->backward(g);
			for (auto &p : parts)
				p->update(rate(batches));
		}
		for (int b = 0; b < 8; b++) {
			const numbers y = pass(numbers(64, 0.1 * b));

			loss += std::accumulate(y.begin(), y.end(), 0.0);
		}
		std::printf("%d: %f\n", epoch, loss);
	}
	return batches;
}

/* --- a dam breaks: time steps as long as they may be, pressure until the flow
 * is even --- */

class dam
{
      public:
	explicit dam(size_t n) : n(n), u(n), p(n), r(n), d(n), ad(n), tag(n)
	{
		std::generate(u.begin() + 1, u.end() - 1, noise);
	}

	double longest()
	{
		double fastest = 1e-9;

#pragma omp parallel for reduction(max : fastest)
		for (size_t i = 0; i < n; i++)
			fastest = std::max(fastest, std::abs(u[i]));
		return 0.4 / fastest;
	}

	void advect(double dt)
	{
#pragma omp parallel for
		for (size_t i = 1; i < n - 1; i++)
			tag[i] = u[i] + 0.1 * std::sin(i * dt) -
				 dt * 0.1 * u[i] * (u[i] - u[i - 1]);
		std::swap(u, tag);
	}

	int project();

	void correct()
	{
#pragma omp parallel for
		for (size_t i = 1; i < n - 1; i++)
			u[i] -= 0.1 * (p[i] - p[i - 1]);
	}

	double dot(const numbers &a, const numbers &b) const
	{
		double sum = 0;

#pragma omp parallel for reduction(+ : sum)
		for (size_t i = 0; i < n; i++)
			sum += a[i] * b[i];
		return sum;
	}

      private:
	size_t n;
	numbers u, p, r, d, ad, tag;
};

int dam::project()
{
	double size = dot(u, u);
	const double goal = size * 1e-5 * std::exp(4 * noise());
	int k = 0;

#pragma omp parallel for
	for (size_t i = 0; i < n; i++) {
		r[i] = d[i] = u[i];
		p[i] = 0;
	}
	for (; size > goal && k < 40; k++) {
#pragma omp parallel for
		for (size_t i = 1; i < n - 1; i++)
			ad[i] = 2.5 * d[i] - d[i - 1] - d[i + 1];
		const double alpha = size / dot(d, ad);

#pragma omp parallel for
		for (size_t i = 0; i < n; i++) {
			p[i] += alpha * d[i];
			r[i] -= alpha * ad[i];
		}
		const double now = dot(r, r);

#pragma omp parallel for
		for (size_t i = 0; i < n; i++)
			d[i] = r[i] + now / size * d[i];
		size = now;
	}
	return k;
}

int breaks()
{
	dam water(4000);
	double t = 0;
	int step = 0;

	while (step < 65) {
		const double dt = water.longest();

		water.advect(dt);
		const int k = water.project();

		water.correct();
		t += dt;
		if (++step % 13 == 0)
			std::printf("t %f: %d iterations\n", t, k);
	}
	return step;
}

/* --- trees for four parts of the data: levels as deep as they may be --- */

int orchard()
{
	const size_t n = 4000;
	numbers x(n), y(n), guess(n), slope(n);
	int trees = 0;

	std::generate(x.begin(), x.end(), noise);
	for (size_t i = 0; i < n; i++)
		y[i] = std::sin(3 * x[i]);
	for (int fold = 0; fold < 4; fold++) {
		std::fill(guess.begin(), guess.end(), 0);
		for (int tree = 0; tree < 20; tree++, trees++) {
			std::vector<int> node(n);
			int deep = 2 + static_cast<int>(bits() % 4);

#pragma omp parallel for
			for (size_t i = 0; i < n; i++)
				slope[i] = y[i] - guess[i];
			for (int l = 0; l < deep; l++) {
				numbers sums(64);

#pragma omp parallel
				{
					numbers mine(64);

#pragma omp for
					for (size_t i = 0; i < n; i++)
						mine[node[i] % 64] += slope[i];
#pragma omp critical
					for (size_t k = 0; k < 64; k++)
						sums[k] += mine[k];
				}
#pragma omp parallel for
				for (size_t i = 0; i < n; i++)
					node[i] = 2 * node[i] +
						  (x[i] > sums[0] / n + l * .1);
			}
#pragma omp parallel for
			for (size_t i = 0; i < n; i++)
				guess[i] += 0.1 * (node[i] % 2 ? 1 : -1);
		}
		double loss = 0;

#pragma omp parallel for reduction(+ : loss)
		for (size_t i = 0; i < n; i++)
			loss += std::pow(y[i] - guess[i], 2);
		std::printf("fold %d: %f\n", fold, loss / n);
	}
	return trees;
}

/* --- threads of our own, that wait for parts of a picture --- */

class pool
{
      public:
	explicit pool(size_t count)
	{
		for (size_t i = 0; i < count; i++)
			threads.emplace_back([this, i] { work(i); });
	}
	~pool()
	{
		run(nullptr);
		for (auto &t : threads)
			t.join();
	}
	void run(std::function<void(size_t)> what)
	{
		std::unique_lock<std::mutex> lock(mutex);

		todo = std::move(what);
		left = threads.size();
		turn++;
		more.notify_all();
		done.wait(lock, [this] { return left == 0; });
	}

      private:
	void work(size_t i)
	{
		std::unique_lock<std::mutex> lock(mutex);
		int seen = 0;

		while (true) {
			more.wait(lock, [&] { return turn != seen; });
			seen = turn;
			const auto mine = todo;

			lock.unlock();
			if (mine)
				mine(i);
			lock.lock();
			if (--left == 0)
				done.notify_all();
			if (!mine)
				return;
		}
	}

	std::mutex mutex;
	std::condition_variable more, done;
	std::vector<std::thread> threads;
	std::function<void(size_t)> todo;
	size_t left = 0;
	int turn = 0;
};

int pictures()
{
	pool threads(3);
	numbers now(6000), next(6000);
	int step = 0;

	std::generate(now.begin(), now.end(), noise);
	for (; step < 70; step++) {
		threads.run([&](size_t part) {
			for (size_t i = 1 + part * 1999; i < 1999 * (part + 1);
			     i++)
				next[i] =
					(now[i - 1] + now[i] + now[i + 1]) / 3;
		});
		std::swap(now, next);
	}
	std::printf("%f\n", now[3000]);
	return step;
}

#ifdef HAS_TBB
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>

/* --- heat by TBB: two loops in each of 90 steps --- */

int tasks()
{
	numbers now(20000), next(20000);
	int step = 0;

	std::generate(now.begin(), now.end(), noise);
	for (; step < 90; step++) {
		tbb::parallel_for(size_t(1), now.size() - 1, [&](size_t i) {
			next[i] = (now[i - 1] + now[i] + now[i + 1]) / 3;
		});
		const double sum = tbb::parallel_reduce(
			tbb::blocked_range<size_t>(0, next.size()), 0.0,
			[&](const tbb::blocked_range<size_t> &r, double s) {
				for (size_t i = r.begin(); i < r.end(); i++)
					s += next[i];
				return s;
			},
			std::plus<>());

		std::swap(now, next);
		if (step % 30 == 29)
			std::printf("%d: %f\n", step, sum);
	}
	return step;
}
#endif

int main()
{
	std::printf("steps %d\n", PROGRAM());
	return 0;
}
