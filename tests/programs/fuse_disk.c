/* SPDX-License-Identifier: MIT */
/*
 * fuse_disk.c - a disk in user space that can be stopped.
 *
 *	fuse_disk MOUNTPOINT FOLDER PIDFILE
 *
 * Mounts itself (which needs the right to mount), writes its process id into
 * PIDFILE and serves FOLDER's files, one level deep, until it is unmounted.
 * After SIGUSR1 it stops as SIGSTOP would, but between two requests.  Speaks
 * the kernel's protocol by itself, so that linux/fuse.h is all it needs.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAMES_MAX 64u
#define WRITE_MAX (1u << 17)

struct request {
	struct fuse_in_header head;
	char body[WRITE_MAX + 65536];
};

static int device = -1;
static int folder = -1;
static char names[NAMES_MAX][256]; /* node id - 2 is the place */
static struct request request;
static char answer[WRITE_MAX];

static void reply(int error, size_t bytes)
{
	const struct fuse_out_header head = {
		.len = (uint32_t)(sizeof(head) + (error ? 0 : bytes)),
		.error = -error,
		.unique = request.head.unique};
	char whole[sizeof(head) + sizeof(answer)];

	memcpy(whole, &head, sizeof(head));
	memcpy(whole + sizeof(head), answer, error ? 0 : bytes);
	/* Who asked may have been killed: no concern of ours. */
	if (write(device, whole, head.len) < 0 && errno != ENOENT)
		_exit(2);
}

static const char *name_of(uint64_t node)
{
	return node >= 2 && node < NAMES_MAX + 2 ? names[node - 2] : ".";
}

static uint64_t node_of(const char *name)
{
	for (unsigned int i = 0; i < NAMES_MAX; i++) {
		if (!names[i][0])
			snprintf(names[i], sizeof(names[i]), "%s", name);
		if (!strcmp(names[i], name))
			return i + 2;
	}
	abort();
}

/* errno, or 0. */
static int fill_attributes(const char *name, uint64_t node,
			   struct fuse_attr *to)
{
	struct stat now;

	memset(to, 0, sizeof(*to));
	if (fstatat(folder, name, &now, AT_SYMLINK_NOFOLLOW))
		return errno;
	to->ino = node;
	to->size = (uint64_t)now.st_size;
	to->blocks = (uint64_t)now.st_blocks;
	to->mode = now.st_mode;
	to->nlink = (uint32_t)now.st_nlink;
	to->uid = now.st_uid;
	to->gid = now.st_gid;
	to->blksize = 4096;
	return 0;
}

static void do_entry(const char *name, size_t more_bytes)
{
	struct fuse_entry_out *to = (void *)answer;

	memset(answer, 0, sizeof(*to) + more_bytes);
	to->nodeid = node_of(name);
	reply(fill_attributes(name, to->nodeid, &to->attr),
	      sizeof(*to) + more_bytes);
}

static void do_attributes(void)
{
	struct fuse_attr_out *to = (void *)answer;

	memset(to, 0, sizeof(*to));
	reply(fill_attributes(name_of(request.head.nodeid), request.head.nodeid,
			      &to->attr),
	      sizeof(*to));
}

static int open_node(int flags)
{
	return openat(folder, name_of(request.head.nodeid), flags | O_CLOEXEC);
}

static void do_change(void)
{
	const struct fuse_setattr_in *in = (void *)request.body;
	const int fd = in->valid & FATTR_SIZE ? open_node(O_RDWR) : -1;

	if (fd >= 0 && ftruncate(fd, (off_t)in->size))
		perror("ftruncate");
	if (fd >= 0)
		close(fd);
	do_attributes();
}

static void do_create(void)
{
	const struct fuse_create_in *in = (void *)request.body;
	const char *name = request.body + sizeof(*in);
	const int fd =
		openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
		       in->mode & 07777);

	if (fd < 0) {
		reply(errno, 0);
		return;
	}
	close(fd);
	do_entry(name, sizeof(struct fuse_open_out));
}

static void do_open(void)
{
	memset(answer, 0, sizeof(struct fuse_open_out));
	reply(0, sizeof(struct fuse_open_out));
}

static void do_read(void)
{
	const struct fuse_read_in *in = (void *)request.body;
	const size_t most =
		in->size < sizeof(answer) ? in->size : sizeof(answer);
	const int fd = open_node(O_RDONLY);
	const ssize_t got = pread(fd, answer, most, (off_t)in->offset);

	reply(got < 0 ? errno : 0, got < 0 ? 0 : (size_t)got);
	close(fd);
}

