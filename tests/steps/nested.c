/* SPDX-License-Identifier: MIT */
/*
 * nested.c - loops within loops that turn as often as they need, and others
 * that the corpus had not, with the steps that a person would name written down
 * before the first run:
 *
 *	newton		60	time steps of Newton's with conjugate gradients
 *	fluid		200	time steps of a lattice Boltzmann method
 *	graph		100	batches of a network on a graph
 *	policy		50	episodes as long as they take, each an update
 *	neighbours	300	time steps of molecules, new lists at times
 *	shallow		250	time steps, two stages each, of shallow water
 *	damped		40	Levenberg-Marquardt iterations, several tries
 *	pressure	120	iterations of SIMPLE, pressure until it is right
 *
 * and one on which a rule was set:
 *
 *	parts		20	parts of a load, in each a few of Newton's steps
 *
 *	nested NAME
 */
#define N 8192
#include "programs.h"

static double x[N], y[N], v[N], w[N];

LOOP(assemble, v[i] = w[i] = sin(i * 0.01) - 0.1 * x[i])
LOOP(multiply, y[i] = 4 * w[i] - w[i - 1] - w[i + 1])
SUM(curvature, w[i] * y[i])
SUM(residual, v[i] * v[i])
LOOP(correct, v[i] -= 0.1 * y[i])
LOOP(advance, x[i] = 0.99 * x[i] + v[i])

static int newton(void)
{
	for (int t = 0; t < size; t++) {
		for (int n = 0; n < 2 + t % 3; n++) {
			assemble();
			for (int k = 0; k < 5 + n; k++) {
				multiply();
				y[0] = residual() / (curvature() + 1e-9);
				correct();
			}
		}
		advance();
	}
	return size;
}

LOOP(equilibrium, x[i] = sin(i))
LOOP(collide, x[i] += 0.6 * (y[i] - x[i]))
LOOP(stream, y[i] = x[i - 1])
LOOP(bounce, y[i] = i % 64 ? y[i] : -y[i])
SUM(kinetic, y[i] * y[i])

static int fluid(void)
{
	equilibrium();
	for (int t = 0; t < size; t++) {
		collide();
		stream();
		bounce();
		if (t % 40 == 0)
			w[0] = kinetic();
	}
	return size;
}

LOOP(gather, y[i] = x[i * 7 % N])
LOOP(transform, x[i] = 0.5 * y[i])
LOOP(rectify, x[i] = fmax(x[i], 0))
SUM(cross_entropy, log(1 + exp(-x[i])))
LOOP(scatter, w[i] += x[i * 5 % N])
LOOP(transform_back, v[i] = 0.5 * w[i])
LOOP(adam, x[i] -= 0.01 * v[i])

static void look_around(void)
{
	for (int layer = 0; layer < 3; layer++) {
		gather();
		transform();
		rectify();
	}
}

static int graph(void)
{
	for (int batch = 0; batch < size; batch++) {
		look_around();
		w[0] = cross_entropy();
		for (int layer = 0; layer < 3; layer++) {
			scatter();
			transform_back();
		}
		adam();
		if (batch % 10 == 9)
			look_around();
	}
	return size;
}

LOOP(observe, x[i] = y[i] + 0.1)
LOOP(act, y[i] = tanh(x[i]))
LOOP(returns, w[i] = 0.9 * w[i] + y[i])
LOOP(policy_gradient, v[i] = w[i] * y[i])
LOOP(improve, y[i] += 0.01 * v[i])

static int policy(void)
{
	unsigned int seed = 1;

	for (int episode = 0; episode < size; episode++) {
		seed = seed * 1103515245u + 12345u;
		for (unsigned int t = 0; t < 8 + (seed >> 16) % 40; t++) {
			observe();
			act();
		}
		returns();
		policy_gradient();
		improve();
	}
	return size;
}

LOOP(sort_cells, w[i] = floor(8 * x[i]))
LOOP(make_lists, w[i] += w[i - 1])
LOOP(half_kick, v[i] += 0.005 * y[i])
LOOP(move, x[i] += 0.01 * v[i])
LOOP(forces, y[i] = -x[i])
SUM(fastest, fabs(v[i]))

