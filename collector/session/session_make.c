/* SPDX-License-Identifier: MIT */
/*
 * session_make.c - makes the session of this process.
 *
 * Place: a file in /dev/shm or $XDG_RUNTIME_DIR where much more is free than we
 * may take (a container's 64 MB /dev/shm is the program's), else a memfd that
 * `traceprof record` holds, else one of our own, else anonymous memory.
 * Never a disk: write-back makes hooks fault and wait.  The file is opened
 * again by path when it must grow, so no fd of ours can be closed or reused by
 * the program.
 *
 * The file is locked (flock) by the description that is mapped.  The kernel
 * keeps that description as long as the mapping, and so the lock, whatever
 * descriptors the program closes; it frees both when the process ends, or its
 * last child that has the mapping still (see session_drop()).
 *
 * Under a memory cgroup fallocate does not fail, it gets the program killed:
 * the limits are read first and the ceiling is kept to a small part.
 */
#include "collector/session/session.h"

#include "collector/system/loader.h"
#include "collector/system/log.h"
#include "collector/system/proc.h"
#include "collector/session/thread.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FREE_FACTOR 16
#define CGROUP_PART 16 /* at most this part of what a memory cgroup has left */

/* The session of this process, from before it is mapped. */
static struct session mine;

/* Open while it is made: a child that is forked then closes it. */
static volatile int making_fd = -1;

/* Fills session->path with a fresh name in `folder`, opens it. */
static int open_fresh(struct session *session, const char *folder)
{
	uint64_t random = 0;
	int fd;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
		random = clock_counter() * UINT64_C(0x9e3779b97f4a7c15);
	log_format(session->path, sizeof(session->path),
		   "%s/traceprof-%u-%d-%016lx.session", folder,
		   (unsigned int)geteuid(), (int)getpid(),
		   (unsigned long)random);
	fd = open(session->path,
		  O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : fd;
}

static bool has_room(const char *folder, uint64_t bytes)
{
	struct statvfs space;

	return !statvfs(folder, &space) &&
	       (uint64_t)space.f_bavail * space.f_frsize >= bytes * FREE_FACTOR;
}

/* Past a limit on the size of files (ulimit -f), making one as large as a
 * session would end the program by SIGXFSZ. */
static bool may_be_as_large(uint64_t bytes)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur >= bytes;
}

/* Locks an open file and maps it.  Closes it: the mapping keeps the lock. */
static int map_locked(struct session *session, int fd)
{
	void *base;
	int rc = 0;

	making_fd = fd;
	flock(fd, LOCK_EX | LOCK_NB);
	base = mmap(NULL, session->bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
		    fd, 0);
	if (base == MAP_FAILED)
		rc = -errno;
	else
		session->base = base;
	making_fd = -1;
	close(fd);
	return rc;
}

/* Says in the header which file is locked, if it is: some file systems have no
 * locks, or map another file than was opened. */
static void note_lock(struct session_header *head, const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;

	if (fd < 0)
		return;
	if (flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK &&
	    !fstat(fd, &status)) {
		head->lock_device = status.st_dev;
		head->lock_inode = status.st_ino;
	}
	close(fd);
}

/* A mapped file in `folder`: 0 or -errno, nothing is left behind. */
static int map_file(struct session *session, const char *folder)
{
	int rc = -ENOSPC;
	int fd;

	if (!folder || folder[0] != '/' || !has_room(folder, session->bytes))
		return -ENOSPC;
	fd = open_fresh(session, folder);
	if (fd < 0) {
		session->path[0] = '\0';
		return fd;
	}
	if (ftruncate(fd, (off_t)session->bytes) ||
	    syscall(SYS_fallocate, fd, 0, 0, (off_t)SESSION_FIRST_BYTES)) {
		rc = -errno;
		close(fd);
	} else {
		rc = map_locked(session, fd);
	}
	if (rc) {
		unlink(session->path);
		session->path[0] = '\0';
	}
	return rc;
}

/* One of them, locked; -ENOENT it is taken, or something else: the variable may
 * be older than the process that has the pid now. */
static int open_held_at(const char *path)
{
	static const char wanted[] = "/memfd:" SESSION_HELD_NAME " ";
	char target[sizeof(wanted)] = "";
	struct stat status;
	int fd;

	if (readlink(path, target, sizeof(target)) < (ssize_t)sizeof(target) ||
	    memcmp(target, wanted, sizeof(wanted) - 1) != 0)
		return -ENOENT;
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!flock(fd, LOCK_EX | LOCK_NB) && !fstat(fd, &status) &&
	    !status.st_size && status.st_uid == geteuid())
		return fd;
	close(fd);
	return -ENOENT;
}

/* A free memfd of `traceprof record`, and its path; negative: there is none. */
static int open_held(char *path, size_t bytes)
{
	const char *text = getenv(SESSION_HELD_VARIABLE);
	char *end;
	long pid, number;
	int fd = -ENOENT;

	if (!text)
		return fd;
	pid = strtol(text, &end, 10);
	while (fd < 0 && (*end == ':' || *end == ',')) {
		number = strtol(end + 1, &end, 10);
		log_format(path, bytes, "/proc/%ld/fd/%ld", pid, number);
		fd = open_held_at(path);
	}
	return fd;
}

/* Negative, as `fd` may be: nothing is mapped. */
static int map_memfd(struct session *session, int fd)
{
	if (fd < 0)
		return fd;
	if (!ftruncate(fd, (off_t)session->bytes))
		return map_locked(session, fd);
	close(fd);
	return -ENOMEM;
}

