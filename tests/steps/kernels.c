/* SPDX-License-Identifier: MIT */
/*
 * kernels.c - small programs as people write them, each with a loop that a
 * person would call its steps; prints how many it made.
 *
 *	kernels NAME [SIZE [DELAY]]
 *
 * Before each loop it waits up to so many microseconds, otherwise in each
 * process.
 */

#define N 4096
#include "programs.h"

static double a[N], b[N], c[N], d[N], e[N];
LOOP(fill, a[i] = b[i] = sin(i))
LOOP(sweep, b[i] = 0.5 * (a[i - 1] + a[i + 1]))
LOOP(copy_back, a[i] = b[i])
SUM(norm, (a[i] - b[i]) * (a[i] - b[i]))
LOOP(multiply, c[i] = 2 * b[i] - b[i - 1] - b[i + 1])
SUM(dot, b[i] * c[i])
LOOP(advance, a[i] += 0.01 * b[i])
LOOP(direction, b[i] = c[i] + 0.1 * b[i])
LOOP(forces, c[i] = -a[i] + 1e-3 * sqrt(fabs(b[i])))
LOOP(kick, b[i] += 0.01 * c[i])
LOOP(drift, a[i] += 0.01 * b[i])
SUM(energy, b[i] * b[i] + a[i] * a[i])
LOOP(neighbours, d[i] = (int)a[i] % 16)
LOOP(restrict_grid, d[i] = 0.5 * a[i])
LOOP(prolong, a[i] += 0.5 * d[i])
LOOP(residual, e[i] = c[i] - a[i])
LOOP(flux, c[i] = a[i - 1] - a[i + 1])
LOOP(pressure, d[i] = 0.4 * a[i] * c[i])
LOOP(viscosity, e[i] = fmax(0, c[i]))
LOOP(velocity, b[i] += 0.01 * (d[i] + e[i]))
LOOP(density, a[i] += 0.01 * b[i])
SUM(courant, fabs(b[i]))
LOOP(assign, d[i] = (int)(8 * fabs(a[i])) % 8)
LOOP(means, c[i] = 0.9 * c[i] + 0.1 * d[i])
LOOP(embed, a[i] = sin(3 * i))
LOOP(layer_norm, b[i] = a[i] * 0.99)
LOOP(product, c[i] = b[i] * 0.5 + b[i - 1] * 0.5)
LOOP(attention, a[i] += 0.1 * exp(-c[i] * c[i]))
LOOP(product_back, d[i] = c[i] * 0.5)
LOOP(attention_back, e[i] = d[i] * exp(-c[i]))
SUM(loss, a[i] * a[i])
LOOP(adam, b[i] -= 1e-3 * e[i])
SUM(accuracy, a[i] > 0.5)
LOOP(gradients, e[i] = a[i] - b[i])
LOOP(histogram, c[i] = (int)(e[i] * 16) % 16)
LOOP(best_split, d[i] = c[i] * c[i])
LOOP(partition, b[i] = d[i] > 2)
LOOP(leaves, a[i] += 0.1 * b[i])
LOOP(collide, b[i] = 0.9 * a[i] + 0.1 * d[i])
LOOP(stream_cells, a[i] = b[i - 1])
LOOP(users, c[i] = a[i] / (1 + b[i] * b[i]))
LOOP(items, b[i] = a[i] / (1 + c[i] * c[i]))
LOOP(expect_step, d[i] = exp(-a[i] * a[i]))
LOOP(maximise, c[i] = 0.5 * (c[i] + d[i]))
LOOP(frontier, d[i] = d[i - 1] + 1)
LOOP(relax, a[i] = fmin(a[i], d[i] + 1))

static int jacobi(void)
{
	fill();
	for (int i = 0; i < size; i++) {
		sweep();
		copy_back();
		if (norm() < -1)
			break;
	}
	return size;
}