static void do_write(void)
{
	const struct fuse_write_in *in = (void *)request.body;
	struct fuse_write_out *to = (void *)answer;
	const int fd = open_node(O_WRONLY);
	const ssize_t done = pwrite(fd, in + 1, in->size, (off_t)in->offset);

	memset(to, 0, sizeof(*to));
	to->size = (uint32_t)done;
	reply(done < 0 ? errno : 0, sizeof(*to));
	close(fd);
}

static void do_list(void)
{
	const struct fuse_read_in *in = (void *)request.body;
	DIR *entries = in->offset ? NULL : fdopendir(dup(folder));
	const struct dirent *entry;
	size_t used = 0;

	if (entries)
		rewinddir(entries);
	while (entries && (entry = readdir(entries))) {
		const size_t len = strlen(entry->d_name);
		struct fuse_dirent *to = (void *)(answer + used);

		if (used + FUSE_NAME_OFFSET + len + 8 > in->size)
			break;
		memset(to, 0, FUSE_NAME_OFFSET + len + 8);
		to->ino = 1;
		to->off = used + 1;
		to->namelen = (uint32_t)len;
		memcpy(to->name, entry->d_name, len);
		used += FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + len);
	}
	if (entries)
		closedir(entries);
	reply(0, used);
}

static void do_rename(size_t head_bytes)
{
	const char *from = request.body + head_bytes;
	const char *to = from + strlen(from) + 1;
	const int failed = renameat(folder, from, folder, to);

	reply(failed ? errno : 0, 0);
}

static void do_start(void)
{
	const struct fuse_init_in *in = (void *)request.body;
	struct fuse_init_out *to = (void *)answer;

	memset(to, 0, sizeof(*to));
	to->major = FUSE_KERNEL_VERSION;
	to->minor = 31;
	to->max_readahead = in->max_readahead;
	to->flags = FUSE_BIG_WRITES;
	to->max_write = WRITE_MAX;
	reply(0, sizeof(*to));
}

static void do_space(void)
{
	struct fuse_statfs_out *to = (void *)answer;

	memset(to, 0, sizeof(*to));
	to->st.blocks = to->st.bfree = to->st.bavail = 1 << 20;
	to->st.bsize = to->st.frsize = 4096;
	to->st.namelen = 255;
	reply(0, sizeof(*to));
}

static void serve(void)
{
	switch (request.head.opcode) {
	case FUSE_INIT: do_start(); break;
	case FUSE_LOOKUP: do_entry(request.body, 0); break;
	case FUSE_GETATTR: do_attributes(); break;
	case FUSE_SETATTR: do_change(); break;
	case FUSE_CREATE: do_create(); break;
	case FUSE_OPEN:
	case FUSE_OPENDIR: do_open(); break;
	case FUSE_READ: do_read(); break;
	case FUSE_WRITE: do_write(); break;
	case FUSE_READDIR: do_list(); break;
	case FUSE_STATFS: do_space(); break;
	case FUSE_RENAME: do_rename(sizeof(struct fuse_rename_in)); break;
	case FUSE_RENAME2: do_rename(sizeof(struct fuse_rename2_in)); break;
	case FUSE_UNLINK:
		reply(unlinkat(folder, request.body, 0) ? errno : 0, 0);
		break;
	case FUSE_FLUSH:
	case FUSE_FSYNC:
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
	case FUSE_DESTROY: reply(0, 0); break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT: break;
	default: reply(ENOSYS, 0);
	}
}

static void on_stop(int number)
{
	(void)number;
	raise(SIGSTOP);
}

static void mount_at(const char *place)
{
	char options[128];

	device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40000,user_id=%u,group_id=%u", device,
		 getuid(), getgid());
	if (device < 0 ||
	    mount("fuse_disk", place, "fuse", MS_NOSUID | MS_NODEV, options)) {
		perror("fuse_disk");
		exit(1);
	}
}

static void write_pid(const char *path)
{
	FILE *file = fopen(path, "w");

	if (!file)
		exit(1);
	fprintf(file, "%d\n", getpid());
	fclose(file);
}

int main(int argc, char **argv)
{
	const struct sigaction action = {.sa_handler = on_stop};
	struct pollfd ready = {.events = POLLIN};
	sigset_t stop, before;

	if (argc != 4)
		return 2;
	folder = open(argv[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	mount_at(argv[1]);
	sigemptyset(&stop);
	sigaddset(&stop, SIGUSR1);
	sigprocmask(SIG_BLOCK, &stop, &before);
	sigaction(SIGUSR1, &action, NULL);
	write_pid(argv[3]);
	ready.fd = device;
	for (;;) {
		/* The signal is let in while nothing is being answered. */
		if (ppoll(&ready, 1, NULL, &before) < 0)
			continue;
		if (read(device, &request, sizeof(request)) > 0)
			serve();
		else if (errno == ENODEV)
			return 0;
	}
}
