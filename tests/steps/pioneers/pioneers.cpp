/* SPDX-License-Identifier: MIT */
/* pioneers.cpp - as pioneers.c, in C++. */
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <random>
#include <vector>

static std::mt19937 random_bits(7);

static double noise()
{
	return std::uniform_real_distribution<double>(-1, 1)(random_bits);
}

/* --- a network that other parts share --- */

using rows = std::vector<std::vector<double>>;

class layer
{
      public:
	layer(int in, int out)
	    : weights(out, std::vector<double>(in)), slopes(weights), in(in),
	      out(out)
	{
		for (auto &row : weights)
			std::generate(row.begin(), row.end(), [this] {
				return noise() / std::sqrt(this->in);
			});
	}

	const rows &forward(const rows &x)
	{
		kept = &x;
		made.assign(x.size(), std::vector<double>(out));
#pragma omp parallel for
		for (size_t r = 0; r < x.size(); r++) {
			for (int o = 0; o < out; o++)
				made[r][o] = std::tanh(std::inner_product(
					x[r].begin(), x[r].end(),
					weights[o].begin(), 0.0));
		}
		return made;
	}

	rows backward(const rows &g);

	void step(double rate)
	{
#pragma omp parallel for
		for (int o = 0; o < out; o++) {
			for (int i = 0; i < in; i++) {
				weights[o][i] -= rate * slopes[o][i];
				slopes[o][i] = 0;
			}
		}
	}

	rows weights, slopes;

      private:
	int in, out;
	const rows *kept = nullptr;
	rows made;
};

rows layer::backward(const rows &g)
{
	rows below(g.size(), std::vector<double>(in));

#pragma omp parallel for
	for (int o = 0; o < out; o++) {
		for (size_t r = 0; r < g.size(); r++) {
			for (int i = 0; i < in; i++)
				slopes[o][i] += g[r][o] * (*kept)[r][i];
		}
	}
#pragma omp parallel for
	for (size_t r = 0; r < g.size(); r++) {
		for (int o = 0; o < out; o++) {
			for (int i = 0; i < in; i++)
				below[r][i] += g[r][o] * weights[o][i];
		}
	}
	return below;
}

class network
{
      public:
	explicit network(const std::vector<int> &sizes)
	{
		for (size_t l = 0; l + 1 < sizes.size(); l++)
			layers.emplace_back(sizes[l], sizes[l + 1]);
	}

	const rows &forward(const rows &x)
	{
		const rows *now = &x;

		for (auto &l : layers)
			now = &l.forward(*now);
		return *now;
	}

	double train(const rows &x, double rate)
	{
		rows error = forward(x);
		double loss = 0;

		for (size_t r = 0; r < x.size(); r++) {
			for (size_t o = 0; o < error[r].size(); o++) {
				error[r][o] -= std::sin(x[r][o % x[r].size()]);
				loss += error[r][o] * error[r][o];
			}
		}
		for (auto l = layers.rbegin(); l != layers.rend(); l++)
			error = l->backward(error);
		for (auto &l : layers)
			l.step(rate / x.size());
		return loss / x.size();
	}

	std::vector<layer> layers;
};

static rows batch(int count, int wide)
{
	rows x(count, std::vector<double>(wide));

	for (auto &row : x)
		std::generate(row.begin(), row.end(), noise);
	return x;
}

/* --- ten clients, each with as many rows as it has, learn for one --- */

int federation()
{
	network whole({16, 24, 4});
	std::vector<int> owned(10);
	int round = 0, batches = 0;

	for (auto &count : owned)
		count = 40 + random_bits() % 120;
	for (; round < 18; round++) {
		std::vector<int> chosen(owned.size());
		std::vector<network> trained;

		std::iota(chosen.begin(), chosen.end(), 0);
		std::shuffle(chosen.begin(), chosen.end(), random_bits);
		chosen.resize(6);
		for (const int c : chosen) {
			network mine = whole;

			for (int epoch = 0; epoch < 2; epoch++) {
				for (int at = 0; at < owned[c]; at += 16) {
					mine.train(batch(16, 16), 0.05);
					batches++;
				}
			}
			trained.push_back(mine);
		}
		for (size_t l = 0; l < whole.layers.size(); l++) {
			rows &to = whole.layers[l].weights;

#pragma omp parallel for
			for (size_t o = 0; o < to.size(); o++) {
				for (size_t i = 0; i < to[o].size(); i++) {
					double sum = 0;

					for (const auto &n : trained)
						sum += n.layers[l]
							       .weights[o][i];
					to[o][i] = sum / trained.size();
				}
			}
		}
		double error = 0;

		for (int k = 0; k < 3; k++)
			error += whole.forward(batch(32, 16))[0][0];
		std::printf("round %d: %f\n", round, error);
	}
	std::printf("batches %d\n", batches);
	return round;
}

/* --- it plays against itself, learns from that, and is tried --- */

static int play(network &one, network &two, std::vector<rows> *record)
{
	const int moves = 12 + random_bits() % 20;
	double score = 0;

	for (int m = 0; m < moves; m++) {
		network &side = m % 2 ? two : one;

		for (int s = 0; s < 8; s++)
			score += side.forward(batch(4, 20))[0][0];
		if (record)
			record->push_back(batch(4, 20));
	}
	return score > 0;
}

