/* SPDX-License-Identifier: MIT */
/*
 * open_command.c - `traceprof open FILE`: hands a trace to ui.perfetto.dev.
 *
 * The page may fetch from 127.0.0.1:9001 and nowhere else.  So the file is
 * served there, to this machine alone, under its name alone, until it was
 * fetched once.  A page under another name that points here (DNS rebinding) is
 * refused by the Host that it asks for.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/trace/trace_input.h"
#include "tools/util/command.h"
#include "tools/util/numbers.h"

#define PORT	      9001
#define REQUEST_BYTES 8192
#define SILENCE_MS    5000 /* of somebody who has connected */

struct open_arguments {
	int first; /* of the files in argv */
	int64_t port;
};

struct served {
	int file;
	off_t bytes;
	char name[1024]; /* as in the link */
	int64_t port;
};

static volatile sig_atomic_t must_end;

static void on_signal(int number)
{
	must_end = number;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct open_arguments *arguments = state->input;

	if (key != 'p')
		return command_parse_files(key, text, state);
	if (decimal_to_integer(text, strlen(text), &arguments->port) ||
	    arguments->port < 0 || arguments->port > 65535)
		argp_error(state, "--port %s: not a number from 0 to 65535",
			   text);
	return 0;
}

/* A file's last part as it may stand in a link. */
static void name_it(struct served *served, const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	const char *last = strrchr(path, '/');
	size_t len = 0;

	for (last = last ? last + 1 : path;
	     *last && len + 4 < sizeof(served->name); last++)
		if (strchr(plain, *last))
			served->name[len++] = *last;
		else
			len += (size_t)snprintf(served->name + len, 4, "%%%02X",
						(unsigned char)*last);
	served->name[len] = '\0';
}

static int open_file(struct served *served, const char *path)
{
	struct stat status;

	served->file = open(path, O_RDONLY | O_CLOEXEC);
	if (served->file < 0 || fstat(served->file, &status))
		return -errno;
	if (!S_ISREG(status.st_mode))
		return S_ISDIR(status.st_mode) ? -EISDIR : -EINVAL;
	served->bytes = status.st_size;
	name_it(served, path);
	return 0;
}

/* A socket that listens to this machine alone, or -errno. */
static int listen_at(int64_t *port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)*port),
		.sin_addr = {htonl(INADDR_LOOPBACK)},
	};
	socklen_t len = sizeof(address);
	const int one = 1;
	const int door = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (door < 0)
		return -errno;
	setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(door, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(door, 8) ||
	    getsockname(door, (struct sockaddr *)&address, &len)) {
		const int error = -errno;

		close(door);
		return error;
	}
	*port = ntohs(address.sin_port);
	return door;
}

/* Reads up to the blank line; false: nothing that can be answered. */
static bool read_request(int guest, char *text)
{
	struct pollfd input = {.fd = guest, .events = POLLIN};
	size_t len = 0;

	while (len + 1 < REQUEST_BYTES && !must_end &&
	       poll(&input, 1, SILENCE_MS) > 0) {
		const ssize_t got =
			recv(guest, text + len, REQUEST_BYTES - 1 - len, 0);

		if (got <= 0)
			return false;
		len += (size_t)got;
		text[len] = '\0';
		if (strstr(text, "\r\n\r\n"))
			return true;
	}
	return false;
}

/* Does it ask for us, by a name that is this machine's? */
static bool is_for_us(const struct served *served, const char *text)
{
	static const char *const names[] = {"127.0.0.1", "localhost"};
	const char *host = strcasestr(text, "\r\nHost:");
	char wanted[64];

	if (!host)
		return false;
	host += strlen("\r\nHost:");
	host += strspn(host, " \t");
	for (size_t at = 0; at < sizeof(names) / sizeof(names[0]); at++) {
		const int len = snprintf(wanted, sizeof(wanted), "%s:%lld\r\n",
					 names[at], (long long)served->port);

		if (!strncasecmp(host, wanted, (size_t)len))
			return true;
	}
	return false;
}

static void send_head(int guest, const char *status, off_t bytes)
{
	char text[512];
	const int len = snprintf(
		text, sizeof(text),
		"HTTP/1.1 %s\r\n"
		"Access-Control-Allow-Origin: https://ui.perfetto.dev\r\n"
		"Access-Control-Allow-Methods: GET, HEAD, OPTIONS\r\n"
		"Access-Control-Allow-Private-Network: true\r\n"
		"Cache-Control: no-store\r\n"
		"Content-Type: application/octet-stream\r\n"
		"Content-Length: %lld\r\n"
		"Connection: close\r\n\r\n",
		status, (long long)bytes);

	send(guest, text, (size_t)len, MSG_NOSIGNAL);
}

