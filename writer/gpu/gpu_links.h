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
 * The GPU may also be seconds behind.  So a thread's slices are kept until all
 * that was launched in them has arrived, up to a limit; what is lost to that is
 * counted.
 *
 * A slice may also end after this pass looked how far the thread's ring goes:
 * then it is neither open any more nor among those that were written.  So what
 * was open is noted before that look, and counts as open.
 */
#ifndef WRITER_GPU_LINKS_H
#define WRITER_GPU_LINKS_H

#include "collector/session/thread.h"
#include "writer/state/arena.h"
#include "writer/state/lane.h"

/* Slices of a thread that has called CUDA or marked a range, and of another. */
#define GPU_LINKS_MOST	     131072u
#define GPU_LINKS_MOST_QUIET 8192u
#define GPU_LINK_BUCKETS     1024u

/* What an annotation's work takes on one stream. */
struct gpu_projection {
	struct gpu_projection *next;
	uint32_t device;
	uint32_t stream;
	struct lane_span span;
};

/* A slice. */
struct gpu_link {
	uint64_t start_ticks;
	uint64_t end_ticks;	      /* 0 open */
	uint64_t id;		      /* 0 none yet */
	const char *text;	      /* as in JSON; NULL: no annotation */
	struct gpu_projection *first; /* of its work, a list */
	uint32_t text_len;
	bool is_cut; /* counted as such */
};

struct gpu_link_thread {
	struct gpu_link_thread *older;
	struct gpu_link_thread *in_bucket; /* older, of those with its hash */
	uint32_t tid;
	bool is_wanted; /* it has called CUDA or marked a range */
	struct gpu_link open[OPEN_SLICES_MAX];
	/* Starts of what was open at the pass's look, the outermost first. */
	uint64_t was_open[OPEN_SLICES_MAX];
	uint32_t was_depth;
	bool is_looked;	    /* there was such a look */
	struct array ended; /* of struct gpu_link, by their ends */
	struct array lows;  /* the earliest start of each few of them */
	size_t count;
	size_t done;		  /* of these: handed out */
	uint64_t forgotten_ticks; /* when the last one ended that is not here
				     any more */
};

struct gpu_links {
	struct arena arena;
	struct gpu_link_thread *newest;
	size_t count;
	struct gpu_projection *free;
	size_t projections; /* ever made */
	/* Annotations whose work is not all in their span, and calls that may
	 * belong to a slice that was forgotten. */
	uint64_t cut;
	uint64_t unknown;
	struct gpu_link_thread *buckets[GPU_LINK_BUCKETS]; /* by tid */
};

/* A thread that has called CUDA or closed a slice, NULL; and the same, made if
 * need be. */
struct gpu_link_thread *gpu_links_known(const struct gpu_links *links,
					uint32_t tid);
struct gpu_link_thread *gpu_links_thread(struct gpu_links *links, uint32_t tid);

/* Before a pass looks how far rings go: what is open there.  `live` is the
 * thread's record, NULL none. */
void gpu_links_look(struct gpu_link_thread *thread, const struct thread *live);

/* The id that was reserved for a slice about to be written, 0 none. */
uint64_t gpu_links_reserved(struct gpu_link_thread *thread,
			    uint64_t start_ticks);

/* A slice was written.  `text` is NULL but for an annotation; it must last.
 * True: there are too many, gpu_links_shed() is due. */
bool gpu_links_close(struct gpu_links *links, struct gpu_link_thread *thread,
		     const struct gpu_link *slice);

/* The id of the innermost slice around a tick; reserves *next_id + 1 for one
 * that is open.  `live` is the thread's record, NULL none. */
uint64_t gpu_links_find(struct gpu_link_thread *thread,
			const struct thread *live, uint64_t ticks,
			uint64_t *next_id);

/* A call of the program at `ticks` was drawn, which belongs to no slice that is
 * known. */
void gpu_links_miss(struct gpu_links *links,
		    const struct gpu_link_thread *thread, uint64_t ticks);

/* Work launched at `ticks`: goes to all annotations around it. */
void gpu_links_work(struct gpu_links *links, struct gpu_link_thread *thread,
		    const struct thread *live, uint64_t ticks, uint32_t device,
		    uint32_t stream, struct lane_span span);

/* Hands out each closed annotation that ended before `ticks` and has work on
 * some stream, once; of one thread the oldest, whatever they have. */
typedef void gpu_links_each(const struct gpu_link *link, void *arg);
void gpu_links_flush(struct gpu_links *links, uint64_t ticks,
		     gpu_links_each *each, void *arg);
void gpu_links_shed(struct gpu_links *links, struct gpu_link_thread *thread,
		    gpu_links_each *each, void *arg);

void gpu_links_free(struct gpu_links *links);

#endif
