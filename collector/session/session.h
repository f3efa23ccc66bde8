/* SPDX-License-Identifier: MIT */
/*
 * session.h - the one mapped region that outlives the process.
 *
 * All that the writer needs to make a trace lies here: options, clock segments,
 * thread records with their rings, interned names, the module list, the windows
 * and how far the file has got.  The region is file-backed and shared where
 * that is possible, so the stores that a hook does anyway survive kill -9, and
 * another process (`traceprof recover`, or the next run) finishes the trace
 * with the writer's own code.
 *
 * It holds offsets from its start, never pointers; offset 0 is "none".  Space
 * is handed out once, front to back (session_alloc) and backed before its
 * first use, so that a full tmpfs is an error code, never SIGBUS.
 *
 * A struct session is the view one process has of it: where it is mapped.  The
 * header and everything after it may be hostile when it comes from a file:
 * session_open() checks the header, readers go through session_at_checked().
 */
#ifndef COLLECTOR_SESSION_H
#define COLLECTOR_SESSION_H

#include "collector/system/clock.h"
#include "collector/control/mailbox.h"
#include "collector/session/event.h"
#include "collector/control/flight.h"
#include "collector/session/gpu_state.h"
#include "collector/control/options.h"
#include "collector/control/search.h"
#include "collector/control/window.h"

#define SESSION_MAGIC	    "traceprf"
#define SESSION_VERSION	    26u
#define SESSION_FIRST_BYTES (2u << 20)
#define SESSION_TEXT_BYTES  512
#define SESSION_NAMES_MAX   65536u
#define SESSION_NOTES_MAX   32u
#define SESSION_NOTE_BYTES  256u
#define SESSION_BLOCK_BYTES (16u * 1024)

enum session_place {
	SESSION_IN_FILE,	 /* shared memory file: survives the process */
	SESSION_IN_MEMFD,	 /* survives while somebody holds the fd */
	SESSION_IN_ANONYMOUS,	 /* dies with the process */
	SESSION_IN_RECORD_MEMFD, /* a memfd that `traceprof record` holds */
};

/* Memfds of `traceprof record` for its children: this variable has its pid and
 * the descriptors, "77:5,6,7".  One without a size is free; who takes it locks
 * it (flock) until it has one. */
#define SESSION_HELD_VARIABLE "TRACEPROF_RECORD_HELD"
#define SESSION_HELD_NAME     "traceprof-held"

enum session_state {
	SESSION_MAKING,
	SESSION_RUNNING,
	SESSION_ENDED, /* the file is complete; nothing to recover */
};

/* Waits at the ends of regions, which the writer puts together:
 * begun = drawn + outside + lost. */
struct wait_counts {
	uint64_t begun;
	uint64_t drawn;
	uint64_t outside; /* every window, or past MAX_MB */
	uint64_t lost;	  /* nobody knows any more when their region ended */
};

/* How far the file had got; two of them, so that one is always whole.
 * `session_header.checkpoint` says which. */
struct session_checkpoint {
	uint64_t file_index; /* which window's file, counted from 1; 0 none */
	uint64_t tail_at;    /* file offset up to which the data stands */
	uint64_t text_bytes; /* uncompressed bytes up to there */
	uint32_t crc32;	     /* of those */
	uint32_t window;     /* index in windows[] of the file */
	uint64_t written;    /* events in files, in all files so far */
	uint64_t cut;	     /* events outside every window, or past MAX_MB */
	uint64_t past_max;   /* the latter alone */
	uint64_t past_heap;  /* of these, small blocks */
	uint64_t unwritable; /* neither: no number, damaged, no memory */
	uint64_t thinned;    /* calls that are in totals alone */
	uint64_t unnamed;    /* of those written */
	uint64_t arrows;     /* from operators: the last one's id */
	struct wait_counts waits;
	uint64_t file_events; /* events in this file */
	uint64_t last_ticks;  /* latest time that was seen */
	uint64_t part_ticks;  /* a further part's begin; 0: it is none */
	int64_t heap_live;    /* mode all: running total of the file */
	int64_t heap_peak;
	uint64_t written_by_kind[EVENT_KIND_COUNT];
	char path[SESSION_TEXT_BYTES]; /* of the file, absolute */
};

/* What a hook takes of its thread's time, as measured; 0 not known. */
struct session_cost {
	uint32_t counted_ps; /* a heap call that is counted */
	uint32_t event_ps;   /* one that is recorded */
	uint32_t slice_ps;   /* a slice: two readings of the clock */
	uint32_t region_ps;  /* a parallel region of one thread */
	uint32_t member_ps;  /* what each member of a team loses by one, by
				its own part or waiting for others' */
	uint32_t thinned_ps; /* a call that is thinned and added to a sum */
	uint32_t marked_ps;  /* one that leaves a mark */
	uint32_t python_ps;  /* a call of Python, the interpreter's part too */
	uint32_t locks_ps;   /* in region_ps: what is not the hook's but
				glibc's, where a process has two threads */
};

