/* SPDX-License-Identifier: MIT */
/*
 * voyagers.c - programs as people write them, the thirteenth set: trainers,
 * agents, models that are validated, stopped early, made anew.  Their steps
 * stand in voyagers.py; each says what it counted.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 32, WIDE = 48, DEEP = 4, PIXELS = 64 };

static double noise(void)
{
	return rand() / (double)RAND_MAX - 0.5;
}

/* --- a network by hand --- */

struct layer {
	int in, out;
	double weight[PIXELS * PIXELS], slope[PIXELS * PIXELS];
	double first[PIXELS * PIXELS];
	double made[BATCH * PIXELS], error[BATCH * PIXELS];
};

struct network {
	int layers;
	struct layer layer[DEEP];
};

static struct network net, judge, teacher, best;
static double data[BATCH * PIXELS], target[BATCH * PIXELS];

static void network_make(struct network *n, int layers, const int *sizes)
{
	n->layers = layers;
	for (int l = 0; l < layers; l++) {
		struct layer *layer = &n->layer[l];

		layer->in = sizes[l];
		layer->out = sizes[l + 1];
		for (int i = 0; i < layer->in * layer->out; i++) {
			layer->weight[i] = noise() / sqrt(layer->in);
			layer->slope[i] = layer->first[i] = 0;
		}
	}
}

static void layer_forward(struct layer *l, const double *in, int rows)
{
#pragma omp parallel for
	for (int r = 0; r < rows; r++) {
		for (int o = 0; o < l->out; o++) {
			double sum = 0;

			for (int i = 0; i < l->in; i++)
				sum += in[r * l->in + i] *
				       l->weight[i * l->out + o];
			l->made[r * l->out + o] = tanh(sum);
		}
	}
}

static const double *forward(struct network *n, const double *in, int rows)
{
	for (int l = 0; l < n->layers; l++) {
		layer_forward(&n->layer[l], in, rows);
		in = n->layer[l].made;
	}
	return in;
}

static void layer_slopes(struct layer *l, const double *in, int rows)
{
#pragma omp parallel for
	for (int i = 0; i < l->in; i++) {
		for (int o = 0; o < l->out; o++) {
			double sum = 0;

			for (int r = 0; r < rows; r++)
				sum += in[r * l->in + i] *
				       l->error[r * l->out + o];
			l->slope[i * l->out + o] += sum / rows;
		}
	}
}

static void layer_back(struct layer *l, struct layer *below, int rows)
{
#pragma omp parallel for
	for (int r = 0; r < rows; r++) {
		for (int i = 0; i < l->in; i++) {
			const double made = below->made[r * l->in + i];
			double sum = 0;

			for (int o = 0; o < l->out; o++)
				sum += l->error[r * l->out + o] *
				       l->weight[i * l->out + o];
			below->error[r * l->in + i] = sum * (1 - made * made);
		}
	}
}

static double loss_of(struct network *n, const double *want, int rows)
{
	struct layer *top = &n->layer[n->layers - 1];
	double loss = 0;

#pragma omp parallel for reduction(+ : loss)
	for (int i = 0; i < rows * top->out; i++) {
		top->error[i] = top->made[i] - want[i];
		loss += top->error[i] * top->error[i];
	}
	return loss / rows;
}

static void backward(struct network *n, const double *in, int rows, int down_to)
{
	for (int l = n->layers - 1; l >= down_to; l--) {
		layer_slopes(&n->layer[l], l ? n->layer[l - 1].made : in, rows);
		if (l > down_to)
			layer_back(&n->layer[l], &n->layer[l - 1], rows);
	}
}

static void sgd(struct network *n, double rate, int down_to)
{
	for (int l = down_to; l < n->layers; l++) {
		struct layer *layer = &n->layer[l];

#pragma omp parallel for
		for (int i = 0; i < layer->in * layer->out; i++) {
			layer->first[i] =
				0.9 * layer->first[i] + layer->slope[i];
			layer->weight[i] -= rate * layer->first[i];
			layer->slope[i] = 0;
		}
	}
}

static void draw(void)
{
	for (int i = 0; i < BATCH * PIXELS; i++) {
		data[i] = noise();
		target[i] = sin(3 * data[i]);
	}
}

static double train_batch(double rate)
{
	double loss;

	draw();
	forward(&net, data, BATCH);
	loss = loss_of(&net, target, BATCH);
	backward(&net, data, BATCH, 0);
	sgd(&net, rate, 0);
	return loss;
}

static double evaluate(int batches)
{
	double loss = 0;

	for (int b = 0; b < batches; b++) {
		draw();
		forward(&net, data, BATCH);
		loss += loss_of(&net, target, BATCH);
	}
	return loss / batches;
}

