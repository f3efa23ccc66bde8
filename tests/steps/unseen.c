/* SPDX-License-Identifier: MIT */
/*
 * unseen.c - six programs that the search for the step was never set on, with
 * the steps that a person would name written down before the first run:
 *
 *	particles	120	time steps of a particle-in-cell code
 *	centres		50	Lloyd's iterations of k-means
 *	rank		80	iterations of PageRank
 *	rivals		100	batches of a GAN
 *	episodes	80	episodes of reinforcement learning
 *	denoiser	150	batches of a diffusion model
 *
 *	unseen NAME
 */

#define N 8192
#include "programs.h"

static double x[N], y[N], v[N], w[N], g[N];

/* --- particles in cells --------------------------------------------------- */

LOOP(place_particles, (x[i] = fmod(i * 0.618, 1), v[i] = sin(i)))
LOOP(clear_grid, g[i] = 0)
LOOP(deposit, g[i] += x[i])
LOOP(smooth_potential, y[i] = 0.5 * (y[i - 1] + g[i]))
SUM(potential_error, fabs(y[i] - g[i]))
LOOP(field, w[i] = y[i - 1] - y[i + 1])
LOOP(push, v[i] += 1e-3 * w[i])
LOOP(move, x[i] += 1e-3 * v[i])
LOOP(wrap, x[i] -= floor(x[i]))
LOOP(sort_cells, y[i] = floor(16 * x[i]))
SUM(kinetic, v[i] * v[i])
SUM(electric, w[i] * w[i])

static int particles(void)
{
	place_particles();
	for (int step = 0; step < 120; step++) {
		const int sweeps = 20 + (step * 7) % 9;

		if (step % 25 == 0)
			sort_cells();
		clear_grid();
		deposit();
		for (int i = 0; i < sweeps; i++) {
			smooth_potential();
			if (i % 4 == 3)
				potential_error();
		}
		field();
		push();
		move();
		wrap();
		if (step % 10 == 0) {
			kinetic();
			electric();
		}
	}
	return 120;
}

/* --- k-means -------------------------------------------------------------- */

LOOP(read_points, x[i] = sin(3 * i))
LOOP(nearest_so_far, y[i] = fmin(y[i], fabs(x[i])))
SUM(draw_centre, y[i])
LOOP(assign, w[i] = floor(8 * fabs(x[i])))
LOOP(add_up, g[i] = w[i] + x[i])
LOOP(divide, v[i] = g[i] / (1 + w[i]))
SUM(inertia, (x[i] - v[i]) * (x[i] - v[i]))

static int centres(void)
{
	read_points();
	for (int centre = 0; centre < 16; centre++) {
		nearest_so_far();
		draw_centre();
	}
	for (int i = 0; i < 50; i++) {
		assign();
		add_up();
		divide();
		inertia();
	}
	assign();
	inertia();
	return 50;
}

/* --- PageRank ------------------------------------------------------------- */

LOOP(read_edges, x[i] = (i * 7) % 97)
LOOP(count_degrees, w[i] = 1 + x[i])
LOOP(prefix_sum, g[i] = g[i] + w[i - 1])
LOOP(fill_neighbours, y[i] = x[(i * 31) % N])
LOOP(same_rank, v[i] = 1.0 / N)
LOOP(contribution, y[i] = v[i] / w[i])
SUM(dangling, w[i] < 1.5 ? v[i] : 0)
LOOP(gather, g[i] = 0.15 / N + 0.85 * (y[i - 1] + y[i + 1]))
SUM(change, fabs(g[i] - v[i]))
LOOP(take_over, v[i] = g[i])
SUM(highest, v[i] > 0.01)

static int rank(void)
{
	read_edges();
	count_degrees();
	for (int i = 0; i < 13; i++)
		prefix_sum();
	fill_neighbours();
	same_rank();
	for (int i = 0; i < 80; i++) {
		contribution();
		dangling();
		gather();
		change();
		take_over();
	}
	highest();
	return 80;
}

/* --- two networks against each other -------------------------------------- */

LOOP(noise, x[i] = sin(i * 12.9898))
LOOP(generator_layer, y[i] = tanh(x[i] * 0.5 + x[i - 1]))
LOOP(generator_out, w[i] = tanh(y[i]))
LOOP(load_real, w[i] = cos(i * 0.1))
LOOP(critic_layer, v[i] = fmax(0, w[i] + 0.1 * w[i - 1]))
SUM(critic_out, v[i] * 0.01)
LOOP(critic_layer_back, g[i] = v[i] > 0 ? 0.1 : 0)
LOOP(critic_update, v[i] -= 1e-3 * g[i])
LOOP(generator_layer_back, g[i] = (1 - y[i] * y[i]) * 0.1)
LOOP(generator_update, y[i] -= 1e-3 * g[i])
LOOP(save_image, g[i] = floor(255 * fabs(w[i])))

