/* SPDX-License-Identifier: MIT */
/* environment.c - looks variables up by copies; see environment.h. */
#include "collector/system/environment.h"

#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define VARIABLES_MAX 4096u
#define BATCH	      64u

static bool copy(const void *from, void *to, size_t bytes)
{
	const struct iovec mine = {to, bytes};
	const struct iovec theirs = {(void *)(uintptr_t)from, bytes};

	return syscall(SYS_process_vm_readv, getpid(), &mine, 1, &theirs, 1,
		       0) == (long)bytes;
}

/* A text that ends within `bytes`: piece by piece, since a page may be the last
 * one that is there. */
static bool copy_text(const char *from, char *to, size_t bytes)
{
	size_t used = 0;

	while (used < bytes) {
		const size_t left =
			PAGE_BYTES - ((uintptr_t)(from + used) % PAGE_BYTES);
		const size_t piece =
			min_u64(min_u64(left, BATCH), bytes - used);

		if (!copy(from + used, to + used, piece))
			return false;
		if (memchr(to + used, '\0', piece))
			return true;
		used += piece;
	}
	return false;
}

static bool is_named(const char *at, const char *name, size_t len)
{
	char begin[BATCH] = "";

	/* Up to the end of the page, or what is shorter than the name. */
	return len + 1 < sizeof(begin) &&
	       (copy(at, begin, len + 1) || copy_text(at, begin, len + 2)) &&
	       !memcmp(begin, name, len) && begin[len] == '=';
}

/* The copies of one batch of pointers; false at the last one. */
static const char *look(char *const *batch, const char *name, size_t len,
			bool *is_last)
{
	for (size_t i = 0; i < BATCH; i++) {
		if (!batch[i]) {
			*is_last = true;
			return NULL;
		}
		if (is_named(batch[i], name, len))
			return batch[i] + len + 1;
	}
	return NULL;
}

bool environment_copy(const char *name, char *value, size_t bytes)
{
	char *const *const list = environ;
	const size_t len = strlen(name);
	const char *found = NULL;
	bool is_last = !list;

	for (size_t at = 0; !found && !is_last && at < VARIABLES_MAX;
	     at += BATCH) {
		char *batch[BATCH] = {NULL};
		size_t count = 0;

		/* One by one where not all of them are there. */
		if (!copy(list + at, batch, sizeof(batch)))
			while (count < BATCH &&
			       copy(list + at + count, &batch[count],
				    sizeof(*batch)) &&
			       batch[count])
				count++;
		found = look(batch, name, len, &is_last);
	}
	if (found && copy_text(found, value, bytes))
		return true;
	value[0] = '\0';
	return false;
}