static int neighbours(void)
{
	unsigned int seed = 1;

	for (int t = 0; t < size; t++) {
		half_kick();
		move();
		seed = seed * 1103515245u + 12345u;
		if (t == 0 || (seed >> 16) % 9 == 0) {
			sort_cells();
			make_lists();
		}
		forces();
		half_kick();
		if (fastest() < 0)
			return 0;
	}
	return size;
}

SUM(fastest_wave, sqrt(fabs(x[i])))
LOOP(fluxes, y[i] = 0.5 * (x[i] + x[i - 1]))
LOOP(first_stage, w[i] = x[i] - 0.1 * (y[i + 1] - y[i]))
LOOP(second_stage, x[i] = 0.5 * (x[i] + w[i]))
LOOP(walls, x[i] = i < 3 ? 0 : x[i])
LOOP(picture, v[i] = x[i])

static int shallow(void)
{
	for (int t = 0; t < size; t++) {
		v[0] = fastest_wave();
		fluxes();
		first_stage();
		walls();
		fluxes();
		second_stage();
		walls();
		if (t % 25 == 24)
			picture();
	}
	return size;
}

LOOP(jacobian, y[i] = cos(x[i]))
LOOP(normal_equations, w[i] = y[i] * y[i])
LOOP(damp, v[i] = y[i] / (w[i] + 0.1))
LOOP(try_it, w[i] = x[i] - v[i])
SUM(misfit, w[i] * w[i])

static int damped(void)
{
	for (int i = 0; i < size; i++) {
		jacobian();
		normal_equations();
		for (int k = 0; k < 1 + i * 7 % 5 % 4; k++) {
			damp();
			try_it();
			y[0] = misfit();
		}
	}
	return size;
}

LOOP(momentum_x, x[i] = 0.5 * (x[i - 1] + y[i]))
LOOP(momentum_y, v[i] = 0.5 * (v[i - 1] + y[i]))
LOOP(divergence, w[i] = x[i] - x[i - 1] + v[i])
LOOP(sweep, y[i] = 0.25 * (y[i - 1] + y[i + 1] - w[i]))
SUM(change, fabs(y[i]))
LOOP(correct_flow, x[i] -= 0.1 * y[i])

static int pressure(void)
{
	for (int i = 0; i < size; i++) {
		momentum_x();
		momentum_y();
		divergence();
		for (int k = 0; k < 4 + 900 / (i + 10) + i % 3; k++) {
			sweep();
			v[0] = change();
		}
		correct_flow();
	}
	return size;
}

LOOP(put_on, w[i] = 0.01 * sin(i * 0.01))
LOOP(stress, v[i] = w[i] - x[i] * fabs(x[i]))
LOOP(stiffness, y[i] = 2.3 * v[i] - v[i - 1] - v[i + 1])
SUM(balance, v[i] * y[i])
LOOP(bend, x[i] += 0.1 * v[i])
LOOP(give_way, x[i] = fmin(2, fmax(-2, x[i])))

/* Some of Newton's steps have nothing to solve, and others take long. */
static int parts(void)
{
	for (int part = 0; part < size; part++) {
		put_on();
		for (int k = 0; k < 2 + part * 3 % 5; k++) {
			const int turns = (part + k) % 3 ? 90 : k % 2;

			stress();
			for (int i = 0; i < turns; i++) {
				stiffness();
				y[0] = balance();
			}
			bend();
		}
		give_way();
	}
	return size;
}

/* Time steps that take so many turns each that hardly one begins among the
 * run's first thousands of regions. */
static int diffuse(void)
{
	for (int t = 0; t < size; t++) {
		assemble();
		for (int k = 0; k < 500 + t * 389 % 1300; k++) {
			multiply();
			y[0] = residual();
			correct();
		}
		advance();
	}
	return size;
}

int main(int argc, char **argv)
{
	static const struct program programs[] = {
		{"newton", newton, 60},
		{"fluid", fluid, 200},
		{"graph", graph, 100},
		{"policy", policy, 50},
		{"neighbours", neighbours, 300},
		{"shallow", shallow, 250},
		{"damped", damped, 40},
		{"pressure", pressure, 120},
		{"parts", parts, 20},
		{"diffuse", diffuse, 20},
	};

	return run_named(argc, argv, programs,
			 sizeof(programs) / sizeof(programs[0]));
}
