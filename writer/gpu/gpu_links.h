/* SPDX-License-Identifier: MIT */
/*
 * gpu_links.h - which operation a GPU's work belongs to.
 *
 * Work knows the call that launched it; the call lies inside slices of its
 * thread.  Two things follow from that: the `External id` of the innermost
 * slice, and for each annotation the span that its work takes on each stream
 * (gpu_user_annotation).
 *
 * Slices are written when they end, their work often before: for one that is
 * still open the id is reserved, and the spans are gathered under its start.
 */
#ifndef WRITER_GPU_LINKS_H
#define WRITER_GPU_LINKS_H

#include "collector/session/thread.h"
#include "writer/state/arena.h"
#include "writer/state/lane.h"

#define GPU_LINK_STREAMS     8u
#define GPU_LINK_CLOSED	     4096u
#define GPU_LINK_ANNOTATIONS 1024u
#define GPU_LINK_BUCKETS     1024u

/* What an annotation's work takes on one stream. */
struct gpu_projection {
	uint32_t device;
	uint32_t stream;
	struct lane_span span; /* end 0: unused */
};

/* An annotation, or a slice that is still open. */
struct gpu_link {
	uint64_t start_ticks;
	uint64_t end_ticks; /* 0 open */
	uint64_t id;	    /* 0 none yet */
	const char *text;   /* as in JSON; NULL: was handed out */
	size_t text_len;
	struct gpu_projection stream[GPU_LINK_STREAMS];
};

/* A slice that was written. */
struct gpu_link_closed {
	uint64_t start_ticks;
	uint64_t end_ticks;
	uint64_t id;
};

/* Of each list the last ones are kept, in the order of their ends. */
struct gpu_link_thread {
	struct gpu_link_thread *older;
	struct gpu_link_thread *in_bucket; /* older, of those with its hash */
	uint32_t tid;
	struct gpu_link open[OPEN_SLICES_MAX];
	uint64_t closed_count; /* ever */
	struct array closed;
	uint64_t annotation_count; /* ever */
	struct array annotations;  /* of struct gpu_link */
};

struct gpu_links {
	struct arena arena;
	struct gpu_link_thread *newest;
	size_t count;
	struct gpu_link_thread *buckets[GPU_LINK_BUCKETS]; /* by tid */
};

/* A thread that has called CUDA or closed a slice, NULL; and the same, made if
 * need be. */
struct gpu_link_thread *gpu_links_known(const struct gpu_links *links,
					uint32_t tid);
struct gpu_link_thread *gpu_links_thread(struct gpu_links *links, uint32_t tid);

/* The id that was reserved for a slice about to be written, 0 none. */
uint64_t gpu_links_reserved(struct gpu_link_thread *thread,
			    uint64_t start_ticks);

/* A slice was written.  `text` is NULL but for an annotation; it must last.
 * True: an older annotation had to go on its account, to `dropped`. */
bool gpu_links_close(struct gpu_link_thread *thread, uint64_t start_ticks,
		     uint64_t end_ticks, uint64_t id, const char *text,
		     size_t text_len, struct gpu_link *dropped);

/* The id of the innermost slice around a tick; reserves *next_id + 1 for one
 * that is open.  `live` is the thread's record, NULL none. */
uint64_t gpu_links_find(struct gpu_link_thread *thread,
			const struct thread *live, uint64_t ticks,
			uint64_t *next_id);

/* Work launched at `ticks`: goes to all annotations around it. */
void gpu_links_work(struct gpu_link_thread *thread, const struct thread *live,
		    uint64_t ticks, uint32_t device, uint32_t stream,
		    struct lane_span span);

/* Hands out each closed annotation that ended before `ticks` and has work on
 * some stream, once. */
void gpu_links_flush(struct gpu_links *links, uint64_t ticks,
		     void (*each)(const struct gpu_link *link, void *arg),
		     void *arg);

void gpu_links_free(struct gpu_links *links);

#endif
