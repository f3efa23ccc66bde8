/* SPDX-License-Identifier: MIT */
/*
 * record_command.c - `traceprof record [options] -- COMMAND`: runs a program
 * with the library in front.
 *
 * The settings go through the environment, as without the command.  When the
 * program was killed, what was still in memory is put into its trace here.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/util/command.h"
#include "tools/util/numbers.h"
#include "tools/record/library.h"
#include "tools/record/record.h"
#include "tools/record/settings.h"
#include "tools/verdict/verdict.h"

enum { EXIT_NOT_RUN = 126, EXIT_NOT_FOUND = 127 };
enum { ON_FILE = 0x800, FOR_MEMORY }; /* argp's keys */

/* A compressed trace of this size is read in some seconds; of a larger one the
 * last part is judged. */
#define VERDICT_BYTES_MAX (16u << 20)

struct record_arguments {
	struct options options;
	const char *on_file; /* a command; NULL none */
	bool is_for_memory;
	int first; /* of the command in argv */
};

/* Ours first; what was preloaded already comes after it. */
static int set_preload(void)
{
	const char *others = getenv("LD_PRELOAD");
	char library[PATH_MAX], *both;

	if (library_find(library, sizeof(library))) {
		fputs("traceprof record: " LIBRARY_NAME
		      " is neither beside this "
		      "command nor in ../lib\n",
		      stderr);
		return -ENOENT;
	}
	if (strpbrk(library, " :")) {
		fprintf(stderr,
			"traceprof record: LD_PRELOAD cannot hold the blank or "
			"colon in %s; install it elsewhere\n",
			library);
		return -EINVAL;
	}
	/* NVTX and ITT ask for us by these names, earlier than our constructor
	 * can set them; another tool that is named already stays. */
	setenv("NVTX_INJECTION64_PATH", library, 0);
	setenv("INTEL_LIBITTNOTIFY64", library, 0);
	if (others && strstr(others, library))
		return 0;
	if (asprintf(&both, "%s%s%s", library, others && *others ? ":" : "",
		     others ? others : "") < 0)
		return -ENOMEM;
	setenv("LD_PRELOAD", both, 1);
	free(both);
	return 0;
}

/* An environment that turns the library off is more likely left over than
 * meant. */
static void warn_if_off(void)
{
	const char *off = getenv("TRACEPROF");

	if (off && (!strcmp(off, "0") || !strcmp(off, "off")))
		fprintf(stderr,
			"traceprof record: TRACEPROF=%s turns recording off\n",
			off);
}

static void set_own_pid(void)
{
	char pid[24];

	snprintf(pid, sizeof(pid), "%ld", (long)getpid());
	setenv("TRACEPROF_RECORD_PID", pid, 1);
}

static int check_target(const char *command)
{
	struct target target;
	const int error = target_examine(command, &target);

	switch (error) {
	case 0:
	case -ENOEXEC: return 0;
	case -EPERM:
		fprintf(stderr, "traceprof record: %s\n", target.reason);
		return EXIT_USAGE;
	default:
		fprintf(stderr, "traceprof record: %s: %s\n", command,
			strerror(-error));
		return error == -ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUN;
	}
}

static void say_recovered(const char *path, int error,
			  const struct recovery_result *result, void *arg)
{
	(void)arg;
	if (error == -EBUSY || (!error && !result->path[0]))
		return;
	if (error)
		fprintf(stderr, "traceprof record: cannot recover %s: %s\n",
			path,
			error == -ENOLCK ? "its program may still run"
					 : strerror(-error));
	else
		fprintf(stderr,
			"traceprof record: recovered %s (%llu event%s, %llu of "
			"them from memory)\n",
			result->path, (unsigned long long)result->events,
			plural((int64_t)result->events),
			(unsigned long long)result->recovered);
}

static void recover(const struct options *options)
{
	if (options->recover)
		recovery_run_folder(options->dir, say_recovered, NULL);
}

static void choose(struct options *options, unsigned int row, const char *value,
		   struct argp_state *state)
{
	if (!options_is_set(options, row))
		settings_parse(options, true, SETTINGS_KEY + (int)row, value,
			       state);
}

/* What `traceprof memory` needs to name who holds what, and little more.
 * Python's small objects are blocks of the heap only where it takes each from
 * malloc(): that is asked for by this option, never by the library. */
static void choose_for_memory(struct options *options, struct argp_state *state)
{
	choose(options, OPTION_AT_malloc, "sampled", state);
	choose(options, OPTION_AT_malloc_sample, "65536", state);
	choose(options, OPTION_AT_stack, "heap", state);
	setenv("PYTHONMALLOC", "malloc", 0);
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct record_arguments *arguments = state->input;

	switch (key) {
	case ON_FILE: arguments->on_file = text; return 0;
	case 'o':
		return settings_parse(&arguments->options, true,
				      settings_key("DIR"), text, state);
	case FOR_MEMORY: arguments->is_for_memory = true; return 0;
	case ARGP_KEY_ARG:
		if (settings_take_number(&arguments->options, text, state))
			return 0;
		/* The first word that is no option begins the command. */
		arguments->first = state->next - 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_END:
		if (!arguments->first)
			argp_error(state, "no COMMAND given");
		if (arguments->is_for_memory)
			choose_for_memory(&arguments->options, state);
		return 0;
	default:
		return settings_parse(&arguments->options, true, key, text,
				      state);
	}
}

static void say_memfd(int error, const struct recovery_result *result)
{
	say_recovered("a session in memory", error, result, NULL);
}

