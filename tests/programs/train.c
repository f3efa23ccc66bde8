/* SPDX-License-Identifier: MIT */
/*
 * train.c - the demo: trains a character-level language model on real text.
 *
 *	train [-e epochs] [-s steps] [-b batch] [TEXT...]
 *
 * Sixteen characters go through an embedding and one hidden layer to a softmax
 * over the next character; the weights follow the gradient by Adam.  The text
 * is the files named, else licences that each Debian carries, else our README.
 *
 * It is an ordinary OpenMP program and knows nothing of the profiler.  Each
 * element of each array is summed by one thread in a fixed order, so the losses
 * are the same on every run.
 */
#include <errno.h>
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CONTEXT = 16, EMBED = 16, INPUT = CONTEXT * EMBED, HIDDEN = 128 };

static const float RATE = 0.002f;

struct options {
	unsigned int epochs;
	unsigned int steps; /* per epoch */
	unsigned int batch;
};

/* The text as indexes into its own alphabet. */
struct text {
	unsigned char *symbols;
	size_t length;
	unsigned char letters[256]; /* index to character */
	unsigned int alphabet;
};

/* An array of weights with its gradient and Adam's two moments: one block. */
struct weights {
	size_t count;
	float *value;
	float *gradient;
	float *mean;
	float *variance;
};

struct model {
	unsigned int alphabet;
	struct weights embedding; /* alphabet x EMBED */
	struct weights hidden;	  /* HIDDEN x INPUT */
	struct weights hidden_bias;
	struct weights output; /* alphabet x HIDDEN */
	struct weights output_bias;
};

/* What one step needs and frees again. */
struct batch {
	unsigned int rows;
	unsigned char *context; /* rows x CONTEXT */
	unsigned char *target;	/* rows */
	float *input;		/* rows x INPUT */
	float *input_gradient;
	float *hidden; /* rows x HIDDEN, after tanh */
	float *hidden_gradient;
	float *output; /* rows x alphabet: scores, later their gradient */
	float *loss;   /* rows */
};

static void *allocate(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	if (!memory) {
		fprintf(stderr, "train: out of memory\n");
		exit(1);
	}
	return memory;
}

/* xorshift64*: the same numbers on every machine. */
static uint64_t random_next(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 2685821657736338717u;
}

static float random_weight(uint64_t *state, float scale)
{
	return scale * ((float)(random_next(state) >> 40) / (1 << 23) - 1);
}

/* --- text --------------------------------------------------------------- */

/* Appends a file to what is there; returns 0 or -errno. */
static int text_append(struct text *text, const char *path)
{
	FILE *file = fopen(path, "r");
	size_t got;

	if (!file)
		return -errno;
	do {
		text->symbols = realloc(text->symbols, text->length + 65536);
		if (!text->symbols) {
			fclose(file);
			return -ENOMEM;
		}
		got = fread(text->symbols + text->length, 1, 65536, file);
		text->length += got;
	} while (got > 0);
	fclose(file);
	return 0;
}

/* Replaces characters by their index in the alphabet of the text. */
static void text_index(struct text *text)
{
	int index[256];

	memset(index, -1, sizeof(index));
	for (size_t i = 0; i < text->length; i++) {
		const unsigned char letter = text->symbols[i];

		if (index[letter] < 0) {
			index[letter] = (int)text->alphabet;
			text->letters[text->alphabet++] = letter;
		}
		text->symbols[i] = (unsigned char)index[letter];
	}
}

static void text_load(struct text *text, char **paths)
{
	static const char *const standard[] = {
		"/usr/share/common-licenses/GPL-3",
		"/usr/share/common-licenses/Apache-2.0",
	};

	for (char **path = paths; *path; path++) {
		const int error = text_append(text, *path);

		if (error) {
			fprintf(stderr, "train: %s: %s\n", *path,
				strerror(-error));
			exit(1);
		}
	}
	for (size_t i = 0; !*paths && i < 2; i++)
		text_append(text, standard[i]);
	if (text->length == 0)
		text_append(text, "README.md");
	if (text->length <= CONTEXT + 1) {
		fprintf(stderr, "train: not enough text to learn from\n");
		exit(1);
	}
	text_index(text);
}

