/* SPDX-License-Identifier: MIT */
/*
 * own_lock.c - a program that runs but once: it holds a lock on its own file,
 * and one on the file that its messages go to, till its end.
 *
 *	own_lock FILE	those messages go there
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static bool lock(int fd, short type)
{
	struct flock lock = {.l_type = type, .l_whence = SEEK_SET};

	return fd >= 0 && !fcntl(fd, F_SETLK, &lock);
}

/* Asked by another process. */
static int is_held(int fd)
{
	const pid_t child = fork();
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int status = 0;

	if (!child)
		_exit(!fcntl(fd, F_GETLK, &lock) && lock.l_type != F_UNLCK);
	waitpid(child, &status, 0);
	return WEXITSTATUS(status);
}

static long work(void)
{
	long sum = 0;

#pragma omp parallel for num_threads(2) reduction(+ : sum)
	for (int i = 0; i < 20000; i++)
		sum += i;
	return sum;
}

int main(int argc, char **argv)
{
	const int own = open("/proc/self/exe", O_RDONLY);
	long sum = 0;

	/* Who is started later takes that for its messages. */
	if (argc > 1 && freopen(argv[1], "w", stderr))
		execl("/proc/self/exe", argv[0], NULL);
	fputs("works", stderr);
	if (!lock(own, F_RDLCK) || !lock(STDERR_FILENO, F_WRLCK))
		return 2;
	for (int turn = 0; turn < 300; turn++) {
		sum += work();
		usleep(5000);
	}
	printf("%ld, locks held: %d %d\n", sum, is_held(own),
	       is_held(STDERR_FILENO));
	return 0;
}