/* True: all of it went out. */
static bool send_file(const struct served *served, int guest)
{
	off_t at = 0;

	while (at < served->bytes && !must_end) {
		const ssize_t sent = sendfile(guest, served->file, &at,
					      (size_t)(served->bytes - at));

		if (sent == 0 || (sent < 0 && errno != EINTR))
			return false;
	}
	return at == served->bytes;
}

/* One who has connected.  True: the file was fetched. */
static bool answer(const struct served *served, int guest)
{
	char text[REQUEST_BYTES], wanted[1100];
	bool is_get;
	int len;

	if (!read_request(guest, text))
		return false;
	is_get = !strncmp(text, "GET ", 4);
	len = snprintf(wanted, sizeof(wanted), "/%s ", served->name);
	if (!is_for_us(served, text))
		send_head(guest, "403 Forbidden", 0);
	else if (!strncmp(text, "OPTIONS ", 8))
		send_head(guest, "204 No Content", 0);
	else if (!is_get && strncmp(text, "HEAD ", 5) != 0)
		send_head(guest, "405 Method Not Allowed", 0);
	else if (strncmp(strchr(text, ' ') + 1, wanted, (size_t)len) != 0)
		send_head(guest, "404 Not Found", 0);
	else {
		send_head(guest, "200 OK", served->bytes);
		return is_get && send_file(served, guest);
	}
	return false;
}

/* Until the file was fetched or somebody ends it. */
static void serve(const struct served *served, int door)
{
	bool is_fetched = false;
	char left[256];

	while (!is_fetched && !must_end) {
		const int guest = accept4(door, NULL, NULL, SOCK_CLOEXEC);
		ssize_t got = 1;

		if (guest < 0)
			continue;
		is_fetched = answer(served, guest);
		shutdown(guest, SHUT_WR);
		/* Who has read it all ends in order; a reset is from one who
		 * has not. */
		while (is_fetched && got > 0)
			got = recv(guest, left, sizeof(left), 0);
		is_fetched = is_fetched && got == 0;
		close(guest);
	}
	if (is_fetched)
		puts("It was fetched.");
}

static int complain(const char *what, int error)
{
	fprintf(stderr, "traceprof open: %s: %s\n", what, strerror(-error));
	return EXIT_UNREADABLE;
}

int open_command(int argc, char **argv)
{
	static const struct argp_option choices[] = {
		{"port", 'p', "N", 0,
		 "listen there (9001, the only one that ui.perfetto.dev may "
		 "reach); 0: any",
		 0},
		{0},
	};
	static const struct argp argp = {
		.options = choices,
		.parser = parse,
		.args_doc = "FILE",
		.doc = "Serves a trace to the browser on this machine and "
		       "prints the link that opens it in Perfetto; ends when "
		       "it was fetched, or at Ctrl-C.\vEnds with 3 when the "
		       "file cannot be read or the port is taken.",
	};
	struct open_arguments arguments = {.port = PORT};
	struct sigaction action = {.sa_handler = on_signal};
	struct served served;
	int error, door;

	if (command_parse(&argp, argc, argv, 0, &arguments))
		return EXIT_USAGE;
	if (argc - arguments.first != 1) {
		fputs("traceprof open: one FILE, not more\n", stderr);
		return EXIT_USAGE;
	}
	error = open_file(&served, argv[arguments.first]);
	if (error)
		return complain(argv[arguments.first], error);
	door = listen_at(&arguments.port);
	if (door < 0)
		return complain("port 127.0.0.1", door);
	served.port = arguments.port;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	/* sendfile() to one who has hung up. */
	signal(SIGPIPE, SIG_IGN);
	printf("Open https://ui.perfetto.dev/#!/?url=http://127.0.0.1:%lld/%s\n"
	       "Waiting for the browser; Ctrl-C ends.\n",
	       (long long)served.port, served.name);
	if (trace_input_ends_with(argv[arguments.first], "\"final\":false"))
		puts("This file is not finished: what is in it is shown "
		     "(traceprof check says how far it is).");
	fflush(stdout);
	serve(&served, door);
	close(door);
	close(served.file);
	return EXIT_GOOD;
}