/* --- model -------------------------------------------------------------- */

static void weights_create(struct weights *weights, size_t count, float scale,
			   uint64_t *seed)
{
	weights->count = count;
	weights->value = allocate(4 * count, sizeof(float));
	weights->gradient = weights->value + count;
	weights->mean = weights->gradient + count;
	weights->variance = weights->mean + count;
	for (size_t i = 0; i < count; i++)
		weights->value[i] = random_weight(seed, scale);
}

static void model_create(struct model *model, unsigned int alphabet,
			 uint64_t *seed)
{
	model->alphabet = alphabet;
	weights_create(&model->embedding, alphabet * EMBED, 0.5f, seed);
	weights_create(&model->hidden, HIDDEN * INPUT, 0.06f, seed);
	weights_create(&model->hidden_bias, HIDDEN, 0, seed);
	weights_create(&model->output, alphabet * HIDDEN, 0.08f, seed);
	weights_create(&model->output_bias, alphabet, 0, seed);
}

static void model_destroy(struct model *model)
{
	free(model->embedding.value);
	free(model->hidden.value);
	free(model->hidden_bias.value);
	free(model->output.value);
	free(model->output_bias.value);
}

static struct batch *batch_create(const struct model *model, unsigned int rows)
{
	struct batch *batch = allocate(1, sizeof(*batch));

	batch->rows = rows;
	batch->context = allocate(rows, CONTEXT);
	batch->target = allocate(rows, 1);
	batch->input = allocate(rows, INPUT * sizeof(float));
	batch->input_gradient = allocate(rows, INPUT * sizeof(float));
	batch->hidden = allocate(rows, HIDDEN * sizeof(float));
	batch->hidden_gradient = allocate(rows, HIDDEN * sizeof(float));
	batch->output = allocate(rows, model->alphabet * sizeof(float));
	batch->loss = allocate(rows, sizeof(float));
	return batch;
}

static void batch_destroy(struct batch *batch)
{
	free(batch->context);
	free(batch->target);
	free(batch->input);
	free(batch->input_gradient);
	free(batch->hidden);
	free(batch->hidden_gradient);
	free(batch->output);
	free(batch->loss);
	free(batch);
}

static void batch_sample(struct batch *batch, const struct text *text,
			 uint64_t *seed)
{
	for (unsigned int row = 0; row < batch->rows; row++) {
		const size_t at =
			random_next(seed) % (text->length - CONTEXT - 1);

		memcpy(batch->context + row * CONTEXT, text->symbols + at,
		       CONTEXT);
		batch->target[row] = text->symbols[at + CONTEXT];
	}
}

/* --- one step ----------------------------------------------------------- */

