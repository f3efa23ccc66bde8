/* SPDX-License-Identifier: MIT */
/*
 * recover_command.c - `traceprof recover`: finishes the traces of processes
 * that are gone.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/util/command.h"
#include "tools/util/numbers.h"
#include "tools/record/settings.h"
#include "writer/recovery.h"

struct recover_arguments {
	bool list, all, yes;
	int first; /* of the places in argv, 0 none */
};

struct recover_count {
	int found, failed;
	int ready;	/* whose program is dead */
	bool is_asking; /* these would be finished */
};

static const struct argp_option choices[] = {
	{"all", 'a', NULL, 0,
	 "name all sessions of yours, whatever their folder", 0},
	{"yes", 'y', NULL, 0, "with --all: finish them", 0},
	{"list", 'l', NULL, 0, "only list all sessions that are there", 0},
	{0},
};

static void say(const char *path, int error,
		const struct recovery_result *result, void *arg)
{
	struct recover_count *count = arg;

	count->found++;
	if (!error && !result->path[0]) {
		printf("%s: nothing was recorded\n", path);
		return;
	}
	if (!error) {
		printf("%s: %llu event%s, %llu of them from memory, %llu "
		       "dropped\n",
		       result->path, (unsigned long long)result->events,
		       plural((int64_t)result->events),
		       (unsigned long long)result->recovered,
		       (unsigned long long)result->dropped);
		return;
	}
	if (error == -EBUSY) {
		printf("%s: its program still runs\n", path);
		return;
	}
	if (error == -ENOLCK) {
		printf("%s: left alone, its program may still run\n", path);
		return;
	}
	count->failed++;
	fprintf(stderr, "traceprof recover: %s: %s\n", path,
		error == -EBADMSG ? "damaged, or no session of this version"
				  : strerror(-error));
}

static int list_one(const char *path, void *arg)
{
	struct recover_count *count = arg;
	const int fd = session_file(path, O_RDONLY);
	struct session session;
	const int error = fd < 0 ? fd : session_look(fd, &session);
	int claim;

	count->found++;
	if (error) {
		printf("%s: %s\n", path,
		       error == -EBADMSG ? "no session of this version"
					 : strerror(-error));
	} else {
		claim = session_claim(fd, session.head);
		count->ready += !claim;
		printf("%s: %.200s, pid %d, %s, traces in %.400s\n", path,
		       session.head->program, session.head->pid,
		       claim == -EBUSY	  ? "runs"
		       : claim		  ? "may still run"
		       : count->is_asking ? "would be finished"
					  : "dead",
		       session.head->folder);
		session_close(&session);
	}
	if (fd >= 0)
		close(fd);
	return 0;
}

/* A folder of traces, or one session file.  A program that was killed early may
 * not have made its folder yet. */
static void recover_place(const char *place, struct recover_count *count)
{
	struct recovery_result result = {.events = 0};
	struct stat status;
	const int error = stat(place, &status) ? errno : 0;

	if (!error && !S_ISDIR(status.st_mode)) {
		say(place, recovery_run(place, &result), &result, count);
	} else if (!recovery_run_folder(place, say, count) && error) {
		count->failed++;
		fprintf(stderr, "traceprof recover: %s: %s\n", place,
			strerror(error));
	}
}

/* The folder that a program recorded from here would write to. */
static void recover_here(struct recover_count *count)
{
	struct options options;

	settings_from_environment(&options);
	recovery_run_folder(options.dir, say, count);
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct recover_arguments *arguments = state->input;

	(void)text;
	switch (key) {
	case 'a': arguments->all = true; return 0;
	case 'l': arguments->list = true; return 0;
	case 'y': arguments->yes = true; return 0;
	case ARGP_KEY_END:
		if (arguments->yes && !arguments->all)
			argp_error(state, "--yes is for --all");
		return 0;
	case ARGP_KEY_ARGS: arguments->first = state->next; return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

int recover_command(int argc, char **argv)
{
	static const struct argp argp = {
		.options = choices,
		.parser = parse,
		.args_doc = "[FOLDER|SESSION...]",
		.doc = "Finish the traces of programs that were killed.\vTakes "
		       "the sessions whose traces lie in FOLDER, or one "
		       "session file; without either, the folder that would be "
		       "recorded to (TRACEPROF_DIR, ./traceprof).  A running "
		       "program's session is left alone.  Ends with 3 when one "
		       "could not be recovered.",
	};
	struct recover_arguments arguments = {0};
	struct recover_count count = {0};

	if (command_parse(&argp, argc, argv, 0, &arguments))
		return EXIT_USAGE;
	count.is_asking = arguments.all && !arguments.yes && !arguments.list;
	if (arguments.list || count.is_asking)
		session_find(list_one, &count);
	else if (arguments.all)
		recovery_run_folder(NULL, say, &count);
	else if (!arguments.first)
		recover_here(&count);
	else
		for (int at = arguments.first; at < argc; at++)
			recover_place(argv[at], &count);
	if (!count.found && !count.failed)
		puts(arguments.list || arguments.all
			     ? "no sessions"
			     : "nothing to recover here; traceprof recover "
			       "--list shows sessions elsewhere");
	if (count.is_asking && count.ready)
		puts("nothing was done: traceprof recover --all --yes finishes "
		     "them");
	return count.failed ? EXIT_UNREADABLE : EXIT_GOOD;
}