static void generate(void)
{
	noise();
	for (int i = 0; i < 4; i++)
		generator_layer();
	generator_out();
}

static void criticise(void)
{
	for (int i = 0; i < 3; i++)
		critic_layer();
	critic_out();
}

static int rivals(void)
{
	for (int batch = 0; batch < 100; batch++) {
		load_real();
		criticise();
		for (int i = 0; i < 3; i++)
			critic_layer_back();
		generate();
		criticise();
		for (int i = 0; i < 3; i++)
			critic_layer_back();
		critic_update();
		generate();
		criticise();
		for (int i = 0; i < 3; i++)
			critic_layer_back();
		for (int i = 0; i < 4; i++)
			generator_layer_back();
		generator_update();
		if (batch % 20 == 19) {
			generate();
			save_image();
		}
	}
	return 100;
}

/* --- episodes, then what was learnt from them ----------------------------- */

LOOP(reset_worlds, x[i] = 0.01 * sin(i))
LOOP(policy_layer, y[i] = tanh(x[i] + 0.3 * x[i - 1]))
LOOP(choose_action, w[i] = y[i] > 0 ? 1 : -1)
LOOP(step_worlds, x[i] += 0.02 * w[i])
LOOP(returns, g[i] = 1 + 0.99 * g[i])
LOOP(advantages, v[i] = g[i] - y[i])
LOOP(policy_back, y[i] += 1e-3 * v[i])
SUM(clipped_loss, fmin(v[i], 0.2))
LOOP(policy_update, y[i] -= 1e-4 * v[i])
SUM(mean_reward, g[i])

static void roll_out(int steps)
{
	reset_worlds();
	for (int i = 0; i < steps; i++) {
		policy_layer();
		policy_layer();
		choose_action();
		step_worlds();
	}
}

static int episodes(void)
{
	for (int episode = 0; episode < 80; episode++) {
		roll_out(16 + (episode * 11) % 23);
		returns();
		advantages();
		for (int epoch = 0; epoch < 4; epoch++) {
			policy_layer();
			policy_layer();
			clipped_loss();
			policy_back();
			policy_back();
			policy_update();
		}
		if (episode % 20 == 19) {
			roll_out(40);
			mean_reward();
		}
	}
	return 80;
}

/* --- a model that takes noise away ---------------------------------------- */

LOOP(load_images, x[i] = cos(i * 0.37))
LOOP(add_noise, y[i] = 0.8 * x[i] + 0.2 * sin(i * 78.233))
LOOP(embed_time, w[i] = sin(i * 1e-3))
LOOP(convolve, v[i] = 0.5 * y[i] + 0.25 * (y[i - 1] + y[i + 1]))
LOOP(group_norm, y[i] = v[i] / (1 + fabs(w[i])))
LOOP(attend, y[i] += 0.1 * v[i])
LOOP(halve, v[i] = 0.5 * y[i])
LOOP(double_up, y[i] = 2 * v[i])
SUM(noise_loss, (y[i] - x[i]) * (y[i] - x[i]))
LOOP(convolve_back, g[i] = 0.5 * v[i])
LOOP(group_norm_back, g[i] *= 0.9)
LOOP(attend_back, g[i] += 0.1 * w[i])
SUM(gradient_norm, g[i] * g[i])
LOOP(adam, v[i] -= 1e-3 * g[i])
LOOP(running_mean, w[i] = 0.99 * w[i] + 0.01 * v[i])
LOOP(less_noise, y[i] = 0.99 * y[i] - 0.01 * x[i])

static void network(void)
{
	embed_time();
	for (int level = 0; level < 3; level++) {
		convolve();
		group_norm();
		convolve();
		group_norm();
		halve();
	}
	attend();
	for (int level = 0; level < 3; level++) {
		double_up();
		convolve();
		group_norm();
	}
}

static int denoiser(void)
{
	for (int batch = 0; batch < 150; batch++) {
		load_images();
		add_noise();
		network();
		noise_loss();
		for (int level = 0; level < 9; level++) {
			group_norm_back();
			convolve_back();
		}
		attend_back();
		gradient_norm();
		adam();
		running_mean();
		if (batch % 50 == 49) {
			for (int i = 0; i < 30; i++) {
				network();
				less_noise();
			}
		}
	}
	return 150;
}

static const struct program programs[] = {
	{"particles", particles, 0}, {"centres", centres, 0},
	{"rank", rank, 0},	     {"rivals", rivals, 0},
	{"episodes", episodes, 0},   {"denoiser", denoiser, 0},
};

int main(int argc, char **argv)
{
	return run_named(argc, argv, programs,
			 sizeof(programs) / sizeof(programs[0]));
}
