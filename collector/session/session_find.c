/* SPDX-License-Identifier: MIT */
/*
 * session_find.c - opens other processes' sessions, and finds them.
 *
 * What comes from a file may be hostile.  Here the frame is checked (size,
 * version, layout, state); whoever follows an offset checks it again.  And the
 * file is read, not mapped: where a mapped one is cut short, whoever reads on
 * dies of SIGBUS, which in the next run's writer would be the program's death.
 */
#include "collector/session/session.h"

#include "collector/system/descriptor.h"
#include "collector/system/folder.h"
#include "collector/system/log.h"
#include "collector/system/proc.h"
#include "collector/session/thread.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SESSION_BYTES_MAX (UINT64_C(8) << 30)

/* Making a session takes a millisecond, a stopped process some more. */
#define UNMADE_SECONDS	  60
/* A power of two of pages; a name is shorter. */
#define NAMES_BYTES	  65536

/* Text fields of a hostile header end where the field does. */
static void terminate_texts(struct session_header *head)
{
	head->boot_id[sizeof(head->boot_id) - 1] = '\0';
	head->host[sizeof(head->host) - 1] = '\0';
	head->program[sizeof(head->program) - 1] = '\0';
	head->folder[sizeof(head->folder) - 1] = '\0';
	head->reason[sizeof(head->reason) - 1] = '\0';
	head->spool[sizeof(head->spool) - 1] = '\0';
	head->options.dir[OPTION_TEXT_BYTES - 1] = '\0';
	head->options.step[OPTION_TEXT_BYTES - 1] = '\0';
	head->options.gzip[OPTION_TEXT_BYTES - 1] = '\0';
	head->options.signal[OPTION_TEXT_BYTES - 1] = '\0';
	head->options.flight[OPTION_TEXT_BYTES - 1] = '\0';
	head->options.trigger[OPTION_TEXT_BYTES - 1] = '\0';
	for (int i = 0; i < 2; i++)
		head->checkpoints[i].path[SESSION_TEXT_BYTES - 1] = '\0';
	for (unsigned int i = 0; i < SESSION_NOTES_MAX; i++)
		head->notes[i][SESSION_NOTE_BYTES - 1] = '\0';
}

/* Of a session whose file has so many bytes. */
static bool frame_is_whole(const struct session *session, uint64_t bytes)
{
	const struct session_header *head = session->head;
	/* ACQUIRE pairs with RELEASE at the end of fill_header(). */
	const uint32_t state =
		load_acquire(&((struct session_header *)session->head)->state);

	return !memcmp(head->magic, SESSION_MAGIC, sizeof(head->magic)) &&
	       head->version == SESSION_VERSION &&
	       head->header_bytes == sizeof(*head) &&
	       head->thread_bytes == sizeof(struct thread) &&
	       head->event_kinds == EVENT_KIND_COUNT &&
	       head->ceiling_bytes == bytes &&
	       (state == SESSION_RUNNING || state == SESSION_ENDED);
}

/* Opens a file that must be a session of our own user: plain, one link.
 * Between loader_enter() and loader_leave(). */
