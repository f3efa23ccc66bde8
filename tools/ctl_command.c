/* SPDX-License-Identifier: MIT */
/*
 * ctl_command.c - `traceprof ctl`: speaks to the writer of a running program.
 *
 * Its session's file lies where sessions lie and says in its name whose it is.
 * One that has no name (a memfd) is reached through a descriptor that the
 * process or we may still find in /proc.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/session/session.h"
#include "collector/system/proc.h"
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

#define MEMFD "/memfd:traceprof"

struct session_search {
	int pid;
	struct session *session;
	int error; /* of a session that is the process's and can't be used */
	bool found;
};

/* "/dev/shm/traceprof-<uid>-<pid>-<random>.session" */
static int pid_of(const char *path)
{
	const char *name = strrchr(path, '/');
	unsigned int uid;
	int pid;

	if (!name || sscanf(name, "/traceprof-%u-%d-", &uid, &pid) != 2)
		return 0;
	return pid;
}

static bool is_session_of(const struct session_header *head, int pid)
{
	struct proc_stat stat;

	proc_stat(pid, &stat);
	return head->pid == pid && head->started == stat.started &&
	       load_relaxed(&((struct session_header *)head)->state) ==
		       SESSION_RUNNING;
}

/* Nonzero: this is it. */
static int try_session(int fd, struct session_search *search)
{
	const int error = session_share(fd, search->session);

	if (error) {
		search->error = error;
		return 0;
	}
	if (is_session_of(search->session->head, search->pid)) {
		search->found = true;
		return 1;
	}
	session_close(search->session);
	return 0;
}

static int visit(const char *path, void *arg)
{
	struct session_search *search = arg;
	int fd;
	int stop;

	if (pid_of(path) != search->pid)
		return 0;
	fd = session_file(path, O_RDWR);
	if (fd < 0)
		return 0;
	stop = try_session(fd, search);
	close(fd);
	return stop;
}

/* Looks at each link of a folder in /proc that leads to a memfd of ours. */
static void search_links(struct session_search *search, const char *folder)
{
	char path[300], target[300];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/%s", search->pid, folder);
	dir = opendir(path);
	while (dir && !search->found && (entry = readdir(dir))) {
		ssize_t len;
		int fd;

		snprintf(path, sizeof(path), "/proc/%d/%s/%.200s", search->pid,
			 folder, entry->d_name);
		len = readlink(path, target, sizeof(target));
		if (len < (ssize_t)strlen(MEMFD) ||
		    strncmp(target, MEMFD, strlen(MEMFD)) != 0)
			continue;
		fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
		if (fd < 0)
			continue;
		try_session(fd, search);
		close(fd);
	}
	if (dir)
		closedir(dir);
}

/* True if `text` is among the process's mappings. */
static bool is_mapped(int pid, const char *text)
{
	char path[64];
	char *line = NULL;
	size_t bytes = 0;
	bool found = false;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "re");
	while (maps && !found && getline(&line, &bytes, maps) > 0)
		found = strstr(line, text) != NULL;
	free(line);
	if (maps)
		fclose(maps);
	return found;
}

static bool is_dead(int pid)
{
	struct proc_stat stat;

	return !proc_stat(pid, &stat) || stat.state == 'Z' || stat.state == 'X';
}

static int examine_process(int pid, char *why, size_t bytes)
{
	struct stat status;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d", pid);
	if (pid <= 0 || stat(path, &status)) {
		snprintf(why, bytes, "there is no process %d", pid);
		return -ESRCH;
	}
	if (status.st_uid != geteuid()) {
		snprintf(why, bytes, "process %d belongs to another user", pid);
		return -EPERM;
	}
	if (is_dead(pid)) {
		snprintf(why, bytes,
			 "process %d is dead; what it left is for "
			 "`traceprof recover`",
			 pid);
		return -ESRCH;
	}
	return 0;
}

static int explain(const struct session_search *search, char *why, size_t bytes)
{
	const int pid = search->pid;

	if (search->error)
		snprintf(why, bytes,
			 "the session of process %d is damaged, or of another "
			 "version of traceprof than this command (layout %u)",
			 pid, SESSION_VERSION);
	else if (is_mapped(pid, MEMFD))
		snprintf(why, bytes,
			 "process %d found no room for its session in /dev/shm "
			 "or $XDG_RUNTIME_DIR; its memory can't be reached "
			 "from outside",
			 pid);
	else if (is_mapped(pid, "libtraceprof.so"))
		snprintf(why, bytes,
			 "process %d has the library, but has recorded nothing "
			 "so far, or its recording is over",
			 pid);
	else
		snprintf(why, bytes,
			 "process %d runs without traceprof: start it with "
			 "`traceprof record` or LD_PRELOAD",
			 pid);
	return search->error ? search->error : -ENOENT;
}

/* Maps the header of process `pid`'s session, shared; session_close() ends it.
 * 0; -errno with one line in `why`: no such process, somebody else's, nothing
 * of traceprof in it, nothing recorded yet, out of reach, another version. */
static int open_running(int pid, struct session *session, char *why,
			size_t why_bytes)
{
	struct session_search search = {.pid = pid, .session = session};
	const int error = examine_process(pid, why, why_bytes);

	if (error)
		return error;
	session_find(visit, &search);
	if (!search.found)
		search_links(&search, "fd");
	if (!search.found)
		search_links(&search, "map_files");
	return search.found ? 0 : explain(&search, why, why_bytes);
}

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
		       "it and "
		       "prints the file.  snapshot makes the file that is "
		       "being "
		       "written complete as of now, and prints it.  status "
		       "says what "
		       "is going on.  "
		       "Ends with 1 when it is refused, with 3 when there is "
		       "no such "
		       "program to speak to.",
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
	if (open_running((int)pid, &session, why, sizeof(why))) {
		complain(why);
		return EXIT_UNREADABLE;
	}
	signal(SIGBUS, end_at_once);
	code = ask(&session, &arguments.request);
	session_close(&session);
	return code;
}
