/* SPDX-License-Identifier: MIT */
/* gpu_links.c - from work to the slices around its launch; see gpu_links.h. */
#include "writer/gpu/gpu_links.h"

#include <string.h>

/* More only a damaged session has, or a program that makes threads without end:
 * their work is drawn without an operation. */
#define THREADS_MOST 8192u

struct gpu_link_thread *gpu_links_known(const struct gpu_links *links,
					uint32_t tid)
{
	struct gpu_link_thread *thread = links->buckets[tid % GPU_LINK_BUCKETS];

	while (thread && thread->tid != tid)
		thread = thread->in_bucket;
	return thread;
}

struct gpu_link_thread *gpu_links_thread(struct gpu_links *links, uint32_t tid)
{
	struct gpu_link_thread *thread = gpu_links_known(links, tid);

	if (thread)
		return thread;
	if (links->count++ >= THREADS_MOST)
		return NULL;
	thread = arena_alloc(&links->arena, sizeof(*thread));
	if (!thread)
		return NULL;
	thread->tid = tid;
	thread->older = links->newest;
	links->newest = thread;
	thread->in_bucket = links->buckets[tid % GPU_LINK_BUCKETS];
	links->buckets[tid % GPU_LINK_BUCKETS] = thread;
	return thread;
}

static struct gpu_link *find_open(struct gpu_link_thread *thread,
				  uint64_t start_ticks)
{
	for (unsigned int i = 0; i < OPEN_SLICES_MAX; i++) {
		if (thread->open[i].start_ticks == start_ticks)
			return &thread->open[i];
	}
	return NULL;
}

static struct gpu_link *make_open(struct gpu_link_thread *thread,
				  uint64_t start_ticks)
{
	struct gpu_link *link = find_open(thread, start_ticks);
	struct gpu_link *oldest = &thread->open[0];

	if (link)
		return link;
	for (unsigned int i = 0; i < OPEN_SLICES_MAX; i++) {
		/* A free one has start 0; else the oldest can only be one whose
		 * end was lost. */
		if (thread->open[i].start_ticks < oldest->start_ticks)
			oldest = &thread->open[i];
	}
	*oldest = (struct gpu_link){.start_ticks = start_ticks};
	return oldest;
}

uint64_t gpu_links_reserved(struct gpu_link_thread *thread,
			    uint64_t start_ticks)
{
	const struct gpu_link *link = find_open(thread, start_ticks);

	return link ? link->id : 0;
}

static uint64_t first_kept(uint64_t count, uint64_t kept)
{
	return count > kept ? count - kept : 0;
}

static struct gpu_link_closed *closed_at(const struct gpu_link_thread *thread,
					 uint64_t number)
{
	return (struct gpu_link_closed *)thread->closed.base +
	       number % GPU_LINK_CLOSED;
}

static struct gpu_link *annotation_at(const struct gpu_link_thread *thread,
				      uint64_t number)
{
	return (struct gpu_link *)thread->annotations.base +
	       number % GPU_LINK_ANNOTATIONS;
}

/* Room for an annotation; what was there and not handed out is dropped. */
static struct gpu_link *next_annotation(struct gpu_link_thread *thread,
					struct gpu_link *dropped)
{
	struct gpu_link *link;

	dropped->text = NULL;
	if (array_reserve(&thread->annotations,
			  GPU_LINK_ANNOTATIONS * sizeof(*link)))
		return NULL;
	link = annotation_at(thread, thread->annotation_count++);
	if (link->text)
		*dropped = *link;
	return link;
}

bool gpu_links_close(struct gpu_link_thread *thread, uint64_t start_ticks,
		     uint64_t end_ticks, uint64_t id, const char *text,
		     size_t text_len, struct gpu_link *dropped)
{
	struct gpu_link *open = find_open(thread, start_ticks);
	struct gpu_link *link;

	dropped->text = NULL;
	if (array_reserve(&thread->closed,
			  GPU_LINK_CLOSED * sizeof(struct gpu_link_closed)))
		return false;
	*closed_at(thread, thread->closed_count++) =
		(struct gpu_link_closed){start_ticks, end_ticks, id};
	link = text ? next_annotation(thread, dropped) : NULL;
	if (link) {
		*link = open ? *open : (struct gpu_link){0};
		link->start_ticks = start_ticks;
		link->end_ticks = end_ticks;
		link->id = id;
		link->text = text;
		link->text_len = text_len;
	}
	if (open)
		*open = (struct gpu_link){0};
	return dropped->text;
}