/* From when to when calls of Python aren't recorded; 0: to the end. */
struct python_end {
	_Atomic uint64_t from_ticks, to_ticks;
};

/* What wakes the writer, beside a request and its own time. */
enum writer_sleep {
	WRITER_AWAKE,
	WRITER_IDLE,  /* a ring takes another chunk */
	WRITER_RESTS, /* the same, when few are left */
};

/* Heap calls of the process before its recording began; not known of a forked
 * child whose allocations begin none. */
struct heap_before {
	uint64_t allocs, frees;
	uint64_t alloc_bytes, free_bytes, asked_bytes;
	uint64_t is_known;
};

/* Distinct call stacks (collector/session/stacks.h). */
struct stack_table {
	uint64_t at;		      /* of the slots, 0 none */
	uint64_t limit_bytes;	      /* of stacks */
	uint32_t slots;		      /* a power of two */
	_Atomic uint32_t count;	      /* stacks */
	_Atomic uint64_t bytes;	      /* of them */
	_Atomic uint64_t space;	      /* session_take() */
	_Atomic uint64_t refused;     /* events without one: no room for it */
	_Atomic uint64_t shortened;   /* ... with less of it than there was */
	_Atomic uint64_t untaken;     /* ... or it could not be taken */
	_Atomic uint64_t timed;	      /* takings that were timed, and ... */
	_Atomic uint64_t timed_ticks; /* ... how long they took in all */
};

/* Samples of what threads do (preload/sample): what became of those that left
 * no event, and who is not sampled.  Of expirations of timers. */
struct sampling {
	uint64_t period_ns;   /* of a thread's processor time; 0 off */
	_Atomic uint64_t own; /* in our own code, a thread's end, or a handler
				 whose stack is full */
	_Atomic uint64_t
		unrooted;	  /* whose stack is the innermost frame alone */
	_Atomic uint64_t cut;	  /* whose stack is deeper than is kept */
	_Atomic uint32_t timers;  /* threads that had one */
	_Atomic uint32_t without; /* threads that could have none */
	_Atomic uint32_t known;	  /* enum task_count: what can be read */
	_Atomic uint64_t taken;	  /* handlers that began */
	_Atomic uint64_t timed;	  /* those that were timed, and ... */
	_Atomic uint64_t timed_ns; /* ... the processor time of those */
	_Atomic uint64_t begun_ns; /* until threads began the program's work */
};

/* What the kernel counts of a thread, where it says so. */
enum task_count {
	TASK_TIMES = 1,	 /* on a core, and ready for one */
	TASK_FAULTS = 2, /* of pages */
	TASK_SWITCHES = 4,
	TASK_MIGRATIONS = 8
};

/* What the process had read before the window (/proc/self/io). */
struct file_sums {
	uint64_t is_known;
	uint64_t read_before; /* of anything */
	uint64_t disk_before;
};

struct session_header {
	char magic[8];
	uint32_t version;
	uint32_t header_bytes;	  /* sizeof(struct session_header) */
	uint32_t thread_bytes;	  /* sizeof(struct thread) */
	uint32_t event_kinds;	  /* EVENT_KIND_COUNT */
	_Atomic uint32_t state;	  /* enum session_state */
	uint32_t place;		  /* enum session_place */
	uint64_t ceiling_bytes;	  /* size of the mapping */
	_Atomic uint64_t used;	  /* handed out so far */
	_Atomic uint64_t backed;  /* of it; never shrinks */
	_Atomic uint32_t growing; /* thread that extends `backed`, or 0 */

	/* Whose it is. */
	int32_t pid;
	uint32_t uid;
	uint64_t pid_namespace; /* inode */
	uint64_t started;	/* /proc/PID/stat, field 22; 0 not known */
	uint64_t lock_device; /* of the file, which the process holds locked */
	uint64_t lock_inode;  /* 0: it couldn't be locked */
	char boot_id[40];
	char host[SESSION_TEXT_BYTES];
	char program[SESSION_TEXT_BYTES]; /* argv[0]'s last part */
	char folder[SESSION_TEXT_BYTES];  /* absolute output folder */
	char reason[SESSION_TEXT_BYTES];  /* what began the recording */
	/* Before the rank, the number of them; 0 unknown.  -1 unknown; where it
	 * may come late, init_process_group() is still to tell it, and ... */
	_Atomic int32_t world_size;
	_Atomic int32_t rank;
	_Atomic bool rank_is_late;
	_Atomic bool rank_is_in_tail; /* ... the file's head hasn't got it */
	struct options options;