static const int small[] = {WIDE, 32, 16, 8};

/* Five parts of the data, a network for each; 7 epochs of 9 batches. */
int folds(void)
{
	int batches = 0;

	for (int fold = 0; fold < 5; fold++) {
		network_make(&net, 3, small);
		for (int epoch = 0; epoch < 7; epoch++) {
			double loss = 0;

			for (int b = 0; b < 9; b++, batches++)
				loss += train_batch(0.01);
			if (epoch == 6)
				printf("fold %d: %f\n", fold, loss / 9);
		}
		printf("fold %d held out: %f\n", fold, evaluate(3));
	}
	return batches;
}

/* Pictures that are made, and told from real ones; some are written. */
int forger(void)
{
	static const int maker[] = {16, 32, 48}, teller[] = {48, 32, 1};
	static double seed[BATCH * PIXELS], ones[BATCH], zeros[BATCH];
	int turn = 0;

	network_make(&net, 2, maker);
	network_make(&judge, 2, teller);
	for (int i = 0; i < BATCH; i++)
		ones[i] = 1;
	for (; turn < 90; turn++) {
		double real, fake, fooled;

		draw();
		forward(&judge, data, BATCH);
		real = loss_of(&judge, ones, BATCH);
		backward(&judge, data, BATCH, 0);
		for (int i = 0; i < BATCH * 16; i++)
			seed[i] = noise();
		const double *made = forward(&net, seed, BATCH);

		forward(&judge, made, BATCH);
		fake = loss_of(&judge, zeros, BATCH);
		backward(&judge, made, BATCH, 0);
		sgd(&judge, 0.01, 0);

		forward(&judge, made, BATCH);
		fooled = loss_of(&judge, ones, BATCH);
		backward(&judge, made, BATCH, 0);
		layer_back(&judge.layer[0], &net.layer[1], BATCH);
		backward(&net, seed, BATCH, 0);
		sgd(&net, 0.01, 0);
		for (int l = 0; l < 2; l++)
			memset(judge.layer[l].slope, 0,
			       sizeof(judge.layer[l].slope));
		if (turn % 25 == 24) {
			made = forward(&net, seed, BATCH);
			printf("%d: %f %f %f, %f\n", turn, real, fake, fooled,
			       made[0]);
		}
	}
	return turn;
}

/* The head alone for 40 steps, and then all of it, in one loop. */
int thaw(void)
{
	int step = 0;

	network_make(&net, 3, small);
	for (; step < 160; step++) {
		const int down_to = step < 40 ? 2 : 0;

		draw();
		forward(&net, data, BATCH);
		const double loss = loss_of(&net, target, BATCH);

		backward(&net, data, BATCH, down_to);
		sgd(&net, step < 10 ? 0.001 * step : 0.01, down_to);
		if (step % 32 == 31)
			printf("%d: %f, held out %f\n", step, loss,
			       evaluate(4));
	}
	return step;
}

/* Until three validations are no better; the best is kept. */
int patience(void)
{
	double least = 1e9;
	int worse = 0, batches = 0;

	network_make(&net, 3, small);
	for (int epoch = 0; epoch < 40 && worse < 3; epoch++) {
		for (int b = 0; b < 13; b++, batches++)
			train_batch(0.02 / (1 + epoch));
		const double loss = evaluate(5);

		if (epoch < 7 || loss < least) {
			least = loss;
			worse = 0;
			for (int l = 0; l < net.layers; l++) {
				struct layer *from = &net.layer[l];
				struct layer *to = &best.layer[l];

#pragma omp parallel for
				for (int i = 0; i < from->in * from->out; i++)
					to->weight[i] = from->weight[i];
			}
		} else {
			worse++;
		}
		printf("epoch %d: %f\n", epoch, loss);
	}
	printf("test: %f\n", evaluate(9));
	return batches;
}

/* 600 moves, learned from each fourth once some are remembered; the target
 * follows each 60, it is tried each 150. */
int replay(void)
{
	static double state[PIXELS];
	int move = 0;

	network_make(&net, 3, small);
	teacher = net;
	for (; move < 600; move++) {
		const double *q = forward(&net, state, 1);

		for (int i = 0; i < WIDE; i++)
			state[i] = 0.9 * state[i] + 0.1 * q[i % 8] + noise();
		if (move >= 64 && move % 4 == 0) {
			draw();
			const double *next = forward(&teacher, data, BATCH);

			memcpy(target, next, BATCH * 8 * sizeof(*next));
			forward(&net, data, BATCH);
			loss_of(&net, target, BATCH);
			backward(&net, data, BATCH, 0);
			sgd(&net, 0.001, 0);
		}
		if (move % 60 == 59) {
			for (int l = 0; l < 3; l++) {
#pragma omp parallel for
				for (int i = 0;
				     i < net.layer[l].in * net.layer[l].out;
				     i++)
					teacher.layer[l].weight[i] =
						net.layer[l].weight[i];
			}
		}
		if (move % 150 == 149) {
			double sum = 0;

			for (int t = 0; t < 30; t++)
				sum += forward(&net, state, 1)[0];
			printf("%d: %f\n", move, sum);
		}
	}
	printf("updates %d\n", 134);
	return move;
}

