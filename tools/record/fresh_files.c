/* SPDX-License-Identifier: MIT */
/*
 * fresh_files.c - a command for each trace that has become complete.
 *
 * Commands run beside the program, started in the order of the files' names; a
 * slow one holds up nothing but our own end.
 */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/record/record.h"
#include "tools/trace/trace_input.h"
#include "tools/util/key_table.h"
#include "tools/util/memory.h"

/* Of more files nobody waits for what they say. */
#define FULLEST_OF  4u
#define LARGEST_OF  100u
/* Who waits for others has fewer events than that part of theirs. */
#define LITTLE	    10
#define LITTLE_WORK 4 /* and works less than that part */

struct fresh_file {
	bool is_old;  /* was there before the run */
	bool is_done; /* that, or it has had its command */
	off_t bytes;
	struct timespec changed;
	pid_t command; /* 0 none */
};

struct fresh_files {
	const char *folder;
	const char *command;
	const char *preload;
	struct key_table files; /* struct fresh_file, by name */
};

static int is_trace(const struct dirent *entry)
{
	return !fnmatch("?*.pt.trace.json", entry->d_name, 0) ||
	       !fnmatch("?*.pt.trace.json.gz", entry->d_name, 0);
}

/* Calls each() for the traces of the folder, in the order of their names. */
static void walk(struct fresh_files *files,
		 void (*each)(const struct fresh_files *files,
			      struct fresh_file *file, const char *name,
			      bool is_end),
		 bool is_end)
{
	struct dirent **entries;
	const int count = scandir(files->folder, &entries, is_trace, alphasort);

	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;
		const uint32_t number =
			key_table_number(&files->files, name, strlen(name));

		each(files, key_table_row(&files->files, number), name, is_end);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

static void note_old(const struct fresh_files *files, struct fresh_file *file,
		     const char *name, bool is_end)
{
	(void)files;
	(void)name;
	(void)is_end;
	file->is_old = true;
	file->is_done = true;
}

struct fresh_files *fresh_files_start(const char *folder, const char *command,
				      const char *preload)
{
	struct fresh_files *files = memory_zeroed(1, sizeof(*files));

	files->folder = folder;
	files->command = command;
	files->preload = preload;
	files->files.row_bytes = sizeof(struct fresh_file);
	walk(files, note_old, false);
	return files;
}

/* The command's process: nothing of ours, and not recorded itself. */
static _Noreturn void become(const struct fresh_files *files, const char *path)
{
	char *script;
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (files->preload)
		setenv("LD_PRELOAD", files->preload, 1);
	else
		unsetenv("LD_PRELOAD");
	setenv("TRACEPROF", "0", 1);
	if (asprintf(&script, "%s \"$1\"", files->command) < 0)
		_exit(127);
	execl("/bin/sh", "sh", "-c", script, "traceprof", path, (char *)NULL);
	_exit(127);
}

static void look_at(const struct fresh_files *files, struct fresh_file *file,
		    const char *name, bool is_end)
{
	char path[PATH_MAX];
	struct stat status;
	bool is_still;

	if (file->is_done || !files->command)
		return;
	snprintf(path, sizeof(path), "%s/%s", files->folder, name);
	if (stat(path, &status))
		return;
	is_still = status.st_size == file->bytes &&
		   status.st_mtim.tv_sec == file->changed.tv_sec &&
		   status.st_mtim.tv_nsec == file->changed.tv_nsec;
	file->bytes = status.st_size;
	file->changed = status.st_mtim;
	if ((!is_still && !is_end) ||
	    !trace_input_ends_with(path, "\"final\":true"))
		return;
	file->is_done = true;
	file->command = fork();
	if (file->command == 0)
		become(files, path);
	if (file->command < 0)
		fprintf(stderr, "traceprof record: --on-file %s: %s\n", path,
			strerror(errno));
}

void fresh_files_poll(struct fresh_files *files, bool is_end)
{
	walk(files, look_at, is_end);
}

/* Whose trace it is, by "HOST_PID[_rankN].TIME.pt.trace.json"; 0 not known. */
static pid_t owner_of(const char *name)
{
	const char *end = strstr(name, ".pt.trace.json");
	long pid = 0;

	while (end > name && end[-1] != '.')
		end--;
	for (; end > name; end--)
		if (*end == '_' && sscanf(end, "_%ld", &pid) == 1)
			break;
	return (pid_t)pid;
}

void fresh_files_say(struct fresh_files *files, pid_t pid)
{
	struct key_table owners = {0};
	const char *first = NULL;
	size_t traces = 0;

	for (size_t at = 0; at < files->files.count; at++) {
		const struct fresh_file *file =
			key_table_row(&files->files, at);
		const char *name = key_table_key(&files->files, at, NULL);
		const pid_t owner = owner_of(name);

		if (file->is_old || owner == pid)
			continue;
		key_table_number(&owners, &owner, sizeof(owner));
		traces++;
		first = name;
	}
	if (traces)
		fprintf(stderr,
			"traceprof record: %zu trace%s of %zu other "
			"process%s in %s\n"
			"traceprof record: next: traceprof report %s/%s\n",
			traces, traces == 1 ? "" : "s", owners.count,
			owners.count == 1 ? "" : "es", files->folder,
			files->folder, traces == 1 ? first : "*");
	key_table_free(&owners);
}

/* The time in a name, before ".pt.trace.json". */
static long long time_of(const char *name)
{
	const char *end = strstr(name, ".pt.trace.json");

	while (end && end > name && end[-1] != '.')
		end--;
	return end ? atoll(end) : 0;
}

/* The path of the newest one of `pid` that is older than that; -1 none. */
static long long before(const struct fresh_files *files, pid_t pid,
			long long limit, char path[PATH_MAX])
{
	long long newest = -1;

	for (size_t at = 0; at < files->files.count; at++) {
		const struct fresh_file *file =
			key_table_row(&files->files, at);
		const char *name = key_table_key(&files->files, at, NULL);
		const long long time = time_of(name);

		if (file->is_old || owner_of(name) != pid || time <= newest ||
		    time >= limit)
			continue;
		newest = time;
		snprintf(path, PATH_MAX, "%s/%s", files->folder, name);
	}
	return newest;
}

bool fresh_files_last(const struct fresh_files *files, pid_t pid,
		      char path[PATH_MAX])
{
	return before(files, pid, LLONG_MAX, path) >= 0;
}

/* As the file's account says it: a number of that name in this object; 0
 * without. */
static long long account_of(const char *path, const char *object,
			    const char *name)
{
	char *tail = trace_input_tail(path);
	const char *at = tail ? strstr(tail, object) : NULL;
	const char *found = at ? strstr(at, name) : NULL;
	const long long value = found ? atoll(found + strlen(name)) : 0;

	free(tail);
	return value;
}

/* A file of the flight recorder that nobody asked for. */
static bool is_triggered(const char *tail)
{
	static const char trigger[] = "\"trigger\":{\"reason\":\"";
	const char *at = tail ? strstr(tail, trigger) : NULL;

	if (!at)
		return false;
	at += sizeof(trigger) - 1;
	return strncmp(at, "signal", 6) && strncmp(at, "demand", 6);
}

/* Its window has a name: it was begun by hand, or is of a trigger. */
static bool is_by_hand(const char *path)
{
	char *tail = trace_input_tail(path);
	const char *at = tail ? strstr(tail, "\"step\":{") : NULL;
	const char *end = at ? strchr(at, '}') : NULL;
	const char *name = at ? strstr(at, "\"name\":") : NULL;
	const bool has = name && end && name < end && !is_triggered(tail);

	free(tail);
	return has;
}

/* More for what people want to hear of rather. */
struct worth {
	bool is_asked, has_events;
	long long steps;
};

static struct worth worth_of(const char *path)
{
	struct worth worth;

	worth.has_events = account_of(path, "\"events\":{", "\"in_file\":") > 0;
	worth.is_asked = worth.has_events && is_by_hand(path);
	worth.steps = account_of(path, "\"step\":{", "\"drawn\":");
	return worth;
}

static bool is_more(const struct worth *worth, const struct worth *than)
{
	if (worth->is_asked != than->is_asked)
		return worth->is_asked;
	if (worth->steps != than->steps)
		return worth->steps > than->steps;
	return worth->has_events && !than->has_events;
}

bool fresh_files_fullest(const struct fresh_files *files, pid_t pid,
			 char path[PATH_MAX], const char **what)
{
	char candidate[PATH_MAX];
	long long time = LLONG_MAX;
	struct worth fullest = {0};

	*what = NULL;
	path[0] = '\0';
	for (unsigned int looked = 0; looked < FULLEST_OF; looked++) {
		struct worth worth;

		time = before(files, pid, time, candidate);
		if (time < 0)
			break;
		if (access(candidate, R_OK))
			continue;
		worth = worth_of(candidate);
		if (path[0] && !is_more(&worth, &fullest))
			continue;
		fullest = worth;
		if (looked)
			*what = worth.is_asked
					? "the fullest that was begun by hand"
				: worth.steps
					? "the newest with the most steps"
					: "the newest with anything in it";
		memcpy(path, candidate, PATH_MAX);
	}
	return path[0];
}

static long long events_of(const char *path)
{
	return account_of(path, "\"events\":{", "\"seen\":");
}

/* What the process had of the processors, where samples were taken. */
static long long work_of(const char *path)
{
	return account_of(path, "{\"tid\":0,", "\"ran_us\":");
}

/* Of others than `pid` the one with most of it, and the least of it that one of
 * them has; how many there are with those of `pid`, 0 no others. */
static unsigned int largest_by(const struct fresh_files *files, pid_t pid,
			       long long (*measure)(const char *path),
			       char path[PATH_MAX], long long *least)
{
	char candidate[PATH_MAX];
	unsigned int looked = 0;
	long long most = -1;

	*least = 0;
	for (size_t at = 0; at < files->files.count && looked < LARGEST_OF;
	     at++) {
		const struct fresh_file *file =
			key_table_row(&files->files, at);
		const char *name = key_table_key(&files->files, at, NULL);
		long long value;

		snprintf(candidate, PATH_MAX, "%s/%s", files->folder, name);
		if (file->is_old || access(candidate, R_OK))
			continue;
		looked++;
		if (owner_of(name) == pid)
			continue;
		value = measure(candidate);
		*least = most < 0 || value < *least ? value : *least;
		if (value <= most)
			continue;
		most = value;
		memcpy(path, candidate, PATH_MAX);
	}
	return most < 0 ? 0 : looked;
}

unsigned int fresh_files_largest(const struct fresh_files *files, pid_t pid,
				 char path[PATH_MAX], bool *is_by_work)
{
	long long least;
	unsigned int looked = largest_by(files, pid, work_of, path, &least);

	*is_by_work = least > 0;
	return *is_by_work || !looked
		       ? looked
		       : largest_by(files, pid, events_of, path, &least);
}

/* Who waits for others may have as many events as they. */
bool fresh_files_did_little(const struct fresh_files *files, pid_t pid)
{
	char own[PATH_MAX], other[PATH_MAX];
	long long least, work;

	if (!fresh_files_last(files, pid, own) ||
	    account_of(own, "\"step\":{", "\"drawn\":") ||
	    !largest_by(files, pid, events_of, other, &least))
		return false;
	if (events_of(own) * LITTLE < events_of(other))
		return true;
	work = work_of(own);
	largest_by(files, pid, work_of, other, &least);
	return work > 0 && work * LITTLE_WORK < work_of(other);
}

pid_t fresh_files_first_rank(const struct fresh_files *files, pid_t pid)
{
	char own[PATH_MAX];
	long long newest = -1;
	pid_t first = 0;

	if (fresh_files_last(files, pid, own) &&
	    (strstr(own, "_rank") ||
	     account_of(own, "\"step\":{", "\"drawn\":")))
		return 0;
	for (size_t at = 0; at < files->files.count; at++) {
		const struct fresh_file *file =
			key_table_row(&files->files, at);
		const char *name = key_table_key(&files->files, at, NULL);

		if (file->is_old || !strstr(name, "_rank0.") ||
		    time_of(name) <= newest)
			continue;
		newest = time_of(name);
		first = owner_of(name);
	}
	return first;
}

void fresh_files_end(struct fresh_files *files)
{
	for (size_t at = 0; at < files->files.count; at++) {
		const struct fresh_file *file =
			key_table_row(&files->files, at);
		int status;

		if (file->command <= 0 ||
		    waitpid(file->command, &status, 0) != file->command ||
		    !status)
			continue;
		fprintf(stderr,
			"traceprof record: --on-file ended with %s %d for %s\n",
			WIFSIGNALED(status) ? "signal" : "status",
			WIFSIGNALED(status) ? WTERMSIG(status)
					    : WEXITSTATUS(status),
			key_table_key(&files->files, at, NULL));
	}
	key_table_free(&files->files);
	free(files);
}
