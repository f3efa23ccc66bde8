/* SPDX-License-Identifier: MIT */
/*
 * newcomers.h - those of newcomers.c that train and do something else: stages,
 * tests, folds, settings, ensembles, threads that load.
 */
#ifndef STEPS_NEWCOMERS_H
#define STEPS_NEWCOMERS_H

static void encode(void)
{
	matmul(a, w, b);
	add_bias(b);
	sigmoid(b);
}

static int stages(void)
{
	for (int batch = 0; batch < 50; batch++) {
		encode();
		matmul(b, e, c);
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			d[i] = c[i] - a[i];
		matmul(d, e, g);
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			w[i] -= 1e-3 * g[i];
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			e[i] -= 1e-3 * d[i];
	}
	for (int batch = 0; batch < 40; batch++) {
		encode();
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			c[i] = b[i] * h[i];
		cross_entropy(c);
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			g[i] = c[i] * h[i];
		sigmoid_back(g);
		sgd(w, g);
		sgd(h, c);
	}
	return 0;
}

static void net_forward(void)
{
	matmul(a, w, b);
	add_bias(b);
	sigmoid(b);
	matmul(b, w, c);
	add_bias(c);
	sigmoid(c);
}

static void net_train(void)
{
	net_forward();
	cross_entropy(c);
	sigmoid_back(d);
	matmul(d, b, e);
	matmul(d, w, g);
	sigmoid_back(g);
	matmul(g, a, h);
	sgd(w, e);
	sgd(w, h);
}

static double accuracy(void)
{
	double right = 0;
#pragma omp parallel for reduction(+ : right)
	for (int i = 0; i < N; i++)
		right += c[i] > 0.5;
	return right / N;
}

static int tested(void)
{
	double sum = 0;

	for (int epoch = 0; epoch < 3; epoch++) {
		for (int batch = 0; batch < 40; batch++)
			net_train();
		printf("epoch %d\n", epoch);
	}
	for (int batch = 0; batch < 30; batch++) {
		net_forward();
		sum += accuracy();
	}
	printf("accuracy %g\n", sum / 30);
	return 120;
}

static int folds(void)
{
	for (int fold = 0; fold < 4; fold++) {
		double sum = 0;

#pragma omp parallel for
		for (int i = 0; i < N; i++)
			w[i] = ((i + fold) % 13) * 0.01;
		for (int epoch = 0; epoch < 8; epoch++) {
			for (int batch = 0; batch < 10; batch++)
				net_train();
		}
		for (int batch = 0; batch < 5; batch++) {
			net_forward();
			sum += accuracy();
		}
		printf("fold %d: %g\n", fold, sum / 5);
	}
	return 320;
}

static int search(void)
{
	for (int setting = 0; setting < 6; setting++) {
		double loss = 0;

#pragma omp parallel for
		for (int i = 0; i < N; i++)
			w[i] = 0;
		for (int it = 0; it < 30; it++) {
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				b[i] = 1 / (1 + exp(-a[i] * w[i])) - c[i];
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				w[i] -= 0.1 * setting * b[i] * a[i];
		}
#pragma omp parallel for reduction(+ : loss)
		for (int i = 0; i < N; i++)
			loss += b[i] * b[i];
		printf("%d %g\n", setting, loss);
	}
	return 180;
}

static int ensemble(void)
{
	for (int member = 0; member < 8; member++) {
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			w[i] = ((i + member) % 17) * 0.01;
		for (int batch = 0; batch < 30; batch++)
			net_train();
	}
	for (int batch = 0; batch < 20; batch++) {
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			e[i] = 0;
		for (int member = 0; member < 8; member++) {
			net_forward();
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				e[i] += c[i] / 8;
		}
	}
	return 240;
}

/* Batches of sentences of one length: as many as there are.  It stops when the
 * validation gets no better. */
static int early(void)
{
	int batches = 0;

	for (int epoch = 0; epoch < 9; epoch++) {
		const int many = 18 + (int)roll(12);
		double sum = 0;

		for (int batch = 0; batch < many; batch++) {
			net_train();
			batches++;
		}
		for (int batch = 0; batch < 6; batch++) {
			net_forward();
			sum += cross_entropy(c);
		}
		printf("epoch %d: %g\n", epoch, sum);
	}
	return batches;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int loaded, taken;

static void *load(void *of)
{
	double *room = of;

	for (;;) {
		pthread_mutex_lock(&lock);
		while (loaded - taken >= 4 && loaded < size)
			pthread_cond_wait(&changed, &lock);
		if (loaded >= size) {
			pthread_mutex_unlock(&lock);
			return NULL;
		}
		loaded++;
		pthread_mutex_unlock(&lock);
		for (int turn = 0; turn < 3; turn++) {
#pragma omp parallel for num_threads(2)
			for (int i = 0; i < N; i++)
				room[i] = room[i] * 0.5 + turn;
		}
		pthread_cond_broadcast(&changed);
	}
}

static int loader(void)
{
	static double rooms[2][N];
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, load, rooms[i]);
	for (int batch = 0; batch < size; batch++) {
		pthread_mutex_lock(&lock);
		while (loaded <= taken)
			pthread_cond_wait(&changed, &lock);
		taken++;
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&lock);
		net_train();
	}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return size;
}

#endif