static int open_own_inside(const char *path, int flags, struct stat *status)
{
	const int fd = open(path, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return -errno;
	if (fstat(fd, status) || !S_ISREG(status->st_mode) ||
	    status->st_nlink != 1) {
		close(fd);
		return -EBADMSG;
	}
	if (status->st_uid != geteuid()) {
		close(fd);
		return -EPERM;
	}
	return fd;
}

static int open_own(const char *path, int flags, struct stat *status)
{
	const bool keeps_forks_out = loader_enter_soon();
	int fd = open_own_inside(path, flags, status);

	if (fd >= 0)
		fd = descriptor_move_high(fd);
	if (keeps_forks_out)
		loader_leave();
	return fd;
}

void session_close(struct session *session)
{
	if (session->base && session->base != MAP_FAILED)
		munmap(session->base, session->bytes);
	session->base = NULL;
	session->head = NULL;
}

/* Reads [at, end) of the file to the same place in memory.  -EBADMSG: it ends
 * before, since somebody cut it. */
static int copy_part(int fd, char *base, uint64_t at, uint64_t end)
{
	while (at < end) {
		const ssize_t got = pread(fd, base + at, end - at, (off_t)at);

		if (got < 0 && errno != EINTR)
			return -errno;
		if (!got)
			return -EBADMSG;
		if (got > 0)
			at += (uint64_t)got;
	}
	return 0;
}

/* The same of all that isn't a hole; holes are zeros. */
static int copy_data(int fd, char *base, uint64_t bytes)
{
	uint64_t at = 0;
	int rc = 0;

	while (!rc && at < bytes) {
		const off_t data = lseek(fd, (off_t)at, SEEK_DATA);
		const off_t hole = data < 0 ? -1 : lseek(fd, data, SEEK_HOLE);

		if (data < 0 && errno == ENXIO)
			return 0;
		if (hole < 0)
			return copy_part(fd, base, at, bytes);
		at = min_u64((uint64_t)hole, bytes);
		rc = copy_part(fd, base, (uint64_t)data, at);
	}
	return rc;
}

/* The header into memory that has room for the rest, without the table of
 * names: that is most of it. */
static int look(int fd, uint64_t bytes, struct session *session)
{
	int rc;

	memset(session, 0, sizeof(*session));
	session->bytes = bytes;
	if (bytes < sizeof(struct session_header) || bytes > SESSION_BYTES_MAX)
		return -EBADMSG;
	session->base =
		mmap(NULL, session->bytes, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (session->base == MAP_FAILED)
		return -errno;
	session->head = (struct session_header *)session->base;
	rc = copy_part(fd, session->base, 0,
		       offsetof(struct session_header, names));
	if (!rc)
		rc = copy_part(fd, session->base,
			       offsetof(struct session_header, modules),
			       sizeof(*session->head));
	if (!rc && !frame_is_whole(session, session->bytes))
		rc = -EBADMSG;
	if (rc)
		session_close(session);
	else
		terminate_texts(session->head);
	return rc;
}

int session_file(const char *path, int flags)
{
	struct stat status;

	return open_own(path, flags, &status);
}

/* 0 for what a program of our user may have put there. */
static int examine(int fd, struct stat *status)
{
	if (fstat(fd, status) || !S_ISREG(status->st_mode))
		return -EBADMSG;
	return status->st_uid == geteuid() ? 0 : -EPERM;
}

int session_look(int fd, struct session *session)
{
	struct stat status;
	const int rc = examine(fd, &status);

	return rc ? rc : look(fd, (uint64_t)status.st_size, session);
}

int session_open(int fd, struct session *session)
{
	struct stat before;
	struct stat after;
	int rc = examine(fd, &before);

	if (!rc)
		rc = look(fd, (uint64_t)before.st_size, session);
	if (rc)
		return rc;
	if ((uint64_t)before.st_blocks * 512 > proc_memory_left() / 2)
		rc = -ENOMEM;
	else
		rc = copy_data(fd, session->base, session->bytes);
	if (!rc && (fstat(fd, &after) || after.st_size != before.st_size ||
		    !frame_is_whole(session, session->bytes)))
		rc = -EBADMSG;
	if (rc) {
		session_close(session);
		return rc;
	}
	terminate_texts(session->head);
	/* Who was at it is dead. */
	store_relaxed(&session->head->growing, 0);
	return 0;
}

int session_share(int fd, struct session *session)
{
	const uint64_t bytes =
		align_up(sizeof(struct session_header), PAGE_BYTES);
	struct stat status;
	const int rc = examine(fd, &status);
	bool is_whole;

	memset(session, 0, sizeof(*session));
	if (rc)
		return rc;
	if ((uint64_t)status.st_size < bytes)
		return -EBADMSG;
	session->base =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (session->base == MAP_FAILED)
		return -errno;
	session->bytes = bytes;
	session->head = (struct session_header *)session->base;
	is_whole = frame_is_whole(session, (uint64_t)status.st_size);
	if (is_whole)
		return 0;
	session_close(session);
	return -EBADMSG;
}

static bool is_other_boot(const struct session_header *head)
{
	char boot_id[sizeof(head->boot_id)];

	proc_boot_id(boot_id, sizeof(boot_id));
	return boot_id[0] && head->boot_id[0] &&
	       strcmp(boot_id, head->boot_id) != 0;
}

/* What the process table says, where it is the one that the process was in:
 * 0 dead, -EBUSY it runs, -ENOLCK not known. */
static int examine_process(const struct session_header *head)
{
	const uint64_t here = proc_pid_namespace();
	struct proc_stat now;

	if (!here || here != head->pid_namespace || is_other_boot(head) ||
	    head->pid <= 0)
		return -ENOLCK;
	if (kill(head->pid, 0) && errno == ESRCH)
		return 0;
	if (!proc_stat(head->pid, &now) || !head->started)
		return -ENOLCK;
	if (now.started != head->started)
		return 0; /* the number is another process's now */
	/* A zombie has ended, unless other threads of it go on: its first
	 * thread alone ended by pthread_exit(). */
	return (now.state == 'Z' || now.state == 'X') && now.threads <= 1
		       ? 0
		       : -EBUSY;
}

/* The process locked this very file, no copy of it, under this kernel. */
static bool was_locked(const struct session_header *head,
		       const struct stat *status)
{
	return head->lock_inode && head->lock_inode == status->st_ino &&
	       head->lock_device == status->st_dev && !is_other_boot(head);
}

int session_claim(int fd, const struct session_header *head)
{
	struct stat status;
	int rc = -ENOLCK;

	if (flock(fd, LOCK_EX | LOCK_NB))
		return errno == EWOULDBLOCK ? -EBUSY : -ENOLCK;
	if (!fstat(fd, &status))
		rc = was_locked(head, &status) ? 0 : examine_process(head);
	if (rc)
		flock(fd, LOCK_UN);
	return rc;
}

void session_sweep(const char *path)
{
	char magic[sizeof(SESSION_MAGIC) - 1] = {0};
	static const char none[sizeof(magic)];
	struct stat status;
	struct timespec now;
	const int fd = open_own(path, O_RDONLY, &status);

	if (fd < 0)
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	/* An empty file is one that was not even sized.  Who makes it holds its
	 * lock. */
	if (pread(fd, magic, sizeof(magic), 0) >= 0 &&
	    !memcmp(magic, none, sizeof(magic)) &&
	    now.tv_sec - status.st_mtime >= UNMADE_SECONDS &&
	    !flock(fd, LOCK_EX | LOCK_NB))
		unlink(path);
	close(fd);
}

static bool looks_like_session(const char *name)
{
	const size_t len = strlen(name);

	return len > 18 && !strncmp(name, "traceprof-", 10) &&
	       !strcmp(name + len - 8, ".session");
}

static bool is_own(const char *path)
{
	const bool keeps_forks_out = loader_enter_soon();
	struct stat status;
	const int fd = open_own_inside(path, O_RDONLY, &status);

	if (fd >= 0)
		close(fd);
	if (keeps_forks_out)
		loader_leave();
	return fd >= 0;
}

/* Each with its NUL, one behind the other. */
struct found_names {
	char *text;
	size_t used, room;
};

static bool make_room(struct found_names *names, size_t bytes)
{
	const size_t room = names->room ? 2 * names->room : NAMES_BYTES;
	char *text;

	if (names->used + bytes <= names->room)
		return true;
	text = names->text
		       ? mremap(names->text, names->room, room, MREMAP_MAYMOVE)
		       : mmap(NULL, room, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (text == MAP_FAILED)
		return false;
	names->text = text;
	names->room = room;
	return true;
}

static bool note_name(const char *name, void *arg)
{
	struct found_names *names = arg;
	const size_t bytes = strlen(name) + 1;

	if (!looks_like_session(name))
		return true;
	if (!make_room(names, bytes))
		return false;
	memcpy(names->text + names->used, name, bytes);
	names->used += bytes;
	return true;
}

/* A visit may take long, and a child that is forked meanwhile would have the
 * folder open: its names first. */
static struct found_names names_in(const char *folder)
{
	const bool keeps_forks_out = loader_enter_soon();
	const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct found_names names = {0};

	folder_read(fd, note_name, &names);
	if (fd >= 0)
		close(fd);
	if (keeps_forks_out)
		loader_leave();
	return names;
}

static int find_in(const char *folder,
		   int (*visit)(const char *path, void *arg), void *arg)
{
	struct found_names names = {0};
	int stop = 0;

	if (folder && folder[0] == '/')
		names = names_in(folder);
	for (size_t at = 0; at < names.used && !stop;
	     at += strlen(names.text + at) + 1) {
		char path[SESSION_TEXT_BYTES];

		log_format(path, sizeof(path), "%s/%s", folder,
			   names.text + at);
		if (is_own(path))
			stop = visit(path, arg);
	}
	if (names.text)
		munmap(names.text, names.room);
	return stop;
}

int session_find(int (*visit)(const char *path, void *arg), void *arg)
{
	const int stop = find_in("/dev/shm", visit, arg);

	return stop ? stop : find_in(getenv("XDG_RUNTIME_DIR"), visit, arg);
}