int selfplay()
{
	network best({20, 32, 32, 5});
	int turn = 0;

	for (; turn < 12; turn++) {
		std::vector<rows> record;
		network next = best;
		int won = 0;

		for (int game = 0; game < 3; game++)
			play(best, best, &record);
		for (int epoch = 0; epoch < 2; epoch++) {
			for (int b = 0; b < 20; b++)
				next.train(
					record[random_bits() % record.size()],
					0.01);
		}
		for (int game = 0; game < 2; game++)
			won += play(next, best, nullptr);
		if (won)
			best = next;
		std::printf("%d: %zu positions, %d won\n", turn, record.size(),
			    won);
	}
	return turn;
}

/* --- light along rays, coarse and fine, a picture each 25 --- */

int radiance()
{
	network coarse({12, 32, 4}), fine({12, 48, 48, 4});
	double rate = 0.05;
	int turn = 0;

	for (int k = 0; k < 10; k++) /* how bright it is about */
		coarse.forward(batch(64, 12));
	for (; turn < 100; turn++) {
		rows rays = batch(48, 12);
		const rows &rough = coarse.forward(rays);

#pragma omp parallel for
		for (size_t r = 0; r < rays.size(); r++) {
			for (int s = 0; s < 12; s++)
				rays[r][s] += 0.1 * rough[r][s % 4];
		}
		const double loss = fine.train(rays, rate);

		coarse.train(rays, rate);
		rate *= 0.995;
		if ((turn + 1) % 25)
			continue;
		std::vector<double> picture;

		for (int chunk = 0; chunk < 8; chunk++) {
			rows view = batch(48, 12);

			coarse.forward(view);
			for (const auto &row : fine.forward(view))
				picture.push_back(row[0]);
		}
		std::printf("%d: %f, %zu pixels\n", turn, loss, picture.size());
	}
	return turn;
}

/* --- where to leave material: a system, slopes, and a bisection each --- */

class structure
{
      public:
	static const int n = 2500;
	std::vector<double> x, slopes, load, moved, residual, way, product;

	structure()
	    : x(n, 0.4), slopes(n), load(n), moved(n), residual(n), way(n),
	      product(n)
	{
		load[n / 2] = load[n / 3] = 1;
	}

	template <typename F> double sum(F f)
	{
		double total = 0;

#pragma omp parallel for reduction(+ : total)
		for (int i = 0; i < n; i++)
			total += f(i);
		return total;
	}

	template <typename F> void each(F f)
	{
#pragma omp parallel for
		for (int i = 1; i < n - 1; i++)
			f(i);
	}

	int equilibrium();

	double criteria();
};

int structure::equilibrium()
{
	int k = 0;
	double now, next;

	each([&](int i) { residual[i] = way[i] = load[i]; });
	each([&](int i) { moved[i] = 0; });
	now = sum([&](int i) { return residual[i] * residual[i]; });
	while (now > 1e-7 && k < 200) {
		each([&](int i) {
			const double e = 1e-2 + x[i] * x[i] * x[i];

			product[i] = (2 * e + 0.05) * way[i] -
				     e * (way[i - 1] + way[i + 1]);
		});
		const double a =
			now / sum([&](int i) { return way[i] * product[i]; });

		each([&](int i) {
			moved[i] += a * way[i];
			residual[i] -= a * product[i];
		});
		next = sum([&](int i) { return residual[i] * residual[i]; });
		each([&](int i) {
			way[i] = residual[i] + next / now * way[i];
		});
		now = next;
		k++;
	}
	return k;
}

double structure::criteria()
{
	double low = 0, high = 100, change = 0;
	std::vector<double> fresh(x);

	while (high - low > 1e-3 * (1 + low)) {
		const double middle = (low + high) / 2;

		each([&](int i) {
			const double to =
				x[i] * std::sqrt(std::fabs(slopes[i]) / middle);

			fresh[i] = std::min({1.0, x[i] + 0.2, to});
			fresh[i] = std::max({1e-2, x[i] - 0.2, fresh[i]});
		});
		if (sum([&](int i) { return fresh[i]; }) > 0.4 * n)
			low = middle;
		else
			high = middle;
	}
#pragma omp parallel for reduction(max : change)
	for (int i = 0; i < n; i++)
		change = std::max(change, std::fabs(x[i] - fresh[i]));
	x.swap(fresh);
	return change;
}

int topology()
{
	structure s;
	double change = 1;
	int design = 0;

	while (change > 0.002 && design < 60) {
		const int k = s.equilibrium();

		s.each([&](int i) {
			s.slopes[i] =
				-3 * s.x[i] * s.x[i] * s.moved[i] * s.moved[i] -
				1e-4;
		});
		s.each([&](int i) {
			s.slopes[i] = (s.slopes[i - 1] + 2 * s.slopes[i] +
				       s.slopes[i + 1]) /
				      4;
		});
		change = s.criteria();
		std::printf("%d: %d iterations, change %f\n", ++design, k,
			    change);
	}
	return design;
}

int main()
{
	std::printf("steps %d\n", PROGRAM());
	return 0;
}
