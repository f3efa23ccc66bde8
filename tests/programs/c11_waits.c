/* SPDX-License-Identifier: MIT */
/*
 * c11_waits.c - the waits of C11's threads: a lock that another holds, two
 * conditions, a sleep and a join.  Prints what each call returned.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define HOLD_MS 20

static mtx_t mutex;
static cnd_t condition, turn;
static atomic_int is_set, its_turn, has_left;

static int rest(int milliseconds)
{
	const struct timespec pause = {0, milliseconds * 1000000L};

	return thrd_sleep(&pause, NULL);
}

/* Until the first thread has been asleep for a while. */
static void see_it_sleep(void)
{
	char text[256];

	for (int looks = 0; looks < 4; looks++) {
		FILE *stat = fopen("/proc/self/stat", "r");

		rest(HOLD_MS / 4);
		if (!fgets(text, sizeof(text), stat) || !strstr(text, ") S"))
			looks = -1;
		fclose(stat);
	}
}

static int other(void *unused)
{
	(void)unused;
	mtx_lock(&mutex);
	its_turn = 1;
	cnd_signal(&turn);
	mtx_unlock(&mutex);
	while (!has_left)
		rest(1);
	mtx_lock(&mutex);
	its_turn = 2;
	see_it_sleep();
	mtx_unlock(&mutex);
	for (int way = 0; way < 2; way++) {
		see_it_sleep();
		mtx_lock(&mutex);
		is_set = 1;
		if (way)
			cnd_broadcast(&condition);
		else
			cnd_signal(&condition);
		mtx_unlock(&mutex);
		while (1) {
			mtx_lock(&mutex);
			if (!is_set)
				break;
			mtx_unlock(&mutex);
			rest(1);
		}
		mtx_unlock(&mutex);
	}
	see_it_sleep();
	return 7;
}

static int wait_for_lock(void)
{
	int rc;

	/* Until the other one has it and looks at us. */
	while (its_turn < 2)
		rest(1);
	rc = mtx_lock(&mutex);
	mtx_unlock(&mutex);
	return rc;
}

int main(void)
{
	const struct timespec pause = {0, HOLD_MS * 1000000L};
	const struct timespec wrong = {0, -1};
	struct timespec until;
	int answer, rc = 0;
	thrd_t thread;

	mtx_init(&mutex, mtx_timed);
	cnd_init(&condition);
	cnd_init(&turn);
	mtx_lock(&mutex);
	thrd_create(&thread, other, NULL);
	while (!its_turn)
		cnd_wait(&turn, &mutex);
	mtx_unlock(&mutex);
	has_left = 1;
	printf("lock %d\n", wait_for_lock());
	for (int way = 0; way < 2; way++) {
		mtx_lock(&mutex);
		timespec_get(&until, TIME_UTC);
		until.tv_sec += 60;
		while (!is_set && rc == thrd_success)
			rc = way ? cnd_timedwait(&condition, &mutex, &until)
				 : cnd_wait(&condition, &mutex);
		is_set = 0;
		mtx_unlock(&mutex);
	}
	printf("conditions %d\n", rc);
	rc = thrd_join(thread, &answer);
	printf("join %d %d\n", rc, answer);
	printf("sleep %d %d\n", thrd_sleep(&pause, NULL),
	       thrd_sleep(&wrong, NULL) < 0);
	timespec_get(&until, TIME_UTC);
	mtx_lock(&mutex);
	printf("too late %d\n",
	       cnd_timedwait(&condition, &mutex, &until) == thrd_timedout);
	return 0;
}
