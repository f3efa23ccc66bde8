/* SPDX-License-Identifier: MIT */
/*
 * later.c - six more programs that no rule was set on, of kinds that the corpus
 * had not, with the steps that a person would name written down before the
 * first run:
 *
 *	annealing	90	sweeps over a lattice of spins
 *	bodies		70	time steps of a tree code
 *	transport	200	iterations of Sinkhorn's
 *	samples		60	draws of a Hamiltonian Monte Carlo
 *	generations	75	generations of a genetic algorithm
 *	frames		48	frames of a path tracer
 *
 *	later NAME
 */
#define N 8192
#include "programs.h"

static double x[N], y[N], v[N], w[N];

LOOP(draw_spins, x[i] = sin(i) > 0 ? 1 : -1)
LOOP(red, x[i] = y[i] > x[i - 1] ? -x[i] : x[i])
LOOP(black, x[i] = y[i] > x[i + 1] ? -x[i] : x[i])
SUM(energy, x[i] * x[i + 1])
SUM(magnetisation, x[i])

static int annealing(void)
{
	draw_spins();
	for (int sweep = 0; sweep < 90; sweep++) {
		red();
		black();
		if (sweep % 10 == 9)
			v[0] = energy() + magnetisation();
	}
	return 90;
}

LOOP(place, x[i] = sin(7 * i))
LOOP(keys, w[i] = floor(x[i] * 64))
LOOP(sort_keys, w[i] = fmax(w[i], w[i - 1]))
LOOP(split_cells, v[i] = w[i] - w[i - 1])
LOOP(moments, y[i] = v[i] + w[i])
LOOP(add_moments, y[i] += y[i - 1])
LOOP(walk_tree, v[i] = 1 / (1 + y[i] * y[i]))
LOOP(kick, v[i] += 0.01 * x[i])
LOOP(drift, x[i] += 0.01 * v[i])

static int bodies(void)
{
	place();
	for (int step = 0; step < 70; step++) {
		const int levels = 5 + step % 3;

		keys();
		sort_keys();
		for (int level = 0; level < levels; level++)
			split_cells();
		moments();
		for (int level = 0; level < levels; level++)
			add_moments();
		walk_tree();
		kick();
		drift();
		if (step % 14 == 0)
			v[0] = energy();
	}
	return 70;
}

LOOP(costs, w[i] = exp(-fabs(x[i] - y[i])))
LOOP(scale_rows, v[i] = 1 / (1e-3 + w[i] * y[i]))
LOOP(scale_columns, y[i] = 1 / (1e-3 + w[i] * v[i]))
SUM(marginal, fabs(v[i] * w[i] * y[i] - 1))
SUM(distance, v[i] * w[i] * y[i])

static int transport(void)
{
	costs();
	for (int i = 0; i < 200; i++) {
		scale_rows();
		scale_columns();
		if (i % 10 == 9)
			x[0] = marginal();
	}
	x[0] = distance();
	return 200;
}

LOOP(draw_momentum, v[i] = sin(3 * i))
LOOP(gradient, w[i] = -x[i] + 0.1 * x[i - 1])
LOOP(half_kick, v[i] += 0.5 * w[i])
LOOP(move, x[i] += 0.1 * v[i])
SUM(potential, x[i] * x[i])
SUM(kinetic, v[i] * v[i])
LOOP(keep, y[i] = x[i])

/* Trajectories are of chance lengths; one in three is turned down. */
static int samples(void)
{
	for (int draw = 0; draw < 60; draw++) {
		const int length = 6 + draw * 7 % 5;

		draw_momentum();
		x[0] = potential() + kinetic();
		for (int i = 0; i < length; i++) {
			gradient();
			half_kick();
			move();
			half_kick();
		}
		x[0] = potential() + kinetic();
		if (draw * 5 % 3)
			keep();
	}
	return 60;
}

LOOP(first_ones, x[i] = sin(11 * i))
LOOP(fitness, y[i] = -x[i] * x[i])
LOOP(tournament, w[i] = fmax(y[i], y[i + 1]))
LOOP(cross, v[i] = 0.5 * (x[i] + x[i + 1]))
LOOP(mutate, x[i] = v[i] + 1e-3 * sin(i))
SUM(best, y[i])
LOOP(islands, x[i] += 1e-6 * w[i])

static int generations(void)
{
	first_ones();
	fitness();
	for (int i = 0; i < 75; i++) {
		tournament();
		cross();
		mutate();
		fitness();
		if (i % 15 == 14) {
			islands();
			x[0] = best();
		}
	}
	return 75;
}

LOOP(pose, x[i] = cos(5 * i))
LOOP(build_level, w[i] = fmin(x[i], x[i + 1]))
LOOP(camera_rays, v[i] = x[i])
LOOP(trace, v[i] = fabs(v[i] - w[i]))
LOOP(shade, y[i] += v[i])
LOOP(denoise, y[i] = 0.5 * (y[i] + y[i + 1]))
LOOP(tone, y[i] = y[i] / (1 + fabs(y[i])))

/* As many samples as a frame needs, each of bounces until no ray is left. */
static int frames(void)
{
	for (int frame = 0; frame < 48; frame++) {
		const int spent = 3 + frame % 2;

		pose();
		for (int level = 0; level < 6; level++)
			build_level();
		for (int sample = 0; sample < spent; sample++) {
			const int bounces = 4 + (frame + sample) % 3;

			camera_rays();
			for (int i = 0; i < bounces; i++) {
				trace();
				shade();
			}
		}
		denoise();
		tone();
	}
	return 48;
}

static const struct program programs[] = {
	{"annealing", annealing, 0},	 {"bodies", bodies, 0},
	{"transport", transport, 0},	 {"samples", samples, 0},
	{"generations", generations, 0}, {"frames", frames, 0},
};

int main(int argc, char **argv)
{
	return run_named(argc, argv, programs,
			 sizeof(programs) / sizeof(programs[0]));
}