/* Nobody waits for that of all of a large trace. */
static void judge(const char *path)
{
	if (verdict_file(path, VERDICT_BYTES_MAX, 80, stderr) == -ENODATA)
		fprintf(stderr,
			"traceprof record: for the verdict on so large a "
			"trace: traceprof report %s\n",
			path);
}

static void say_verdict(struct fresh_files *files, pid_t pid)
{
	const pid_t rank = fresh_files_first_rank(files, pid);
	char path[PATH_MAX];
	unsigned int others;
	const char *what;
	bool is_by_work;

	if (rank && fresh_files_fullest(files, rank, path, &what)) {
		fprintf(stderr,
			"traceprof record: of the ranks the first one is "
			"judged, %s:\n",
			path);
		judge(path);
		return;
	}
	if (!fresh_files_last(files, pid, path) ||
	    fresh_files_did_little(files, pid)) {
		others = fresh_files_largest(files, pid, path, &is_by_work);
		if (others > 1)
			fprintf(stderr,
				"traceprof record: of %u traces, the one %s is "
				"%s:\n",
				others,
				is_by_work ? "whose process worked most"
					   : "with most events",
				path);
		if (others)
			judge(path);
		return;
	}
	if (!fresh_files_fullest(files, pid, path, &what))
		return;
	if (what)
		fprintf(stderr, "traceprof record: %s is %s:\n", what, path);
	judge(path);
}

static void go_on(int number)
{
	(void)number;
}

/* Nobody reads what is said here (2>&1 | head), or its file may not grow: the
 * program's traces and its status are wanted all the same.  A handler, since
 * what is ignored would stay so in the program. */
static void outlive_readers(void)
{
	const int ends[] = {SIGPIPE, SIGXFSZ};
	const struct sigaction ours = {.sa_handler = go_on,
				       .sa_flags = SA_RESTART};
	struct sigaction before;

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (!sigaction(ends[i], NULL, &before) &&
		    before.sa_handler == SIG_DFL)
			sigaction(ends[i], &ours, NULL);
}

static void look(void *files)
{
	record_memfds_poll(say_memfd);
	fresh_files_poll(files, false);
}

/* As a shell does, which sees us alone; of what the user did it says nothing,
 * nor of a reader that went away. */
static void say_signal(const char *command, int signal)
{
	if (signal && signal != SIGINT && signal != SIGPIPE)
		fprintf(stderr,
			"traceprof record: %s was ended by signal %d (%s)\n",
			command, signal, strsignal(signal));
}

/* Runs the program, and the command for its files. */
static int run(const struct record_arguments *arguments, char **argv,
	       const char *preload, struct child_end *end)
{
	struct fresh_files *files = fresh_files_start(
		arguments->options.dir, arguments->on_file, preload);
	int error;

	if (arguments->options.recover)
		record_memfds_start();
	error = child_run(argv + arguments->first, end, look, files);
	record_memfds_poll(say_memfd);
	if (!error && !arguments->options.quiet)
		say_signal(argv[arguments->first], end->signal);
	if (!error)
		unfinished_wait(arguments->options.dir, getpid());
	/* Killed, or ended by a bare system call, as a Go runtime does. */
	if (!error)
		recover(&arguments->options);
	fresh_files_poll(files, true);
	if (!error)
		fresh_files_say(files, end->pid);
	if (!error && arguments->options.verdict && !arguments->options.quiet)
		say_verdict(files, end->pid);
	fresh_files_end(files);
	return error;
}

int record_command(int argc, char **argv)
{
	static const struct argp_option own[] = {
		{.name = "on-file",
		 .key = ON_FILE,
		 .arg = "CMD",
		 .doc = "run CMD, with the path after it, for each trace "
			"that is complete"},
		{.name = "output",
		 .key = 'o',
		 .arg = "FOLDER",
		 .doc = "--dir, as other profilers call it"},
		{.name = "memory",
		 .key = FOR_MEMORY,
		 .doc = "for `traceprof memory`: --malloc=sampled "
			"--malloc-sample=65536 --stack=heap, and in the "
			"environment PYTHONMALLOC=malloc, unless they are "
			"set"},
		{0}};
	const struct argp argp = {
		.options = settings_options(own, NULL),
		.parser = parse,
		.args_doc = "[--] COMMAND [ARGUMENT...]",
		.doc = "Run a program and record it.\vEach option is also an "
		       "environment variable: --max-mb is TRACEPROF_MAX_MB.  "
		       "Ends with the program's exit status, with 128 and the "
		       "signal that killed it, 126 or 127 when it cannot be "
		       "run, 2 when it cannot be recorded.",
	};
	struct record_arguments arguments = {.first = 0};
	const char *others = getenv("LD_PRELOAD");
	char *preload = others ? strdup(others) : NULL;
	struct child_end end;
	int code, error;

	settings_from_environment(&arguments.options);
	if (command_parse(&argp, argc, argv, ARGP_IN_ORDER, &arguments))
		return EXIT_USAGE;
	code = check_target(argv[arguments.first]);
	if (code)
		return code;
	if (set_preload())
		return EXIT_UNREADABLE;
	warn_if_off();
	set_own_pid();
	outlive_readers();
	error = run(&arguments, argv, preload, &end);
	free(preload);
	if (error) {
		fprintf(stderr, "traceprof record: %s: %s\n",
			argv[arguments.first], strerror(-error));
		return error == -ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUN;
	}
	return end.code;
}
