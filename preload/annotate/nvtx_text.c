/* SPDX-License-Identifier: MIT */
/*
 * nvtx_text.c - a table that only grows; see nvtx_text.h.
 *
 * Lists by hash, newest first, pushed by compare-and-swap.  Two threads that
 * register the same text at once may both add it; the newer is then found.
 */
#include "preload/annotate/nvtx_text.h"

#include <string.h>
#include <sys/mman.h>

#define LISTS	    4096u
#define CHUNK_BYTES (UINT64_C(1) << 20)
#define BYTES_MAX   (UINT64_C(64) << 20)

static const struct nvtx_string *_Atomic lists[LISTS];

/* The chunk that is filled: its end; what is used of it counts down. */
static struct {
	_Atomic uint64_t at; /* address of the next byte, 0 none yet */
	_Atomic uint64_t end;
	_Atomic uint64_t taken; /* bytes, all chunks */
	_Atomic uint32_t busy;
} memory;

/* One thread at a time; a second one goes without, rather than wait. */
static void *allocate(uint64_t bytes)
{
	void *taken = NULL;
	uint32_t free = 0;
	void *chunk;

	bytes = align_up(bytes, 16);
	/* ACQUIRE pairs with RELEASE below: what the last one left. */
	for (int i = 0;
	     i < 100000 && !atomic_compare_exchange_weak_explicit(
				   &memory.busy, &free, 1, memory_order_acquire,
				   memory_order_relaxed);
	     i++)
		free = 0;
	if (free)
		return NULL;
	if (load_relaxed(&memory.at) + bytes > load_relaxed(&memory.end) &&
	    load_relaxed(&memory.taken) < BYTES_MAX) {
		chunk = mmap(NULL, CHUNK_BYTES, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (chunk != MAP_FAILED) {
			store_relaxed(&memory.at, (uint64_t)(uintptr_t)chunk);
			store_relaxed(&memory.end,
				      (uint64_t)(uintptr_t)chunk + CHUNK_BYTES);
			add_relaxed(&memory.taken, CHUNK_BYTES);
		}
	}
	if (load_relaxed(&memory.at) + bytes <= load_relaxed(&memory.end))
		taken = (void *)(uintptr_t)add_relaxed(&memory.at, bytes);
	/* RELEASE pairs with ACQUIRE above. */
	store_release(&memory.busy, 0);
	return taken;
}

static size_t put_utf8(uint32_t c, char *text)
{
	if (c < 0x80) {
		text[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		text[0] = (char)(0xc0 | c >> 6);
		text[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		text[0] = (char)(0xe0 | c >> 12);
		text[1] = (char)(0x80 | (c >> 6 & 0x3f));
		text[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	text[0] = (char)(0xf0 | c >> 18);
	text[1] = (char)(0x80 | (c >> 12 & 0x3f));
	text[2] = (char)(0x80 | (c >> 6 & 0x3f));
	text[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

void nvtx_text_narrow(const wchar_t *wide, char *text, size_t bytes)
{
	size_t used = 0;

	for (; wide && *wide && used + 5 <= bytes; wide++) {
		const uint32_t c = (uint32_t)*wide;
		const bool is_valid =
			c < 0x110000 && (c < 0xd800 || c > 0xdfff);

		used += put_utf8(is_valid ? c : 0xfffd, text + used);
	}
	text[used] = '\0';
}

size_t nvtx_text_compose(const struct nvtx_string *domain, const char *text,
			 char *whole, size_t bytes)
{
	size_t prefix = domain ? domain->len : 0;
	size_t len = strnlen(text, bytes);

	if (prefix + 3 > bytes)
		prefix = 0;
	if (prefix) {
		memcpy(whole, domain->text, prefix);
		memcpy(whole + prefix, ": ", 2);
		prefix += 2;
	}
	len = min_u64(len, bytes - 1 - prefix);
	memcpy(whole + prefix, text, len);
	whole[prefix + len] = '\0';
	return prefix;
}

static uint64_t hash_of(enum nvtx_kind kind, const struct nvtx_string *domain,
			uint32_t category, const char *text)
{
	uint64_t hash = 14695981039346656037u ^ kind ^ (uint64_t)category << 8 ^
			(uint64_t)(uintptr_t)domain;

	/* A category is found without its name. */
	for (; kind != NVTX_KIND_CATEGORY && *text; text++)
		hash = (hash ^ (unsigned char)*text) * 1099511628211u;
	return (hash * 0x9e3779b97f4a7c15u) >> 52;
}

static const struct nvtx_string *find(enum nvtx_kind kind,
				      const struct nvtx_string *domain,
				      uint32_t category, const char *text)
{
	/* ACQUIRE pairs with RELEASE in add(): the text is filled in. */
	const struct nvtx_string *s = load_acquire(
		&lists[hash_of(kind, domain, category, text ? text : "")]);

	while (s && (s->kind != kind || s->domain != domain ||
		     s->category != category ||
		     (text && strcmp(s->text + s->prefix, text) != 0)))
		s = s->next;
	return s;
}

static const struct nvtx_string *add(enum nvtx_kind kind,
				     const struct nvtx_string *domain,
				     uint32_t category, const char *text)
{
	const size_t room = strlen(text) + (domain ? domain->len : 0) + 3;
	struct nvtx_string *s = allocate(sizeof(*s) + room);
	const struct nvtx_string *_Atomic *list =
		&lists[hash_of(kind, domain, category, text)];
	const struct nvtx_string *newest = load_relaxed(list);

	if (!s)
		return NULL;
	s->kind = kind;
	s->domain = domain;
	s->category = category;
	s->prefix = (uint32_t)nvtx_text_compose(
		kind == NVTX_KIND_STRING ? domain : NULL, text, s->text, room);
	s->len = (uint32_t)strlen(s->text);
	do {
		s->next = newest;
		/* RELEASE pairs with ACQUIRE in find(). */
	} while (!atomic_compare_exchange_weak_explicit(
		list, &newest, s, memory_order_release, memory_order_relaxed));
	return s;
}

const struct nvtx_string *nvtx_text_register(enum nvtx_kind kind,
					     const struct nvtx_string *domain,
					     uint32_t category,
					     const char *text)
{
	char kept[NAME_BYTES_MAX];
	const struct nvtx_string *s;

	nvtx_text_compose(NULL, text ? text : "", kept, sizeof(kept));
	/* A category that is named again has its newest name in front. */
	s = find(kind, domain, category,
		 kind == NVTX_KIND_CATEGORY ? NULL : kept);
	if (s && !strcmp(s->text + s->prefix, kept))
		return s;
	return add(kind, domain, category, kept);
}

const struct nvtx_string *nvtx_text_category(const struct nvtx_string *domain,
					     uint32_t category)
{
	return find(NVTX_KIND_CATEGORY, domain, category, NULL);
}