static int conjugate_gradient(void)
{
	double r;

	fill();
	multiply();
	r = dot();
	for (int i = 0; i < size; i++) {
		multiply();
		r = dot();
		advance();
		r += norm();
		direction();
	}
	return r < -1 ? 0 : size;
}

/* Time steps, each with a solver in it. */
static int implicit_heat(void)
{
	fill();
	for (int step = 0; step < size; step++) {
		forces();
		for (int i = 0; i < 12 + step * 7 % 5; i++) {
			multiply();
			dot();
			direction();
		}
		advance();
	}
	return size;
}

static int multigrid(void)
{
	fill();
	for (int cycle = 0; cycle < size; cycle++) {
		for (int level = 0; level < 5; level++) {
			sweep();
			sweep();
			residual();
			restrict_grid();
		}
		for (int i = 0; i < 8; i++)
			sweep();
		for (int level = 0; level < 5; level++) {
			prolong();
			sweep();
			sweep();
		}
		residual();
		norm();
	}
	return size;
}

static int molecules(void)
{
	fill();
	for (int step = 0; step <= size; step++) {
		if (step % 20 == 0)
			neighbours();
		forces();
		kick();
		drift();
		if (step % 10 == 0)
			energy();
	}
	return size + 1;
}

static int hydro(void)
{
	fill();
	for (int step = 0; step < size; step++) {
		courant();
		for (int half = 0; half < 2; half++) {
			flux();
			pressure();
			viscosity();
		}
		velocity();
		density();
		forces();
		drift();
		if (step % 10 == 0)
			energy();
	}
	return size;
}

static int clusters(void)
{
	fill();
	for (int i = 0; i < size; i++) {
		assign();
		means();
	}
	accuracy();
	return size;
}

static void pass_forward(int layers)
{
	embed();
	for (int l = 0; l < layers; l++) {
		layer_norm();
		product();
		attention();
		product();
		layer_norm();
		product();
		product();
	}
	layer_norm();
	product();
}

static void train(int layers)
{
	pass_forward(layers);
	loss();
	product_back();
	product_back();
	for (int l = 0; l < layers; l++) {
		for (int i = 0; i < 4; i++) {
			product_back();
			product_back();
		}
		attention_back();
	}
	adam();
}

/* As a small GPT is trained: a validation first and then now and then, and some
 * text. */
static int transformer(void)
{
	for (int step = 0; step <= size; step++) {
		if (step % 10 == 0) {
			for (int i = 0; i < 5; i++) {
				pass_forward(12);
				loss();
			}
		}
		if (step > 0 && step % 20 == 0) {
			for (int t = 0; t < 64; t++)
				pass_forward(12);
		}
		train(12);
	}
	return size + 1;
}

/* A long validation first, one now and then, and text when all is done. */
static int validated_transformer(void)
{
	for (int i = 0; i < 5 * size; i++) {
		pass_forward(4);
		loss();
	}
	for (int step = 0; step < size; step++) {
		for (int i = 0; step && step % 10 == 0 && i < 5; i++) {
			pass_forward(4);
			loss();
		}
		train(4);
	}
	for (int t = 0; t < size; t++)
		pass_forward(4);
	return size;
}

/* A kernel that is called for each sequence and head of a batch. */
static int attention_batches(void)
{
	for (int step = 0; step < size; step++) {
		embed();
		for (int layer = 0; layer < 4; layer++) {
			product();
			for (int i = 0; i < 8 * 4; i++)
				attention();
			product();
		}
		loss();
		for (int layer = 0; layer < 4; layer++) {
			product_back();
			for (int i = 0; i < 8 * 4; i++)
				attention_back();
			product_back();
		}
		adam();
	}
	return size;
}

static int small_network(void)
{
	for (int epoch = 0; epoch < size; epoch++) {
		for (int batch = 0; batch < 32; batch++)
			train(2);
		for (int batch = 0; batch < 6; batch++) {
			pass_forward(2);
			accuracy();
		}
	}
	return size * 32;
}

