/* SPDX-License-Identifier: MIT */
/* rovers.cpp - as rovers.c, in C++. */
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <random>
#include <vector>

using real = double;
using column = std::vector<real>;

constexpr int rows = 4000;

/* Trees by histograms, five levels each. */
class booster
{
      public:
	booster();
	void grow();

      private:
	std::vector<column> x_;
	column y_, guess_, down_ = column(rows), sums_ = column(32 * 16);
	std::vector<int> node_;

	void gradients();
	void histogram(std::size_t k, int nodes);
	void part(int depth);
	void update();
};

booster::booster() : x_(8, column(rows)), y_(rows), guess_(rows), node_(rows)
{
	std::mt19937 random(1);
	std::uniform_real_distribution<real> draw(0, 1);

	for (auto &one : x_)
		std::generate(one.begin(), one.end(),
			      [&] { return draw(random); });
	for (int i = 0; i < rows; i++)
		y_[i] = x_[0][i] * x_[1][i] + std::sin(x_[2][i]);
}

void booster::gradients()
{
#pragma omp parallel for
	for (int i = 0; i < rows; i++)
		down_[i] = y_[i] - guess_[i];
}

void booster::histogram(std::size_t k, int nodes)
{
	std::fill(sums_.begin(), sums_.end(), 0);
#pragma omp parallel for schedule(static, 256)
	for (int i = 0; i < rows; i++) {
		const int bin = (node_[i] % nodes) * 16 +
				static_cast<int>(x_[k][i] * 15);
#pragma omp atomic
		sums_[bin] += down_[i];
	}
}

void booster::part(int depth)
{
#pragma omp parallel for
	for (int i = 0; i < rows; i++)
		node_[i] = 2 * node_[i] + (x_[depth % 8][i] > 0.5);
}

void booster::update()
{
#pragma omp parallel for
	for (int i = 0; i < rows; i++)
		guess_[i] += 0.1 * down_[i] * (node_[i] % 3);
}

void booster::grow()
{
	gradients();
	std::fill(node_.begin(), node_.end(), 0);
	for (int depth = 0; depth < 5; depth++) {
		for (std::size_t k = 0; k < x_.size(); k++)
			histogram(k, 1 << depth);
		part(depth);
	}
	update();
}

int boosted()
{
	booster model;

	for (int tree = 0; tree < 30; tree++)
		model.grow();
	return 30;
}

/* A picture that gets better with each pass, shown each time. */
int tracer()
{
	column light(rows), shown(rows);

	for (int pass = 1; pass <= 44; pass++) {
#pragma omp parallel for schedule(dynamic, 64)
		for (int pixel = 0; pixel < rows; pixel++) {
			std::minstd_rand random(pass * rows + pixel);
			real path = 1, sum = 0;

			while (path > 0.05) {
				path *= 0.7 + 0.2 * (random() % 100) / 100;
				sum += path * (random() % 7);
			}
			light[pixel] += sum;
		}
		const real most = *std::max_element(light.begin(), light.end());
#pragma omp parallel for
		for (int pixel = 0; pixel < rows; pixel++)
			shown[pixel] = std::pow(light[pixel] / most, 0.45);
	}
	return 44;
}

/* A swarm that looks for the lowest place; the worst begin anew each 30. */
struct particle {
	real at[4], fast[4], best[4], value = 1e9;
};

int swarm()
{
	std::vector<particle> all(512);
	particle top;
	std::mt19937 random(2);
	std::normal_distribution<real> draw;

	for (auto &one : all)
		for (int k = 0; k < 4; k++)
			one.at[k] = one.best[k] = 3 * draw(random),
			one.fast[k] = 0;
	for (int turn = 0; turn < 150; turn++) {
#pragma omp parallel for
		for (std::size_t i = 0; i < all.size(); i++) {
			real value = 0;

			for (real at : all[i].at)
				value += at * at - 3 * std::cos(5 * at);
			if (value < all[i].value) {
				all[i].value = value;
				std::copy_n(all[i].at, 4, all[i].best);
			}
		}
#pragma omp parallel
		{
			particle mine;

#pragma omp for nowait
			for (std::size_t i = 0; i < all.size(); i++)
				if (all[i].value < mine.value)
					mine = all[i];
#pragma omp critical
			if (mine.value < top.value)
				top = mine;
		}
#pragma omp parallel for
		for (std::size_t i = 0; i < all.size(); i++)
			for (int k = 0; k < 4; k++) {
				all[i].fast[k] =
					0.7 * all[i].fast[k] +
					0.9 * (all[i].best[k] - all[i].at[k]) +
					0.6 * (top.best[k] - all[i].at[k]);
				all[i].at[k] += all[i].fast[k];
			}
		if (turn % 30 == 29) {
#pragma omp parallel for
			for (std::size_t i = 0; i < all.size(); i++)
				if (all[i].value > top.value + 5)
					all[i].value = 1e9;
		}
	}
	return 150;
}

/* Chains at six temperatures, one after the other, and now and then two of them
 * change places. */
int tempered()
{
	std::vector<std::vector<int>> spins(6, std::vector<int>(rows, 1));
	column energy(6);

	for (int sweep = 0; sweep < 210; sweep++) {
		for (int chain = 0; chain < 6; chain++) {
			auto &s = spins[chain];
			real sum = 0;

			for (int colour = 0; colour < 2; colour++) {
#pragma omp parallel for reduction(+ : sum)
				for (int i = 1 + colour; i < rows - 1; i += 2) {
					const int near = s[i - 1] + s[i + 1];

					if ((i * 7919 + sweep) % 97 <
					    40 - near * (chain + 1))
						s[i] = -s[i];
					sum += s[i] * near;
				}
			}
			energy[chain] = sum;
		}
		if (sweep % 10 == 9)
			for (int chain = sweep / 10 % 2; chain < 5; chain += 2)
				if (energy[chain] > energy[chain + 1])
					std::swap(spins[chain],
						  spins[chain + 1]);
	}
	return 210;
}

int main()
{
	std::printf("steps %d\n", PROGRAM());
	return 0;
}