	struct clock_segments clock;

	/* Thread records: push-only list (collector/session/thread.h). */
	_Atomic uint64_t threads; /* newest record */
	_Atomic uint32_t thread_count;
	_Atomic uint64_t
		unrecorded_calls; /* hook calls that left no event: of threads
				     without a record, for which there was no
				     room, and ... */
	_Atomic uint64_t unfollowed_calls; /* ... of these, for other reasons:
					      nested too deep, too many at
					      once, */
	_Atomic uint64_t held_up_calls;	   /* or before the session was there */
	_Atomic uint64_t missed_calls; /* those of a signal handler that came
					  inside a hook, or of a thread that
					  had given its record back */

	/* Of the first thread, as the writer last saw it; 0 not known. */
	_Atomic uint64_t ran_ns;
	_Atomic uint64_t unscheduled_ns; /* could run, and had no processor */
	_Atomic uint64_t lived_ns;	 /* since it began, asleep or not */

	/* Of all processors, as the recording began; and since then, how much
	 * of it other programs had, and this one.  0 not known. */
	_Atomic uint64_t machine_all_ns, machine_busy_ns, machine_own_ns;
	_Atomic uint64_t processors_ns, others_ns, program_ns;

	/* Chunk pool (collector/session/pool.h). */
	_Atomic uint64_t free_chunks; /* tag << 40 | offset */
	_Atomic uint32_t free_chunk_count;
	_Atomic uint32_t chunk_count;
	_Atomic uint32_t writer_sleeps;	     /* futex word: enum writer_sleep */
	_Atomic uint32_t writer_passes;	     /* futex word: counts its passes */
	_Atomic uint32_t writer_wakes_below; /* free chunks, while it rests */
	uint32_t pad_writer;

	/* Interned names (collector/session/names.h): open addressing, offsets.
	 * */
	_Atomic uint32_t name_count;
	_Atomic uint32_t names_refused;
	_Atomic uint64_t name_space; /* present block: at << 32 | left */
	_Atomic uint64_t names[SESSION_NAMES_MAX];

	/* Modules (collector/session/modules.h): push-only list, writer only.
	 * */
	_Atomic uint64_t modules;
	_Atomic uint32_t module_count;

	/* Recording windows. */
	struct window_state windows;
	struct step_search search; /* TRACEPROF_STEP=auto */

	/* One-line notes for the file's metadata. */
	_Atomic uint32_t note_count;
	_Atomic uint32_t notes_refused; /* there was no room for */
	char notes[SESSION_NOTES_MAX][SESSION_NOTE_BYTES];

	int64_t heap_base_bytes; /* live before the counters ran */
	struct heap_before heap_before;
	_Atomic uint32_t heap_mask;  /* of small blocks one in so many, and one,
					is drawn: thin.h */
	_Atomic uint32_t heap_most;  /* the largest that this ever was */
	_Atomic uint64_t heap_since; /* a smaller one last was too small */
	uint32_t heap_has_stacks;    /* each new one of them has one */
	struct session_cost cost;    /* the writer's first pass measures it */
	_Atomic uint32_t python_ends; /* how often calls of Python cost too
					 much; each at % WINDOWS_MAX */
	struct python_end python_end[WINDOWS_MAX];

	struct stack_table stacks;
	_Atomic uint64_t samples_refused; /* sampled blocks without a place */
	struct sampling sampling;
	struct file_sums file_io;

	struct gpu_state gpu;

	struct flight_state flight;
	struct mailbox mailbox; /* what is asked from outside */

	uint64_t forward; /* operators that wait for their backward, 0 none:
			     writer/events/forward.c */

	char spool[SESSION_TEXT_BYTES]; /* packed events beyond memory, "" none:
					   writer/state/spool.h */

	_Atomic uint32_t finisher; /* a process writes down what the program
				      left: its id; 0 none */
	int32_t record_pid;   /* `traceprof record` that began this, 0 none */
	uint64_t left_events; /* then: recorded by the program in all */
	_Atomic uint32_t checkpoint; /* which of the two is whole */
	struct session_checkpoint checkpoints[2];
};

/* One process's view. */
struct session {
	char *base;
	uint64_t bytes;
	struct session_header *head;
	char path[SESSION_TEXT_BYTES]; /* of the backing file, "" none */
	bool writable;
};

/* The session of this process, NULL until it is recorded.
 * Published with RELEASE in life.c's begin(); readers that got here through
 * the gate or their own thread record need no further ordering. */
extern struct session *_Atomic session_here
	__attribute__((visibility("hidden")));

static inline void *session_at(const struct session *session, uint64_t offset)
{
	return session->base + offset;
}

