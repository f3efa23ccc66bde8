/* SPDX-License-Identifier: MIT */
/*
 * shared_tsan.c - what threads share besides rings, to be built with
 * ThreadSanitizer.
 *
 *	shared_tsan names|threads|windows|clock
 *
 * As ring_tsan.c: clean as the sources are, and with each memory order of the
 * file in question weakened a race must be found (tests/stress/run).
 */
#include "collector/session/names.h"
#include "collector/session/thread.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define THREADS 4

static struct session *session;
static pthread_barrier_t barrier;
static _Atomic bool is_over;

static void fail(const char *what)
{
	fprintf(stderr, "%s\n", what);
	_exit(2);
}

/* --- names: all threads intern the same texts at the same time --- */

static void *intern(void *arg)
{
	char text[32];

	for (int i = 0; i < 3000; i++) {
		uint32_t id;

		if (i % 10 == 0)
			pthread_barrier_wait(&barrier);
		snprintf(text, sizeof(text), "text %d", i);
		id = names_intern_string(session, text);
		if (strcmp(names_text(session, id, NULL), text) != 0)
			fail("another text");
	}
	return arg;
}

/* --- threads: they come and go; one looks, as the writer does --- */

static void *come_and_go(void *arg)
{
	for (int i = 0; i < 300; i++) {
		struct thread *thread;

		if (i % 10 == 0)
			pthread_barrier_wait(&barrier);
		thread_self = NULL;
		thread = thread_here();
		if (!thread)
			fail("no record");
		thread->ring.refused = (uint64_t)i; /* the owner's alone */
		thread_leave();
	}
	return arg;
}

static uint64_t look_at_threads(void)
{
	uint64_t sum = 0;

	for (struct thread *t = thread_each(session, NULL); t;
	     t = thread_each(session, t)) {
		sum += t->ring.at;
		/* ACQUIRE pairs with RELEASE in thread_leave(). */
		if (load_acquire(&t->state) != THREAD_RETIRED)
			continue;
		sum += t->ring.refused + t->generation;
		t->name[0] = 'x';
		/* RELEASE pairs with ACQUIRE in claim_free(). */
		store_release(&t->state, THREAD_FREE);
	}
	return sum;
}

/* --- windows: two threads open and close, one reads --- */

static void *open_and_close(void *arg)
{
	struct window_state *windows = &session->head->windows;

	for (int i = 0; i < 20000 && load_relaxed(&windows->opened) < 2000;
	     i++) {
		window_open(windows, 1, i, 0, false);
		window_close(windows, 2, i);
		sched_yield();
	}
	return arg;
}

static int64_t read_windows(void)
{
	struct window_state *windows = &session->head->windows;
	uint64_t written = load_relaxed(&windows->written);
	int64_t sum = 0;

	/* ACQUIRE pairs with RELEASE in window_open(). */
	while (written < load_acquire(&windows->opened)) {
		struct window *window = &windows->window[written % WINDOWS_MAX];

		sum += window->first_step;
		/* ACQUIRE pairs with RELEASE in window_close(). */
		if (!load_acquire(&window->end_ticks))
			break;
		sum += window->last_step;
		/* RELEASE pairs with ACQUIRE in window_open(). */
		store_release(&windows->written, ++written);
	}
	return sum;
}

/* --- clock: one thread makes segments, others convert --- */

static void *convert(void *arg)
{
	/* An old time: its segment is looked for among all that are there. */
	const uint64_t ticks = clock_ticks();

	/* Until an anchor that is being taken lies behind it. */
	usleep(20000);
	const int64_t ns = clock_ns(&session->head->clock, ticks);

	while (!load_relaxed(&is_over)) {
		clock_ns(&session->head->clock, clock_ticks());
		if (clock_ns(&session->head->clock, ticks) != ns)
			fail("another time for the same ticks");
	}
	return arg;
}

static void make_segments(void)
{
	for (int i = 0; i < 300; i++) {
		clock_anchor(&session->head->clock);
		sched_yield();
	}
}

static void run(void *(*body)(void *), unsigned int threads, uint64_t rounds,
		const char *what)
{
	pthread_t ids[THREADS];
	uint64_t sum = 0;

	pthread_barrier_init(&barrier, NULL, threads);
	for (unsigned int i = 0; i < threads; i++)
		pthread_create(&ids[i], NULL, body, NULL);
	for (uint64_t i = 0; i < rounds; i++) {
		if (body == come_and_go)
			sum += look_at_threads();
		else if (body == open_and_close)
			sum += (uint64_t)read_windows();
		else
			break;
		sched_yield();
	}
	if (body == convert)
		make_segments();
	store_relaxed(&is_over, true);
	for (unsigned int i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	printf("%s: done (%llu)\n", what, (unsigned long long)sum);
}

int main(int count, char **arguments)
{
	const char *what = count > 1 ? arguments[1] : "";
	struct options options;

	options_default(&options);
	options.buffer_mb = 16;
	clock_uses_counter = 1;
	if (session_create(&options, "stress", &session))
		return 3;
	session_grow(session, session->bytes);
	session_unlink(session);
	store_relaxed(&session_here, session);
	if (!strcmp(what, "names"))
		run(intern, THREADS, 0, what);
	else if (!strcmp(what, "threads"))
		run(come_and_go, THREADS, 2000, what);
	else if (!strcmp(what, "windows"))
		run(open_and_close, 2, 20000, what);
	else if (!strcmp(what, "clock"))
		run(convert, 2, 0, what);
	else
		return 3;
	return 0;
}
