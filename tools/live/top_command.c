/* SPDX-License-Identifier: MIT */
/*
 * top_command.c - `traceprof top PID`: a running program, looked at again and
 * again, until it ends.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "tools/live/live.h"
#include "tools/live/running.h"
#include "tools/trace/trace_reader.h"
#include "tools/util/command.h"
#include "tools/util/memory.h"
#include "tools/util/numbers.h"

#define PLAIN_COLUMNS 200u /* where it is no terminal */

struct top_arguments {
	int pid;
	int64_t interval_ms;
	bool once, json;
};

static volatile sig_atomic_t must_end;

static void on_signal(int number)
{
	must_end = number != SIGWINCH;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct top_arguments *arguments = state->input;
	int64_t number = 0;

	switch (key) {
	case 'i':
		if (decimal_to_ns(text, strlen(text), &number) < 0 ||
		    number < 50 || number > 86400000)
			argp_error(state,
				   "--interval %s: not a number of seconds "
				   "from 0.05 on",
				   text);
		arguments->interval_ms = number;
		return 0;
	case 'o': arguments->once = true; return 0;
	case 'j': arguments->json = true; return 0;
	case ARGP_KEY_ARG:
		if (arguments->pid)
			argp_error(state, "one PID, not more");
		if (decimal_to_integer(text, strlen(text), &number) ||
		    number < 1 || number > INT32_MAX)
			argp_error(state, "%s is no process id", text);
		arguments->pid = (int)number;
		return 0;
	case ARGP_KEY_END:
		if (!arguments->pid)
			argp_error(state, "it takes a PID");
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static void measure(unsigned int *rows, unsigned int *columns)
{
	struct winsize size;

	*rows = 24;
	*columns = 80;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row > 1 &&
	    size.ws_col > 1) {
		*rows = size.ws_row;
		*columns = size.ws_col;
	}
}

static void draw(const struct top_arguments *arguments, const struct live *live,
		 const struct live *before, bool is_screen)
{
	unsigned int rows, columns;
	char *text = NULL;
	size_t len = 0;
	FILE *out;

	if (arguments->json) {
		live_print_json(live, before, stdout);
	} else if (arguments->once) {
		live_print_text(live, before, UINT32_MAX, PLAIN_COLUMNS,
				stdout);
	} else if (!is_screen) {
		live_print_line(live, before, stdout);
	} else {
		measure(&rows, &columns);
		out = open_memstream(&text, &len);
		if (!out)
			memory_exhausted();
		live_print_text(live, before, rows - 1, columns, out);
		fclose(out);
		fputs("\033[H\033[J", stdout);
		fwrite(text, 1, len, stdout);
		fputs("q: end", stdout);
		free(text);
	}
	fflush(stdout);
}

/* True: somebody wants to end. */
static bool pause_until(int64_t ms, bool is_screen)
{
	struct pollfd input = {.fd = is_screen ? STDIN_FILENO : -1,
			       .events = POLLIN};
	char key = 0;

	if (poll(&input, 1, (int)ms) > 0 && read(STDIN_FILENO, &key, 1) < 1)
		return true;
	return must_end || key == 'q' || key == 'Q';
}

static int watch(const struct top_arguments *arguments, int file,
		 bool is_screen)
{
	struct live *looks = memory_zeroed(2, sizeof(*looks));
	struct live *live = &looks[0], *before = NULL, *other;
	int error = 0;

	while (!(error = live_read(file, live)) && !live->is_over &&
	       !running_is_dead(arguments->pid)) {
		if (before || is_screen)
			draw(arguments, live, before, is_screen);
		if (arguments->once && before)
			break;
		other = before ? before : &looks[1];
		before = live;
		live = other;
		if (pause_until(arguments->interval_ms, is_screen))
			break;
	}
	/* It ended before there was a second look. */
	if (arguments->once && !error && before &&
	    (live->is_over || running_is_dead(arguments->pid)))
		draw(arguments, before, NULL, false);
	free(looks);
	return error;
}

/* A terminal that takes orders; a dumb one would print them. */
static bool has_screen(void)
{
	const char *kind = getenv("TERM");

	return isatty(STDOUT_FILENO) && isatty(STDIN_FILENO) && kind && *kind &&
	       strcmp(kind, "dumb") != 0;
}

/* On a terminal: a screen of its own, keys without Enter. */
static int watch_on_screen(const struct top_arguments *arguments, int file)
{
	const bool is_screen =
		has_screen() && !arguments->once && !arguments->json;
	struct sigaction action = {.sa_handler = on_signal};
	struct termios kept, keys;
	int error;

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGWINCH, &action, NULL);
	if (!is_screen || tcgetattr(STDIN_FILENO, &kept))
		return watch(arguments, file, false);
	keys = kept;
	keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	tcsetattr(STDIN_FILENO, TCSANOW, &keys);
	fputs("\033[?1049h\033[?25l", stdout);
	error = watch(arguments, file, true);
	fputs("\033[?25h\033[?1049l", stdout);
	if (!error && running_is_dead(arguments->pid))
		printf("%d has ended.\n", arguments->pid);
	fflush(stdout);
	tcsetattr(STDIN_FILENO, TCSANOW, &kept);
	return error;
}

int top_command(int argc, char **argv)
{
	static const struct argp_option choices[] = {
		{"interval", 'i', "SECONDS", 0, "from one look to the next (1)",
		 0},
		{"once", 'o', NULL, 0, "two looks, printed once", 0},
		{"json", 'j', NULL, 0, "print JSON, an object for each look",
		 0},
		{0},
	};
	static const struct argp argp = {
		.options = choices,
		.parser = parse,
		.args_doc = "PID",
		.doc = "Shows a running program that is recorded: steps, "
		       "events, regions, heap, GPU, losses and threads.  It "
		       "only reads, and ends when the program does, or at "
		       "`q`.\v"
		       "Ends with 3 when there is no such program, or nothing "
		       "of it to be seen.",
	};
	struct top_arguments arguments = {.interval_ms = 1000};
	struct session session;
	char why[512];
	int file = -1, error;

	if (command_parse(&argp, argc, argv, 0, &arguments))
		return EXIT_USAGE;
	if (arguments.json && !trace_reader_available())
		return command_needs_yajl("top --json");
	error = running_open(arguments.pid, &session, &file, why, sizeof(why));
	if (error || file < 0) {
		fprintf(stderr, "traceprof top: %s\n",
			error ? why : strerror(errno));
		return EXIT_UNREADABLE;
	}
	session_close(&session);
	error = watch_on_screen(&arguments, file);
	close(file);
	if (!error)
		return EXIT_GOOD;
	fprintf(stderr, "traceprof top: %s\n", strerror(-error));
	return EXIT_UNREADABLE;
}