static int map_anonymous(struct session *session)
{
	void *base = mmap(NULL, session->bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (base == MAP_FAILED)
		return -errno;
	session->base = base;
	return 0;
}

/* The first of these that can be had.  `path` leads to it while it is mapped,
 * "": none does. */
static int map_somewhere(struct session *session, enum session_place *place,
			 char *path, size_t bytes)
{
	const bool may = may_be_as_large(session->bytes);

	*place = SESSION_IN_FILE;
	if (may && (!map_file(session, "/dev/shm") ||
		    !map_file(session, getenv("XDG_RUNTIME_DIR")))) {
		log_format(path, bytes, "%s", session->path);
		return 0;
	}
	*place = SESSION_IN_RECORD_MEMFD;
	if (may && !map_memfd(session, open_held(path, bytes)))
		return 0;
	path[0] = '\0';
	*place = SESSION_IN_MEMFD;
	if (may && !map_memfd(session, (int)syscall(SYS_memfd_create,
						    "traceprof", MFD_CLOEXEC)))
		return 0;
	*place = SESSION_IN_ANONYMOUS;
	return map_anonymous(session);
}

/* The ceiling that options and the memory cgroup allow. */
static uint64_t ceiling_bytes(const struct options *options)
{
	const uint64_t wanted =
		((uint64_t)options->buffer_mb << 20) + SESSION_FIRST_BYTES;
	const uint64_t left = proc_memory_left();

	if (left == UINT64_MAX)
		return wanted;
	return align_up(max_u64(min_u64(wanted, left / CGROUP_PART),
				2 * SESSION_FIRST_BYTES),
			PAGE_BYTES);
}

int32_t session_rank(int32_t *world_size)
{
	static const char *const ranks[] = {"RANK", "OMPI_COMM_WORLD_RANK",
					    "PMI_RANK", "SLURM_PROCID"};
	static const char *const sizes[] = {"WORLD_SIZE",
					    "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
					    "SLURM_NTASKS"};

	*world_size = 0;
	for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++) {
		const char *rank = getenv(ranks[i]);
		const char *size = getenv(sizes[i]);
		char *end;
		long number;

		if (!rank || !*rank)
			continue;
		number = strtol(rank, &end, 10);
		if (*end || number < 0 || number > INT32_MAX)
			continue;
		const int32_t found = (int32_t)number;

		number = size ? strtol(size, NULL, 10) : 0;
		if (number > 0 && number <= INT32_MAX)
			*world_size = (int32_t)number;
		return found;
	}
	return -1;
}

const char *session_folder(const char *dir, char *text, size_t bytes)
{
	char here[SESSION_TEXT_BYTES];

	if (dir[0] == '/' || !getcwd(here, sizeof(here))) {
		log_format(text, bytes, "%s", dir);
		return text;
	}
	while (dir[0] == '.' && dir[1] == '/')
		dir += 2;
	log_format(text, bytes, "%s/%s", here, dir);
	return text;
}

static void fill_header(struct session *session, const struct options *options,
			const char *reason, enum session_place place)
{
	struct session_header *head = session->head;
	struct proc_stat stat;
	int32_t world_size;

	head->version = SESSION_VERSION;
	head->header_bytes = sizeof(*head);
	head->thread_bytes = sizeof(struct thread);
	head->event_kinds = EVENT_KIND_COUNT;
	head->place = place;
	head->ceiling_bytes = session->bytes;
	store_relaxed(&head->used, align_up(sizeof(*head), PAGE_BYTES));
	store_relaxed(&head->backed, place == SESSION_IN_FILE
					     ? SESSION_FIRST_BYTES
					     : session->bytes);
	head->pid = (int32_t)getpid();
	head->uid = (uint32_t)geteuid();
	head->pid_namespace = proc_pid_namespace();
	proc_stat(head->pid, &stat);
	head->started = stat.started;
	proc_boot_id(head->boot_id, sizeof(head->boot_id));
	proc_host(head->host, sizeof(head->host));
	proc_program(head->program, sizeof(head->program));
	head->options = *options;
	log_format(head->reason, sizeof(head->reason), "%s", reason);
	session_folder(options->dir, head->folder, sizeof(head->folder));
	store_relaxed(&head->rank, session_rank(&world_size));
	store_relaxed(&head->world_size, world_size);
	store_relaxed(&head->rank_is_late, getenv("LOCAL_RANK") != NULL);
	clock_start(&head->clock);
	/* The magic last: a file without it is no session yet. */
	memcpy(head->magic, SESSION_MAGIC, sizeof(head->magic));
	/* RELEASE pairs with ACQUIRE in frame_is_whole(). */
	store_release(&head->state, SESSION_RUNNING);
}

/* All that opens files, for moments that keep forks out. */
static int map_and_lock(struct session *session, enum session_place *place)
{
	const bool keeps_forks_out = loader_enter_soon();
	char path[SESSION_TEXT_BYTES];
	const int rc = map_somewhere(session, place, path, sizeof(path));

	session->head = (struct session_header *)session->base;
	if (!rc && path[0])
		note_lock(session->head, path);
	if (keeps_forks_out)
		loader_leave();
	return rc;
}

int session_create(const struct options *options, const char *reason,
		   struct session **made)
{
	enum session_place place;
	int rc;

	memset(&mine, 0, sizeof(mine));
	mine.bytes = ceiling_bytes(options);
	mine.writable = true;
	rc = map_and_lock(&mine, &place);
	if (rc)
		return rc;
	fill_header(&mine, options, reason, place);
	*made = &mine;
	return 0;
}

void session_drop(void)
{
	if (making_fd >= 0)
		close(making_fd);
	making_fd = -1;
	if (mine.base)
		mmap(mine.base, mine.bytes, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
		     -1, 0);
	mine.base = NULL;
}
