/* SPDX-License-Identifier: MIT */
/*
 * session.c - space in a session: handing it out, backing it, notes.
 *
 * How a session is made and found is in session_make.c and session_find.c.
 */
#include "collector/session/session.h"

#include "collector/system/loader.h"
#include "collector/system/log.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define GROW_BYTES   (1u << 20)
/* For whoever extends the session, who may be without a processor. */
#define GROW_YIELDS  64u
#define GROW_NAP_NS  100000
#define GROW_WAIT_NS UINT64_C(1000000000)

_Static_assert(sizeof(struct session_header) <= SESSION_FIRST_BYTES / 2,
	       "the first extent holds the header and a first chunk");

struct session *_Atomic session_here;

/* By its path, since no fd is kept open.  By system calls alone: hooks get
 * here, and open() and close() are points where a thread may be cancelled. */
static int back_by_path(struct session *session, uint64_t from, uint64_t bytes)
{
	const bool keeps_forks_out = loader_enter_now();
	int fd;
	int rc = 0;

	fd = (int)syscall(SYS_openat, AT_FDCWD, session->path,
			  O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0);
	if (fd < 0 || syscall(SYS_fallocate, fd, 0, from, bytes))
		rc = -errno;
	if (fd >= 0)
		syscall(SYS_close, fd);
	if (keeps_forks_out)
		loader_leave();
	return rc;
}

/* Backs [from, from + bytes) of the mapping, of which nothing is used yet.
 * From Linux 5.14 on without a descriptor, which a program's thread would have
 * open while another one forks, and which may be had no more. */
static int back(struct session *session, uint64_t from, uint64_t bytes)
{
	if (session->head->place != SESSION_IN_FILE ||
	    !madvise(session->base + from, bytes, MADV_POPULATE_WRITE))
		return 0;
	/* What there was room for isn't kept from others. */
	if (errno != EINVAL)
		madvise(session->base + from, bytes, MADV_REMOVE);
	return back_by_path(session, from, bytes);
}

int session_grow(struct session *session, uint64_t bytes)
{
	struct session_header *head = session->head;
	const uint32_t self = (uint32_t)syscall(SYS_gettid);
	const int saved = errno;
	uint32_t grower = 0;
	uint64_t backed;
	uint64_t until;
	int rc;

	/* ACQUIRE pairs with RELEASE below: one grower at a time, which sees
	 * how far the last one got. */
	if (!atomic_compare_exchange_strong_explicit(&head->growing, &grower,
						     self, memory_order_acquire,
						     memory_order_relaxed))
		return grower == self ? -EDEADLK : -EAGAIN;
	backed = load_relaxed(&head->backed);
	until = min_u64(
		align_up(backed + max_u64(bytes, GROW_BYTES), PAGE_BYTES),
		head->ceiling_bytes);
	rc = until > backed ? back(session, backed, until - backed) : -ENOSPC;
	if (!rc)
		store_relaxed(&head->backed, until);
	/* RELEASE pairs with ACQUIRE above. */
	store_release(&head->growing, 0);
	errno = saved;
	return rc;
}

/* Waits a little for the grower; longer after many `tries`. */
static void give_way(unsigned int tries)
{
	const struct timespec nap = {.tv_nsec = GROW_NAP_NS};

	if (tries < GROW_YIELDS)
		syscall(SYS_sched_yield);
	else
		syscall(SYS_nanosleep, &nap, NULL);
}

/* Makes sure that everything before `end` is backed; several threads may be at
 * it, one grows, the others wait for it in turn.  A signal handler doesn't wait
 * for the thread that it interrupted. */
static bool ensure_backed(struct session *session, uint64_t end)
{
	struct session_header *head = session->head;
	const int saved = errno;
	uint64_t limit_ns = 0;
	unsigned int tries;
	int rc = 0;

	for (tries = 0; end > load_relaxed(&head->backed); tries++) {
		const uint64_t backed = load_relaxed(&head->backed);

		rc = end > backed ? session_grow(session, end - backed) : 0;
		if (rc != -EAGAIN)
			break;
		if (!limit_ns)
			limit_ns = clock_monotonic_ns() + GROW_WAIT_NS;
		else if (clock_monotonic_ns() > limit_ns)
			break;
		give_way(tries);
	}
	errno = saved;
	/* Somebody else may have got there in between. */
	return end <= load_relaxed(&head->backed);
}

uint64_t session_alloc(struct session *session, uint64_t bytes)
{
	struct session_header *head = session->head;
	uint64_t used = load_relaxed(&head->used);
	uint64_t end;

	if (bytes > head->ceiling_bytes)
		return 0;
	bytes = align_up(bytes, CACHE_LINE);
	do {
		if (bytes > head->ceiling_bytes ||
		    used > head->ceiling_bytes - bytes)
			return 0;
		end = used + bytes;
		if (!ensure_backed(session, end))
			return 0;
	} while (!atomic_compare_exchange_weak_explicit(&head->used, &used, end,
							memory_order_relaxed,
							memory_order_relaxed));
	return used;
}

/* Room for `bytes` in the present block, or in a new one.  Two threads may each
 * open a block; the rest of the loser's is wasted. */
uint64_t session_take(struct session *session, _Atomic uint64_t *space,
		      uint64_t bytes)
{
	uint64_t seen = load_relaxed(space);

	bytes = align_up(bytes, 8);
	for (;;) {
		const uint64_t at = seen >> 24 << 3;
		const uint64_t left = seen & 0xffffff;
		uint64_t wanted;

		if (left < bytes) {
			const uint64_t block =
				session_alloc(session, SESSION_BLOCK_BYTES);

			if (!block)
				return 0;
			wanted = (block + bytes) >> 3 << 24 |
				 (SESSION_BLOCK_BYTES - bytes);
			if (atomic_compare_exchange_strong_explicit(
				    space, &seen, wanted, memory_order_relaxed,
				    memory_order_relaxed))
				return block;
			continue;
		}
		wanted = (at + bytes) >> 3 << 24 | (left - bytes);
		if (atomic_compare_exchange_weak_explicit(space, &seen, wanted,
							  memory_order_relaxed,
							  memory_order_relaxed))
			return at;
	}
}

void session_note(struct session *session, const char *format, ...)
{
	struct session_header *head = session->head;
	char text[SESSION_NOTE_BYTES];
	va_list args;

	va_start(args, format);
	const size_t len = log_format_list(text, sizeof(text), format, args);

	va_end(args);
	const uint32_t count = load_relaxed(&head->note_count);

	for (uint32_t i = 0; i < count && i < SESSION_NOTES_MAX; i++) {
		if (!strncmp(head->notes[i], text, sizeof(text)))
			return;
	}
	const uint32_t at = add_relaxed(&head->note_count, 1);

	if (at < SESSION_NOTES_MAX) {
		memcpy(head->notes[at], text, len + 1);
	} else {
		store_relaxed(&head->note_count, SESSION_NOTES_MAX);
		add_relaxed(&head->notes_refused, 1);
	}
}

void session_unlink(const struct session *session)
{
	if (session->path[0])
		unlink(session->path);
}