/* Twelve long texts in pieces of 10 letters; the state is kept between. */
int pieces(void)
{
	static const int length[12] = {7, 9, 8, 7, 8, 9, 8, 8, 7, 9, 8, 8};
	static double state[11][PIXELS], letter[10][PIXELS], slope[PIXELS];
	static double inner[PIXELS * PIXELS], change[PIXELS * PIXELS];
	int updates = 0;

	for (int i = 0; i < WIDE * WIDE; i++)
		inner[i] = noise() / 7;
	for (int text = 0; text < 12; text++) {
		memset(state[0], 0, sizeof(state[0]));
		for (int piece = 0; piece < length[text]; piece++, updates++) {
			double loss = 0;

			for (int t = 0; t < 10; t++) {
				for (int i = 0; i < WIDE; i++)
					letter[t][i] = noise();
#pragma omp parallel for
				for (int o = 0; o < WIDE; o++) {
					double sum = letter[t][o];

					for (int i = 0; i < WIDE; i++)
						sum += inner[i * WIDE + o] *
						       state[t][i];
					state[t + 1][o] = tanh(sum);
				}
			}
			for (int i = 0; i < WIDE; i++)
				slope[i] = state[10][i] - letter[9][i];
			for (int t = 9; t >= 0; t--) {
#pragma omp parallel for
				for (int i = 0; i < WIDE; i++) {
					for (int o = 0; o < WIDE; o++)
						change[i * WIDE + o] +=
							state[t][i] * slope[o];
				}
			}
#pragma omp parallel for reduction(+ : loss)
			for (int i = 0; i < WIDE * WIDE; i++) {
				inner[i] -= 0.001 * change[i];
				loss += change[i] * change[i];
				change[i] = 0;
			}
			memcpy(state[0], state[10], sizeof(state[0]));
			if (piece + 1 == length[text])
				printf("text %d: %f\n", text, sqrt(loss));
		}
	}
	return updates;
}

/* A small one learns from a large one, tested each 20. */
int pupil(void)
{
	static const int large[] = {WIDE, 64, 64, 32, 8},
			 tiny[] = {WIDE, 16, 8};
	int step = 0;

	network_make(&teacher, 4, large);
	network_make(&net, 2, tiny);
	for (; step < 100; step++) {
		draw();
		const double *says = forward(&teacher, data, BATCH);

		forward(&net, data, BATCH);
		loss_of(&net, says, BATCH);
		backward(&net, data, BATCH, 0);
		sgd(&net, 0.01, 0);
		if (step % 20 == 19)
			printf("%d: %f\n", step, evaluate(6));
	}
	return step;
}

/* An agent walks as long as it lives; what it saw is learned from at once. */
int walker(void)
{
	static double seen[40][PIXELS], reward[40];
	int episode = 0;

	network_make(&net, 3, small);
	network_make(&judge, 2, (int[]){WIDE, 16, 1});
	for (; episode < 70; episode++) {
		double state[PIXELS] = {0};
		int moves = 0;

		while (moves < 40) {
			const double *to = forward(&net, state, 1);

			memcpy(seen[moves], state, sizeof(state));
			for (int i = 0; i < WIDE; i++)
				state[i] += to[i % 8] * 0.1 + noise();
			reward[moves++] = fabs(state[0]);
			if (rand() % 16 == 0)
				break;
		}
		for (int t = moves - 2; t >= 0; t--)
			reward[t] += 0.95 * reward[t + 1];
		for (int t = 0; t < moves && t < BATCH; t++)
			memcpy(data + t * WIDE, seen[t], WIDE * sizeof(double));
		const int rows = moves < BATCH ? moves : BATCH;

		forward(&judge, data, rows);
		loss_of(&judge, reward, rows);
		backward(&judge, data, rows, 0);
		sgd(&judge, 0.01, 0);
		forward(&net, data, rows);
		loss_of(&net, target, rows);
		backward(&net, data, rows, 0);
		sgd(&net, 0.001, 0);
		if (episode % 10 == 9)
			printf("%d: %d moves\n", episode, moves);
	}
	return episode;
}

int main(void)
{
	printf("steps %d\n", PROGRAM());
	return 0;
}
