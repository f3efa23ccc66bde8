/* SPDX-License-Identifier: MIT */
/* spool.c - one file of packed events; see spool.h. */
#include "writer/state/spool.h"

#include "collector/system/descriptor.h"
#include "collector/system/log.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define NAME_TRIES 16

/* The host's name comes from outside: it must not lead elsewhere. */
static void file_name(const struct session_header *head, uint64_t number,
		      char *path, size_t bytes)
{
	const size_t folder = strlen(head->folder);

	log_format(path, bytes, "%s/%.64s_%d.%lu" SPOOL_ENDING, head->folder,
		   head->host, head->pid, (unsigned long)number);
	for (char *at = path + min_u64(folder, bytes) + 1; *at; at++) {
		if (*at == '/' || (unsigned char)*at < ' ')
			*at = '_';
	}
}

int spool_make(struct spool *spool, struct session *session)
{
	struct session_header *head = session->head;
	char path[OUTPUT_PATH_BYTES];
	struct timespec now;
	int rc = -EEXIST;

	if (spool->is_open || spool->error)
		return spool->error;
	clock_gettime(CLOCK_REALTIME, &now);
	for (unsigned int i = 0; i < NAME_TRIES && rc == -EEXIST; i++) {
		file_name(head,
			  (uint64_t)now.tv_sec * 1000000000u +
				  (uint64_t)now.tv_nsec + i,
			  path, sizeof(path));
		rc = output_begin(&spool->output, path);
		if (rc)
			continue;
		/* Named in the session first: a kill leaves no file behind
		 * that nobody knows. */
		memcpy(head->spool, path, sizeof(head->spool));
		rc = output_publish(&spool->output);
		if (rc)
			output_cancel(&spool->output);
	}
	if (rc)
		head->spool[0] = '\0';
	spool->is_open = !rc;
	spool->error = rc;
	return rc;
}

static bool name_is_sane(const struct session_header *head)
{
	const size_t folder = strlen(head->folder);
	const char *path = head->spool;
	const char *ending = strstr(path, SPOOL_ENDING);

	return !strncmp(path, head->folder, folder) && path[folder] == '/' &&
	       !strchr(path + folder + 1, '/') && ending &&
	       !ending[strlen(SPOOL_ENDING)];
}

int spool_find(struct spool *spool, const struct session *session)
{
	const struct session_header *head = session->head;
	struct stat status;
	int fd;

	if (!head->spool[0])
		return 0;
	if (!name_is_sane(head))
		return -EBADMSG;
	fd = descriptor_open_high(
		head->spool, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) || !S_ISREG(status.st_mode) ||
	    status.st_uid != geteuid()) {
		close(fd);
		return -EBADMSG;
	}
	spool->output = (struct output){.fd = fd, .named = true};
	output_adopt(&spool->output, head->spool);
	spool->is_open = true;
	spool->end = (uint64_t)status.st_size;
	return 0;
}

int spool_write(struct spool *spool, const struct iovec *parts, int count,
		uint64_t *at)
{
	uint64_t bytes = 0;
	ssize_t done;

	if (!spool->error)
		spool->error = output_check(&spool->output);
	if (spool->error)
		return spool->error;
	for (int i = 0; i < count; i++)
		bytes += parts[i].iov_len;
	do {
		done = pwritev(spool->output.fd, parts, count,
			       (off_t)spool->end);
	} while (done < 0 && errno == EINTR);
	if (done < 0)
		spool->error = -errno;
	else if ((uint64_t)done < bytes)
		spool->error = -ENOSPC;
	*at = spool->end;
	if (!spool->error) {
		spool->end += bytes;
		spool->written += bytes;
	}
	return spool->error;
}

int spool_read(struct spool *spool, uint64_t at, void *bytes, size_t len)
{
	char *to = bytes;

	while (len) {
		const ssize_t got = pread(spool->output.fd, to, len, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EBADF && !output_check(&spool->output))
			continue;
		if (got <= 0)
			return got ? -errno : -EBADMSG;
		to += got;
		at += (uint64_t)got;
		len -= (size_t)got;
	}
	return 0;
}

void spool_empty(struct spool *spool)
{
	if (!spool->is_open || !spool->end || output_check(&spool->output))
		return;
	if (!output_resize(&spool->output, 0))
		spool->end = 0;
}

void spool_end(struct spool *spool, bool is_done)
{
	if (!spool->is_open)
		return;
	if (is_done && !output_check(&spool->output))
		unlink(spool->output.path);
	output_close(&spool->output);
	spool->is_open = false;
}
