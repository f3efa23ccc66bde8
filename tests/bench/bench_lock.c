/* SPDX-License-Identifier: MIT */
/*
 * bench_lock.c - a lock that nobody else wants, locked and unlocked so many
 * times, or a condition signalled that nobody waits for, or another call that
 * may wait and doesn't: bench_lock lock|signal|read|write|poll TURNS.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

__attribute__((noinline)) void run(const char *what, long turns)
{
	void *volatile block = malloc(64); /* the gate is decided now */
	const int file = open("/dev/null", O_RDWR);
	struct pollfd one = {file, POLLIN, 0};
	char byte = 0;

	for (long i = 0; i < turns; i++) {
		if (*what == 'l') {
			pthread_mutex_lock(&mutex);
			pthread_mutex_unlock(&mutex);
		} else if (*what == 's') {
			pthread_cond_signal(&condition);
		} else if (*what == 'w') {
			if (write(file, &byte, 1) != 1)
				abort();
		} else if (*what == 'p') {
			if (poll(&one, 1, 0) != 1)
				abort();
		} else if (read(file, &byte, 1)) {
			abort();
		}
	}
	close(file);
	free(block);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	run(argv[1], atol(argv[2]));
	return 0;
}
