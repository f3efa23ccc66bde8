/* SPDX-License-Identifier: MIT */
/*
 * checked.c - reads FOLDER/checked and waits by the names that calls have in a
 * program that was built with _FORTIFY_SOURCE; and one with too little room, in
 * a child.  Prints what each returned.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

ssize_t __read_chk(int fd, void *data, size_t bytes, size_t room);
ssize_t __pread_chk(int fd, void *data, size_t bytes, off_t at, size_t room);
ssize_t __pread64_chk(int fd, void *data, size_t bytes, off64_t at,
		      size_t room);
ssize_t __recv_chk(int fd, void *data, size_t bytes, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *data, size_t bytes, size_t room, int flags,
		       struct sockaddr *from, socklen_t *from_bytes);
int __poll_chk(struct pollfd *fds, nfds_t count, int milliseconds, size_t room);
int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *time,
		const sigset_t *mask, size_t room);
size_t __fread_chk(void *data, size_t room, size_t size, size_t count,
		   FILE *stream);

static char data[10000];
static int pipes[2];
static struct pollfd fds[2];

static void too_small(int way)
{
	const struct timespec time = {0, 0};

	if (way == 0)
		__read_chk(pipes[0], data, 6, 5);
	else if (way == 1)
		__pread_chk(pipes[0], data, 6, 0, 5);
	else if (way == 2)
		__recv_chk(pipes[0], data, 6, 5, 0);
	else if (way == 3)
		__recvfrom_chk(pipes[0], data, 6, 5, 0, NULL, NULL);
	else if (way == 4)
		__poll_chk(fds, 2, 0, 2 * sizeof(fds[0]) - 1);
	else if (way == 5)
		__ppoll_chk(fds, 2, &time, NULL, 2 * sizeof(fds[0]) - 1);
	else if (way == 6)
		__fread_chk(data, 5, 2, 3, stdin);
	else
		__fread_chk(data, 5, (size_t)-1 / 2, 3, stdin);
}

/* The signal that ends who has too little room. */
static int ends_by(int way)
{
	int status = 0;
	pid_t child = fork();

	if (!child) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
		close(STDERR_FILENO);
		too_small(way);
		_exit(1);
	}
	waitpid(child, &status, 0);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void sockets(void)
{
	struct sockaddr name = {.sa_family = AF_UNIX};
	socklen_t bytes = sizeof(name.sa_family);
	int ends[2], server, client, made;

	socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends);
	printf("%zd", write(ends[1], "abcdef", 6));
	printf(" %zd", __recv_chk(ends[0], data, 2, 2, 0));
	printf(" %zd", __recvfrom_chk(ends[0], data, 2, 3, 0, NULL, NULL));
	printf(" %zd\n", __read_chk(ends[0], data, 5, sizeof(data)));
	/* A name that the kernel makes up. */
	server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bind(server, &name, bytes);
	listen(server, 1);
	struct sockaddr_storage given;
	bytes = sizeof(given);
	getsockname(server, (struct sockaddr *)&given, &bytes);
	client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	printf("%d", connect(client, (struct sockaddr *)&given, bytes));
	made = accept4(server, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	printf(" %d %d\n", fcntl(made, F_GETFD), fcntl(made, F_GETFL));
}

int main(int argc, char **argv)
{
	const struct timespec time = {0, 1000000};
	char path[512];
	FILE *stream;
	int fd;

	snprintf(path, sizeof(path), "%s/checked", argc > 1 ? argv[1] : ".");
	fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	printf("%zd", write(fd, data, sizeof(data)));
	printf(" %zd", __pread_chk(fd, data, 100, 0, 100));
	printf(" %zd", __pread64_chk(fd, data, 200, 0, sizeof(data)));
	lseek(fd, 0, SEEK_SET);
	printf(" %zd", __read_chk(fd, data, 300, 300));
	stream = fopen(path, "r");
	printf(" %zu", __fread_chk(data, 8192, 2, 4096, stream));
	printf(" %zu", __fread_chk(data, 0, 0, 7, stream));
	printf(" %zd\n", __read_chk(-1, data, 1, 1));
	printf("%d", __poll_chk(NULL, 0, 1, 0));
	printf(" %d\n", __ppoll_chk(fds, 0, &time, NULL, sizeof(fds)));
	sockets();
	if (pipe(pipes))
		return 1;
	fflush(stdout);
	for (int way = 0; way < 8; way++)
		printf("%d ", ends_by(way));
	printf("\n");
	return 0;
}