static int shuffled_network(void)
{
	for (int epoch = 0; epoch < size; epoch++) {
		neighbours();
		for (int batch = 0; batch < 40; batch++)
			train(3);
	}
	return size * 40;
}

static void tree(int depth)
{
	assign();
	for (int i = 0; i < depth; i++) {
		histogram();
		best_split();
		partition();
	}
	leaves();
}

static int trees(void)
{
	for (int i = 0; i < size; i++) {
		gradients();
		tree(20 + i % 10);
	}
	return size;
}

static int trees_of_classes(void)
{
	for (int i = 0; i < size; i++) {
		gradients();
		for (int k = 0; k < 7; k++)
			tree(30);
	}
	return size;
}

static int lattice(void)
{
	fill();
	for (int i = 0; i < size; i++) {
		collide();
		stream_cells();
	}
	return size;
}

static int least_squares(void)
{
	fill();
	for (int i = 0; i < size; i++) {
		users();
		items();
		norm();
	}
	return size;
}

static int mixture(void)
{
	fill();
	clusters();
	for (int i = 0; i < 4 * size; i++) {
		expect_step();
		maximise();
		norm();
		dot();
	}
	return 4 * size;
}

/* A search through a graph, a few times: has no steps. */
static int breadth_first(void)
{
	unsigned int state = 7;

	fill();
	for (int source = 0; source < 3; source++) {
		const int levels = 3 + source * 5;

		copy_back();
		for (int i = 0; i < levels; i++) {
			state = state * 1103515245u + 12345u;
			for (unsigned int k = 0; k < 1 + (state >> 16) % 9; k++)
				frontier();
			relax();
		}
	}
	return 0;
}

/* Once through a pipeline: has no steps. */
static int pipeline(void)
{
	fill();
	sweep();
	copy_back();
	multiply();
	forces();
	for (int i = 0; i < 4; i++)
		histogram();
	norm();
	accuracy();
	return 0;
}

/* Three passes of one loop: only who calls it tells them apart. */
__attribute__((noinline)) static void across(void)
{
	sweep();
	__asm__ volatile("");
}

__attribute__((noinline)) static void along(void)
{
	sweep();
	__asm__ volatile("");
}

static int filters(void)
{
	fill();
	for (int t = 0; t < size; t++) {
		across();
		along();
		sweep();
	}
	return size;
}

/* The same from one place, in one loop and in two. */
static int passes(void)
{
	fill();
	for (int t = 0; t < size * 3; t++)
		sweep();
	return size * 3;
}

static int sweeps(void)
{
	fill();
	for (int t = 0; t < size; t++)
		for (int i = 0; i < 20 + size % 7; i++)
			sweep();
	return size;
}

static const struct program programs[] = {
	{"jacobi", jacobi, 150},
	{"conjugate_gradient", conjugate_gradient, 120},
	{"implicit_heat", implicit_heat, 40},
	{"multigrid", multigrid, 40},
	{"molecules", molecules, 200},
	{"hydro", hydro, 163},
	{"clusters", clusters, 60},
	{"transformer", transformer, 40},
	{"validated_transformer", validated_transformer, 60},
	{"attention_batches", attention_batches, 20},
	{"small_network", small_network, 6},
	{"shuffled_network", shuffled_network, 12},
	{"trees", trees, 50},
	{"trees_of_classes", trees_of_classes, 40},
	{"lattice", lattice, 300},
	{"least_squares", least_squares, 30},
	{"mixture", mixture, 100},
	{"filters", filters, 60},
	{"passes", passes, 60},
	{"sweeps", sweeps, 60},
	{"breadth_first", breadth_first, 0},
	{"pipeline", pipeline, 0},
};

int main(int argc, char **argv)
{
	return run_named(argc, argv, programs,
			 sizeof(programs) / sizeof(programs[0]));
}