/* The first closed slice that ends at or after a tick. */
static uint64_t first_after(const struct gpu_link_thread *thread,
			    uint64_t ticks)
{
	uint64_t low = first_kept(thread->closed_count, GPU_LINK_CLOSED);
	uint64_t high = thread->closed_count;

	while (low < high) {
		const uint64_t middle = low + (high - low) / 2;

		if (closed_at(thread, middle)->end_ticks < ticks)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Innermost open slice that began by `ticks`: its start, 0 none. */
static uint64_t open_around(const struct thread *live, uint64_t ticks,
			    uint32_t *depth)
{
	uint32_t at = *depth;

	while (at--) {
		const uint64_t start = live->open[at].start_ticks;

		if (start && start <= ticks) {
			*depth = at;
			return start;
		}
	}
	*depth = 0;
	return 0;
}

static uint32_t depth_of(const struct thread *live)
{
	uint32_t depth;

	if (!live)
		return 0;
	/* ACQUIRE pairs with RELEASE in thread_open(). */
	depth = load_acquire(&((struct thread *)live)->depth);
	return depth < OPEN_SLICES_MAX ? depth : OPEN_SLICES_MAX;
}

uint64_t gpu_links_find(struct gpu_link_thread *thread,
			const struct thread *live, uint64_t ticks,
			uint64_t *next_id)
{
	uint32_t depth = depth_of(live);
	struct gpu_link *link;
	uint64_t start;

	for (uint64_t i = first_after(thread, ticks); i < thread->closed_count;
	     i++) {
		if (closed_at(thread, i)->start_ticks <= ticks)
			return closed_at(thread, i)->id;
	}
	start = open_around(live, ticks, &depth);
	if (!start)
		return 0;
	link = make_open(thread, start);
	if (!link->id)
		link->id = ++*next_id;
	return link->id;
}

static void widen(struct gpu_link *link, uint32_t device, uint32_t stream,
		  struct lane_span span)
{
	for (unsigned int i = 0; i < GPU_LINK_STREAMS; i++) {
		struct gpu_projection *one = &link->stream[i];

		if (!one->span.end_ns) {
			*one = (struct gpu_projection){device, stream, span};
			return;
		}
		if (one->device == device && one->stream == stream) {
			one->span.start_ns =
				min_u64(one->span.start_ns, span.start_ns);
			one->span.end_ns =
				max_u64(one->span.end_ns, span.end_ns);
			return;
		}
	}
}

void gpu_links_work(struct gpu_link_thread *thread, const struct thread *live,
		    uint64_t ticks, uint32_t device, uint32_t stream,
		    struct lane_span span)
{
	uint32_t depth = depth_of(live);
	uint64_t start;

	for (uint64_t i = thread->annotation_count;
	     i-- >
	     first_kept(thread->annotation_count, GPU_LINK_ANNOTATIONS);) {
		struct gpu_link *link = annotation_at(thread, i);

		if (link->end_ticks < ticks)
			break;
		if (link->text && link->start_ticks <= ticks)
			widen(link, device, stream, span);
	}
	while ((start = open_around(live, ticks, &depth)))
		widen(make_open(thread, start), device, stream, span);
}

void gpu_links_flush(struct gpu_links *links, uint64_t ticks,
		     void (*each)(const struct gpu_link *link, void *arg),
		     void *arg)
{
	for (struct gpu_link_thread *t = links->newest; t; t = t->older) {
		/* The outer ones ended later: they come first. */
		for (uint64_t i = t->annotation_count;
		     i-- >
		     first_kept(t->annotation_count, GPU_LINK_ANNOTATIONS);) {
			struct gpu_link *link = annotation_at(t, i);

			if (!link->text || link->end_ticks >= ticks)
				continue;
			if (link->stream[0].span.end_ns)
				each(link, arg);
			link->text = NULL;
		}
	}
}

void gpu_links_free(struct gpu_links *links)
{
	for (struct gpu_link_thread *t = links->newest; t; t = t->older) {
		array_free(&t->closed);
		array_free(&t->annotations);
	}
	arena_free(&links->arena);
	links->newest = NULL;
	memset(links->buckets, 0, sizeof(links->buckets));
}