static inline float dot(const float *a, const float *b, unsigned int count)
{
	float lanes[8] = {0};

	for (unsigned int i = 0; i < count; i += 8)
		for (unsigned int lane = 0; lane < 8; lane++)
			lanes[lane] += a[i + lane] * b[i + lane];
	return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
	       ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

static inline void add_scaled(float *to, const float *from, float scale,
			      unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		to[i] += scale * from[i];
}

static void embed(const struct model *model, struct batch *batch)
{
#pragma omp parallel for schedule(static)
	for (unsigned int row = 0; row < batch->rows; row++)
		for (unsigned int i = 0; i < CONTEXT; i++)
			memcpy(batch->input + row * INPUT + i * EMBED,
			       model->embedding.value +
				       batch->context[row * CONTEXT + i] *
					       EMBED,
			       EMBED * sizeof(float));
}

static void forward_hidden(const struct model *model, struct batch *batch)
{
#pragma omp parallel for schedule(dynamic, 8)
	for (unsigned int row = 0; row < batch->rows; row++)
		for (unsigned int unit = 0; unit < HIDDEN; unit++)
			batch->hidden[row * HIDDEN + unit] =
				tanhf(model->hidden_bias.value[unit] +
				      dot(model->hidden.value + unit * INPUT,
					  batch->input + row * INPUT, INPUT));
}

static void forward_output(const struct model *model, struct batch *batch)
{
	const unsigned int alphabet = model->alphabet;

#pragma omp parallel for schedule(static)
	for (unsigned int row = 0; row < batch->rows; row++)
		for (unsigned int letter = 0; letter < alphabet; letter++)
			batch->output[row * alphabet + letter] =
				model->output_bias.value[letter] +
				dot(model->output.value + letter * HIDDEN,
				    batch->hidden + row * HIDDEN, HIDDEN);
}

/* Scores become probabilities, and those the gradient of the mean loss. */
static float softmax_loss(const struct model *model, struct batch *batch)
{
	const unsigned int alphabet = model->alphabet;
	double sum = 0;

#pragma omp parallel for schedule(guided)
	for (unsigned int row = 0; row < batch->rows; row++) {
		float *scores = batch->output + row * alphabet;
		float highest = scores[0];
		float total = 0;

		for (unsigned int i = 1; i < alphabet; i++)
			highest = fmaxf(highest, scores[i]);
		for (unsigned int i = 0; i < alphabet; i++)
			total += scores[i] = expf(scores[i] - highest);
		batch->loss[row] = logf(total / scores[batch->target[row]]);
		for (unsigned int i = 0; i < alphabet; i++)
			scores[i] /= total * (float)batch->rows;
		scores[batch->target[row]] -= 1.0f / (float)batch->rows;
	}
	for (unsigned int row = 0; row < batch->rows; row++)
		sum += batch->loss[row];
	return (float)(sum / batch->rows);
}

static void backward_output(struct model *model, struct batch *batch)
{
	const unsigned int alphabet = model->alphabet;

#pragma omp parallel
	{
#pragma omp for schedule(static) nowait
		for (unsigned int letter = 0; letter < alphabet; letter++)
			for (unsigned int row = 0; row < batch->rows; row++) {
				const float gradient =
					batch->output[row * alphabet + letter];

				model->output_bias.gradient[letter] += gradient;
				add_scaled(model->output.gradient +
						   letter * HIDDEN,
					   batch->hidden + row * HIDDEN,
					   gradient, HIDDEN);
			}
#pragma omp for schedule(static)
		for (unsigned int row = 0; row < batch->rows; row++) {
			float *sum = batch->hidden_gradient + row * HIDDEN;
			const float *hidden = batch->hidden + row * HIDDEN;

			for (unsigned int i = 0; i < alphabet; i++)
				add_scaled(sum,
					   model->output.value + i * HIDDEN,
					   batch->output[row * alphabet + i],
					   HIDDEN);
			for (unsigned int i = 0; i < HIDDEN; i++)
				sum[i] *= 1 - hidden[i] * hidden[i];
		}
	}
}

static void backward_hidden(struct model *model, struct batch *batch)
{
#pragma omp parallel
	{
#pragma omp for schedule(dynamic, 4)
		for (unsigned int unit = 0; unit < HIDDEN; unit++)
			for (unsigned int row = 0; row < batch->rows; row++) {
				const float gradient =
					batch->hidden_gradient[row * HIDDEN +
							       unit];

				model->hidden_bias.gradient[unit] += gradient;
				add_scaled(model->hidden.gradient +
						   unit * INPUT,
					   batch->input + row * INPUT, gradient,
					   INPUT);
			}
#pragma omp for schedule(static) nowait
		for (unsigned int row = 0; row < batch->rows; row++)
			for (unsigned int unit = 0; unit < HIDDEN; unit++)
				add_scaled(batch->input_gradient + row * INPUT,
					   model->hidden.value + unit * INPUT,
					   batch->hidden_gradient[row * HIDDEN +
								  unit],
					   INPUT);
	}
}

/* A letter may stand anywhere, so each thread takes letters, not rows. */
static void backward_embedding(struct model *model, struct batch *batch)
{
#pragma omp parallel for schedule(static)
	for (unsigned int letter = 0; letter < model->alphabet; letter++) {
		float *sum = model->embedding.gradient + letter * EMBED;

		for (unsigned int i = 0; i < batch->rows * CONTEXT; i++)
			if (batch->context[i] == letter)
				add_scaled(sum,
					   batch->input_gradient + i * EMBED, 1,
					   EMBED);
	}
}

static void adam_update(struct model *model, unsigned int step)
{
	struct weights *const all[] = {&model->embedding, &model->hidden,
				       &model->hidden_bias, &model->output,
				       &model->output_bias};
	const float mean_scale = 1 / (1 - powf(0.9f, (float)step));
	const float square_scale = 1 / (1 - powf(0.999f, (float)step));

#pragma omp parallel
	for (unsigned int which = 0; which < 5; which++) {
		struct weights *weights = all[which];

#pragma omp for schedule(static) nowait
		for (size_t i = 0; i < weights->count; i++) {
			const float slope = weights->gradient[i];
			float *mean = &weights->mean[i];
			float *square = &weights->variance[i];

			*mean += 0.1f * (slope - *mean);
			*square += 0.001f * (slope * slope - *square);
			weights->value[i] -=
				RATE * *mean * mean_scale /
				(sqrtf(*square * square_scale) + 1e-8f);
			weights->gradient[i] = 0;
		}
	}
}

static float train_step(struct model *model, const struct text *text,
			const struct options *options, uint64_t *seed,
			unsigned int step)
{
	struct batch *batch = batch_create(model, options->batch);
	float loss;

	batch_sample(batch, text, seed);
	embed(model, batch);
	forward_hidden(model, batch);
	forward_output(model, batch);
	loss = softmax_loss(model, batch);
	backward_output(model, batch);
	backward_hidden(model, batch);
	backward_embedding(model, batch);
	adam_update(model, step);
	batch_destroy(batch);
	return loss;
}

static void train_epoch(struct model *model, const struct text *text,
			const struct options *options, uint64_t *seed,
			unsigned int epoch)
{
	double sum = 0;

	for (unsigned int i = 1; i <= options->steps; i++)
		sum += train_step(model, text, options, seed,
				  epoch * options->steps + i);
	printf("epoch %u: mean loss %.6f\n", epoch + 1, sum / options->steps);
	fflush(stdout);
}

static unsigned int positive(const char *word)
{
	const int number = atoi(word);

	if (number <= 0) {
		fprintf(stderr, "train: not a positive number: %s\n", word);
		exit(2);
	}
	return (unsigned int)number;
}

int main(int argc, char **argv)
{
	struct options options = {10, 40, 128};
	struct text text = {0};
	struct model model;
	uint64_t seed = 0x9E3779B97F4A7C15u;
	int option;

	while ((option = getopt(argc, argv, "e:s:b:")) != -1) {
		switch (option) {
		case 'e': options.epochs = positive(optarg); break;
		case 's': options.steps = positive(optarg); break;
		case 'b': options.batch = positive(optarg); break;
		default:
			fprintf(stderr, "usage: train [-e epochs] [-s steps] "
					"[-b batch] [TEXT...]\n");
			return 2;
		}
	}
	text_load(&text, argv + optind);
	model_create(&model, text.alphabet, &seed);
	printf("%zu characters of text, %u different ones; %d threads\n",
	       text.length, text.alphabet, omp_get_max_threads());
	for (unsigned int epoch = 0; epoch < options.epochs; epoch++)
		train_epoch(&model, &text, &options, &seed, epoch);
	model_destroy(&model);
	free(text.symbols);
	return 0;
}
