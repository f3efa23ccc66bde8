/* SPDX-License-Identifier: MIT */
/*
 * fresh_files.c - see fresh_files.h.
 *
 * Commands run beside the program, started in the order of the files' names; a
 * slow one holds up nothing but our own end.
 */
#include "tools/record/fresh_files.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "tools/util/memory.h"

#define TAIL_BYTES (1 << 20) /* of text, in which the mark lies */

struct fresh_file {
	struct fresh_file *next;
	char *name;
	bool is_done; /* was there before, or has had its command */
	off_t bytes;
	struct timespec changed;
	pid_t command; /* 0 none */
};

struct fresh_files {
	const char *folder;
	const char *command;
	const char *preload;
	struct fresh_file *list;
};

static struct fresh_file *file_of(struct fresh_files *files, const char *name)
{
	struct fresh_file *file = files->list;

	while (file && strcmp(file->name, name) != 0)
		file = file->next;
	if (file)
		return file;
	file = memory_zeroed(1, sizeof(*file));
	file->name = strdup(name);
	file->next = files->list;
	files->list = file;
	return file;
}

static int is_trace(const struct dirent *entry)
{
	static const char *const endings[] = {".pt.trace.json",
					      ".pt.trace.json.gz"};
	const size_t len = strlen(entry->d_name);

	for (size_t i = 0; i < 2; i++) {
		const size_t ending = strlen(endings[i]);

		if (len > ending &&
		    !strcmp(entry->d_name + len - ending, endings[i]))
			return 1;
	}
	return 0;
}

/* Calls each() for the traces of the folder, in the order of their names. */
static void walk(struct fresh_files *files,
		 void (*each)(struct fresh_files *files, const char *name,
			      bool is_end),
		 bool is_end)
{
	struct dirent **entries;
	const int count = scandir(files->folder, &entries, is_trace, alphasort);

	for (int i = 0; i < count; i++) {
		each(files, entries[i]->d_name, is_end);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

static void note_old(struct fresh_files *files, const char *name, bool is_end)
{
	(void)is_end;
	file_of(files, name)->is_done = true;
}

struct fresh_files *fresh_files_start(const char *folder, const char *command,
				      const char *preload)
{
	struct fresh_files *files = memory_zeroed(1, sizeof(*files));

	files->folder = folder;
	files->command = command;
	files->preload = preload;
	walk(files, note_old, false);
	return files;
}

/* What the end of the text says. */
static bool is_final(const char *path)
{
	static const char mark[] = "\"final\":true";
	char *text = memory_zeroed(2, TAIL_BYTES);
	gzFile file = gzopen(path, "rb");
	size_t kept = 0;
	bool found = false;
	int got;

	/* The last two halves of the buffer are enough for any tail. */
	while (file && (got = gzread(file, text + kept, TAIL_BYTES)) > 0) {
		kept += (size_t)got;
		if (kept > TAIL_BYTES) {
			memmove(text, text + kept - TAIL_BYTES, TAIL_BYTES);
			kept = TAIL_BYTES;
		}
	}
	if (file) {
		found = memmem(text, kept, mark, sizeof(mark) - 1);
		gzclose(file);
	}
	free(text);
	return found;
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

static void look_at(struct fresh_files *files, const char *name, bool is_end)
{
	struct fresh_file *file = file_of(files, name);
	char path[PATH_MAX];
	struct stat status;
	bool is_still;

	if (file->is_done)
		return;
	snprintf(path, sizeof(path), "%s/%s", files->folder, name);
	if (stat(path, &status))
		return;
	is_still = status.st_size == file->bytes &&
		   status.st_mtim.tv_sec == file->changed.tv_sec &&
		   status.st_mtim.tv_nsec == file->changed.tv_nsec;
	file->bytes = status.st_size;
	file->changed = status.st_mtim;
	if ((!is_still && !is_end) || !is_final(path))
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

void fresh_files_end(struct fresh_files *files)
{
	struct fresh_file *file;
	int status;

	while ((file = files->list)) {
		files->list = file->next;
		if (file->command > 0 &&
		    waitpid(file->command, &status, 0) == file->command &&
		    status)
			fprintf(stderr,
				"traceprof record: --on-file ended with %s %d "
				"for %s\n",
				WIFSIGNALED(status) ? "signal" : "status",
				WIFSIGNALED(status) ? WTERMSIG(status)
						    : WEXITSTATUS(status),
				file->name);
		free(file->name);
		free(file);
	}
	free(files);
}
