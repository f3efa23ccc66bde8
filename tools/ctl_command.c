/* SPDX-License-Identifier: MIT */
/*
 * ctl_command.c - `traceprof ctl`: speaks to the writer of a running program.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/session/session.h"
#include "tools/live/running.h"
#include "tools/util/command.h"
#include "tools/util/numbers.h"
#include "writer/pace.h"

/* A writer passes at least twice a second, unless its disk hangs; the file of a
 * program with a GPU waits for the last of its kernels. */
#define ANSWER_NS     UINT64_C(10000000000)
#define POST_TRIES    50
#define POST_PAUSE_US 20000

enum { KEY_STEPS = 'n', KEY_MS = 'm' };

struct ctl_arguments {
	const char *pid, *verb;
	struct mailbox_request request;
};

static const char *const verbs[MAILBOX_VERB_COUNT] = {
	[MAILBOX_STATUS] = "status",
	[MAILBOX_START] = "start",
	[MAILBOX_STOP] = "stop",
	[MAILBOX_SNAPSHOT] = "snapshot",
};

/* A line that another process has written, as it may be shown. */
static void print_line(const char *text, FILE *out)
{
	for (; *text; text++)
		fputc((unsigned char)*text < ' ' && *text != '\n' ? '?' : *text,
		      out);
	fputc('\n', out);
}

static int complain(const char *text)
{
	fprintf(stderr, "traceprof ctl: %s\n", text);
	return EXIT_FOUND;
}

static int post(struct session *session, const struct mailbox_request *request,
		uint64_t *word)
{
	int error = -EBUSY;

	for (int i = 0; error && i < POST_TRIES; i++) {
		error = mailbox_post(&session->head->mailbox,
				     (uint32_t)getpid(), request, word);
		if (error)
			usleep(POST_PAUSE_US);
	}
	if (!error)
		pace_wake_other(session->head);
	return error;
}

static void print_answer(const struct mailbox_request *request,
			 const struct mailbox_answer *answer)
{
	if (answer->text[0])
		print_line(answer->text, stdout);
	if (request->verb == MAILBOX_STATUS)
		printf("events   %llu seen, %llu of them dropped, %llu in "
		       "files\nfile     ",
		       (unsigned long long)answer->seen,
		       (unsigned long long)answer->dropped,
		       (unsigned long long)answer->written);
	if (request->verb == MAILBOX_STATUS && !answer->path[0])
		puts("none yet");
	else if (answer->path[0] && request->verb != MAILBOX_START)
		print_line(answer->path, stdout);
}

static int ask(struct session *session, const struct mailbox_request *request)
{
	struct mailbox_answer answer;
	char line[128];
	uint64_t word;

	if (post(session, request, &word))
		return complain("another traceprof ctl is at it, or its "
				"request was never answered");
	if (mailbox_wait(&session->head->mailbox, word, ANSWER_NS, &answer)) {
		snprintf(line, sizeof(line),
			 "its writer has not answered for %d s: stopped, or "
			 "waiting for its disk; the request is withdrawn",
			 (int)(ANSWER_NS / 1000000000));
		return complain(line);
	}
	if (!answer.error) {
		print_answer(request, &answer);
		return EXIT_GOOD;
	}
	fputs("traceprof ctl: ", stderr);
	print_line(answer.text, stderr);
	return EXIT_FOUND;
}

static void parse_limit(const char *text, int64_t most, int64_t *value,
			struct argp_state *state)
{
	if (decimal_to_integer(text, strlen(text), value) || *value < 1 ||
	    *value > most)
		argp_error(state, "%s: not a number from 1 to %lld", text,
			   (long long)most);
}

static void check(struct ctl_arguments *arguments, struct argp_state *state)
{
	uint32_t verb = 0;

	while (verb < MAILBOX_VERB_COUNT &&
	       strcmp(arguments->verb, verbs[verb]) != 0)
		verb++;
	arguments->request.verb = verb;
	if (verb == MAILBOX_VERB_COUNT)
		argp_error(state,
			   "%s: it takes start, stop, snapshot or "
			   "status",
			   arguments->verb);
	if (verb != MAILBOX_START &&
	    (arguments->request.steps || arguments->request.ms))
		argp_error(state, "--steps and --ms are for start");
	if (arguments->request.steps && arguments->request.ms)
		argp_error(state, "--steps or --ms, not both");
}

/* The session's file was cut while we had it. */
static void end_at_once(int number)
{
	static const char line[] = "traceprof ctl: its session is damaged\n";

	(void)number;
	if (write(STDERR_FILENO, line, sizeof(line) - 1) < 0)
		_exit(EXIT_UNREADABLE);
	_exit(EXIT_UNREADABLE);
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct ctl_arguments *arguments = state->input;

	switch (key) {
	case KEY_STEPS:
		parse_limit(text, MAILBOX_STEPS_MAX, &arguments->request.steps,
			    state);
		return 0;
	case KEY_MS:
		parse_limit(text, MAILBOX_MS_MAX, &arguments->request.ms,
			    state);
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num == 0)
			arguments->pid = text;
		else if (state->arg_num == 1)
			arguments->verb = text;
		else
			argp_error(state, "unexpected argument %s", text);
		return 0;
	case ARGP_KEY_END:
		if (!arguments->verb)
			argp_error(state, "it takes a PID and what to do");
		else
			check(arguments, state);
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

int ctl_command(int argc, char **argv)
{
	static const struct argp_option choices[] = {
		{"steps", KEY_STEPS, "N", 0,
		 "start: from the next step on, so many", 0},
		{"ms", KEY_MS, "T", 0, "start: so many milliseconds", 0},
		{0},
	};
	static const struct argp argp = {
		.options = choices,
		.parser = parse,
		.args_doc = "PID start|stop|snapshot|status",
		.doc = "Start and stop the recording of a running program.\v"
		       "start opens a window with a file of its own; stop ends "
		       "it and prints the file.  snapshot makes the file that "
		       "is being written complete as of now, and prints it.  "
		       "status says what is going on.  Ends with 1 when it is "
		       "refused, with 3 when there is no such program to speak "
		       "to.",
	};
	struct ctl_arguments arguments = {0};
	struct session session;
	char why[512];
	int64_t pid;
	int code;

	if (command_parse(&argp, argc, argv, 0, &arguments))
		return EXIT_USAGE;
	if (decimal_to_integer(arguments.pid, strlen(arguments.pid), &pid) ||
	    pid < 1 || pid > INT32_MAX) {
		fprintf(stderr, "traceprof ctl: %s is no process id\n",
			arguments.pid);
		return EXIT_USAGE;
	}
	if (running_open((int)pid, &session, NULL, why, sizeof(why))) {
		complain(why);
		return EXIT_UNREADABLE;
	}
	signal(SIGBUS, end_at_once);
	code = ask(&session, &arguments.request);
	session_close(&session);
	return code;
}
