/* SPDX-License-Identifier: MIT */
/*
 * file_copies.c - file_copies FOLDER: writes and reads a file there by parts at
 * a place, and copies it past its own memory, into files and into a socket.
 * Prints what each call gave.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define BYTES 10000

static char data[BYTES], back[BYTES];

static int at(const char *folder, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
}

int main(int argc, char **argv)
{
	const char *folder = argc > 1 ? argv[1] : ".";
	struct iovec parts[2] = {{data, 6000}, {data + 6000, 4000}};
	const int from = at(folder, "from");
	const int sent = at(folder, "sent");
	const int copied = at(folder, "copied");
	off_t place = 1000;
	off64_t out = 0;
	int ends[2];

	memset(data, 'x', sizeof(data));
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		return 1;
	printf("%zd", pwritev(from, parts, 2, 0));
	printf(" %zd", pwritev64(from, parts, 1, BYTES));
	printf(" %zd", pwritev2(from, parts, 2, 0, 0));
	printf(" %zd", pwritev64v2(from, parts, 1, 50, 0));
	parts[0].iov_base = back;
	parts[1].iov_base = back + 6000;
	printf(" %zd", preadv(from, parts, 2, 0));
	printf(" %zd", preadv64(from, parts, 1, 100));
	printf(" %zd", preadv2(from, parts, 2, 0, 0));
	printf(" %zd", preadv64v2(from, parts, 1, 200, 0));
	printf(" %d\n", memcmp(back, data, sizeof(data)));
	printf("%zd", sendfile(sent, from, &place, 3000));
	printf(" %zd %ld", sendfile64(sent, from, &place, 1), (long)place);
	printf(" %zd", sendfile(ends[0], from, &place, 500));
	place = 0;
	printf(" %zd", copy_file_range(from, &place, copied, &out, 7000, 0));
	printf(" %ld %ld\n", (long)place, (long)out);
	errno = 0;
	printf("%zd %d", preadv(-1, parts, 2, 0), errno);
	printf(" %zd %d", pwritev2(from, parts, 2, -2, 0), errno);
	printf(" %zd %d", sendfile(sent, -1, NULL, 1), errno);
	printf(" %zd %d\n", copy_file_range(from, NULL, from, NULL, 1, 77),
	       errno);
	return 0;
}
