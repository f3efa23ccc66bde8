/* SPDX-License-Identifier: MIT */
/*
 * within.c - programs whose main loop lies within one parallel region: each
 * member of the team runs the loop, and its barriers tell of the turns.
 *
 *	within NAME [NUMBER]
 *
 * Prints what it computed, and the number of steps that a person would name.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POINTS 4000
#define BODIES 160

static double old[POINTS], new[POINTS];
static double place[BODIES], speed[BODIES], force[BODIES], energy;

static void smooth(double *to, const double *from)
{
#pragma omp for
	for (int i = 1; i < POINTS - 1; i++)
		to[i] = 0.5 * from[i] + 0.25 * (from[i - 1] + from[i + 1]);
}

static void fill(void)
{
	for (int i = 0; i < POINTS; i++)
		old[i] = new[i] = i % 17;
}

/* One barrier a step. */
static int rod(int steps)
{
	fill();
#pragma omp parallel
	{
		double *from = old;
		double *to = new;

		for (int t = 0; t < steps; t++) {
			double *was = from;

			smooth(to, from);
			from = to;
			to = was;
		}
	}
	return steps;
}

/* Next to nothing but the barrier. */
static int bare(int steps)
{
#pragma omp parallel
	for (int t = 0; t < steps; t++) {
#pragma omp barrier
#pragma omp master
		old[t % POINTS] += 1;
	}
	return steps;
}

/* The same for each picture that is given, of which there is one: what is
 * around the region doesn't turn within it. */
static int given(int steps)
{
	for (volatile int left = 1; left; left--)
		rod(steps);
	return steps;
}

/* Two loops, one of them dynamic; each 50th step one member reports. */
static int bodies(int steps)
{
	for (int i = 0; i < BODIES; i++)
		place[i] = i * 0.37;
#pragma omp parallel
	for (int t = 0; t < steps; t++) {
#pragma omp for schedule(dynamic, 16)
		for (int i = 0; i < BODIES; i++) {
			force[i] = 0;
			for (int j = 0; j < BODIES; j++) {
				const double far = place[j] - place[i];

				force[i] += far / (far * far + 0.1);
			}
		}
#pragma omp for
		for (int i = 0; i < BODIES; i++) {
			speed[i] += force[i] * 1e-3;
			place[i] += speed[i] * 1e-3;
		}
		if (t % 50 == 0) {
#pragma omp single
			{
				energy = 0;
				for (int i = 0; i < BODIES; i++)
					energy += speed[i] * speed[i];
				printf("%d %.6f\n", t, energy);
			}
		}
	}
	return steps;
}

/* As many sweeps in each step: 12 of 25 or 300, nobody knows. */
static int sweeps(int steps)
{
	fill();
#pragma omp parallel
	for (int t = 0; t < steps; t++) {
		for (int s = 0; s < 12; s++)
			smooth(s % 2 ? old : new, s % 2 ? new : old);
	}
	return 0;
}

/* Sweeps to a tolerance in each step, and what begins and ends it. */
static int settled(int steps)
{
	static double change;

	fill();
#pragma omp parallel
	for (int t = 0; t < steps; t++) {
#pragma omp for
		for (int i = 0; i < POINTS; i++)
			old[i] += sin(i + t);
		for (int s = 0; s < 3 + (t * 7) % 6; s++) {
			smooth(new, old);
			smooth(old, new);
		}
#pragma omp for reduction(+ : change)
		for (int i = 0; i < POINTS; i++)
			change += fabs(old[i] - new[i]);
#pragma omp barrier
	}
	return steps;
}

/* A region in each step: its loop is around it, whatever turns within. */
static int called(int steps)
{
	fill();
	for (int t = 0; t < steps; t++) {
#pragma omp parallel
		for (int s = 0; s < 30; s++)
			smooth(s % 2 ? old : new, s % 2 ? new : old);
#pragma omp parallel for
		for (int i = 0; i < POINTS; i++)
			old[i] += new[i] * 1e-3;
	}
	return steps;
}

/* Two loops, one after the other, in two regions. */
static int twice(int steps)
{
	rod(steps);
#pragma omp parallel
	for (int t = 0; t < steps; t++) {
		smooth(new, old);
		smooth(old, new);
	}
	return 0;
}

/* A sum over all in log2(n) rounds: no step. */
static int scan(int steps)
{
	(void)steps;
	fill();
#pragma omp parallel
	for (int far = 1; far < POINTS; far *= 2) {
#pragma omp for
		for (int i = 0; i < POINTS; i++)
			new[i] = old[i] + (i >= far ? old[i - far] : 0);
#pragma omp for
		for (int i = 0; i < POINTS; i++)
			old[i] = new[i];
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int steps);
		int steps;
	} all[] = {
		{"rod", rod, 100},	{"bodies", bodies, 120},
		{"sweeps", sweeps, 25}, {"settled", settled, 40},
		{"called", called, 30}, {"twice", twice, 60},
		{"scan", scan, 0},	{"given", given, 100},
		{"bare", bare, 100},
	};

	for (size_t i = 0; argc > 1 && i < sizeof(all) / sizeof(all[0]); i++) {
		if (strcmp(all[i].name, argv[1]) != 0)
			continue;
		i = (size_t)all[i].run(argc > 2 ? atoi(argv[2]) : all[i].steps);
		printf("%.6f %.6f\n", old[POINTS / 2], new[POINTS / 3]);
		printf("%zu steps\n", i);
		return 0;
	}
	return 2;
}