static inline uint64_t session_offset(const struct session *session,
				      const void *ptr)
{
	return (uint64_t)((const char *)ptr - session->base);
}

/* A pointer into a session that may be hostile: NULL unless [offset, offset +
 * bytes) lies inside and is aligned to 8. */
static inline void *session_at_checked(const struct session *session,
				       uint64_t offset, uint64_t bytes)
{
	if (offset < sizeof(struct session_header) || offset & 7 ||
	    offset > session->bytes || bytes > session->bytes - offset)
		return NULL;
	return session->base + offset;
}

/* Makes this process's session: place, size, header.  `options` are copied.
 * 0 and *made; -errno when not even anonymous memory was to be had.
 * System calls only: no malloc, no stdio. */
int session_create(const struct options *options, const char *reason,
		   struct session **made);

/* In a forked child: private memory takes the place of the parent's session,
 * for whoever still has a pointer into it, and its lock is the parent's alone.
 */
void session_drop(void);

/* Opens a session's file, `flags` as open() takes them: an fd, or -errno;
 * -EPERM another user's, -EBADMSG no plain file with one name. */
int session_file(const char *path, int flags);

/* A copy of another process's session, as it is now, from its open file:
 * nothing done to it reaches the file, nor the other way.  0; -errno; -EPERM
 * another user's; -EBADMSG not a session of this version, or damaged; -ENOMEM
 * also where it would take more than half of the memory that is left.
 * session_look() copies the header alone, and leaves its table of names empty.
 * The fd stays the caller's. */
int session_open(int fd, struct session *session);
int session_look(int fd, struct session *session);
void session_close(struct session *session);

/* 0: the process that made it is dead, and so are its children that had its
 * memory.  Then `fd` has the lock until it is closed, and nobody else takes the
 * session.  -EBUSY: one of them runs, or somebody else has taken it.  -ENOLCK:
 * nobody can tell; what isn't known to be dead is left alone.
 *
 * The proof is the lock on the file; of a copy, or where there are no locks,
 * the process table, if it is the one that the process was in. */
int session_claim(int fd, const struct session_header *head);

/* The longest that a window waits for work of the GPU, which may be behind by
 * the longest step. */
static inline uint64_t session_gpu_wait_ticks(const struct session *session)
{
	struct session_header *head = session->head;
	const uint64_t wait = (uint64_t)head->options.gpu_wait_ms *
			      clock_ticks_per_second(&head->clock) / 1000;

	return wait ? max_u64(wait,
			      load_relaxed(&head->windows.longest_step_ticks))
		    : 0;
}

/* True where it outlives its process. */
static inline bool session_outlives(const struct session *session)
{
	return session->head->place == SESSION_IN_FILE ||
	       session->head->place == SESSION_IN_RECORD_MEMFD;
}

/* Maps the header alone of a running process's session, shared: what is stored
 * there reaches the process, so nothing but its mailbox may be written, and
 * what is read may change at any time.  Returns as session_open(); the fd stays
 * the caller's. */
int session_share(int fd, struct session *session);

/* The absolute path that a folder's name stands for here, as a session that is
 * made here keeps it; nothing needs to be there.  `text`. */
const char *session_folder(const char *dir, char *text, size_t bytes);

/* This process's number among those of an MPI job or of torchrun, -1 none, by
 * the environment; how many there are, 0 not known. */
int32_t session_rank(int32_t *world_size);

/* Unlinks the backing file, if any. */
void session_unlink(const struct session *session);

/* Next `bytes` (rounded up to 64) of the session, zeroed.  Offset, or 0 when
 * the ceiling is reached or backing could not be had.  Async-signal-safe,
 * lock-free but for system calls where it must grow. */
uint64_t session_alloc(struct session *session, uint64_t bytes);

/* The same in small pieces, in multiples of 8 and not zeroed, from blocks of
 * SESSION_BLOCK_BYTES.  `space` begins as 0 and is this function's. */
uint64_t session_take(struct session *session, _Atomic uint64_t *space,
		      uint64_t bytes);

/* Backs `bytes` more ahead of use, so that hooks need not.  Writer. */
int session_grow(struct session *session, uint64_t bytes);

/* Adds a one-line note to the metadata; the same text twice counts once.
 * Formats like printf with %s %d %u %ld %lu %% alone. */
void session_note(struct session *session, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Unlinks what can't be opened because its process was killed while it made it;
 * nothing was recorded there.  Anything else, what is young and what somebody
 * has locked is left. */
void session_sweep(const char *path);

/* Where sessions may lie: calls visit(path) for each session file of this user
 * whose name looks like one; visit returns nonzero to stop.  Owner, type and
 * links are checked before. */
int session_find(int (*visit)(const char *path, void *arg), void *arg);

#endif
