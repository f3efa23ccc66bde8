/* SPDX-License-Identifier: MIT */
/*
 * running.c - finds the session of a running process.
 *
 * Its file lies where sessions lie and says in its name whose it is.  One that
 * has no name (a memfd) is reached through a descriptor that the process or we
 * may still find in /proc.
 */
#include "tools/live/running.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/system/proc.h"

#define MEMFD "/memfd:traceprof"

struct session_search {
	int pid;
	struct session *session;
	int *file; /* gets a copy of its descriptor; NULL: it isn't wanted */
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
		if (search->file)
			*search->file = fcntl(fd, F_DUPFD_CLOEXEC, 0);
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

bool running_is_dead(int pid)
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
	if (running_is_dead(pid)) {
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

int running_open(int pid, struct session *session, int *file, char *why,
		 size_t why_bytes)
{
	struct session_search search = {
		.pid = pid, .session = session, .file = file};
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
