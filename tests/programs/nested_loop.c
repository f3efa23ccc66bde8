/* SPDX-License-Identifier: MIT */
/*
 * nested_loop.c - a training in miniature that marks no steps: epochs of steps,
 * each of some layers forward and backward and one update; an evaluation after
 * each epoch.
 *
 *	nested_loop [epochs=N] [steps=N] [layers=N] [evaluate=N] [warm=N]
 *		    [odd=N] [ms=N] [late=N] [first=N] [pause=N] [still=N]
 *		    [call] [range] [aside] [held]
 *
 * warm: regions in no order before it all; odd: each so many steps one region
 * more; first: passes forward before the first step, pause: so many ms after
 * them; still: so many ms after it all, said before; ms: length of a step;
 * call: traceprof_step() all the same, late: from that step on, held: and when
 * a line of input has come; range: a scope around each; aside: another thread
 * that does this and that.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "traceprof.h"

#define REGION(name)                                                           \
	__attribute__((noinline)) static int name(void)                        \
	{                                                                      \
		int sum = 0;                                                   \
		_Pragma("omp parallel num_threads(2) reduction(+ : sum)")      \
			sum += 1;                                              \
		return sum;                                                    \
	}

REGION(forward)
REGION(activation)
REGION(loss)
REGION(backward)
REGION(update)
REGION(accuracy)
REGION(odd)
REGION(load)
REGION(scale)
REGION(shuffle)

static int epochs = 2, steps = 20, layers = 3, evaluations, warm, odd_each, ms;
static int late, first, pause_ms, still_ms, is_calling, is_ranging, is_aside,
	is_held;
static volatile int is_over;

static int set(const char *text, const char *name, int *value)
{
	const size_t len = strlen(name);

	if (strncmp(text, name, len) || text[len] != '=')
		return 0;
	*value = atoi(text + len + 1);
	return 1;
}

static void read_arguments(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		is_calling |= !strcmp(argv[i], "call");
		is_ranging |= !strcmp(argv[i], "range");
		is_aside |= !strcmp(argv[i], "aside");
		is_held |= !strcmp(argv[i], "held");
		(void)(set(argv[i], "epochs", &epochs) ||
		       set(argv[i], "steps", &steps) ||
		       set(argv[i], "layers", &layers) ||
		       set(argv[i], "evaluate", &evaluations) ||
		       set(argv[i], "warm", &warm) ||
		       set(argv[i], "odd", &odd_each) ||
		       set(argv[i], "late", &late) ||
		       set(argv[i], "first", &first) ||
		       set(argv[i], "pause", &pause_ms) ||
		       set(argv[i], "still", &still_ms) ||
		       set(argv[i], "ms", &ms));
	}
}

static unsigned int any(unsigned int *state, unsigned int limit)
{
	*state = *state * 1103515245u + 12345u;
	return (*state >> 16) % limit;
}

/* Regions in no order. */
static int prepare(unsigned int *state)
{
	switch (any(state, 4)) {
	case 0: return load();
	case 1: return scale() + scale();
	case 2: return shuffle();
	default: return load() + shuffle();
	}
}

static void *aside(void *arg)
{
	unsigned int state = 7;

	while (!is_over) {
		*(int *)arg += prepare(&state);
		usleep(1000 * any(&state, 40));
	}
	return NULL;
}

static int pass_forward(void)
{
	int sum = 0;

	for (int i = 0; i < layers; i++)
		sum += forward() + activation();
	return sum;
}

/* To whoever waits for us to have come so far. */
static void announce(void)
{
	printf("begun\n");
	fflush(stdout);
}

static int train(int step)
{
	char name[32];
	int sum;

	if (late && step == late && is_held) {
		announce();
		(void)getchar();
	}
	if (is_calling || (late && step >= late))
		traceprof_step();
	if (is_ranging) {
		snprintf(name, sizeof(name), "train_step %d", step);
		traceprof_push(name);
	}
	sum = pass_forward() + loss();
	for (int i = 0; i < layers; i++)
		sum += backward();
	if (odd_each && step % odd_each == 3)
		sum += odd();
	sum += update();
	if (ms)
		usleep((unsigned int)ms * 1000);
	if (is_ranging)
		traceprof_pop();
	return sum;
}

int main(int argc, char **argv)
{
	unsigned int state = 1;
	pthread_t thread;
	int beside = 0;
	int sum = 0;

	read_arguments(argc, argv);
	if (is_aside)
		pthread_create(&thread, NULL, aside, &beside);
	for (int i = 0; i < warm; i++) {
		sum += prepare(&state);
		if (!i)
			announce();
		if (ms)
			usleep((unsigned int)ms * 1000);
	}
	for (int i = 0; i < first; i++)
		sum += pass_forward() + loss();
	if (pause_ms)
		usleep((unsigned int)pause_ms * 1000);
	for (int epoch = 0; epoch < epochs; epoch++) {
		for (int step = 0; step < steps; step++)
			sum += train(epoch * steps + step);
		for (int i = 0; i < evaluations; i++)
			sum += pass_forward() + accuracy();
	}
	if (still_ms) {
		announce();
		usleep((unsigned int)still_ms * 1000);
	}
	is_over = 1;
	if (is_aside)
		pthread_join(thread, NULL);
	printf("%d\n", sum);
	return 0;
}
